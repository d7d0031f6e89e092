// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/endpoint/endpoint.h"
#include "platforms/description/platform.h"
#include "platforms/machine/completions.h"
#include "platforms/machine/credits.h"
#include "platforms/machine/downstream_port.h"

namespace platform {

/// An endpoint at the lower end of this link, without functions.
inline pcie::EndpointConfig endpoint_config(const device::EndpointDescription& endpoint,
                                            const PcieLink& link, std::uint32_t seed) {
  pcie::EndpointConfig config;
  config.generation = link.generation;
  config.lanes = link.lanes;
  config.latency = endpoint.latency;
  config.max_payload = link.max_payload_size;
  config.max_read_request = link.max_read_request_size;
  config.tags = endpoint.tags;
  config.aligned_requests = endpoint.aligned_requests;
  config.completions = completion_config(endpoint.completions, seed);
  config.credits = credit_config(link.credits_down, link);
  config.active_states = active_states(link);
  config.eye = {link.eye.timing, link.eye.voltage};
  config.functions.clear();
  return config;
}

}  // namespace platform
