// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine.h"

#include <algorithm>

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
    }
  }
}

}  // namespace platform
