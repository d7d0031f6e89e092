// SPDX-License-Identifier: Apache-2.0
#include "vp/config/source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/vp/config/mistakes.h"
#include "tests/vp/config/temporary.h"

using namespace vp::config;

namespace {

TEST(Source, ReadsAFileAndKnowsItsDirectory) {
  const TemporaryDirectory directory;
  const auto source = read_source(directory.write("a.yaml", "a: 1\r\nb: \u00e4\n"));
  EXPECT_EQ(source->directory, directory.path());
  EXPECT_EQ(source->line(1), "a: 1");
  EXPECT_EQ(source->line(2), "b: \u00e4");
  EXPECT_EQ(source->line(3), "");
  EXPECT_EQ(source->line(99), "");
}

TEST(Source, DropsAByteOrderMark) {
  const TemporaryDirectory directory;
  EXPECT_EQ(read_source(directory.write("a.yaml",
                                        "\xef\xbb\xbf"
                                        "a: 1\n"))
                ->text,
            "a: 1\n");
}

TEST(Source, PlacesCountCharacters) {
  const auto source = argument_source("--set", "\u00e4b\nc");
  EXPECT_EQ(origin_at(source, 0).column, 1u);
  EXPECT_EQ(origin_at(source, 2).column, 2u);
  EXPECT_EQ(origin_at(source, 4).line, 2u);
  EXPECT_EQ(origin_at(source, 4).column, 1u);
  EXPECT_EQ(origin_at(source, 1'000).column, 2u);
}

TEST(Source, RefusesWhatIsNoText) {
  struct Wrong {
    const char* name;
    std::string content, place, found, remedy;
  };
  const Wrong table[] = {
      {"empty", "", "0:0", "is empty", ""},
      {"mark only", "\xef\xbb\xbf", "0:0", "is empty", ""},
      {"Latin-1", "a: 1\nb: \xe4\n", "2:4", "byte 0xe4 is not UTF-8", "UTF-8"},
      {"stray continuation", "a\x80", "1:2", "byte 0x80", "UTF-8"},
      {"overlong", "\xc0\xaf", "1:1", "byte 0xc0", "UTF-8"},
      {"overlong of 3", "\xe0\x80\xaf", "1:1", "byte 0xe0", "UTF-8"},
      {"surrogate", "\xed\xa0\x80", "1:1", "byte 0xed", "UTF-8"},
      {"beyond Unicode", "\xf4\x90\x80\x80", "1:1", "byte 0xf4", "UTF-8"},
      {"cut off", "a: \xe2\x82", "1:4", "byte 0xe2", "UTF-8"},
      {"UTF-16",
       std::string("\xff\xfe"
                   "a\0",
                   4),
       "0:0", "UTF-16", "UTF-8"},
      {"NUL", std::string("a: \0\n", 5), "1:4", "control character 0x00", "remove"},
      {"escape", "a: \x1b[0m\n", "1:4", "control character 0x1b", "remove"},
      {"too large", std::string(max_file_size + 1, '#'), "0:0", "too many", "file you meant"},
  };
  const TemporaryDirectory directory;
  for (const Wrong& each : table) {
    SCOPED_TRACE(each.name);
    const auto file = directory.write("a.yaml", each.content);
    expect_one(mistakes_of([&] { read_source(file); }), each.place, each.found, "", each.remedy);
  }
}

TEST(Source, TakesTheLargestFileAndEveryLengthOfCharacter) {
  const TemporaryDirectory directory;
  EXPECT_NO_THROW(read_source(directory.write("a", std::string(max_file_size, '#'))));
  EXPECT_NO_THROW(read_source(directory.write("b",
                                              "\u007e\u0080\u07ff\u0800\ud7ff\ue000\uffff"
                                              "\U00010000\U0010ffff")));
}

TEST(Source, RefusesWhatIsNoFile) {
  const TemporaryDirectory directory;
  const auto check = [](const std::filesystem::path& path, const char* found) {
    expect_one(mistakes_of([&] { read_source(path); }), "0:0", found, "", "");
  };
  check(directory.path() / "absent.yaml", "no such file");
  check(directory.path(), "is a directory");
  check("/dev/null", "not a regular file");
  ASSERT_EQ(::mkfifo((directory.path() / "pipe").c_str(), 0600), 0);
  check(directory.path() / "pipe", "not a regular file");
  check(directory.write("file", "x") / "below", "");
  std::filesystem::create_symlink("loop", directory.path() / "loop");
  check(directory.path() / "loop", "");
}

}  // namespace
