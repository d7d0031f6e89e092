// SPDX-License-Identifier: Apache-2.0
#include "vp/control/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "tests/vp/temporary.h"

namespace vp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

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
  EXPECT_EQ(share_.write("f", std::string(100'000, 'x')), "");
  EXPECT_EQ(share_.write("f", bytes), "");
  EXPECT_EQ(share_.write("empty", ""), "");
  EXPECT_EQ(contents(directory_.path("f")), bytes);
  EXPECT_TRUE(std::filesystem::exists(directory_.path("empty")));
  EXPECT_EQ(files(), 2);
}

TEST_F(ShareTest, SomebodyElseMayFillAFile) {
  EXPECT_EQ(share_.fill("a/f",
                        [](int file) {
                          return ::ftruncate(file, 3) == 0 && ::pwrite(file, "x", 1, 1) == 1
                                     ? std::string()
                                     : std::string("no room");
                        }),
            "");
  EXPECT_EQ(contents(directory_.path("a/f")), std::string("\0x\0", 3));
  EXPECT_EQ(share_.fill("a/f", [](int) { return std::string("it is broken"); }),
            "cannot write a/f: it is broken");
  EXPECT_EQ(contents(directory_.path("a/f")), std::string("\0x\0", 3)) << "it is as before";
  EXPECT_EQ(files(), 1) << "nothing else is left";
  bool called = false;
  EXPECT_THAT(share_.fill("../f",
                          [&](int) {
                            called = true;
                            return std::string();
                          }),
              StartsWith("not a relative name"));
  EXPECT_FALSE(called);
}

TEST_F(ShareTest, MakesTheDirectoriesOfAName) {
  EXPECT_EQ(share_.write("a/b/f", "1"), "");
  EXPECT_EQ(share_.write("a/b/g", "2"), "");
  EXPECT_EQ(share_.write("./a//./h", "3"), "");
  EXPECT_EQ(contents(directory_.path("a/b/f")), "1");
  EXPECT_EQ(contents(directory_.path("a/b/g")), "2");
  EXPECT_EQ(contents(directory_.path("a/h")), "3");
  EXPECT_EQ(files(), 1);
}

TEST_F(ShareTest, NamesMayHoldWhateverIsNoPath) {
  for (const char* name : {"a b", "-rf", "$x`", "gr\xc3\xbc\xc3\x9f", "a..b", "\xff"}) {
    EXPECT_EQ(share_.write(name, name), "") << name;
    EXPECT_EQ(contents(directory_.path(name)), name);
  }
}

TEST_F(ShareTest, RefusesEveryNameThatLeadsOutOrHides) {
  std::vector<std::string> names = {"",   "/",  "/f",   ".",    "..",   "../f", "a/../f", "a/..",
                                    "f/", "./", "a/./", "/../", ".f/g", "a/.f", "a\nb",   "a\x7f"};
  names.push_back(std::string("a\0b", 3));
  names.push_back("a/" + std::string(4094, 'x'));
  names.push_back("a/../../f");
  for (const std::string& name : names) {
    EXPECT_THAT(share_.write(name, "x"), StartsWith("not a relative name")) << name;
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(ShareTest, ANameThatIsTooLongForTheFileSystemIsRefused) {
  EXPECT_THAT(share_.write(std::string(256, 'x'), "x"), HasSubstr("File name too long"));
  EXPECT_EQ(share_.write(std::string(255, 'x'), "x"), "");
  EXPECT_EQ(files(), 1);
}

TEST_F(ShareTest, ALinkIsReplacedAndNotFollowed) {
  TemporaryDirectory elsewhere;
  std::ofstream(elsewhere.path("victim")) << "whole";
  std::filesystem::create_symlink(elsewhere.path("victim"), directory_.path("f"));
  std::filesystem::create_symlink(elsewhere.path("victim"), directory_.path(".unfinished"));
  EXPECT_EQ(share_.write("f", "bytes"), "");
  EXPECT_EQ(contents(elsewhere.path("victim")), "whole");
  EXPECT_FALSE(std::filesystem::is_symlink(directory_.path("f")));
  EXPECT_EQ(contents(directory_.path("f")), "bytes");
}

TEST_F(ShareTest, ALinkToADirectoryIsNotFollowed) {
  TemporaryDirectory elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), directory_.path("d"));
  EXPECT_THAT(share_.write("d/f", "bytes"), StartsWith("cannot write d/f: "));
  EXPECT_FALSE(std::filesystem::exists(elsewhere.path("f")));
}

TEST_F(ShareTest, AFailureIsReportedAndLeavesNothing) {
  std::filesystem::create_directory(directory_.path("d"));
  std::ofstream(directory_.path("f")) << "x";
  EXPECT_EQ(share_.write("d", "x"), "cannot write d: Is a directory");
  EXPECT_EQ(share_.write("f/g", "x"), "cannot write f/g: Not a directory");
  EXPECT_EQ(files(), 2);
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
