// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/kind/oae_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "models/ipu/kind/description.h"
#include "models/ipu/kind/ipu_device.h"
#include "models/oae/window_link.h"
#include "oae_memory_map.h"

namespace ipu {

using namespace vp::config;

namespace {

constexpr std::int64_t longest_run = 1'000'000 * vp::s;

Struct<OaeCut> cut() {
  return Struct<OaeCut>({
      {"at", &OaeCut::at, duration(0, longest_run),
       "Simulated time at which the wires are cut; from then on nothing arrives"},
      {"until", &OaeCut::until, duration(0, longest_run),
       "Simulated time at which the wires are whole again; not set, they stay cut"},
  });
}

Struct<OaeError> error() {
  return Struct<OaeError>({
      {"from", &OaeError::from, name(), "IPU from which the damaged bit comes", required},
      {"bit", &OaeError::bit, integer(0, 511),
       "Bit that is damaged, among the 512 of a clock cycle, or 128 with a window (modulo 128); if "
       "its slice is idle, the same bit of the next slice that is not"},
      {"at", &OaeError::at, duration(0, longest_run),
       "Simulated time from which the next clock cycle with a frame or reflection is damaged"},
  });
}

Struct<OaeLink> link() {
  return Struct<OaeLink>({
      {"a", &OaeLink::a, name(), "IPU at one end", required},
      {"b", &OaeLink::b, name(), "IPU at the other end", required},
      {"rate", &OaeLink::rate, bit_rate(1'000'000'000, 1'600'000'000'000),
       "Rate of the wire, a multiple of 512 bit/s, since each clock cycle carries a frame of 512 "
       "bits"},
      // The link's latency is how far one side may run ahead of the other. With 0 neither could
      // run.
      {"latency", &OaeLink::latency, duration(1 * vp::ns, 100 * vp::us),
       "Time through PHYs and wire, each way, without the time of a frame; at most 100,000 bits of "
       "the "
       "wire"},
      {"design", &OaeLink::design, word({"transfer", "window"}),
       "How slots are passed on: one transfer at a time, by the firmware; or a window of many, by "
       "a bridge in hardware, with 128 bits in each clock cycle, at most 100 Gb/s"},
      {"bit_error_rate", &OaeLink::bit_error_rate, ratio(0, 1e-3),
       "Part of the bits that arrive wrong, in each direction"},
      {"first_port", &OaeLink::first_port, integer(0, 63),
       "First of the swap ports that are joined"},
      {"ports", &OaeLink::ports, integer(0, 64),
       "Number of swap ports that are joined with those of the same numbers at the other end: what "
       "one host swaps there is offered to the other"},
      {"cuts", &OaeLink::cuts, list(cut(), 0, 1000), "When the wires are cut"},
      {"errors", &OaeLink::errors, list(error(), 0, 1000), "Bits that are damaged"},
  });
}

void check_wire(const std::string& path, const OaeLink& link, Reading& reading) {
  if (link.rate % 512 != 0)
    reading.mistake(path + ".rate",
                    fmt::format("{} is not a whole number of frames in a second",
                                bit_rate_quantity().print(link.rate)),
                    "a multiple of 512 bit/s", "round it");
  // A longer wire would be silent for longer than a link allows before it goes down.
  const std::int64_t longest = 100'000 * vp::s / link.rate;
  if (link.latency > longest)
    reading.mistake(path + ".latency",
                    fmt::format("{} is longer than 100,000 bits take on this wire",
                                duration_quantity().print(link.latency)),
                    fmt::format("at most {}", duration_quantity().print(longest)),
                    "shorten it, or lower the rate");
}

/// Checks one end of links[i]. `others` are the numbers of the links before it at the same IPU.
void check_ports(const std::string& path, const std::vector<OaeLink>& links, std::size_t i,
                 const Description& ipu, const std::vector<std::size_t>& others, Reading& reading) {
  const OaeLink& link = links[i];
  if (others.size() == OAE_IPU_LINK_COUNT)
    reading.mistake(path, fmt::format("{} already has {} links", ipu.name, others.size()),
                    fmt::format("at most {} at each IPU", OAE_IPU_LINK_COUNT), "remove it");
  if (link.ports > 0 && link.first_port + link.ports > ipu.oae.ports)
    reading.mistake(
        path + ".ports",
        fmt::format("the link joins ports {} to {}, but {} has only {}", link.first_port,
                    link.first_port + link.ports - 1, ipu.name, ipu.oae.ports),
        "ports that both IPUs have", fmt::format("raise oae.ports of {}", ipu.name));
  for (const std::size_t other : others) {
    const OaeLink& one = links[other];
    if (link.first_port < one.first_port + one.ports &&
        one.first_port < link.first_port + link.ports)
      reading.mistake(
          path + ".first_port",
          fmt::format("oae_links[{}] already joins some of these ports of {}", other, ipu.name),
          "ports that no other link joins", "choose other ports");
  }
}

/// Checks a link with a window. `a` and `b` are the IPUs at its ends.
void check_window(const std::string& path, const std::vector<OaeLink>& links, const OaeLink& link,
                  const Description& a, const Description& b, Reading& reading) {
  constexpr std::int64_t bits = oae::WindowLink::bits_per_clock;
  constexpr std::int64_t fastest = 100'000'000'000;
  for (const Description* end : {&a, &b}) {
    const auto at_end = std::count_if(links.begin(), links.end(), [end](const OaeLink& other) {
      return other.ends_at(end->name);
    });
    if (at_end > 1)
      reading.mistake(path + ".design", fmt::format("{} has other links, too", end->name),
                      "a link with a window only where it is the only link",
                      "remove the others, or choose `transfer`");
  }
  if (link.rate > fastest) {
    reading.mistake(path + ".rate",
                    fmt::format("{} is too fast for a link with a window",
                                bit_rate_quantity().print(link.rate)),
                    fmt::format("at most {}", bit_rate_quantity().print(fastest)), "lower it");
    return;
  }
  // The end of the link has the clock of the block.
  std::string others;  // whose blocks have another clock
  for (const Description* end : {&a, &b}) {
    if (link.rate != bits * end->oae.clock) others += (others.empty() ? "" : " and ") + end->name;
  }
  if (others.empty()) return;
  const std::string clock = frequency_quantity().print(link.rate / bits);
  reading.mistake(path + ".rate",
                  fmt::format("the wire needs OAE blocks with a clock of {}", clock),
                  fmt::format("{} bits for each clock cycle of the blocks at both ends", bits),
                  fmt::format("set oae.clock of {} to {}, or change the rate", others, clock));
}

void check_faults(const std::string& path, const OaeLink& link, Reading& reading) {
  std::int64_t whole = 0;
  for (std::size_t n = 0; n < link.cuts.size(); ++n) {
    const OaeCut& cut = link.cuts[n];
    if (cut.at < whole || cut.until <= cut.at)
      reading.mistake(fmt::format("{}.cuts[{}]", path, n),
                      cut.until <= cut.at ? "the cut ends before it begins"
                                          : "the cut begins before the previous one has ended",
                      "cuts that follow one another", "correct `at` and `until`");
    whole = cut.until + 1;
  }
  for (std::size_t n = 0; n < link.errors.size(); ++n) {
    const std::string& from = link.errors[n].from;
    if (!link.ends_at(from))
      reading.mistake(fmt::format("{}.errors[{}].from", path, n),
                      fmt::format("the link has no end at `{}`", from),
                      fmt::format("`{}` or `{}`", link.a, link.b), "name one of its ends");
  }
}

/// One end of a link.
template <class Link>
struct End {
  vp::Domain* domain;
  Link* link;
};

/// Lays the wire of a link, and adds what happens to it later to `faults`.
template <class Link>
void lay(const OaeLink& link, const End<Link>& a, const End<Link>& b,
         std::vector<std::unique_ptr<vp::Event>>& faults) {
  Link::connect(*a.link, *b.link, link.latency);
  for (const OaeCut& cut : link.cuts) {
    for (const End<Link>& end : {a, b}) {
      for (const bool is_cut : {true, false}) {
        faults.push_back(std::make_unique<vp::Event>(
            *end.domain, [from = end.link, is_cut] { from->cut(is_cut); }));
        faults.back()->at(is_cut ? cut.at : cut.until);
      }
    }
  }
  for (const OaeError& error : link.errors) {
    const End<Link>& end = error.from == link.a ? a : b;
    faults.push_back(std::make_unique<vp::Event>(
        *end.domain, [from = end.link, bit = error.bit] { from->damage(bit); }));
    faults.back()->at(error.at);
  }
}

}  // namespace

void OaeLinks::check(const std::vector<device::DescriptionPtr>& ipus, Reading& reading) const {
  std::vector<std::string> names;
  for (const device::DescriptionPtr& ipu : ipus) names.push_back(ipu->name);
  std::map<std::string, std::vector<std::size_t>> numbers;  // of the links of each IPU
  for (std::size_t i = 0; i < links.size(); ++i) {
    const OaeLink& link = links[i];
    const std::string path = fmt::format("{}[{}]", key, i);
    const bool a = check_name(path + ".a", link.a, "IPU", names, reading);
    const bool b = check_name(path + ".b", link.b, "IPU", names, reading);
    if (!a || !b || !reading.good(path)) continue;
    if (link.a == link.b) {
      reading.mistake(path + ".b", fmt::format("both ends are at {}", shown(link.a)), "two IPUs",
                      names.size() > 1 ? "name another IPU" : "add another IPU to `ipus`");
      continue;
    }
    check_wire(path, link, reading);
    const auto ipu_at = [&](const std::string& end) -> const Description& {
      const auto n = std::find(names.begin(), names.end(), end) - names.begin();
      return dynamic_cast<const Description&>(*ipus[static_cast<std::size_t>(n)]);
    };
    for (const std::string& end : {link.a, link.b}) {
      check_ports(path, links, i, ipu_at(end), numbers[end], reading);
      numbers[end].push_back(i);
    }
    if (link.windowed()) check_window(path, links, link, ipu_at(link.a), ipu_at(link.b), reading);
    check_faults(path, link, reading);
  }
}

std::vector<std::unique_ptr<vp::Event>> OaeLinks::connect(
    const std::vector<device::Device*>& ipus) const {
  std::map<std::string, std::size_t> laid;  // links of each IPU that have no window
  const auto ipu_at = [&](const std::string& name) -> IpuDevice& {
    const auto at = std::find_if(ipus.begin(), ipus.end(),
                                 [&](const device::Device* each) { return each->name() == name; });
    return dynamic_cast<IpuDevice&>(**at);
  };
  const auto next_end = [&](const std::string& name) {
    IpuDevice& ipu = ipu_at(name);
    return End<oae::Link>{&ipu.domain, ipu.oae_links[laid[name]++].get()};
  };
  const auto window_end = [&](const std::string& name) {
    IpuDevice& ipu = ipu_at(name);
    return End<oae::WindowLink>{&ipu.domain, ipu.oae.link()};
  };
  std::vector<std::unique_ptr<vp::Event>> faults;
  for (const OaeLink& link : links) {
    if (link.windowed())
      lay(link, window_end(link.a), window_end(link.b), faults);
    else
      lay(link, next_end(link.a), next_end(link.b), faults);
  }
  return faults;
}

std::vector<const OaeLink*> links_of(const device::Sections& sections, const std::string& ipu) {
  std::vector<const OaeLink*> found;
  const auto* section = device::section<OaeLinks>(sections);
  if (section == nullptr) return found;
  for (const OaeLink& link : section->links) {
    if (link.ends_at(ipu)) found.push_back(&link);
  }
  return found;
}

std::vector<device::SectionKey> sections() {
  return {device::section_key(
      &OaeLinks::links, list(link(), 0, 28),
      "OAE links between IPUs; an IPU has at most 4 and numbers them in this order")};
}

}  // namespace ipu
