// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace vp {

/// Makes SystemC's kernel return to its caller from time to time, by the clock on the wall. So the
/// user is heard whatever the simulation does, even while simulated time stands still. What is
/// simulated does not change.
class WallClock {
 public:
  /// Makes the kernel pause, at the end of a delta cycle, whenever look() has not been called for
  /// one to two intervals. This holds for the calling process only; a forked child calls start()
  /// again. An interval of zero makes every call of pausing() ask for a pause. Such pauses come at
  /// the same instants in every run.
  static void start(std::chrono::milliseconds interval);
  static void stop();

  /// Records that the kernel's caller has looked at the outside.
  static void look();
  /// Returns whether the kernel has been asked to pause. A process that computes for a long time
  /// without giving the kernel a turn has to look at this now and then.
  static bool pausing();
};

}  // namespace vp
