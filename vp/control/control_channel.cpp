// SPDX-License-Identifier: Apache-2.0
#include "vp/control/control_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "vp/log/log.h"

namespace vp {
namespace {

constexpr std::uint64_t max_warnings = 10;

std::optional<std::size_t> number(std::string_view text, std::size_t limit) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > limit) return {};
  return value;
}

}  // namespace

std::uint32_t ControlChannel::read(unsigned offset, unsigned size) {
  if (size != 4) return ~0u;
  switch (offset) {
    case DATA:
      return read_byte();
    case STATUS:
      return 1u << 31 | static_cast<std::uint32_t>(answer_.size() - taken_);
    default:
      return ~0u;
  }
}

void ControlChannel::write(unsigned offset, unsigned size, std::uint32_t value) {
  if (size != 4) return;
  switch (offset) {
    case DATA:
      return data(value);
    case LENGTH:
      return begin(value);
    default:
      return;
  }
}

std::uint32_t ControlChannel::read_byte() {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4 && taken_ < answer_.size(); ++i) {
    word |= std::uint32_t{static_cast<std::uint8_t>(answer_[taken_++])} << 8 * i;
  }
  return word;
}

void ControlChannel::begin(std::uint32_t length) {
  if (expected_ != 0) {
    reject(fmt::format("only {} of {} bytes arrived", message_.size(), expected_));
  }
  message_.clear();
  answer_.clear();
  taken_ = 0;
  expected_ = length;
  if (length > max_line + max_file) {
    expected_ = 0;
    reject(fmt::format("the message has {} bytes; a file may have {}", length, max_file));
  }
}

// Memory grows with the bytes that arrive, not with the length that was announced.
void ControlChannel::data(std::uint32_t word) {
  if (expected_ == 0) return;
  for (unsigned i = 0; i < 4 && message_.size() < expected_; ++i) {
    message_.push_back(static_cast<char>(word >> 8 * i));
  }
  if (message_.size() < expected_) return;
  expected_ = 0;
  const std::string message = std::move(message_);
  message_.clear();
  const std::string refusal = obey(message);
  if (refusal.empty()) {
    ++messages_;
  } else {
    reject(refusal);
  }
}

std::string ControlChannel::obey(std::string_view message) {
  const std::size_t end = message.find('\n');
  if (end == message.npos || end >= max_line) return "the message is not a line";
  const std::string_view line = message.substr(0, end);
  const std::string_view bytes = message.substr(end + 1);
  const std::size_t blank = std::min(line.find(' '), line.size());
  const std::string_view verb = line.substr(0, blank);
  const std::string_view operand = line.substr(std::min(blank + 1, line.size()));
  if (verb == "put") return put(operand, bytes);
  if (verb != "mark" && verb != "exit" && verb != "inject" && verb != "hot_plug" &&
      verb != "export") {
    return "the message is unknown; there are exit, export, hot_plug, inject, mark and put";
  }
  if (!bytes.empty()) return "there are bytes after the line";
  if (verb == "mark") return mark(operand);
  if (verb == "inject") {
    return handlers_.on_inject ? handlers_.on_inject(operand) : "nothing can be made to fail";
  }
  if (verb == "hot_plug")
    return handlers_.on_hot_plug ? handlers_.on_hot_plug(operand) : "there is no hot-plug slot";
  if (verb == "export")
    return handlers_.on_export ? handlers_.on_export(operand)
                               : "no directory is shared with the guest";
  const auto code = number(operand, 255);
  if (!code) return "the code is not 0 to 255";
  if (handlers_.on_exit) handlers_.on_exit(static_cast<int>(*code));
  return {};
}

std::string ControlChannel::mark(std::string_view name) {
  const auto bad = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; };
  if (name.empty() || name.size() > max_mark || std::any_of(name.begin(), name.end(), bad)) {
    return "a mark is one word of at most 200 printable characters";
  }
  if (!handlers_.on_mark) return {};
  const std::string command = handlers_.on_mark(std::string(name));
  if (!command.empty()) answer("ok " + command + "\n");
  return {};
}

std::string ControlChannel::put(std::string_view name_and_size, std::string_view bytes) {
  const std::size_t blank = name_and_size.rfind(' ');
  if (blank == name_and_size.npos) return "the size of the file is missing";
  const auto size = number(name_and_size.substr(blank + 1), max_file);
  if (!size) return fmt::format("the size of the file is not 0 to {}", max_file);
  if (*size != bytes.size()) return "the size of the file is not the announced one";
  if (!handlers_.on_file) return "no directory is shared with the guest";
  return handlers_.on_file(std::string(name_and_size.substr(0, blank)), bytes);
}

void ControlChannel::answer(const std::string& text) {
  answer_ = text;
  taken_ = 0;
}

// A guest that sends only invalid messages must not fill the log.
void ControlChannel::reject(const std::string& why) {
  answer("error " + why + "\n");
  ++rejected_;
  if (rejected_ > max_warnings) return;
  log::get("control").warn("refused a message of the guest: {}{}", why,
                           rejected_ == max_warnings ? "; further ones will only be counted" : "");
}

}  // namespace vp
