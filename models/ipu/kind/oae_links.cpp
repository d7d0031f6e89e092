// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/kind/oae_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "models/ipu/kind/description.h"
#include "models/ipu/kind/ipu_device.h"
#include "models/oae/block.h"
#include "models/oae/relay.h"
#include "models/oae/window_link.h"
#include "oae_memory_map.h"
#include "oae_registers.h"

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
       "hardware, with 128 bits in each clock cycle, at most 100 Gb/s. An IPU may have two links "
       "with a window: if both have the same ports, it relays their slots, and if they have none "
       "in common, it is an end of both"},
      {"bit_error_rate", &OaeLink::bit_error_rate, ratio(0, 1e-3),
       "Part of the bits that arrive wrong, in each direction"},
      {"first_port", &OaeLink::first_port, integer(0, 63),
       "First of the swap ports that are joined"},
      {"ports", &OaeLink::ports, integer(0, 64),
       "Number of swap ports that are joined with those of the same numbers at the other end, or "
       "at the end of a chain of relays: what one host swaps there is offered to the other"},
      {"cuts", &OaeLink::cuts, list(cut(), 0, 1000), "When the wires are cut"},
      {"errors", &OaeLink::errors, list(error(), 0, 1000), "Bits that are damaged"},
  });
}

// A longer wire would be silent for longer than a link allows before it goes down.
std::int64_t longest_wire(std::int64_t rate) {
  return 100'000 * vp::s / rate;
}

void check_wire(const std::string& path, const OaeLink& link, Reading& reading) {
  if (link.rate % 512 != 0)
    reading.mistake(path + ".rate",
                    fmt::format("{} is not a whole number of frames in a second",
                                bit_rate_quantity().print(link.rate)),
                    "a multiple of 512 bit/s", "round it");
  const std::int64_t longest = longest_wire(link.rate);
  if (link.latency > longest)
    reading.mistake(path + ".latency",
                    fmt::format("{} is longer than 100,000 bits take on this wire",
                                duration_quantity().print(link.latency)),
                    fmt::format("at most {}", duration_quantity().print(longest)),
                    "shorten it, or lower the rate");
}

using Links = std::vector<OaeLink>;

bool all_windowed(const std::vector<const OaeLink*>& links) {
  return std::all_of(links.begin(), links.end(),
                     [](const OaeLink* link) { return link->windowed(); });
}

std::vector<const OaeLink*> links_at(const Links& links, const std::string& ipu) {
  std::vector<const OaeLink*> found;
  for (const OaeLink& link : links) {
    if (link.ends_at(ipu)) found.push_back(&link);
  }
  return found;
}

std::string path_of(const Links& links, const OaeLink& link) {
  return fmt::format("{}[{}]", OaeLinks::key, &link - links.data());
}

/// Checks the ports of one end. `others` are the links before this one at the same IPU.
void check_ports(const Links& links, const OaeLink& link, const Description& ipu,
                 const std::vector<const OaeLink*>& others, Reading& reading) {
  const std::string path = path_of(links, link);
  if (others.size() == OAE_IPU_LINK_COUNT)
    reading.mistake(path, fmt::format("{} already has {} links", ipu.name, others.size()),
                    fmt::format("at most {} at each IPU", OAE_IPU_LINK_COUNT), "remove it");
  if (relays(links_at(links, ipu.name))) return;  // None of these ports are its own.
  if (link.ports > 0 && link.first_port + link.ports > ipu.oae.ports)
    reading.mistake(
        path + ".ports",
        fmt::format("the link joins ports {} to {}, but {} has only {}", link.first_port,
                    link.first_port + link.ports - 1, ipu.name, ipu.oae.ports),
        "ports that both IPUs have", fmt::format("raise oae.ports of {}", ipu.name));
  for (const OaeLink* other : others) {
    if ((link.port_mask() & other->port_mask()) == 0) continue;
    const bool windows = link.windowed() && other->windowed();
    reading.mistake(
        path + ".first_port",
        fmt::format("{} already joins some of these ports of {}", path_of(links, *other), ipu.name),
        windows ? fmt::format("ports that no other link joins, or all of the same ports, whose "
                              "slots {} then relays",
                              ipu.name)
                : "ports that no other link joins",
        windows ? fmt::format("choose other ports, or set first_port to {} and ports to {}",
                              other->first_port, other->ports)
                : "choose other ports");
  }
}

