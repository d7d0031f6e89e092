// SPDX-License-Identifier: Apache-2.0
#include "firmware/console/format.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

template <typename... Arguments>
std::string format(const char* text, Arguments... arguments) {
  char out[512];
  const std::size_t length = format_text(out, sizeof(out), text, arguments...);
  EXPECT_EQ(length, std::strlen(out));
  return out;
}

template <typename... Arguments>
std::string libc(const char* text, Arguments... arguments) {
  char out[512];
  std::snprintf(out, sizeof(out), text, arguments...);
  return out;
}

TEST(Format, AgreesWithLibcOnNumbers) {
  for (const char* flags : {"", "0", "-", "1", "5", "05", "-5", "20", "020", "-20"}) {
    const std::string start = std::string("<%") + flags;
    for (int value : {0, 1, -1, 42, -42, 99999, INT_MAX, INT_MIN}) {
      for (const char* type : {"d>", "i>", "u>", "x>"}) {
        const std::string text = start + type;
        EXPECT_EQ(format(text.c_str(), value), libc(text.c_str(), value)) << text;
      }
    }
    for (long value : {0l, 1l, -1l, LONG_MAX, LONG_MIN}) {
      for (const char* type : {"ld>", "lu>", "lx>", "llx>", "zu>"}) {
        const std::string text = start + type;
        EXPECT_EQ(format(text.c_str(), value), libc(text.c_str(), value)) << text;
      }
    }
  }
}

TEST(Format, AgreesWithLibcOnText) {
  for (const char* conversion : {"<%s>", "<%5s>", "<%-5s>", "<%1s>"}) {
    for (const char* text : {"", "a", "abc", "abcdefgh"}) {
      EXPECT_EQ(format(conversion, text), libc(conversion, text)) << conversion;
    }
  }
  for (const char* conversion : {"<%c>", "<%3c>", "<%-3c>"}) {
    EXPECT_EQ(format(conversion, 'x'), libc(conversion, 'x'));
  }
  EXPECT_EQ(format("100%%"), "100%");
  EXPECT_EQ(format("%s", static_cast<const char*>(nullptr)), "(null)");
  EXPECT_EQ(format("%p", reinterpret_cast<void*>(0x1234)), "0x1234");
  EXPECT_EQ(format("%d %s %lx", 1, "two", 3ul), "1 two 3");
}

TEST(Format, WritesUnknownConversionsUnchanged) {
  EXPECT_EQ(format("%q", 1), "%q");
  EXPECT_EQ(format("%"), "%");
  EXPECT_EQ(format("a%-0"), "a%-0");
  EXPECT_EQ(format("%5"), "%5");
}

TEST(Format, StaysWithinItsSize) {
  const std::string whole = "value 12345 end";
  for (std::size_t size = 0; size <= 20; ++size) {
    char out[24];
    std::memset(out, '#', sizeof(out));
    EXPECT_EQ(format_text(out, size, "value %d %s", 12345, "end"), whole.size());
    if (size > 0) {
      EXPECT_EQ(std::string(out), whole.substr(0, size - 1));
    }
    for (std::size_t i = size; i < sizeof(out); ++i) EXPECT_EQ(out[i], '#') << size;
  }
  char out[8];
  EXPECT_EQ(format_text(out, sizeof(out), "%999999999d", 1), format_text(nullptr, 0, "%9999d", 1))
      << "a width beyond reason is cut";
}

}  // namespace
