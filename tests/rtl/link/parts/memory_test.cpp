// SPDX-License-Identifier: Apache-2.0
// The memory of a ring on its own: two words in each of 16 rows.
#include <Voae_link_memory.h>

#include <cstdint>

#include "tests/rtl/link/parts/part.h"

namespace {

class Memory : public window::Part<Voae_link_memory> {
 protected:
  static constexpr unsigned rows = 16;

  void clock() {
    top_.clk_i = 0;
    top_.eval();
    top_.clk_i = 1;
    top_.eval();
    top_.write_i = 0;
    top_.read_i = 0;
  }
  /// The bits of `words` say which of the two are written.
  void write(unsigned row, unsigned words, std::uint64_t first, std::uint64_t second) {
    top_.write_i = words;
    top_.write_row_i = row;
    put(first, second);
    clock();
  }
  void put(std::uint64_t first, std::uint64_t second) {
    top_.write_data_i[0] = static_cast<std::uint32_t>(first);
    top_.write_data_i[1] = static_cast<std::uint32_t>(first >> 32);
    top_.write_data_i[2] = static_cast<std::uint32_t>(second);
    top_.write_data_i[3] = static_cast<std::uint32_t>(second >> 32);
  }
  void read(unsigned row) {
    top_.read_i = 1;
    top_.read_row_i = row;
    clock();
  }
  std::uint64_t data(unsigned word) const {
    return top_.read_data_o[2 * word] | std::uint64_t{top_.read_data_o[2 * word + 1]} << 32;
  }
  static std::uint64_t value(unsigned row) { return 0x0123456789abcdef * (row + 1); }
};

TEST_F(Memory, EachRowHasWhatWasWritten) {
  for (unsigned row = 0; row < rows; ++row) write(row, 3, value(row), ~value(row));
  for (unsigned row = 0; row < rows; ++row) {
    read(row);
    EXPECT_EQ(data(0), value(row));
    EXPECT_EQ(data(1), ~value(row));
  }
}

TEST_F(Memory, OnlyTheWordsThatAreMeantAreWritten) {
  write(5, 3, 1, 2);
  write(5, 1, 3, 4);
  read(5);
  EXPECT_EQ(data(0), 3u);
  EXPECT_EQ(data(1), 2u);
  write(5, 2, 5, 6);
  write(5, 0, 7, 8);
  read(5);
  EXPECT_EQ(data(0), 3u);
  EXPECT_EQ(data(1), 6u);
}

// A row is read with every access and not in every clock, which would take power.
TEST_F(Memory, WhatWasReadStaysUntilTheNextRead) {
  write(1, 3, value(1), ~value(1));
  write(2, 3, value(2), ~value(2));
  read(1);
  top_.read_row_i = 2;
  clock();
  EXPECT_EQ(data(0), value(1));
  write(1, 3, 3, 4);
  EXPECT_EQ(data(1), ~value(1));
  read(2);
  EXPECT_EQ(data(0), value(2));
}

}  // namespace
