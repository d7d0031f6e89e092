// SPDX-License-Identifier: Apache-2.0
// Measures in simulated time what a transfer over a link of two models costs, and what a cut wire
// costs. Prints JSON for scripts/figures: `figures_oae_link RATE DELAY`, in bit/s and ps. The exit
// code is 1 if something expected did not happen. Times are in ps.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/oae/block.h"
#include "models/rtl/clock_grid.h"
#include "tests/models/oae/link_fixture.h"

namespace {

using nlohmann::json;
using vp::Picoseconds;

constexpr unsigned patience = 100'000;  // clocks
constexpr unsigned default_silence = 0x1000;
constexpr Picoseconds outage = 20 * vp::us;

class Figures : public LinkFixture {
 public:
  Figures(std::uint64_t rate, Picoseconds delay)
      : LinkFixture(oae::LinkConfig{rate}), rate_(rate), grid_(rate / 512), delay_(delay) {
    char path[] = "/tmp/oae-vp-figures.XXXXXX";
    const int file = ::mkstemp(path);
    if (file < 0) throw std::runtime_error("no temporary file");
    ::close(file);
    path_ = path;
    trace.open(path_, {});
    connect(delay);
  }
  ~Figures() { ::unlink(path_.c_str()); }

  json measure() {
    json found{{"rate", rate_}, {"delay", delay_}, {"clock", grid_.time(1)}};
    run([&] {
      bring_up();
      for (const unsigned verb : {OAE_LINK_COMMAND_PACKET, OAE_LINK_COMMAND_FLOW}) {
        for (unsigned beats = 0; beats < 4; ++beats) transfer(verb, beats);
      }
      for (const unsigned silence : {round_trip(), default_silence}) {
        found["silence"].push_back({{"slices", silence}, {"noticed", noticed(silence)}});
      }
      limit(default_silence);
      found["doubt"] = doubt();
    });
    trace.close();
    for (const Transfer& one : transfers_) found["transfers"].push_back(record_of(one));
    return found;
  }

 private:
  struct Transfer {
    bool flow;
    unsigned beats;
    Picoseconds begun;      // the first slice 0 goes onto the wire
    Picoseconds reflected;  // the sender has it back
    Picoseconds committed;  // the receiver's firmware knows
    Picoseconds settled;    // the sender's firmware knows
  };

  /// Runs the next edge and everything that it causes.
  Picoseconds edge() {
    const Picoseconds time = grid_.time(grid_.after(vp::now()));
    pass(time + 1 - vp::now());
    return time;
  }
  template <typename Predicate>
  void until(Predicate done, const char* what) {
    for (unsigned i = 0; !done(); ++i) {
      if (i == patience) throw std::runtime_error(std::string("it never came to this: ") + what);
      edge();
    }
  }
  std::uint64_t groups(const char* end) const {
    return statistics.json()["counters"][std::string(end) + ".link.groups_sent"];
  }
  void await_events(LinkModelEnd& end, unsigned events) {
    end.put(OAE_LINK_EVENT, ~std::uint64_t{0});
    end.put(OAE_LINK_IRQ_ENABLE, events);
  }
  void fill(unsigned beats) {
    for (unsigned n = 0; n < 1u << 2 * beats; ++n) {
      const Slot made = slot(++sequence_);
      for (unsigned i = 0; i < 8; ++i) a.put(OAE_LINK_SEND_AT(n) + 8 * i, made[i]);
    }
  }
  /// Gives the command. Returns the time of the edge that puts its first slices onto the wire.
  Picoseconds begin(unsigned verb, unsigned beats) {
    const std::uint64_t sent = groups("a");
    sc_core::sc_spawn(
        [=] { a.put(OAE_LINK_COMMAND, verb | OAE_PUT(OAE_LINK_COMMAND_BEATS, beats)); });
    Picoseconds time = 0;
    until(
        [&] {
          time = vp::now() - 1;
          return groups("a") != sent;
        },
        "a frame leaves");
    return time;
  }

  void transfer(unsigned verb, unsigned beats) {
    a.put(OAE_LINK_CONTROL, 1 | OAE_PUT(OAE_LINK_CONTROL_SLICE_ACK, 3));
    fill(beats);
    await_events(a, OAE_LINK_EVENT_SETTLED_MASK);
    await_events(b, OAE_LINK_EVENT_RECEIVED_MASK);
    edge();
    Transfer one{verb == OAE_LINK_COMMAND_FLOW, beats, 0, 0, 0, 0};
    const std::uint64_t reflections = groups("b");
    one.begun = begin(verb, beats);
    until(
        [&] {
          // The first slices that the other side sends are the first reflection.
          if (one.reflected == 0 && groups("b") != reflections) {
            one.reflected = grid_.time(grid_.after(vp::now() - 1 + grid_.time(1) + delay_));
          }
          return a.irq && b.irq;
        },
        "both firmwares have their interrupts");
    one.committed = b.interrupted;
    one.settled = a.interrupted;
    if (a.outcome() != OAE_OUTCOME_COMMITTED) throw std::runtime_error("it was not committed");
    b.put(OAE_LINK_COMMAND, OAE_LINK_COMMAND_TAKE);
    pass(vp::us);
    transfers_.push_back(one);
  }

