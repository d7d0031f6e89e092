// SPDX-License-Identifier: Apache-2.0
// A plugin whose static constructor throws.
#include <stdexcept>

namespace {

struct Throws {
  Throws() { throw std::runtime_error("the key does not turn"); }
} const throws;

}  // namespace