/// Checks a link with a window at an IPU that relays its slots. `other` is the IPU's other link,
/// which comes before this one.
void check_relay(const Links& links, const OaeLink& link, const OaeLink& other,
                 const std::string& ipu, Reading& reading) {
  const std::string path = path_of(links, link);
  const std::string before = path_of(links, other);
  if (link.rate != other.rate)
    reading.mistake(
        path + ".rate",
        fmt::format("{} relays slots between {} and this link, but {} is not {}", ipu, before,
                    bit_rate_quantity().print(link.rate), bit_rate_quantity().print(other.rate)),
        "one rate for both, since a relay has one clock",
        fmt::format("set it to {}", bit_rate_quantity().print(other.rate)));
  if (link.ports > 0 && link.first_port + link.ports > OAE_WINDOW_ROUTE_COUNT)
    reading.mistake(
        path + ".ports",
        fmt::format("ports {} to {} are to pass through {}", link.first_port,
                    link.first_port + link.ports - 1, ipu),
        fmt::format("ports below {}, for which a relay has routes", OAE_WINDOW_ROUTE_COUNT),
        "choose lower ports");
}

/// Checks where a link with a window ends. `ipu_at` returns the IPU of a name.
template <typename IpuAt>
void check_window(const Links& links, const OaeLink& link, const IpuAt& ipu_at, Reading& reading) {
  constexpr std::int64_t bits = oae::WindowLink::bits_per_clock;
  constexpr std::int64_t fastest = 100'000'000'000;
  const std::string path = path_of(links, link);
  if (link.rate > fastest) {
    reading.mistake(path + ".rate",
                    fmt::format("{} is too fast for a link with a window",
                                bit_rate_quantity().print(link.rate)),
                    fmt::format("at most {}", bit_rate_quantity().print(fastest)), "lower it");
  }
  std::string others;  // IPUs whose blocks have another clock
  for (const std::string& end : {link.a, link.b}) {
    const std::vector<const OaeLink*> at_end = links_at(links, end);
    if (relays(at_end)) {
      if (at_end[1] == &link) check_relay(links, link, *at_end[0], end, reading);
    } else if (const bool all = all_windowed(at_end);
               !all || at_end.size() > oae::Block::max_links) {
      reading.mistake(path + ".design",
                      all ? fmt::format("{} has {} links with a window", end, at_end.size())
                          : fmt::format("{} has other links, too", end),
                      "a link with a window only where it is the only link, or one of two such "
                      "links",
                      all ? "remove one of them" : "remove the others, or choose `transfer`");
    } else if (link.rate != bits * ipu_at(end).oae.clock) {
      others += (others.empty() ? "" : " and ") + end;
    }
  }
  // The end of the link has the clock of the block.
  if (others.empty() || link.rate > fastest) return;
  const std::string clock = frequency_quantity().print(link.rate / bits);
  reading.mistake(path + ".rate",
                  fmt::format("the wire needs OAE blocks with a clock of {}", clock),
                  fmt::format("{} bits for each clock cycle of the blocks at both ends", bits),
                  fmt::format("set oae.clock of {} to {}, or change the rate", others, clock));
}

/// The links of a chain, beginning with one of them.
std::vector<const OaeLink*> chain_of(const Links& links, const OaeLink& link) {
  std::vector<const OaeLink*> chain{&link};
  for (std::size_t n = 0; n < chain.size(); ++n) {
    for (const std::string& end : {chain[n]->a, chain[n]->b}) {
      const std::vector<const OaeLink*> at_end = links_at(links, end);
      if (!relays(at_end)) continue;
      for (const OaeLink* next : at_end) {
        if (std::find(chain.begin(), chain.end(), next) == chain.end()) chain.push_back(next);
      }
    }
  }
  return chain;
}

