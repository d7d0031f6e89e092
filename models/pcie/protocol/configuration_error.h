// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace pcie {

/// A part was given a configuration that no hardware could have; the text says what is possible.
struct ConfigurationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace pcie
