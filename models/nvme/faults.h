// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/nvme/protocol.h"

namespace nvme {

/// Faults of the controller itself, which somebody has asked for and which are yet to happen.
/// Neither a reset nor a loss of power takes them back.
class Faults {
 public:
  enum class Effect : std::uint8_t { none, hold, fail };

  /// What happens to a command in place of its execution.
  struct Fate {
    Effect effect = Effect::none;
    StatusCode status = StatusCode::success;  ///< of a command that fails
  };

  /// Asks for a fault. NUMBER is 1 if it is left out, and COMMAND is `io`:
  ///
  ///     hold [NUMBER [COMMAND]]         the next commands are fetched but not answered, until they
  ///                                     are aborted, their queue is deleted or the controller
  ///                                     reset
  ///     fail STATUS [NUMBER [COMMAND]]  the next commands end with this status, without an effect
  ///     refuse_abort [NUMBER]           the next Abort commands abort nothing, and say so
  ///     stay_disabled [NUMBER]          the next times it is enabled, it does not become ready
  ///     clear                           all of these are taken back, as far as they have not
  ///                                     happened
  ///
  /// STATUS is one of its names in protocol.h, or type and code as a number from 0x001 to 0x7ff.
  /// COMMAND is `io` or `admin` for all commands of such a queue, or a name of protocol.h. Faults
  /// of the same command happen one after the other. At most 256 `hold` and `fail` wait at a time.
  /// Returns why the words cannot be obeyed, or an empty string.
  std::string ask(const std::vector<std::string_view>& words);

  /// Whether a command may have a fate.
  bool any() const { return !commands_.empty(); }
  /// The fate of a command that was fetched. `admin` says from which kind of queue.
  Fate fate(bool admin, std::uint8_t opcode);
  bool refuses_abort() { return take(refused_aborts_); }
  bool stays_disabled() { return take(missed_enables_); }

  /// How many faults have happened.
  const std::uint64_t& count() const { return count_; }

 private:
  struct OfCommands {
    Fate fate;
    unsigned number;  // commands that are left
    bool admin;
    bool any;  // whatever the opcode
    std::uint8_t opcode;
  };

  bool take(unsigned& left);

  std::vector<OfCommands> commands_;  // the first one that fits counts
  unsigned refused_aborts_ = 0;
  unsigned missed_enables_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace nvme