  /// Reads from the trace when the receiver had the slot tentatively, and when it had committed.
  json record_of(const Transfer& one) const {
    json found{{"flow", one.flow},
               {"beats", 1u << 2 * one.beats},
               {"reflected", one.reflected - one.begun},
               {"committed", one.committed - one.begun},
               {"settled", one.settled - one.begun}};
    std::ifstream lines(path_);
    std::string line;
    std::getline(lines, line);
    while (!one.flow && std::getline(lines, line)) {
      const json said = json::parse(line);
      if (said["t"] < one.begun || said["link"] != "b.link") continue;
      if (said["machine"] == "receiver" && said["to"] == "tentative") {
        found["tentative"] = said["t"].get<Picoseconds>() - one.begun;
        break;
      }
    }
    return found;
  }

  void limit(unsigned silence) {
    for (LinkModelEnd* end : {&a, &b}) {
      end->put(OAE_LINK_LIMITS,
               OAE_PUT(OAE_LINK_LIMITS_SILENCE, silence) | OAE_PUT(OAE_LINK_LIMITS_TROUBLE, 8));
    }
  }
  /// The time in slices, including that of the ends.
  unsigned round_trip() const {
    const Picoseconds slice = grid_.time(1) / 8;
    return static_cast<unsigned>((2 * delay_ + 16 * grid_.time(1)) / slice);
  }
  void cut(bool is_cut) {
    a.link->cut(is_cut);
    b.link->cut(is_cut);
  }
  /// Both firmwares start the link again as soon as they know that it went down.
  void down_and_begin() {
    until([&] { return a.irq && b.irq; }, "both ends are down");
    for (LinkModelEnd* end : {&a, &b}) {
      await_events(*end, OAE_LINK_EVENT_UP_MASK);
      end->put(OAE_LINK_CONTROL, 1);
    }
  }

  /// Measures from the cut of an idle wire until the firmware knows that the link is down.
  Picoseconds noticed(unsigned silence) {
    limit(silence);
    for (LinkModelEnd* end : {&a, &b}) await_events(*end, OAE_LINK_EVENT_DOWN_MASK);
    edge();
    const Picoseconds from = vp::now();
    cut(true);
    until([&] { return a.irq && b.irq; }, "both ends are down");
    const Picoseconds to = std::max(a.interrupted, b.interrupted);
    down_and_begin();
    cut(false);
    until([&] { return a.irq && b.irq; }, "both ends are up");
    return to - from;
  }

  /// Cuts both wires at each clock of a transfer of one slot, and makes them whole after the
  /// outage. Measures how long the sender was in doubt.
  json doubt() {
    unsigned cuts = 0;
    unsigned reversed_at_once = 0;
    unsigned in_doubt = 0;
    unsigned committed = 0;   // of the transfers in doubt
    Picoseconds longest = 0;  // from the first slice to the settlement
    Picoseconds after = 0;    // the part of it after the wire was whole again
    Picoseconds up = 0;       // from then until both ends were up
    for (;; ++cuts) {
      fill(0);
      for (LinkModelEnd* end : {&a, &b}) await_events(*end, OAE_LINK_EVENT_DOWN_MASK);
      edge();
      const Picoseconds begun = begin(OAE_LINK_COMMAND_PACKET, 0);
      for (unsigned i = 0; i < cuts; ++i) edge();
      const Picoseconds at = vp::now();
      cut(true);
      down_and_begin();
      const unsigned known = a.outcome();
      const bool doubts = known == OAE_OUTCOME_NONE;
      if (doubts) await_events(a, OAE_LINK_EVENT_SETTLED_MASK);
      pass(at + outage - vp::now());
      cut(false);
      until([&] { return a.irq && b.irq; }, "it is settled, and the link up");
      up = std::max(up, b.interrupted - at - outage);
      pass(2 * vp::us);
      const unsigned outcome = a.outcome();
      const bool kept = outcome == OAE_OUTCOME_COMMITTED;
      const std::uint64_t waits = OAE_GET(b.get(OAE_LINK_RECEIVED), OAE_LINK_RECEIVED_TRANSFERS);
      if (waits != (kept ? 1 : 0)) throw std::runtime_error("the two sides disagree");
      if (kept) b.put(OAE_LINK_COMMAND, OAE_LINK_COMMAND_TAKE);
      if (known == OAE_OUTCOME_COMMITTED) break;  // the cut came too late
      if (cuts == patience) throw std::runtime_error("no transfer is ever settled");
      if (!doubts) {
        ++reversed_at_once;
        continue;
      }
      ++in_doubt;
      if (kept) ++committed;
      longest = std::max(longest, a.interrupted - begun);
      after = std::max(after, a.interrupted - at - outage);
    }
    return {
        {"outage", outage},       {"cuts", cuts},           {"reversed_at_once", reversed_at_once},
        {"in_doubt", in_doubt},   {"committed", committed}, {"longest", longest},
        {"settled_after", after}, {"up_after", up}};
  }

  const std::uint64_t rate_;
  const rtl::ClockGrid grid_;
  const Picoseconds delay_;
  std::string path_;
  std::uint32_t sequence_ = 0;
  std::vector<Transfer> transfers_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: figures_oae_link RATE DELAY, in bit/s and ps\n");
    return 2;
  }
  try {
    Figures figures(std::strtoull(argv[1], nullptr, 10), std::strtoll(argv[2], nullptr, 10));
    std::printf("%s\n", figures.measure().dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "figures_oae_link: %s\n", error.what());
    return 1;
  }
  return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
}
