// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/protocol/flow_control.h"
#include "platforms/description/platform.h"

namespace platform {

/// The credits in the form that the model of a port takes. Root ports and endpoints advertise
/// infinite credits for completions (PCIe 5.0, 2.6.1).
inline pcie::CreditConfig credit_config(const Credits& credits) {
  return {{{{credits.posted_headers, credits.posted_data},
            {credits.non_posted_headers, credits.non_posted_data},
            {credits.completion_headers, credits.completion_data}}},
          credits.scale};
}

}  // namespace platform
