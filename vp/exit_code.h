// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vp {

/// How a run ended, as the exit code of the process.
enum class ExitCode : int {
  success = 0,         ///< all went well
  failed = 1,          ///< a command or a check in the guest failed
  mistake = 2,         ///< mistake in a platform file, option or input file; nothing was started
  guest_panic = 3,     ///< the guest's kernel panicked, as its console shows
  firmware_fault = 4,  ///< the firmware of an IPU faulted
  limit = 5,           ///< the time limit came first, or a mark was not reached
  broken_promise = 6,  ///< a model broke a promise: a defect of ours
  halted = 7,          ///< nothing can happen any more: all processors are halted for good
  interrupted = 130,   ///< SIGINT or SIGTERM, or the user ended the simulator
};

}  // namespace vp
