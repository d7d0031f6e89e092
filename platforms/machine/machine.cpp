// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "models/device/kind.h"
#include "platforms/description/faults.h"
#include "platforms/machine/downstream_port.h"
#include "platforms/machine/endpoint.h"
#include "vp/config/units.h"
#include "vp/control/words.h"
#include "vp/log/log.h"

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
  config.transmit_queue = static_cast<std::uint64_t>(link.transmit_queue);
  config.retry_buffer = static_cast<std::uint64_t>(link.retry_buffer);
  config.dllps =
      link.dllps == "published" ? pcie::DllpAccount::published : pcie::DllpAccount::traffic;
  config.l0s_after = link.aspm.l0s_after;
  config.l1_after = link.aspm.l1_after;
  config.seed = seed;
  config.training = 20 * vp::ms;  // with equalization, as long as on servers of today
  // The ends of an OAE link assume that a loss of power lasts longer than a round trip of their
  // wire.
  config.power_up = 1 * vp::ms;
  return config;
}

/// The links whose upper end is at this host or switch, in the order of its ports.
std::vector<const PcieLink*> links_below(const Platform& platform, const std::string& name) {
  std::vector<const PcieLink*> below;
  for (const PcieLink& link : platform.pcie_links) {
    if (link.up == name) below.push_back(&link);
  }
  return below;
}

/// The link whose lower end is at this device.
const PcieLink& link_above(const Platform& platform, const std::string& name) {
  return *std::find_if(platform.pcie_links.begin(), platform.pcie_links.end(),
                       [&](const PcieLink& link) { return link.down == name; });
}

bool parse(std::string_view text, unsigned& number) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

/// Tells the user that something which a platform file has timed is impossible at its time.
void report_refusal(const std::string& what, const std::string& why) {
  if (!why.empty())
    vp::log::get("platform")
        .warn("{} at {}: {}", what, vp::config::duration_quantity().print(vp::now()), why);
}

const std::string hot_plug_actions = "remove, insert, button, open, close or power_fault";

/// Does something at a hot-plug slot. Returns why it cannot be done, or an empty string.
std::string operate(pcie::DownstreamPort& port, std::string_view action) {
  const bool moves = action == "remove" || action == "insert";
  if (moves && port.hot_plug_slot().locked()) return "the interlock holds the card";
  if (moves && port.hot_plug_slot().latched()) return "the latch is closed";
  if (action == "remove") return port.remove_card() ? "" : "the hot-plug slot is empty";
  if (action == "insert") return port.insert_card() ? "" : "the hot-plug slot has a card";
  if (action == "button")
    return port.press_attention_button() ? "" : "the hot-plug slot has no button";
  if (action == "open")
    return port.open_latch() ? "" : "the hot-plug slot has no latch, or it is open";
  if (action == "close")
    return port.close_latch() ? "" : "the hot-plug slot has no latch, or it is closed";
  if (action == "power_fault")
    return port.fail_power() ? "" : "the hot-plug slot has no power that could fail";
  return "the action is unknown; a hot-plug slot knows " + hot_plug_actions;
}

}  // namespace

Machine::Machine(const Platform& platform, const Options& options, Outcome& outcome,
                 vp::Trace& trace, vp::Statistics& statistics)
    : platform_(platform), trace_(trace), statistics_(statistics) {
  build_devices(options, outcome);
  connect_sections();
  for (const Host& host : platform.hosts) {
    const std::vector<const PcieLink*> own = links_below(platform, host.name);
    hosts.push_back(std::make_unique<HostMachine>(host.name.c_str(), host, platform, own,
                                                  options.host(host), outcome, statistics));
    for (unsigned port = 0; port < own.size(); ++port) {
      connect(*own[port], hosts.back()->root_complex.port(port), *hosts.back());
    }
  }
}

