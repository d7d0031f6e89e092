// SPDX-License-Identifier: Apache-2.0
#include "models/oae/wire.h"

#include <fmt/format.h>

namespace oae {

std::uint64_t checked_clock(std::uint64_t hertz) {
  if (hertz < 1'000 || hertz > 10'000'000'000) {
    throw ConfigurationError(fmt::format("clock of {} Hz: 1 kHz to 10 GHz are possible", hertz));
  }
  return hertz;
}

}  // namespace oae
