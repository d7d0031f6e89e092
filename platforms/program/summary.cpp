// SPDX-License-Identifier: Apache-2.0
#include "platforms/program/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/device/kind.h"
#include "vp/config/units.h"

namespace platform {

std::string summary(const Platform& platform) {
  const auto time = [](auto value) { return vp::config::duration_quantity().print(value); };
  const auto size = [](auto value) { return vp::config::size_quantity().print(value); };
  const auto rate = [](auto value) { return vp::config::instruction_rate_quantity().print(value); };
  const auto plural = [](unsigned count) { return count == 1 ? "" : "s"; };

  std::string text =
      fmt::format("{}{}{}\n", platform.name, platform.title.empty() ? "" : ": ", platform.title);
  for (const File& plugin : platform.plugins) text += fmt::format("  plugin {}\n", plugin.text);
  for (const Host& host : platform.hosts)
    text +=
        fmt::format("  host {}: {} vCPU{} ({}, {}), {} RAM\n", host.name, host.vcpus,
                    plural(host.vcpus), host.cpu, rate(host.instruction_rate), size(host.memory));
  for (const Switch& each : platform.switches) {
    const auto ports = static_cast<unsigned>(
        std::count_if(platform.pcie_links.begin(), platform.pcie_links.end(),
                      [&](const PcieLink& link) { return link.up == each.name; }));
    text += fmt::format("  switch {}: {} downstream port{}, {}\n", each.name, ports, plural(ports),
                        time(each.latency));
  }
  for (const device::DescriptionPtr& each : platform.all_devices()) {
    const device::Traits& traits = device::find_kind(each->kind)->traits();
    const std::string more = each->summary();
    text += fmt::format("  {} {}{}{}\n",
                        traits.noun == device::Traits().noun ? each->kind : traits.noun, each->name,
                        more.empty() ? "" : ": ", more);
  }
  for (const PcieLink& link : platform.pcie_links)
    text +=
        fmt::format("  PCIe {} -> {}: generation {} x{}, {} down, {} up\n", link.up, link.down,
                    link.generation, link.lanes, time(link.latency_down), time(link.latency_up));
  return text;
}

}  // namespace platform
