// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/outputs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>

#include "tests/vp/temporary.h"
#include "vp/snapshot/child.h"

namespace platform {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "x";
}

TEST(Outputs, AreMadeOrCleared) {
  const vp::TemporaryDirectory directory;
  const fs::path path = directory.path("out");
  const Outputs outputs(path);
  EXPECT_FALSE(Outputs::is_one(path));
  outputs.prepare();
  EXPECT_TRUE(fs::is_directory(path / "boot"));
  EXPECT_FALSE(Outputs::is_one(path));

  EXPECT_EQ(outputs.make_child(12), path / "12");
  EXPECT_EQ(outputs.child(12), path / "12");
  EXPECT_EQ(outputs.boot_console("host"), path / "boot/host.log");
  write(outputs.boot_console("host"));
  write(outputs.child(12) / "share/deep/file");
  write(outputs.summary());
  write(path / "precious");
  write(path / "12b/precious");
  EXPECT_TRUE(Outputs::is_one(path));
  outputs.prepare();
  EXPECT_FALSE(fs::exists(path / "12"));
  EXPECT_FALSE(fs::exists(path / "summary.json"));
  EXPECT_TRUE(fs::is_empty(path / "boot"));
  EXPECT_TRUE(fs::exists(path / "precious"));
  EXPECT_TRUE(fs::exists(path / "12b/precious"));
}

TEST(Outputs, AreWholeFilesOrNone) {
  const vp::TemporaryDirectory directory;
  const fs::path file = directory.path("file");
  const auto fill = [](int to) {
    return ::write(to, "new", 3) == 3 ? std::string() : std::string("no room");
  };
  std::ofstream(directory.path("file.part")) << "precious";
  EXPECT_EQ(write_file(file, fill), "");
  EXPECT_EQ(vp::contents(file), "new");
  EXPECT_EQ(write_file(file,
                       [&](int to) {
                         fill(to);
                         return std::string("it is broken");
                       }),
            "it is broken");
  EXPECT_EQ(vp::contents(file), "new");
  EXPECT_EQ(vp::contents(directory.path("file.part")), "precious");
  const fs::directory_iterator left(directory.path());
  EXPECT_EQ(std::distance(begin(left), end(left)), 2) << "nothing else is left";
  EXPECT_EQ(write_file(directory.path("absent/file"), fill), "No such file or directory");
}

TEST(Outputs, ReceiveTheMessagesOfAChild) {
  const vp::TemporaryDirectory directory;
  vp::Child child([&] {
    redirect_output(directory.path("messages"));
    std::printf("to stdout\n");
    std::fflush(stdout);
    std::fprintf(stderr, "to stderr\n");
    std::cout << "to cout\n";
    char byte = 0;
    return static_cast<int>(::read(STDIN_FILENO, &byte, 1));
  });
  EXPECT_EQ(child.wait(), vp::Ending{});
  EXPECT_EQ(vp::contents(directory.path("messages")), "to stdout\nto stderr\nto cout\n");
}

}  // namespace
}  // namespace platform
