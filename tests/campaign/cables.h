// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "oae_registers.h"
#include "tests/rtl/transfer/ends/cable.h"

inline constexpr unsigned cells = 3;

/// The links of three cells: cable i is between cells i and (i + 1) % 3.
class Cables {
 public:
  /// `delay` in slices, each way.
  explicit Cables(unsigned delay) {
    for (auto& cable : all) cable = std::make_unique<LinkCable>(delay);
  }

  /// One clock of all ends that have something to do.
  void clock();
  /// Cuts both wires of a cable, or makes them whole.
  static void cut(LinkCable& cable);
  static void join(LinkCable& cable);
  /// Whether a transfer of either side is under way.
  static bool carries(const LinkCable& cable);

  std::array<std::unique_ptr<LinkCable>, cells> all;
  std::uint64_t now = 0;
  /// Is cut as soon as the other side alone knows what becomes of a transfer.
  LinkCable* aim = nullptr;
  std::function<void()> on_aimed_cut;
};
