// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platforms/description/platform.h"

namespace platform {

/// The names that `buffer` of credits can have: `link`, `infinite`, and those of real ports.
std::vector<std::string> receive_buffers();

/// Whether numbers of credits are given.
bool credits_given(const Credits& credits);

/// Whether the receive buffer is as large as its link needs, see pcie::default_credits().
bool sized_by_link(const Credits& credits);

/// What the receive buffer at an end of a link of that width advertises: the credits that are
/// given, or else those of its `buffer`. Without meaning if sized_by_link().
Credits advertised(const Credits& credits, unsigned lanes);

}  // namespace platform
