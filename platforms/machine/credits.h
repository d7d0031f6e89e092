// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/protocol/flow_control.h"
#include "platforms/description/platform.h"
#include "platforms/description/receive_buffers.h"

namespace platform {

/// What one end of the link advertises, in the form that the model of a port takes. Root ports and
/// endpoints advertise infinite credits for completions (PCIe 5.0, 2.6.1).
inline pcie::CreditConfig credit_config(const Credits& described, const PcieLink& link) {
  const Credits credits = advertised(described, link.lanes);
  return {{{{credits.posted_headers, credits.posted_data},
            {credits.non_posted_headers, credits.non_posted_data},
            {credits.completion_headers, credits.completion_data}}},
          credits.scale,
          sized_by_link(described)};
}

}  // namespace platform
