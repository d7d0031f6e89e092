// SPDX-License-Identifier: Apache-2.0
// Some work of QEMU concerns all vCPUs at once. It is done while some of them are inside an access.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

// The accesses of two readers overlap, so that there is hardly a moment without an access.
TEST(CpuExclusiveTest, InvalidationsOfTheTlbWaitForNobody) {
  Machine machine(ipu("shootdown", 3));
  machine.device.at[device + 8].wait = 750 * ns;
  machine.device.at[device + 16].wait = 331 * ns;
  run(100 * us);
  const auto notes = machine.device.of(device);
  ASSERT_GE(notes.size(), 14'000u);
  for (std::size_t i = 1; i < notes.size(); ++i) {
    ASSERT_EQ(notes[i].value, i);
    ASSERT_EQ(notes[i].time, notes[i - 1].time + 7 * ns);
  }
  // The readers wait for nobody either: after each access they execute two instructions.
  for (const unsigned core : {1u, 2u}) {
    const auto reads = machine.device.of(device + 8 * core);
    const Picoseconds wait = core == 1 ? 750 * ns : 331 * ns;
    ASSERT_GE(reads.size(), 100u);
    for (std::size_t i = 1; i < reads.size(); ++i) {
      ASSERT_EQ(reads[i].time, reads[i - 1].time + wait + 3 * ns);
    }
  }
}

/// What core 0 computes with code that it writes.
std::vector<std::uint64_t> results(const std::string& translator, bool others_read) {
  std::vector<std::uint64_t> values;
  const std::string text = in_child([&] {
    Instance::Config config = ipu("shootdown", others_read ? 3 : 1);
    for (std::string& word : config.arguments) {
      if (word == "tcg") word = translator;
    }
    Machine machine(std::move(config));
    machine.parameter(0, 1);
    machine.device.at[device + 8].wait = 750 * ns;
    machine.device.at[device + 16].wait = 331 * ns;
    run(1500 * us);
    std::string found;
    for (const Access& one : machine.device.of(device + 0x400)) {
      found += std::to_string(one.value) + " ";
    }
    return found;
  });
  std::istringstream words(text);
  for (std::uint64_t value; words >> value;) values.push_back(value);
  return values;
}

TEST(CpuExclusiveTest, TranslatedCodeIsThrownAwayUnderNobody) {
  const auto expected = results("tcg,tb-size=64", false);
  ASSERT_GE(expected.size(), 500u);
  const auto found = results("tcg,tb-size=1", true);
  // Core 0 waits now and then, but not for long.
  ASSERT_GE(found.size(), expected.size() * 9 / 10);
  for (std::size_t i = 0; i < found.size() && i < expected.size(); ++i) {
    ASSERT_EQ(found[i], expected[i]) << i;
  }
}

}  // namespace
}  // namespace vp::qemu
