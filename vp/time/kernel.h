// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/time/time.h"

namespace vp {

/// The part of SystemC's kernel for which SystemC has no function. A process that does the kernel's
/// work in its place needs it.
class Kernel {
 public:
  /// Moves the time on to `when`, which is not the present, as the kernel does before it triggers
  /// the events of that time. The caller has made sure that no process is about to run, and that no
  /// event comes earlier.
  static void advance(Picoseconds when);

  /// Returns whether the kernel is to return to its caller at the end of this delta cycle.
  static bool is_to_return();

  /// Returns the time of the next timed notification, or `never`. Events that lie in the memory
  /// from `begin` to `end` do not count. A process that has called this must not call
  /// sc_pending_activity() or sc_time_to_pending_activity() before it waits: these drop cancelled
  /// notifications unseen.
  static Picoseconds next_notification(const void* begin, const void* end);
};

}  // namespace vp
