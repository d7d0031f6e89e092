// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace vp {

/// A thread of this process.
struct Thread {
  pid_t id = 0;
  std::string name;  ///< as the operating system calls it
  /// The program or library whose function the thread executes: of those on its stack the first
  /// that is none of the C and C++ libraries. Empty if the thread does not tell.
  std::string file;
};

/// The threads of this process, without the calling one. Each of them is interrupted by a signal,
/// in order to look at its stack. This is for messages: it takes up to a tenth of a second for each
/// thread, and the process should end soon after.
std::vector<Thread> other_threads();

/// A text that names these threads.
std::string describe(const std::vector<Thread>& threads);

}  // namespace vp
