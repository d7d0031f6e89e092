// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "platforms/faults.h"

namespace platform {
namespace {

pcie::LinkConfig link_config(const PcieLink& link, std::uint64_t seed) {
  pcie::LinkConfig config;
  config.generation = link.generation;
  config.lanes = link.lanes;
  config.latency_down = link.latency_down;
  config.latency_up = link.latency_up;
  config.max_payload = link.max_payload_size;
  config.bit_error_rate = link.bit_error_rate;
  config.retraining = link.retraining;
  config.seed = seed;
  config.training = 20 * vp::ms;  // with equalisation, as links of today's servers take it
  return config;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

Machine::Machine(const Platform& platform, const Options& options, Outcome& outcome,
                 vp::Trace& trace, vp::Statistics& statistics) {
  for (const Ipu& ipu : platform.ipus) {
    const auto link = std::find_if(platform.pcie_links.begin(), platform.pcie_links.end(),
                                   [&](const PcieLink& one) { return one.down == ipu.name; });
    ipus.push_back(std::make_unique<IpuMachine>(ipu.name.c_str(), ipu, platform, *link,
                                                options.ipu(ipu), outcome, trace, statistics));
  }
  for (const Host& host : platform.hosts) {
    std::vector<const PcieLink*> own;
    for (const PcieLink& link : platform.pcie_links) {
      if (link.up == host.name) own.push_back(&link);
    }
    hosts.push_back(std::make_unique<HostMachine>(host.name.c_str(), host, platform, own,
                                                  options.host(host), outcome, statistics));
    for (unsigned port = 0; port < own.size(); ++port) {
      const auto end = std::find_if(platform.ipus.begin(), platform.ipus.end(),
                                    [&](const Ipu& one) { return one.name == own[port]->down; });
      links.push_back(std::make_unique<pcie::Link>(
          (host.name + "_" + end->name).c_str(),
          link_config(*own[port], links.size() + (std::uint64_t{platform.simulation.seed} << 32)),
          hosts.back()->root_complex.port(port),
          ipus[static_cast<std::size_t>(end - platform.ipus.begin())]->endpoint, trace,
          statistics));
      for (const PcieFault& fault : own[port]->faults) {
        faults.push_back(
            std::make_unique<vp::Event>(hosts.back()->domain, [link = links.back().get(), fault] {
              link->inject(to_direction(fault), to_fault(fault));
            }));
        faults.back()->at(fault.at);
      }
      slots_.push_back({host.name, links.back().get(), &hosts.back()->root_complex.port(port)});
    }
  }
}

std::string Machine::inject(std::string_view what) {
  const auto word = words(what);
  if (word.size() < 2 || word.size() > 4)
    return "inject takes a way, an error, perhaps a TLP and a number";
  const std::size_t dot = std::min(word[0].rfind('.'), word[0].size());
  const std::string_view way = word[0].substr(dot);
  const auto link = std::find_if(links.begin(), links.end(), [&](const auto& one) {
    return word[0].substr(0, dot) == one->name();
  });
  if (link == links.end() || (way != ".down" && way != ".up")) {
    std::string all;
    for (const auto& one : links) all += fmt::format(" {0}.down {0}.up", one->name());
    return "no such way; there are" + all;
  }
  const auto error = pcie::error_of(word[1]);
  if (!error) {
    std::string all;
    for (const pcie::Error one : pcie::all_errors) all += std::string(" ") + pcie::to_string(one);
    return "no such error; there are" + all;
  }
  pcie::Fault fault{*error, {}, 1};
  if (word.size() >= 3) {
    fault.type = pcie::tlp_type_of(word[2]);
    if (!fault.type) return fmt::format("no TLP is a {}", word[2]);
  }
  if (word.size() == 4) {
    const char* end = word[3].data() + word[3].size();
    const auto parsed = std::from_chars(word[3].data(), end, fault.number);
    if (parsed.ec != std::errc() || parsed.ptr != end || fault.number == 0) {
      return "the number counts from 1";
    }
  }
  const auto direction = way == ".down" ? pcie::Direction::down : pcie::Direction::up;
  return (*link)->inject(direction, fault) ? "" : "no such packet can have this error there";
}

std::string Machine::operate_slot(const std::string& host, std::string_view what) {
  const auto word = words(what);
  if (word.size() != 2) return "slot takes a link, and remove, insert or button";
  std::string all;
  for (const SlotOf& slot : slots_) {
    if (slot.host != host) continue;
    all += std::string(" ") + slot.link->name();
    if (word[0] != slot.link->name()) continue;
    if (word[1] == "remove") return slot.port->remove_card() ? "" : "the slot is empty";
    if (word[1] == "insert") return slot.port->insert_card() ? "" : "the slot has a card";
    if (word[1] == "button") return slot.port->press_attention_button() ? "" : "there is no button";
    return "a slot knows remove, insert and button";
  }
  return "no such slot; there are" + all;
}

}  // namespace platform
