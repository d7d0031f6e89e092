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

// Cuts the part before the first `separator` off `text`; all of it if there is none.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool allowed(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '+' || c == '-';
}

}  // namespace

bool ControlChannel::valid_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), allowed);
}

std::uint32_t ControlChannel::read(unsigned offset, unsigned size) {
  if (size != 4) return ~0u;
  switch (offset) {
    case DATA:
      return take();
    case STATUS:
      return 1u << 31 | static_cast<std::uint32_t>(to_guest_.size() - taken_);
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

bool ControlChannel::send(std::string_view bytes) {
  if (bytes.size() > max_length - (to_guest_.size() - taken_)) return false;
  to_guest_.erase(0, taken_);
  taken_ = 0;
  to_guest_ += bytes;
  return true;
}

std::uint32_t ControlChannel::take() {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4 && taken_ < to_guest_.size(); ++i) {
    word |= std::uint32_t{static_cast<std::uint8_t>(to_guest_[taken_++])} << 8 * i;
  }
  if (taken_ == to_guest_.size()) {
    to_guest_.clear();
    taken_ = 0;
  }
  return word;
}

void ControlChannel::begin(std::uint32_t length) {
  if (expected_ != 0) {
    reject(fmt::format("only {} of {} bytes came", message_.size(), expected_));
  }
  message_.clear();
  expected_ = length;
  if (length > max_length) {
    expected_ = 0;
    reject(fmt::format("{} bytes are more than {}", length, max_length));
  }
}

// Memory grows with what really comes, not with what was announced.
void ControlChannel::data(std::uint32_t word) {
  for (unsigned i = 0; i < 4 && message_.size() < expected_; ++i) {
    message_.push_back(static_cast<char>(word >> 8 * i));
  }
  if (expected_ != 0 && message_.size() == expected_) finish();
}

void ControlChannel::finish() {
  // A handler may end the run, or even make the guest send.
  std::string message;
  message.swap(message_);
  expected_ = 0;
  if (obey(message)) {
    ++messages_;
  } else {
    reject("not understood");
  }
}

bool ControlChannel::obey(std::string_view message) {
  std::string_view bytes = message;
  std::string_view line = cut(bytes, '\n');
  if (line.size() == message.size()) return false;  // no line feed
  const std::string_view verb = cut(line, ' ');
  if (verb == "put") {
    const std::string_view name = cut(line, ' ');
    const auto size = number(line, max_file);
    if (!valid_name(name) || !size || *size != bytes.size()) return false;
    if (handlers_.on_file) handlers_.on_file(std::string(name), bytes);
    return true;
  }
  if (!bytes.empty()) return false;
  if (verb == "mark") {
    if (!valid_name(line)) return false;
    if (handlers_.on_mark) handlers_.on_mark(std::string(line));
    return true;
  }
  if (verb == "exit") {
    const auto code = number(line, 255);
    if (!code) return false;
    if (handlers_.on_exit) handlers_.on_exit(static_cast<int>(*code));
    return true;
  }
  return false;
}

// A guest that sends nothing but garbage must not fill the log.
void ControlChannel::reject(const std::string& why) {
  ++rejected_;
  if (rejected_ > max_warnings) return;
  log::get("control").warn("message of the guest dropped: {}{}", why,
                           rejected_ == max_warnings ? "; further ones are only counted" : "");
}

}  // namespace vp
