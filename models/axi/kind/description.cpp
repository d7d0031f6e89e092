// SPDX-License-Identifier: Apache-2.0
#include "models/axi/kind/description.h"

#include "vp/config/units.h"

namespace axi {

Description::Description(const BlockType& block)
    : type(&block),
      clock(static_cast<std::int64_t>(block.clock_hz)),
      id{block.vendor, block.device},
      subsystem{block.vendor, 0x0001} {}

std::string Description::summary() const {
  return vp::config::frequency_quantity().print(clock);
}

}  // namespace axi
