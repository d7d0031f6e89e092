// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace vp {

/// Makes the kernel return to its caller from time to time, by the clock on the wall, so that the
/// user is heard whatever the simulation does: also while it goes on without simulated time. What
/// is simulated does not change.
class WallClock {
 public:
  /// From here on the kernel pauses if look() has not been called for one to two intervals. It
  /// pauses at the end of a delta cycle. For the process that calls it; a forked child calls it
  /// again.
  static void start(std::chrono::milliseconds interval);
  static void stop();

  /// The caller of the kernel looks at the outside.
  static void look();
  /// Whether the kernel has been asked to pause. A process that computes for long without giving
  /// the kernel a turn looks at it now and then.
  static bool pausing();
};

}  // namespace vp
