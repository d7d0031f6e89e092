// SPDX-License-Identifier: Apache-2.0
#include "vp/console/file_sink.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/vp/log_capture.h"
#include "tests/vp/temporary.h"

namespace vp {
namespace {

using testing::HasSubstr;

TEST(FileSinkTest, WritesAtOnce) {
  TemporaryDirectory directory;
  const std::string path = directory.path("console");
  std::ofstream(path) << "what was there";
  FileSink sink(path);
  sink.write("a\r\n");
  EXPECT_EQ(contents(path), "a\r\n");
  sink.write(std::string_view("\0b", 2));
  EXPECT_EQ(contents(path), std::string("a\r\n\0b", 5));
}

TEST(FileSinkTest, MayAppend) {
  TemporaryDirectory directory;
  const std::string path = directory.path("console");
  std::ofstream(path) << "what was there";
  FileSink sink(path, FileSink::Mode::append);
  sink.write(", and more");
  EXPECT_EQ(contents(path), "what was there, and more");
  FileSink(directory.path("new"), FileSink::Mode::append).write("made");
  EXPECT_EQ(contents(directory.path("new")), "made");
}

TEST(FileSinkTest, AFileThatCannotBeCreatedIsAnError) {
  try {
    FileSink sink("/missing/console");
    FAIL();
  } catch (const ConsoleError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/missing/console: No such file"));
  }
}

TEST(FileSinkTest, LostOutputIsReportedOnce) {
  LogCapture log;
  FileSink sink("/dev/full");
  sink.write("a");
  sink.write("b");
  const std::string text = log.text();
  EXPECT_THAT(text, HasSubstr("console error: cannot write to /dev/full: No space left"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(FileSinkTest, ABorrowedDescriptorStaysOpen) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  { FileSink(ends[1], "the pipe").write("a"); }
  EXPECT_EQ(::write(ends[1], "b", 1), 1);
  char bytes[3] = "";
  EXPECT_EQ(::read(ends[0], bytes, 2), 2);
  EXPECT_STREQ(bytes, "ab");
}

TEST(FileSinkTest, WaitsForASlowReaderOfANonBlockingDescriptor) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  ::fcntl(ends[0], F_SETFL, 0);
  const std::size_t size = 1'000'000;
  std::size_t got = 0;
  std::thread reader([&] {
    ::usleep(20'000);  // until the pipe is full
    char bytes[4096];
    while (got < size) got += static_cast<std::size_t>(::read(ends[0], bytes, sizeof bytes));
  });
  FileSink(ends[1], "the pipe").write(std::string(size, 'x'));
  reader.join();
  EXPECT_EQ(got, size);
}

}  // namespace
}  // namespace vp
