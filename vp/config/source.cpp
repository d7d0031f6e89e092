// SPDX-License-Identifier: Apache-2.0
#include "vp/config/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "vp/config/report.h"

namespace vp::config {

namespace fs = std::filesystem;

namespace {

/// Returns the length of the UTF-8 sequence at `offset`, or 0 if there is none (RFC 3629, section
/// 4).
std::size_t utf8_length(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return offset + i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

void check_characters(const std::shared_ptr<const Source>& source) {
  const std::string& text = source->text;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const unsigned byte = static_cast<unsigned char>(text[i]);
    if (length == 0)
      fail({origin_at(source, i), fmt::format("byte {:#04x} is not UTF-8", byte), "text in UTF-8",
            "save the file as UTF-8"});
    if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f)
      fail({origin_at(source, i), fmt::format("control character {:#04x}", byte), "plain text",
            "remove the character"});
    i += length;
  }
}

}  // namespace

std::string_view Source::line(unsigned number) const {
  std::string_view rest = text;
  for (; number > 1; --number) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return {};
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
  return rest;
}

std::string Origin::text() const {
  if (!source) return "?";
  if (line == 0) return source->label;
  if (source->is_argument) return fmt::format("{}, column {}", source->label, column);
  return fmt::format("{}:{}:{}", source->label, line, column);
}

Origin origin_at(const std::shared_ptr<const Source>& source, std::size_t offset) {
  const std::string_view before =
      std::string_view(source->text).substr(0, std::min(offset, source->text.size()));
  const std::size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  Origin origin{source, 1, 1};
  origin.line += static_cast<unsigned>(std::count(before.begin(), before.end(), '\n'));
  for (const char c : before.substr(start))
    if ((c & 0xc0) != 0x80) ++origin.column;
  return origin;
}

std::shared_ptr<const Source> read_source(const fs::path& file) {
  auto source = std::make_shared<Source>();
  source->label = file.string();
  const Origin whole{source, 0, 0};

  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found)
    fail({whole, "there is no such file", "", "check the name, relative to the current directory"});
  if (error) fail({whole, error.message(), "a file that can be read", ""});
  if (status.type() == fs::file_type::directory)
    fail({whole, "this is a directory", "a file", "name a file in it"});
  if (status.type() != fs::file_type::regular)
    fail({whole, "this is not a regular file", "a regular file", ""});
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > max_file_size)
    fail({whole, fmt::format("{} bytes are too many", size),
          fmt::format("at most {} bytes", max_file_size), "check that this is the file you meant"});

  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  if (stream && size > 0) text << stream.rdbuf();
  if (!stream || !text)
    fail({whole, fmt::format("cannot be read: {}", std::strerror(errno)), "a file that can be read",
          "check its permissions"});
  return text_source(file.string(), text.str(), fs::absolute(file).parent_path());
}

std::shared_ptr<const Source> text_source(std::string label, std::string text, fs::path directory) {
  auto source = std::make_shared<Source>();
  source->label = std::move(label);
  source->text = std::move(text);
  source->directory = std::move(directory);
  const Origin whole{source, 0, 0};
  for (const char* mark : {"\xff\xfe", "\xfe\xff"})
    if (source->text.compare(0, 2, mark) == 0)
      fail({whole, "the file is in UTF-16", "text in UTF-8", "save the file as UTF-8"});
  if (source->text.compare(0, 3, "\xef\xbb\xbf") == 0) source->text.erase(0, 3);
  if (source->text.empty()) fail({whole, "the file is empty", "", ""});
  check_characters(source);
  return source;
}

std::shared_ptr<const Source> argument_source(std::string_view option, std::string_view value) {
  auto source = std::make_shared<Source>();
  source->label = fmt::format("{} {}", option, shown(value));
  source->text = std::string(value);
  std::error_code error;
  source->directory = fs::current_path(error);
  source->is_argument = true;
  return source;
}

}  // namespace vp::config
