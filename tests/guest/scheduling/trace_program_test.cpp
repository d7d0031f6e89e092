// SPDX-License-Identifier: Apache-2.0
// Tests of the program scheduling-trace: that it heeds its options.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tests/guest/scheduling/trace_test.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t ms = 1'000'000;  // ns

/// Task A waits for 12 ms while CPU 1 idles.
Trace slow() {
  TraceBuilder builder;
  builder.at(100).task_new(a).at(200).idle(1).at(300).wakeup(a).at(300 + 12 * ms).run(1, a, 300);
  builder.at(13 * ms).blocked(a, 1, ms).at(14 * ms).dead(a, 1).at(15 * ms).idle(1);
  return builder.trace();
}

class TraceProgram : public testing::Test {
 protected:
  TraceProgram() { std::ofstream(name_, std::ios::binary) << bytes_of(slow()); }
  ~TraceProgram() override { std::remove(name_.c_str()); }

  /// What the program prints, after its exit code.
  std::string check(const std::string& options) const {
    const std::string command = SCHEDULING_TRACE " check " + options + name_ + " 2>&1";
    std::FILE* const output = ::popen(command.c_str(), "r");
    if (output == nullptr) return "no process";
    std::string text;
    for (int one; (one = std::fgetc(output)) != EOF;) text += static_cast<char>(one);
    const int status = ::pclose(output);
    return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) + "\n" + text;
  }

 private:
  const std::string name_ = testing::TempDir() + "trace_program_" + std::to_string(::getpid());
};

TEST_F(TraceProgram, ATaskMayWaitAsLongAsItsOptionSays) {
  EXPECT_THAT(check("--wait 12 "), StartsWith("1\n"));  // it waits for a claim of 1 ns, too
  EXPECT_THAT(check("--wait 12 "), HasSubstr("task 11 waits since 300"));
  EXPECT_THAT(check("--wait 13 "), StartsWith("0\n"));
}

TEST_F(TraceProgram, WithoutTheOptionATaskMayWaitForTenMilliseconds) {
  EXPECT_THAT(check(""), HasSubstr("task 11 waits since 300"));
}

TEST_F(TraceProgram, ABadTimeIsRefused) {
  for (const char* bad :
       {"--wait x ", "--wait -1 ", "--wait 1ms ", "--wait 18446744073709551615 "}) {
    EXPECT_THAT(check(bad), StartsWith("2\nusage: scheduling-trace")) << bad;
  }
}

}  // namespace
