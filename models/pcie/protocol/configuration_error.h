// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace pcie {

/// A component was given a configuration that no hardware could have. The text says which values
/// are possible.
struct ConfigurationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace pcie
