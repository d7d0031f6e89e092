// SPDX-License-Identifier: Apache-2.0
// When packets leave a switch that does not wait for their last byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tests/models/pcie/hierarchy/switch_ends.h"

namespace pcie {
namespace {

using vp::ns;

struct Wires {
  unsigned generation, lanes;
};

// An account of its own: how long `bytes` of packets take. SKP ordered sets are 4 of 1,538 symbols,
// and from generation 3 on one of 375 blocks. No DLLPs share the wire with a packet that goes up,
// since none has gone down.
double picoseconds(const Wires& wires, unsigned bytes) {
  static constexpr double gigatransfers[] = {2.5, 5, 8, 16, 32};
  const bool blocks = wires.generation >= 3;
  const double coded = blocks ? 130.0 / 128 * 375 / 374 : 10.0 / 8 * 1538 / 1534;
  return bytes * 8 * 1000 * coded / (gigatransfers[wires.generation - 1] * wires.lanes);
}

constexpr vp::Picoseconds down = 150 * ns, up = 130 * ns, latency = 100 * ns;

// Device 0 is beyond `wires`, and the host beyond `above`.
SwitchEnds::Beyond beyond(const Wires& wires, const Wires& above) {
  SwitchEnds::Beyond found;
  found.above.generation = above.generation;
  found.above.lanes = above.lanes;
  found.above.latency_down = down;
  found.above.latency_up = up;
  found.links.resize(1);
  found.links[0] = found.above;
  found.links[0].generation = wires.generation;
  found.links[0].lanes = wires.lanes;
  return found;
}

SwitchConfig config(bool cut_through) {
  SwitchConfig config = SwitchEnds::with_ports(2);
  config.latency = latency;
  config.cut_through = cut_through;
  return config;
}

// A switch with a payload of 128 << `payload` bytes.
struct Cut : SwitchEnds {
  explicit Cut(const SwitchConfig& config, const Beyond& beyond, unsigned payload = 1)
      : SwitchEnds(config, beyond) {
    std::vector<Id> ids = {upstream_id};
    for (unsigned i = 0; i < ends.size(); ++i) ids.push_back(port_id(i));
    for (const Id id : ids) {
      const unsigned control = find_capability(id, PciExpress::id) + PciExpress::device_control;
      config_write(id, control, payload << 5, 2);
    }
  }
};

// The time that a packet takes from end to end.
vp::Picoseconds time_of(SwitchEnds& ends, End& from, End& to, TlpPtr tlp) {
  const vp::Picoseconds start = vp::now();
  from.send(std::move(tlp));
  ends.run();
  EXPECT_EQ(to.received.size(), 1u);
  const vp::Picoseconds found = to.times.back() - start;
  to.take();
  return found;
}

TlpPtr write(std::uint64_t address, unsigned bytes) {
  const std::vector<std::uint8_t> data(bytes, 0x5a);
  return Tlp::memory_write(address, data.data(), bytes);
}

struct Pair {
  Wires in, out;
};
class Crossing : public testing::TestWithParam<std::tuple<Pair, bool, bool>> {};

// A write of 3 DW has 16 bytes with its header, and then its data and 4 bytes. The shortest packet
// has 20 bytes. The write leaves when its header has been there for the latency, but not so early
// that it would end before its last byte has been there for the latency and that packet's time.
TEST_P(Crossing, LeavesWithItsHeaderAndDoesNotRunDry) {
  const auto& [wires, from_device, cut_through] = GetParam();
  const auto& [in, out] = wires;
  Cut ends(config(cut_through), from_device ? beyond(in, out) : beyond(out, in));
  for (const unsigned bytes : {4u, 8u, 64u, 256u}) {
    const double took = static_cast<double>(
        from_device ? time_of(ends, *ends.ends[0], ends.root, write(0x1000, bytes))
                    : time_of(ends, ends.root, *ends.ends[0], write(SwitchEnds::bar(0), bytes)));
    const double fixed = static_cast<double>((from_device ? 2 * up : 2 * down) + latency);
    const double header = picoseconds(in, 16), all = picoseconds(in, 20 + bytes);
    const double shortest = picoseconds(out, 20), again = picoseconds(out, 20 + bytes);
    const double leaves = cut_through ? std::max(header, all + shortest - again) : all;
    EXPECT_NEAR(took, fixed + leaves + again, 3) << bytes;
    EXPECT_GE(took + 2, fixed + all + shortest) << bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(
    CutThrough, Crossing,
    testing::Combine(testing::Values(Pair{{3, 1}, {3, 1}}, Pair{{1, 1}, {5, 16}},
                                     Pair{{5, 16}, {1, 1}}, Pair{{2, 1}, {3, 1}},
                                     Pair{{4, 1}, {3, 1}}, Pair{{4, 16}, {4, 16}}),
                     testing::Bool(), testing::Bool()));

// A digest is part of what follows the header, and the larger header of a 64-bit address is not.
TEST(CutThrough, KnowsWhatFollowsTheHeader) {
  const Wires in{5, 16}, out{1, 1};
  Cut ends(config(true), beyond(in, out));
  TlpPtr tlp = write(0x100000000, 64);
  tlp->header.ecrc = true;
  const double took = static_cast<double>(time_of(ends, *ends.ends[0], ends.root, std::move(tlp)));
  EXPECT_NEAR(
      took,
      static_cast<double>(2 * up + latency) + picoseconds(in, 20) + picoseconds(out, 24 + 64 + 4),
      3);
}

// A flit of 256 bytes takes 32 ns in a lane of 64 Gb/s, and 40 symbols of SKP follow each 11,968
// symbols. Of the write, 1,024 bytes follow its header: four whole flits of 236 bytes and a part.
// It ends with a flit on either link, so the latency of the switch decides which flit that is.
class FlitCrossing : public testing::TestWithParam<unsigned> {};

TEST_P(FlitCrossing, FlitsAreForwardedWhole) {
  const vp::Picoseconds traversal = GetParam() * ns;
  SwitchConfig switch_config = config(true);
  switch_config.latency = traversal;
  switch_config.generation = 6;
  switch_config.max_payload = 1024;
  for (SwitchPortConfig& port : switch_config.ports) port.generation = 6;
  SwitchEnds::Beyond wires = beyond({6, 1}, {6, 1});
  for (LinkConfig* link : {&wires.above, &wires.links[0]}) link->max_payload = 1024;
  wires.generation = 6;
  Cut ends(switch_config, wires, 3);
  const double flit = 32e3 * (11968 + 40) / 11968, packet = flit * (12 + 1024) / 236;
  const auto end_of_flit = [&](double time) { return flit * std::ceil(time / flit); };
  const double start = static_cast<double>(vp::now());
  const double took =
      static_cast<double>(time_of(ends, *ends.ends[0], ends.root, write(0x1000, 1024)));
  const double stored = end_of_flit(start + packet) + static_cast<double>(up + traversal);
  EXPECT_NEAR(start + took, end_of_flit(stored - 4 * flit + packet) + static_cast<double>(up), 5);
}

INSTANTIATE_TEST_SUITE_P(CutThrough, FlitCrossing, testing::Range(100u, 132u, 4u));

// Two devices write at the same time. The second write follows the first without a gap.
TEST(CutThrough, WaitsForTheWire) {
  const Wires wires{3, 1};
  SwitchEnds::Beyond both = beyond(wires, wires);
  both.links.push_back(both.links[0]);
  Cut ends(config(true), both);
  const vp::Picoseconds start = vp::now();
  for (unsigned i = 0; i < 2; ++i) ends.ends[i]->send(write(0x1000 * (i + 1), 256));
  ends.run();
  ASSERT_EQ(ends.root.times.size(), 2u);
  const double first = static_cast<double>(2 * up + latency) + picoseconds(wires, 276 + 20);
  EXPECT_NEAR(static_cast<double>(ends.root.times[0] - start), first, 3);
  EXPECT_NEAR(static_cast<double>(ends.root.times[1] - start), first + picoseconds(wires, 276), 3);
}

// A write that finds no room leaves when a stored one would: when the credit has come back, and the
// latency of its port has passed. The credit takes as long as the shortest packet.
TEST(CutThrough, GainsNothingForWhatHasToWait) {
  const Wires wires{3, 1};
  SwitchEnds::Beyond narrow = beyond(wires, wires);
  narrow.top.classes[0] = {1, 16};
  Cut ends(config(true), narrow);
  ends.root.set_full(CreditClass::posted, true);
  for (unsigned i = 0; i < 3; ++i) ends.ends[0]->send(write(0x1000 * i, 256));
  ends.run();
  const vp::Picoseconds start = vp::now();
  ends.root.set_full(CreditClass::posted, false);
  ends.run();
  ASSERT_EQ(ends.root.times.size(), 3u);
  const double each =
      static_cast<double>(down + latency + up) + picoseconds(wires, 20) + picoseconds(wires, 276);
  EXPECT_NEAR(static_cast<double>(ends.root.times[1] - start), each, 3);
  EXPECT_NEAR(static_cast<double>(ends.root.times[2] - start), 2 * each, 5);
}

// The header of a write has come before the host has given the credits that it needs.
TEST(CutThrough, LeavesNoEarlierThanItsCredits) {
  SwitchEnds::Beyond narrow = beyond({1, 1}, {1, 1});
  narrow.top.classes[0] = {1, 16};
  Cut ends(config(true), narrow);
  ends.root.set_full(CreditClass::posted, true);
  ends.ends[0]->send(write(0x1000, 4));
  ends.run();
  // The write takes 1.2 us, and the credit comes back when most of it has arrived.
  const vp::Picoseconds start = vp::now();
  ends.ends[0]->send(write(0x2000, 256));
  sc_core::sc_start(900, sc_core::SC_NS);
  ends.root.set_full(CreditClass::posted, false);
  ends.run();
  ASSERT_EQ(ends.root.times.size(), 2u);
  const Wires wires{1, 1};
  // The UpdateFC takes as long as the shortest packet.
  const double credited =
      static_cast<double>(900 * ns + down + latency / 2) + picoseconds(wires, 20);
  EXPECT_NEAR(static_cast<double>(ends.root.times[1] - start),
              credited + static_cast<double>(up) + picoseconds(wires, 276), 3);
}

// A link of bit errors, where a packet may have to be sent again, is not entered early.
TEST(CutThrough, StoresWhatGoesToALinkWithBitErrors) {
  const Wires wires{3, 1};
  SwitchEnds::Beyond errors = beyond(wires, wires);
  errors.above.bit_error_rate = 1e-15;
  Cut ends(config(true), errors);
  EXPECT_NEAR(static_cast<double>(time_of(ends, *ends.ends[0], ends.root, write(0x1000, 256))),
              static_cast<double>(2 * up + latency) + 2 * picoseconds(wires, 276), 3);
}

}  // namespace
}  // namespace pcie
