// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "tests/rtl/slot.h"

/// The words that a port may use.
struct WordRange {
  unsigned first = 0;
  unsigned size = 256;
  bool has(unsigned index) const { return index >= first && index - first < size; }
};

/// The words of the block and their holders, as the design describes them.
class ReferenceWords {
 public:
  static constexpr unsigned count = 256;

  struct Step {
    unsigned operation = 0;  ///< enum word_operation
    unsigned index = 0;
    std::uint64_t operand = 0;
  };
  using Steps = std::array<Step, 4>;

  /// The steps that a slot requests, or nothing if they are impossible or its verb needs no words.
  static std::optional<Steps> steps(const Slot& slot, const WordRange& range = {});

  bool busy(const Steps& steps) const;
  /// Whether all comparisons hold.
  bool met(const Steps& steps) const;
  /// Returns slices 1 to 5 of the answer.
  std::array<std::uint64_t, 5> found(const Steps& steps) const;
  void hold(const Steps& steps);
  void release(const Steps& steps);
  void perform(const Steps& steps);

  std::uint64_t word(unsigned index) const;
  const std::set<unsigned>& held() const { return held_; }
  /// The numbers of BUSY answers and of executed steps.
  unsigned refusals() const { return refusals_; }
  unsigned done() const { return done_; }

  /// The firmware's registers.
  std::optional<std::uint64_t> read(unsigned address) const;
  void write(unsigned address, std::uint64_t data, std::uint64_t mask);

 private:
  void command(std::uint64_t data);

  std::map<unsigned, std::uint64_t> words_;
  std::set<unsigned> held_;
  mutable unsigned refusals_ = 0;
  unsigned done_ = 0;
  std::uint64_t operand_ = 0;
  std::uint64_t compare_ = 0;
  std::uint64_t result_ = 0;
  std::uint64_t outcome_ = 0;
};
