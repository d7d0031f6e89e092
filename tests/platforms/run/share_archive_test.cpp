// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/share_archive.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace platform {
namespace {

namespace fs = std::filesystem;

class ShareArchiveTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "share-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    for (const char* each : {"one", "other"}) {
      fs::create_directories(folder / each / "inner");
      std::ofstream(folder / each / "inner" / "file") << "text\n";
    }
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path folder;
};

TEST_F(ShareArchiveTest, EqualFilesMakeEqualBytes) {
  const ShareArchive one({}, folder / "one"), other({}, folder / "other");
  EXPECT_EQ(one.sha256(), other.sha256());
  std::ofstream(folder / "other" / "more") << "text\n";
  EXPECT_NE(ShareArchive({}, folder / "other").sha256(), one.sha256());
}

TEST_F(ShareArchiveTest, LinksThatLeadNowhereAreLeftOut) {
  fs::create_symlink("loop", folder / "other" / "loop");
  fs::create_symlink("absent", folder / "other" / "inner" / "dangling");
  fs::create_symlink("loop", folder / "other" / "inner" / "circle");
  EXPECT_EQ(ShareArchive({}, folder / "other").sha256(), ShareArchive({}, folder / "one").sha256());
}

TEST_F(ShareArchiveTest, WhatIsNoDirectoryIsNamed) {
  EXPECT_THROW(ShareArchive({}, folder / "absent"), std::runtime_error);
}

}  // namespace
}  // namespace platform
