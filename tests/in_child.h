// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace vp {

/// Runs `work` in a process of its own, since SystemC elaborates only once, and returns its result. A
/// failed expectation in that process is a failure here.
std::string in_child(const std::function<std::string()>& work);

}  // namespace vp
