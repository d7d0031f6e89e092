// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/vp/temporary.h"
#include "vp/qemu/instance.h"

namespace vp::qemu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string real = OAE_VP_IMAGES "/libqemu-aarch64.so";

/// Returns the text of the error.
std::string error(const std::string& path) {
  try {
    load_library(path);
  } catch (const LibraryError& error) {
    return error.what();
  }
  return "no error";
}

testing::Matcher<std::string> is_reported(const std::string& path, const std::string& why) {
  return AllOf(HasSubstr(path), HasSubstr(why), HasSubstr("remedy: scripts/setup"));
}

class LibraryTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path(name), std::ios::binary) << text;
    return directory_.path(name);
  }

  TemporaryDirectory directory_;
};

TEST_F(LibraryTest, Missing) {
  const std::string path = directory_.path("libqemu-none.so");
  EXPECT_THAT(error(path), is_reported(path, "No such file"));
  EXPECT_THAT(error(path), is_reported(path, "No such file")) << "the second time too";
}

TEST_F(LibraryTest, NoPath) {
  EXPECT_THAT(error(""), HasSubstr("remedy: scripts/setup"));
}

// A name without a folder, which the loader would look up in the system's directories.
TEST_F(LibraryTest, ANameIsAFileHere) {
  EXPECT_THAT(error("libc.so.6"), is_reported("libc.so.6", "No such file"));
}

TEST_F(LibraryTest, Directory) {
  EXPECT_THAT(error(directory_.path()), HasSubstr("remedy: scripts/setup"));
}

TEST_F(LibraryTest, NoLibrary) {
  const std::string empty = file("empty.so", ""), text = file("text.so", "not a library\n");
  EXPECT_THAT(error(empty), is_reported(empty, "too short"));
  EXPECT_THAT(error(text), is_reported(text, ""));
  EXPECT_THAT(error(text), is_reported(text, "")) << "the second time too";
}

TEST_F(LibraryTest, WithoutTheEntry) {
  EXPECT_THAT(error(PLAIN_LIBRARY), is_reported(PLAIN_LIBRARY, "oae_qemu_api"));
}

TEST_F(LibraryTest, OfAnotherVersion) {
  EXPECT_THAT(error(OUTDATED_LIBRARY),
              is_reported(OUTDATED_LIBRARY, "version " + std::to_string(OAE_QEMU_API_VERSION + 1)));
}

TEST_F(LibraryTest, EachLoadIsALibraryOfItsOwn) {
  const OaeQemuApi* first = load_library(real);
  const OaeQemuApi* second = load_library(real);
  const OaeQemuApi* third = load_library(real);
  EXPECT_NE(first, second);
  EXPECT_NE(first, third);
  EXPECT_NE(second, third);
}

TEST_F(LibraryTest, AnotherNameOfTheFileIsTheSameFile) {
  const std::string link = directory_.path("link.so"), hard = directory_.path("hard.so");
  const std::string copy = directory_.path("copy.so");
  std::filesystem::copy_file(real, copy);
  std::filesystem::create_symlink(copy, link);
  std::filesystem::create_hard_link(copy, hard);
  const OaeQemuApi* first = load_library(copy);
  const OaeQemuApi* second = load_library(link);
  const OaeQemuApi* third = load_library(hard);
  EXPECT_NE(first, second);
  EXPECT_NE(first, third);
  EXPECT_NE(second, third);
}

TEST_F(LibraryTest, ATroubleOfTheFirstLoadDoesNotSpoilTheNext) {
  const std::string path = file("later.so", "");
  EXPECT_THAT(error(path), HasSubstr("too short"));
  std::filesystem::remove(path);
  std::filesystem::copy_file(real, path);
  EXPECT_NE(load_library(path), load_library(path));
}

TEST_F(LibraryTest, AnInstanceReportsTheSame) {
  Domain domain("domain");
  Instance::Config config;
  config.library = directory_.path("none.so");
  EXPECT_THROW(Instance("instance", domain, config), LibraryError);
}

}  // namespace
}  // namespace vp::qemu
