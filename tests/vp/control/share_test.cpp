// SPDX-License-Identifier: Apache-2.0
#include "vp/control/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/vp/temporary.h"

namespace vp {
namespace {

using testing::HasSubstr;

class ShareTest : public testing::Test {
 protected:
  std::size_t files() const {
    std::size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
      (void)file;
      ++files;
    }
    return files;
  }

  TemporaryDirectory directory_;
  Share share_{directory_.path()};
};

TEST_F(ShareTest, WritesAFileAndReplacesIt) {
  const std::string bytes("\0\xff\n binary", 10);
  share_.write("f", std::string(100'000, 'x'));
  share_.write("f", bytes);
  share_.write("empty", "");
  EXPECT_EQ(contents(directory_.path("f")), bytes);
  EXPECT_TRUE(std::filesystem::exists(directory_.path("empty")));
  EXPECT_EQ(files(), 2);
}

TEST_F(ShareTest, RefusesEveryNameThatIsAPath) {
  for (const char* name : {"../f", "/tmp/f", "a/f", "..", ".", ""}) {
    EXPECT_THROW(share_.write(name, "x"), ShareError) << name;
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(ShareTest, ALinkIsReplacedAndNotFollowed) {
  TemporaryDirectory elsewhere;
  std::ofstream(elsewhere.path("victim")) << "whole";
  std::filesystem::create_symlink(elsewhere.path("victim"), directory_.path("f"));
  std::filesystem::create_symlink(elsewhere.path("victim"), directory_.path(".unfinished"));
  share_.write("f", "bytes");
  EXPECT_EQ(contents(elsewhere.path("victim")), "whole");
  EXPECT_FALSE(std::filesystem::is_symlink(directory_.path("f")));
  EXPECT_EQ(contents(directory_.path("f")), "bytes");
}

TEST_F(ShareTest, AFailureIsAnErrorWithThePathAndLeavesNothing) {
  std::filesystem::create_directory(directory_.path("d"));
  try {
    share_.write("d", "x");
    FAIL();
  } catch (const ShareError& error) {
    EXPECT_THAT(error.what(), HasSubstr(directory_.path("d") + ": Is a directory"));
  }
  EXPECT_EQ(files(), 1);
}

TEST_F(ShareTest, MustBeADirectory) {
  std::ofstream(directory_.path("f")) << "x";
  for (const std::string& path : {directory_.path("f"), directory_.path("missing")}) {
    try {
      Share share(path);
      FAIL();
    } catch (const ShareError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
    }
  }
}

}  // namespace
}  // namespace vp
