// SPDX-License-Identifier: Apache-2.0
#include "vp/console/console.h"

namespace vp {
namespace {

constexpr std::size_t max_line = 4096;
constexpr std::size_t max_typed = 64 * 1024;

}  // namespace

void Console::put(char byte, Picoseconds when) {
  unshown_.push_back(byte);
  if (byte == '\n' || unshown_.size() == max_line) flush();
  if (on_output_) on_output_(byte, when);
  if (watchers_.empty()) return;
  if (byte != '\n') line_.push_back(byte);
  if (byte == '\n' || line_.size() == max_line) end_line(when);
}

void Console::end_line(Picoseconds when) {
  while (!line_.empty() && line_.back() == '\r') line_.pop_back();
  for (const Watcher& watcher : watchers_) {
    if (line_.find(watcher.text) != line_.npos) watcher.action(line_, when);
  }
  line_.clear();
}

char Console::read() {
  const char byte = input_[taken_++];
  if (taken_ == input_.size()) {
    input_.clear();
    taken_ = 0;
  }
  return byte;
}

void Console::watch(std::string text, std::function<void(std::string_view, Picoseconds)> action) {
  watchers_.push_back({std::move(text), std::move(action)});
}

void Console::type(std::string_view bytes) {
  if (bytes.empty()) return;
  const bool idle = !has_input();
  input_ += bytes;
  if (idle && on_input_) on_input_();
}

void Console::replace_sinks(std::unique_ptr<Sink> sink) {
  sinks_.clear();
  add_sink(std::move(sink));
}

std::size_t Console::room() const {
  const std::size_t waiting = input_.size() - taken_;
  return waiting < max_typed ? max_typed - waiting : 0;
}

void Console::poll() {
  flush();
  for (const auto& sink : sinks_) {
    std::string input;
    sink->read(input, room());
    type(input);
  }
}

void Console::flush() {
  if (unshown_.empty()) return;
  for (const auto& sink : sinks_) sink->write(unshown_);
  unshown_.clear();
}

}  // namespace vp
