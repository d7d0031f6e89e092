// SPDX-License-Identifier: Apache-2.0
// The guest's serial port and the console at its other end.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

class InstanceConsoleTest : public testing::Test {
 protected:
  static Instance::Config config(Console& console) {
    Instance::Config config = host("echo");
    config.consoles = {&console};
    for (const char* word : {"-chardev", "oae,id=console0", "-serial", "chardev:console0"}) {
      config.arguments.push_back(word);
    }
    return config;
  }

  InstanceConsoleTest() : machine_(config(console_)) {
    console_.on_output([this](char byte, Picoseconds when) {
      output_ += byte;
      times_.push_back(when);
    });
  }

  Console console_{"host"};
  Machine machine_;
  std::string output_;
  std::vector<Picoseconds> times_;
};

std::string text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i * 31 + i / 256);
  return text;
}

// Far more than the 16 bytes that the port holds.
TEST_F(InstanceConsoleTest, MoreThanThePortTakesArrivesWholeAndInOrder) {
  const std::string input = text(5000);
  run(1 * us);
  console_.type(input);
  run(20 * ms);
  EXPECT_TRUE(output_ == input) << output_.size();
  EXPECT_FALSE(console_.has_input());
}

// Before its FIFO is on the port holds one byte, and loses it when the guest empties it.
TEST_F(InstanceConsoleTest, InputFromBeforeThePortIsSetUpIsNotStuck) {
  console_.type("abcdef");
  run(100 * us);
  EXPECT_EQ(output_, "bcdef");
  EXPECT_FALSE(console_.has_input());
}

TEST_F(InstanceConsoleTest, InputComesWheneverItIsTyped) {
  const std::string input = text(1000);
  Event type(machine_.domain, [&] {
    const std::size_t done = std::min<std::size_t>(input.size(), now() / (50 * us) * 10);
    console_.type(input.substr(done - 10, 10));
    if (done < input.size()) type.after(50 * us);
  });
  type.at(50 * us);
  run(10 * ms);
  EXPECT_TRUE(output_ == input) << output_.size();
}

TEST_F(InstanceConsoleTest, OutputHasTheTimeAtWhichTheGuestWroteIt) {
  run(1 * us);
  console_.type("abcdef");
  run(100 * us);
  ASSERT_EQ(output_, "abcdef");
  for (std::size_t i = 1; i < times_.size(); ++i) {
    EXPECT_GT(times_[i], times_[i - 1] + 200 * ns);
    EXPECT_LT(times_[i], times_[i - 1] + 300 * ns);
  }
}

TEST(InstanceConsoleQuantumTest, TimesDoNotDependOnTheQuantum) {
  const auto trace = [](Picoseconds quantum) {
    return in_child([&] {
      Console console("host");
      std::string trace;
      console.on_output(
          [&](char byte, Picoseconds when) { trace += std::to_string(when) + byte + "\n"; });
      Instance::Config config = host("echo");
      config.max_quantum = quantum;
      config.consoles = {&console};
      for (const char* word : {"-chardev", "oae,id=console0", "-serial", "chardev:console0"}) {
        config.arguments.push_back(word);
      }
      Machine machine(std::move(config));
      Event type(machine.domain, [&] {
        console.type("some text");
        type.after(7'654'321);
      });
      type.at(1'234'567);
      run(1 * ms);
      return trace;
    });
  };
  const std::string expected = trace(50 * ns);
  EXPECT_GT(expected.size(), 1000u);
  EXPECT_TRUE(trace(1 * us) == expected);
  EXPECT_TRUE(trace(1 * ms) == expected);
}

// The guest polls, and its run has to end where somebody may answer.
TEST(InstanceConsoleQuantumTest, WhoHearsOutputAnswersInTime) {
  const auto trace = [](Picoseconds quantum) {
    return in_child([&] {
      Console console("host");
      std::string trace;
      Instance::Config config = host("echo");
      config.max_quantum = quantum;
      config.consoles = {&console};
      for (const char* word : {"-chardev", "oae,id=console0", "-serial", "chardev:console0"}) {
        config.arguments.push_back(word);
      }
      Machine machine(std::move(config));
      Event answer(machine.domain, [&] { console.type("b"); });
      console.on_output([&](char byte, Picoseconds when) {
        if (when < 50 * us) trace += std::to_string(when) + byte + "\n";
        answer.at(when + 100 * ns);
      });
      Event type(machine.domain, [&] { console.type("a"); });
      type.at(1'234'567);
      run(50 * us);
      return trace;
    });
  };
  const std::string expected = trace(50 * ns);
  EXPECT_GT(std::count(expected.begin(), expected.end(), 'b'), 50);
  EXPECT_EQ(trace(1 * us), expected);
  EXPECT_EQ(trace(1 * ms), expected);
}

}  // namespace
}  // namespace vp::qemu