void Machine::build_devices(const Options& options, Outcome& outcome) {
  const std::vector<device::DescriptionPtr> all = platform_.all_devices();
  const std::size_t listed = all.size() - platform_.devices.size();
  const std::uint32_t seed = platform_.simulation.seed;
  constexpr std::uint64_t of_a_device = 1u << 31;  // links count from 0 without it
  for (std::size_t i = 0; i < all.size(); ++i) {
    const device::Description& each = *all[i];
    // Those of `devices` have the first numbers, so that a device is the same beside any list.
    const std::size_t number = i < listed ? platform_.devices.size() + i : i - listed;
    device::Site site{endpoint_config(each.endpoint, link_above(platform_, each.name), seed),
                      number + of_a_device + (std::uint64_t{seed} << 32), trace_, statistics_};
    const DeviceOptions of_run = options.device(each.name);
    site.vcd = of_run.vcd;
    site.check_rtl = of_run.check_rtl;
    site.processors.gdb_port = of_run.gdb_port;
    site.processors.max_quantum = platform_.simulation.max_quantum;
    site.processors.slice = platform_.simulation.vcpu_slice;
    site.processors.spin_slice = platform_.simulation.spin_slice;
    site.processors.seed = seed;
    if (const File* library = platform_.qemu.library_of(each.kind))
      site.processors.library = library->path;
    site.end_run = [&outcome](vp::ExitCode code, std::string why) {
      outcome.end(code, std::move(why));
    };
    for (const auto& peer : platform_.devices_of(each.kind)) site.peers.push_back(peer->name);
    for (const device::SectionKey& section : device::find_kind(each.kind)->sections()) {
      const auto found = platform_.sections.find(section.key);
      if (found != platform_.sections.end()) site.sections.insert(*found);
    }
    devices.push_back(device::build(each, site));
    outcome.add(devices.back()->domain);
    for (const device::Fault& fault : each.faults) time_fault(*devices.back(), fault);
  }
}

void Machine::time_fault(device::Device& device, const device::Fault& fault) {
  faults.push_back(std::make_unique<vp::Event>(device.domain, [&device, text = fault.inject] {
    report_refusal(fmt::format("{} {}", device.name(), text), device.inject(vp::words(text)));
  }));
  faults.back()->at(fault.at);
}

void Machine::connect_sections() {
  for (const device::Kind* kind : device::kinds()) {
    std::vector<device::Device*> own;
    for (const auto& each : platform_.devices_of(kind->name())) own.push_back(device(each->name));
    for (const device::SectionKey& section : kind->sections()) {
      const auto found = platform_.sections.find(section.key);
      if (found == platform_.sections.end()) continue;
      for (auto& event : found->second->connect(own)) faults.push_back(std::move(event));
    }
  }
}

void Machine::connect(const PcieLink& link, pcie::DownstreamPort& port, HostMachine& host) {
  const auto described = std::find_if(platform_.switches.begin(), platform_.switches.end(),
                                      [&](const Switch& one) { return one.name == link.down; });
  const bool to_switch = described != platform_.switches.end();
  pcie::Port& end = to_switch ? add_switch(*described, link, host) : device(link.down)->endpoint;
  links.push_back(std::make_unique<pcie::Link>(
      (link.up + "_" + link.down).c_str(),
      link_config(link, links.size() + (std::uint64_t{platform_.simulation.seed} << 32)), port, end,
      trace_, statistics_));
  for (const PcieFault& fault : link.faults) {
    faults.push_back(std::make_unique<vp::Event>(
        host.domain, [link = links.back().get(), fault] { platform::inject(*link, fault); }));
    faults.back()->at(fault.at);
  }
  for (const HotPlugAction& action : link.hot_plug.actions) {
    faults.push_back(std::make_unique<vp::Event>(
        host.domain, [link = links.back().get(), &port, what = action.action] {
          report_refusal(fmt::format("{} {}", link->name(), what), operate(port, what));
        }));
    faults.back()->at(action.at);
  }
  hot_plug_slots_.push_back({host.name(), links.back().get(), &port});
  if (!to_switch) return;
  pcie::Switch& above = *switches.back();
  const std::vector<const PcieLink*> below = links_below(platform_, link.down);
  for (unsigned i = 0; i < below.size(); ++i) connect(*below[i], above.port(i), host);
}

