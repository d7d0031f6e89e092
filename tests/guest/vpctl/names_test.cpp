// SPDX-License-Identifier: Apache-2.0
#include "guest/vpctl/names.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/vp/temporary.h"
#include "vp/control/control_channel.h"
#include "vp/control/share.h"

namespace {

TEST(Names, ExitCodes) {
  for (int code = 0; code <= 300; ++code)
    EXPECT_EQ(is_exit_code(std::to_string(code).c_str()), code <= 255) << code;
  for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "0x1", "1000", "999"})
    EXPECT_FALSE(is_exit_code(wrong)) << "'" << wrong << "'";
}

/// The platform's end of the port, with a share.
class Platform {
 public:
  bool takes_mark(const std::string& name) { return send("mark " + name + "\n"); }
  bool takes_file(const std::string& name) { return send("put " + name + " 0\n"); }

 private:
  bool send(const std::string& line) {
    const auto before = end_.messages();
    end_.write(vp::ControlChannel::LENGTH, 4, static_cast<std::uint32_t>(line.size()));
    for (std::size_t i = 0; i < line.size(); i += 4) {
      std::uint32_t word = 0;
      line.copy(reinterpret_cast<char*>(&word), 4, i);
      end_.write(vp::ControlChannel::DATA, 4, word);
    }
    return end_.messages() > before;
  }

  vp::TemporaryDirectory folder_;
  vp::Share share_{folder_.path()};
  vp::ControlChannel end_{{nullptr, nullptr, [this](const std::string& name, std::string_view) {
                             return share_.write(name, {});
                           }}};
};

TEST(Names, MarksAreWhatThePlatformTakes) {
  Platform platform;
  for (int length = 0; length <= 202; ++length) {
    const std::string name(length, 'x');
    EXPECT_EQ(is_mark_name(name.c_str()), platform.takes_mark(name)) << length;
    EXPECT_EQ(is_mark_name(name.c_str()), length >= 1 && length <= 200) << length;
  }
  for (int c = 1; c < 256; ++c) {
    if (c == '\n') continue;
    const std::string name = std::string("a") + static_cast<char>(c) + "b";
    EXPECT_EQ(is_mark_name(name.c_str()), platform.takes_mark(name)) << c;
  }
  EXPECT_FALSE(is_mark_name("a\nb"));
}

TEST(Names, FilesAreWhatThePlatformTakes) {
  Platform platform;
  const char* const good[] = {"a",    "a.b",     "d/b", "./a", "a b", "d/./b",
                              "d//b", "./d/./y", "-",   "a.",  "a..b"};
  const char* const bad[] = {"",   ".",    "..", "/a", "../a", "d/..", "d/../b",
                             ".a", "d/.b", "a/", "./", "a\tb", "...",  "a\x7f"};
  for (const char* name : good) {
    EXPECT_TRUE(is_file_name(name)) << name;
    EXPECT_TRUE(platform.takes_file(name)) << name;
  }
  for (const char* name : bad) {
    EXPECT_FALSE(is_file_name(name)) << name;
    EXPECT_FALSE(platform.takes_file(name)) << name;
  }
  EXPECT_FALSE(is_file_name("d/."));
}

TEST(Names, FilesOfEachLength) {
  EXPECT_TRUE(is_file_name(std::string(4095, 'x').c_str()));
  EXPECT_FALSE(is_file_name(std::string(4096, 'x').c_str()));
}

}  // namespace
