// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/data_link/line_rate.h"
#include "models/pcie/link/link_config.h"
#include "models/pcie/protocol/flow_control.h"

namespace pcie {

/// What a buffer at an end of a link has to bridge.
struct BufferLoop {
  LineRate rate;             ///< of the direction in which packets are sent
  unsigned max_payload;      ///< in bytes
  vp::Picoseconds duration;  ///< from the moment at which a packet needs room until room is free
};

/// Sizes of buffers with which a link without errors streams at its full rate, in bytes on the
/// wire. Two of the largest packets fit in addition.
std::uint64_t buffer_for(const BufferLoop& loop);

/// Credits with which a link streams writes of 4 bytes, of 64, and of `max_payload` bytes, at its
/// full rate. There are as many for non-posted requests and for completions as for posted requests.
/// At most 127 headers and 2,047 units of data can be advertised unless `scaled` permits more,
/// which the receiver then returns in larger units.
CreditConfig credits_for(const BufferLoop& loop, bool scaled);

/// Credits that cover the credit loop of a link: the way of a packet through the sending component,
/// the link and the receiving component, the time that an UpdateFC waits, and its way back. The
/// latencies are those of the components. `scaled`: whether both have scaled flow control.
CreditConfig default_credits(const LinkConfig& link, vp::Picoseconds sender,
                             vp::Picoseconds receiver, bool scaled);

}  // namespace pcie