pcie::Port& Machine::add_switch(const Switch& described, const PcieLink& above, HostMachine& host) {
  pcie::SwitchConfig config;
  config.generation = above.generation;
  config.lanes = above.lanes;
  config.credits = credit_config(above.credits_down, above);
  config.active_states = active_states(above);
  config.eye = {above.eye.timing, above.eye.voltage};
  config.latency = described.latency;
  config.cut_through = described.cut_through;
  config.max_payload = described.max_payload_size;
  // Hot-plug slots of a host differ in their numbers. Those of root ports are below 32.
  config.first_slot_number = 32 * (1 + static_cast<unsigned>(switches.size()));
  config.ports.clear();
  for (const PcieLink* link : links_below(platform_, described.name)) {
    set_downstream_port(config.ports.emplace_back(), *link);
  }
  switches.push_back(
      std::make_unique<pcie::Switch>(described.name.c_str(), config, host.domain, statistics_));
  return switches.back()->upstream();
}

device::Device* Machine::device(std::string_view name) const {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [name](const auto& one) { return name == one->name(); });
  return found == devices.end() ? nullptr : found->get();
}

std::string Machine::inject(std::string_view what) {
  const auto word = vp::words(what);
  device::Device* failing = word.empty() ? nullptr : device(word[0]);
  if (failing == nullptr) return inject_into_link(word);
  return failing->inject({word.begin() + 1, word.end()});
}

std::string Machine::inject_into_link(const std::vector<std::string_view>& word) {
  if (word.size() < 2 || word.size() > 4)
    return "inject takes a direction of a link and an error, and may take a TLP and a number";
  const std::size_t dot = std::min(word[0].rfind('.'), word[0].size());
  const std::string_view end = word[0].substr(dot);
  const auto link = std::find_if(links.begin(), links.end(), [&](const auto& one) {
    return word[0].substr(0, dot) == one->name();
  });
  if (link == links.end() || (end != ".down" && end != ".up")) {
    std::string all;
    for (const auto& one : links) all += fmt::format(" {0}.down {0}.up", one->name());
    for (const auto& each : platform_.all_devices())
      if (each->has_faults()) all += fmt::format(", and the device {}", each->name);
    return "there is no such direction; there are" + all;
  }
  const auto direction = end == ".down" ? pcie::Direction::down : pcie::Direction::up;
  if (word[1] == lane_failure) {
    unsigned lane = 0;
    if (word.size() != 3 || !parse(word[2], lane))
      return "a lane_failure takes the number of the lane";
    return (*link)->fail_lane(direction, lane) ? ""
                                               : "there is no such lane, or it is the last one";
  }
  const auto error = pcie::error_of(word[1]);
  if (!error) {
    std::string all;
    for (const pcie::Error one : pcie::all_errors) all += std::string(" ") + pcie::to_string(one);
    return "there is no such error; there are" + all + " " + lane_failure;
  }
  pcie::Fault fault{*error, {}, 1};
  if (word.size() >= 3) {
    fault.type = pcie::tlp_type_of(word[2]);
    if (!fault.type) return fmt::format("there is no TLP {}", word[2]);
  }
  if (word.size() == 4) {
    if (!parse(word[3], fault.number) || fault.number == 0)
      return "the number is a whole number from 1 up";
  }
  return (*link)->inject(direction, fault) ? "" : "such a packet cannot have this error there";
}

std::string Machine::export_storage(std::string_view storage, int file) const {
  const std::size_t dot = std::min(storage.find('.'), storage.size());
  const device::Device* exported = device(storage.substr(0, dot));
  unsigned number = 1;
  if (exported == nullptr) {
    std::string all;
    for (const auto& each : platform_.all_devices())
      if (each->storages() > 0) all += " " + each->name;
    return all.empty() ? "no device stores anything" : "there is no such device; there are" + all;
  }
  if (dot < storage.size() && !parse(storage.substr(dot + 1), number))
    return "the number of a storage is a whole number from 1 up";
  return exported->export_storage(number, file);
}

std::string Machine::operate_hot_plug(const std::string& host, std::string_view what) {
  const auto word = vp::words(what);
  if (word.size() != 2) return "hot_plug takes a link and an action: " + hot_plug_actions;
  std::string all;
  for (const HotPlugSlot& at : hot_plug_slots_) {
    if (at.host != host) continue;
    all += std::string(" ") + at.link->name();
    if (word[0] == at.link->name()) return operate(*at.port, word[1]);
  }
  return "there is no such hot-plug slot; there are" + all;
}

}  // namespace platform
