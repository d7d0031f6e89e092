// SPDX-License-Identifier: Apache-2.0
#include "models/axi/burst.h"

#include "tests/models/axi/fixture.h"

namespace axi::test {
namespace {

Burst burst(std::uint64_t address, unsigned beats, unsigned size, unsigned type) {
  return {address, 0, beats, size, type};
}

// Each beat of every burst that is possible on a bus of 16 bytes, as the specification's pseudocode
// says.
TEST(Burst, HasTheBeatsOfTheSpecification) {
  constexpr unsigned bus = 16;
  unsigned bursts = 0;
  for (unsigned log = 0; log <= 4; ++log) {
    for (const unsigned beats : {1u, 2u, 3u, 4u, 8u, 15u, 16u, 100u, 256u}) {
      for (std::uint64_t offset = 0; offset < 64; ++offset) {
        for (unsigned type = 0; type <= 2; ++type) {
          const Burst one = burst(0x12345000 + offset, beats, 1u << log, type);
          bool rule = false;
          if (one.problem(bus, rule) != nullptr) continue;
          ++bursts;
          const auto lanes = lanes_of({one.address, beats, log, type}, bus);
          std::uint64_t low = ~std::uint64_t{0}, high = 0;
          for (unsigned i = 0; i < beats; ++i) {
            ASSERT_EQ(one.begin(i), lanes[i].address);
            ASSERT_EQ(one.end(i) - one.begin(i), lanes[i].last - lanes[i].first + 1);
            low = std::min(low, one.begin(i));
            high = std::max(high, one.end(i));
          }
          ASSERT_EQ(one.base(), low);
          ASSERT_EQ(one.length(), high - low);
        }
      }
    }
  }
  EXPECT_GT(bursts, 3000u);
}

TEST(Burst, IsRefusedIfItBreaksARuleOrHasNoMeaning) {
  const struct {
    Burst burst;
    const char* problem;
    bool rule;
  } table[] = {
      {burst(0x1000, 1, 8, incrementing), nullptr, true},
      {burst(0x1000, 1, 16, incrementing), "larger than the data pins", true},
      {burst(0x1000, 256, 8, incrementing), nullptr, true},
      {burst(0x1800, 256, 8, incrementing), nullptr, true},
      {burst(0x1801, 256, 8, incrementing), nullptr, true},  // ends at the boundary, too
      {burst(0x1808, 256, 8, incrementing), "crosses a multiple of 4 KiB", true},
      {burst(0x1fff, 2, 1, incrementing), "crosses a multiple of 4 KiB", true},
      {burst(~std::uint64_t{0}, 1, 8, incrementing), nullptr, true},
      {burst(0x1000, 1, 8, fixed), nullptr, false},
      {burst(0x1000, 2, 8, fixed), "a FIXED burst has several beats", false},
      {burst(0x1000, 3, 8, wrapping), "neither 2, 4, 8 nor 16", true},
      {burst(0x1000, 1, 8, wrapping), "neither 2, 4, 8 nor 16", true},
      {burst(0x1004, 4, 8, wrapping), "not aligned", true},
      {burst(0x1ff8, 16, 8, wrapping), nullptr, true},
      {burst(0x1000, 1, 8, 3), "reserved", true},
  };
  for (const auto& each : table) {
    SCOPED_TRACE(testing::Message() << std::hex << each.burst.address << " " << each.burst.beats);
    bool rule = false;
    const char* problem = each.burst.problem(8, rule);
    ASSERT_EQ(problem == nullptr, each.problem == nullptr);
    if (problem == nullptr) continue;
    EXPECT_THAT(problem, testing::HasSubstr(each.problem));
    EXPECT_EQ(rule, each.rule);
  }
}

}  // namespace
}  // namespace axi::test
