// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <cstdlib>

#include "tests/platforms/workshop.h"

using testing::HasSubstr;
using testing::Not;

namespace {

struct Result {
  int exit_code;
  std::string out, err;
};

std::string read(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Calls the program as a shell does; `arguments` are the shell's.
Result call(const Workshop& workshop, const std::string& arguments) {
  const auto out = workshop.path("out"), err = workshop.path("err");
  const std::string command = std::string(OAE_VP) + " " + arguments + " --images " +
                              workshop.images().string() + " </dev/null >" + out.string() + " 2>" +
                              err.string();
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
}

TEST(OaeVp, ChecksPlatforms) {
  const Workshop workshop;
  const Result named = call(workshop, "check oae-mini");
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("oae-mini.yaml: no mistakes\n"));
  EXPECT_EQ(named.err, "");  // SystemC's banner is not there either
  EXPECT_EQ(call(workshop, "check " + workshop.path("good.yaml").string()).exit_code, 0);
}

TEST(OaeVp, ExitsWithTwoOnAMistake) {
  const Workshop workshop;
  const auto bad = workshop.file("bad.yaml", Workshop::changed("up: host", "up: hots"));
  for (const char* command : {"check ", "run "}) {
    const Result result = call(workshop, command + bad.string());
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("bad.yaml:15:9: pcie_links[0].up: there is no host `hots`"));
    EXPECT_THAT(result.err, HasSubstr("did you mean `host`"));
    EXPECT_THAT(result.err, Not(HasSubstr("SystemC")));
  }
  EXPECT_EQ(call(workshop, "check oae-mini --set hosts[0].vcpus=0").exit_code, 2);
  EXPECT_EQ(call(workshop, "check no-such-platform").exit_code, 2);
  EXPECT_EQ(call(workshop, "check oae-mini --no-such-option").exit_code, 2);
  EXPECT_EQ(call(workshop, "run oae-mini --until 5").exit_code, 2);
  EXPECT_EQ(call(workshop, "run oae-mini --trace /none/trace").exit_code, 2);
}

TEST(OaeVp, ExitsWithTwoOnADamagedImage) {
  Workshop workshop;
  workshop.image("oae-fw.elf", samples::firmware().substr(0, 150));
  const Result result = call(workshop, "run oae-mini");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("run scripts/setup again"));
}

}  // namespace