/// Checks the chain that begins with this link in the order of the list.
void check_chain(const Links& links, const OaeLink& link, Reading& reading) {
  const std::vector<const OaeLink*> chain = chain_of(links, link);
  if (chain.size() == 1 || *std::min_element(chain.begin(), chain.end()) != &link) return;
  const bool ends = std::any_of(chain.begin(), chain.end(), [&](const OaeLink* each) {
    return !relays(links_at(links, each->a)) || !relays(links_at(links, each->b));
  });
  if (!ends)
    reading.mistake(
        path_of(links, link),
        fmt::format("the {} links of this ring have no end, since each of its IPUs "
                    "relays slots",
                    chain.size()),
        "a chain, whose outer IPUs are ends, or IPUs whose two links have different ports",
        "remove a link, or choose other ports for each link, or `transfer`");
  std::int64_t latency = 0;
  for (const OaeLink* each : chain) latency += each->latency;
  const std::int64_t longest = longest_wire(link.rate);
  if (latency > longest)
    reading.mistake(
        path_of(links, link) + ".latency",
        fmt::format("the {} links of this chain have {} in sum, longer than 100,000 "
                    "bits take",
                    chain.size(), duration_quantity().print(latency)),
        fmt::format("at most {} for the whole chain", duration_quantity().print(longest)),
        "shorten them, or lower the rate");
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
  const auto ipu_at = [&](const std::string& end) -> const Description& {
    const auto n = std::find(names.begin(), names.end(), end) - names.begin();
    return dynamic_cast<const Description&>(*ipus[static_cast<std::size_t>(n)]);
  };
  std::map<std::string, std::vector<const OaeLink*>> before;  // at each IPU
  for (const OaeLink& link : links) {
    const std::string path = path_of(links, link);
    const bool a = check_name(path + ".a", link.a, "IPU", names, reading);
    const bool b = check_name(path + ".b", link.b, "IPU", names, reading);
    if (!a || !b || !reading.good(path)) continue;
    if (link.a == link.b) {
      reading.mistake(path + ".b", fmt::format("both ends are at {}", shown(link.a)), "two IPUs",
                      names.size() > 1 ? "name another IPU" : "add another IPU to `ipus`");
      continue;
    }
    check_wire(path, link, reading);
    for (const std::string& end : {link.a, link.b}) {
      check_ports(links, link, ipu_at(end), before[end], reading);
      before[end].push_back(&link);
    }
    if (link.windowed()) {
      check_window(links, link, ipu_at, reading);
      check_chain(links, link, reading);
    }
    check_faults(path, link, reading);
  }
}

std::vector<std::unique_ptr<vp::Event>> OaeLinks::connect(
    const std::vector<device::Device*>& ipus) const {
  std::map<std::string, unsigned> laid;  // links of each IPU
  const auto ipu_at = [&](const std::string& name) -> IpuDevice& {
    const auto at = std::find_if(ipus.begin(), ipus.end(),
                                 [&](const device::Device* each) { return each->name() == name; });
    return dynamic_cast<IpuDevice&>(**at);
  };
  const auto next_end = [&](const std::string& name) {
    IpuDevice& ipu = ipu_at(name);
    return End<oae::Link>{&ipu.domain, ipu.oae_links[laid[name]++].get()};
  };
  const auto next_window = [&](const std::string& name) {
    IpuDevice& ipu = ipu_at(name);
    return End<oae::WindowLink>{&ipu.domain, ipu.window_links()[laid[name]++]};
  };
  std::vector<std::unique_ptr<vp::Event>> faults;
  for (const OaeLink& link : links) {
    if (link.windowed())
      lay(link, next_window(link.a), next_window(link.b), faults);
    else
      lay(link, next_end(link.a), next_end(link.b), faults);
  }
  return faults;
}

// What a file says need not be possible.
std::uint64_t OaeLink::port_mask() const {
  const std::uint64_t lowest = ports < 64 ? (std::uint64_t{1} << ports) - 1 : ~std::uint64_t{0};
  return first_port < 64 ? lowest << first_port : 0;
}

std::vector<const OaeLink*> links_of(const device::Sections& sections, const std::string& ipu) {
  const auto* section = device::section<OaeLinks>(sections);
  return section == nullptr ? std::vector<const OaeLink*>{} : links_at(section->links, ipu);
}

bool relays(const std::vector<const OaeLink*>& links) {
  return links.size() == oae::Relay::links && all_windowed(links) &&
         links[0]->port_mask() == links[1]->port_mask();
}

std::vector<device::SectionKey> sections() {
  return {device::section_key(
      &OaeLinks::links, list(link(), 0, 28),
      "OAE links between IPUs; an IPU has at most 4 and numbers them in this order")};
}

}  // namespace ipu
