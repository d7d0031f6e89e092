// SPDX-License-Identifier: Apache-2.0
#include "vp/console/script.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "vp/config/report.h"
#include "vp/config/source.h"
#include "vp/config/units.h"

namespace vp {
namespace {

using Step = Script::Step;

constexpr std::size_t max_text = 4096;
// The limit for each time and for the sum of all waits, so that no sum overflows.
constexpr Picoseconds max_time = 1'000'000 * s;
constexpr char too_long[] = "the time is too long; the times of a script may add up to 1000000s";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// A mistake within a line, at an offset into it.
struct LineMistake {
  std::size_t offset;
  std::string what;
};

/// Reads the words of one line.
class Line {
 public:
  explicit Line(std::string_view line) : line_(line) { skip_blanks(); }

  bool ended() const { return at_ == line_.size() || line_[at_] == '#'; }
  std::size_t offset() const { return at_; }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < line_.size() && !is_blank(line_[at_]) && line_[at_] != '"' && line_[at_] != '#') {
      ++at_;
    }
    const std::string_view word = line_.substr(begin, at_ - begin);
    skip_blanks();
    return word;
  }

  std::string text() {
    const std::size_t begin = at_;
    if (ended() || line_[at_] != '"') {
      throw LineMistake{at_, "a text is missing; write it in double quotes, as in \"ls\\n\""};
    }
    ++at_;
    std::string text;
    while (at_ < line_.size() && line_[at_] != '"') {
      text.push_back(line_[at_] == '\\' ? escaped() : line_[at_++]);
    }
    if (at_ == line_.size()) {
      throw LineMistake{begin, "the text does not end; close it with a double quote"};
    }
    ++at_;
    if (text.empty() || text.size() > max_text) {
      throw LineMistake{
          begin, fmt::format("the text has {} bytes; it may have 1 to {}", text.size(), max_text)};
    }
    skip_blanks();
    return text;
  }

  Picoseconds time() {
    const std::size_t begin = at_;
    const config::Measured measured = config::measure(word(), config::duration_quantity());
    if (!measured.found.empty()) {
      throw LineMistake{begin, fmt::format("{}{}{}", measured.found,
                                           measured.remedy.empty() ? "" : "; ", measured.remedy)};
    }
    if (measured.value > max_time) throw LineMistake{begin, too_long};
    return measured.value;
  }

  void end() const {
    if (!ended()) {
      throw LineMistake{at_,
                        "the statement goes on after its end; begin a new line, or a comment "
                        "with #"};
    }
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }

  void skip_blanks() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  }

  char escaped() {
    const std::size_t begin = at_;
    const char letter = ++at_ < line_.size() ? line_[at_++] : '\0';
    switch (letter) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'e':
        return '\x1b';
      case '"':
        return '"';
      case '\\':
        return '\\';
      case 'x':
        if (at_ + 2 <= line_.size() && hex_digit(line_[at_]) >= 0 &&
            hex_digit(line_[at_ + 1]) >= 0) {
          const int value = 16 * hex_digit(line_[at_]) + hex_digit(line_[at_ + 1]);
          at_ += 2;
          return static_cast<char>(value);
        }
        break;
      default:
        break;
    }
    throw LineMistake{begin, "no such escape; there are \\n \\r \\t \\e \\\" \\\\ and \\xHH"};
  }

  const std::string_view line_;
  std::size_t at_ = 0;
};

class Parser {
 public:
  explicit Parser(std::string name) : name_(std::move(name)) {}

  void line(std::string_view text, std::size_t number) {
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    number_ = number;
    Line line(text);
    if (line.ended()) return;
    try {
      statement(line);
    } catch (const LineMistake& mistake) {
      mistakes_ += fmt::format("{}{}: {}", mistakes_.empty() ? "" : "\n", place(mistake.offset),
                               mistake.what);
    }
  }

  Script finish() {
    if (!mistakes_.empty()) throw ScriptMistake(mistakes_);
    return std::move(script_);
  }

 private:
  std::string place(std::size_t offset) const {
    return fmt::format("{}:{}:{}", name_, number_, offset + 1);
  }

  void add(Step::Kind kind, std::string text, Picoseconds time, std::size_t offset) {
    if (kind != Step::Kind::at) waits_ += time;
    if (waits_ > max_time) throw LineMistake{offset, too_long};
    script_.steps.push_back({kind, std::move(text), time, place(offset)});
  }

  void statement(Line& line) {
    const std::size_t begin = line.offset();
    const std::string_view verb = line.word();
    if (verb == "expect") {
      std::string text = line.text();
      line.end();
      add(Step::Kind::expect, std::move(text), timeout_, begin);
    } else if (verb == "send") {
      send(line, begin);
    } else if (verb == "wait") {
      const Picoseconds span = line.time();
      line.end();
      add(Step::Kind::wait, {}, span, begin);
    } else if (verb == "timeout") {
      const std::size_t offset = line.offset();
      const Picoseconds span = line.time();
      line.end();
      if (span == 0) throw LineMistake{offset, "a timeout is longer than 0"};
      timeout_ = span;
    } else if (verb == "at") {
      at(line, begin);
    } else {
      throw LineMistake{begin, fmt::format("unknown statement {}; there are expect, send, wait, "
                                           "at and timeout",
                                           config::shown(verb))};
    }
  }

  void send(Line& line, std::size_t begin) {
    std::string text = line.text();
    line.end();
    add(Step::Kind::send, std::move(text), 0, begin);
  }

  void at(Line& line, std::size_t begin) {
    const std::size_t offset = line.offset();
    const Picoseconds time = line.time();
    if (time < latest_) {
      throw LineMistake{offset,
                        "earlier than an \"at\" above; put the statements in the order of "
                        "their times"};
    }
    const std::size_t second = line.offset();
    if (line.word() != "send") {
      throw LineMistake{second, "\"send\" is missing, as in at 1.5s send \"ls\\n\""};
    }
    std::string text = line.text();
    line.end();
    latest_ = time;
    add(Step::Kind::at, {}, time, begin);
    add(Step::Kind::send, std::move(text), 0, second);
  }

  const std::string name_;
  std::size_t number_ = 0;
  std::string mistakes_;
  Picoseconds timeout_ = 60 * s;
  Picoseconds waits_ = 0;   // sum of all waits so far
  Picoseconds latest_ = 0;  // latest time of an "at" so far
  Script script_;
};

}  // namespace

Script Script::parse(std::string_view text, const std::string& name) {
  Parser parser(name);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.line(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.finish();
}

Script Script::read(const std::string& path) {
  std::error_code unknown;
  if (const auto size = std::filesystem::file_size(path, unknown);
      !unknown && size > config::max_file_size) {
    throw ScriptMistake(fmt::format("{}: a script has {} bytes at most, and this file has {}", path,
                                    config::max_file_size, size));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  // Reading an empty file sets the failbit of `text` alone.
  if (!file || errno == EISDIR) {
    throw ScriptMistake(fmt::format("{}: cannot be read: {}", path, strerror(errno)));
  }
  return parse(text.str(), path);
}

}  // namespace vp
