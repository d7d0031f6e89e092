// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guest/scheduling/trace/trace.h"

/// When tasks were about to block, and when they went on, as they have seen it themselves: the file
/// that `tasks --stamps` writes.
class Stamps {
 public:
  /// Reads a file of lines `before CPU NS` and `after CPU NS`, in any order. Returns what is wrong
  /// with it, or an empty text.
  std::string read(const std::string& file);

  /// The last stamp of a CPU in this time if it is one of a task that is about to block.
  std::optional<std::uint64_t> last_before(unsigned cpu, std::uint64_t from,
                                           std::uint64_t to) const;

  /// The first stamp of a CPU in this time if it is one of a task that goes on.
  std::optional<std::uint64_t> first_after(unsigned cpu, std::uint64_t from,
                                           std::uint64_t to) const;

 private:
  struct Stamp {
    std::uint64_t time;
    bool before;
  };
  static bool earlier(const Stamp& one, const Stamp& other);

  std::array<std::vector<Stamp>, POLICY_CPUS> stamps_;  // of each CPU, in order
};
