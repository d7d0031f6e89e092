// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace vp::plugin {

/// Performs an action in a child process, in order to learn whether it goes well: what a plugin
/// does while it is being loaded could otherwise end this process. Whatever the action prints is
/// dropped, unless it fails.
///
/// Throws images::Mistake if the action throws, if it ends the child, or if this process has
/// threads and so cannot be forked. Throws ForkError or std::system_error if there can be no child.
void rehearse(const std::function<void()>& action);

}  // namespace vp::plugin
