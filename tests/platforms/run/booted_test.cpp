// SPDX-License-Identifier: Apache-2.0
// A test in C++ that starts from a booted Linux. Each check runs in a child of one boot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/description/load.h"
#include "platforms/machine/machine.h"
#include "platforms/machine/outcome.h"
#include "vp/snapshot/children.h"
#include "vp/snapshot/snapshot.h"

namespace platform {
namespace {

using testing::HasSubstr;

class Booted {
 public:
  Booted() {
    for (const auto& host : machine_.hosts) {
      host->console.on_output([this](char byte, vp::Picoseconds) { console += byte; });
    }
    run_until([this] { return snapshot_.reached(); });
  }

  bool booted() const { return snapshot_.reached(); }
  /// Gives the guest its command and runs until the guest is off.
  void run(const std::string& command) {
    snapshot_.go_on(command);
    run_until([this] { return outcome.ended(); });
  }

  Outcome outcome;
  std::string console;

 private:
  template <typename Condition>
  void run_until(const Condition& condition) {
    while (!condition() && vp::now() < 10 * vp::s) sc_core::sc_start(vp::to_sc_time(1 * vp::ms));
  }

  HostMachine::Options options() {
    HostMachine::Options options;
    options.control.on_exit = [this](int code) { outcome.set_guest_code("host", code); };
    options.control.on_mark = [this](const std::string& name) { return snapshot_.say(name); };
    return options;
  }

  vp::Trace trace_;
  vp::Statistics statistics_;
  const Platform platform_ = load(PLATFORMS "/oae-mini.yaml", OAE_VP_IMAGES, {}, "");
  Machine machine_{platform_,
                   {[this](const Host&) { return options(); },
                    [](const std::string&) { return Machine::DeviceOptions{}; }},
                   outcome,
                   trace_,
                   statistics_};
  vp::Snapshot snapshot_{vp::Mark::parse("booted")};
};

TEST(BootedTest, EachChildGoesOnAlone) {
  struct Check {
    std::string command;
    int guest_code;
    std::string output;
  };
  const std::vector<Check> checks = {
      {"oae bench --count 3", 0, "committed 3 of 3"},
      {"exit 7", 7, "reboot: Power down"},
      {"touch /tmp/mine && ls /tmp", 0, "mine"},
      {"test ! -e /tmp/mine && oae stat", 0, "block.committed"},
  };
  Booted machine;
  ASSERT_TRUE(machine.booted()) << machine.console;
  const vp::Picoseconds moment = vp::now();
  std::size_t ended = 0;
  vp::Children::run(checks.size(), 2,
                    {[&](std::size_t number, vp::ChildNote& note) {
                       machine.console.clear();
                       machine.run(checks[number].command);
                       note = {vp::now(), machine.outcome.guest_code()};
                       EXPECT_TRUE(machine.outcome.ended());
                       EXPECT_THAT(machine.console, HasSubstr(checks[number].output));
                       return testing::Test::HasFailure() ? 1 : 0;
                     },
                     [&](const vp::ChildResult& result) {
                       ++ended;
                       SCOPED_TRACE(checks[result.number].command);
                       EXPECT_EQ(result.ending, vp::Ending{});
                       EXPECT_EQ(result.note.guest_code, checks[result.number].guest_code);
                       EXPECT_GT(result.note.time, moment);
                     },
                     {}});
  EXPECT_EQ(ended, checks.size());
  EXPECT_EQ(vp::now(), moment);
  EXPECT_FALSE(machine.outcome.ended());
}

}  // namespace
}  // namespace platform
