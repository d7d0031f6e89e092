// SPDX-License-Identifier: Apache-2.0
#include "vp/console/script_player.h"

#include <fmt/format.h>

#include <algorithm>

#include "vp/config/units.h"

namespace vp {
namespace {

constexpr std::size_t max_output = 64 * 1024;

// Returns output in the form in which a message quotes it.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\r') {
      result += "\\r";
    } else if (c >= 0x20 && c < 0x7f) {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace

ScriptPlayer::ScriptPlayer(Domain& domain, Console& console, Script script,
                           std::function<void(const std::string&)> on_missing)
    : console_(console),
      script_(std::move(script)),
      on_missing_(std::move(on_missing)),
      alarm_(domain, [this] { alarm(); }) {
  console_.on_output([this](char byte, Picoseconds when) { heard(byte, when); });
}

// Runs as an appointment or before the simulation, never inside an access of the guest: its serial
// port must not get input while the guest sends.
void ScriptPlayer::play() {
  for (; next_ < script_.steps.size(); ++next_) {
    const Script::Step& step = script_.steps[next_];
    switch (step.kind) {
      case Script::Step::Kind::send:
        console_.type(step.text);
        break;
      case Script::Step::Kind::at:
        if (step.time <= now()) break;
        waiting_ = true;
        return alarm_.at(step.time);
      case Script::Step::Kind::wait:
        if (step.time == 0) break;
        waiting_ = true;
        return alarm_.after(step.time);
      case Script::Step::Kind::expect:
        if (match()) break;
        expecting_ = true;
        return alarm_.after(step.time);
    }
  }
}

// A processor may be ahead of the SystemC kernel. Its output counts only until the deadline.
void ScriptPlayer::heard(char byte, Picoseconds when) {
  if (done()) return;
  output_.push_back(byte);
  if (expecting_ && when < alarm_.when() && match()) {
    expecting_ = false;
    waiting_ = true;
    alarm_.at(when);
  } else if (output_.size() == max_output) {
    forget(max_output / 2);
  }
}

void ScriptPlayer::alarm() {
  if (waiting_) {
    waiting_ = false;
    ++next_;
    play();
    return;
  }
  const Script::Step& step = script_.steps[next_];
  expecting_ = false;
  next_ = script_.steps.size();
  const std::size_t shown = std::min<std::size_t>(output_.size(), 200);
  on_missing_(fmt::format("{}: \"{}\" did not appear within {}; the last output was \"{}\"",
                          step.place, printable(step.text),
                          config::duration_quantity().print(step.time),
                          printable(std::string_view(output_).substr(output_.size() - shown))));
}

// Searches the output for the text of the present step. Only a match that ends in the new part is
// possible.
bool ScriptPlayer::match() {
  const std::string& text = script_.steps[next_].text;
  const std::size_t from = searched_ - std::min(searched_, text.size() - 1);
  const std::size_t found = output_.find(text, from);
  searched_ = output_.size();
  if (found == output_.npos) return false;
  forget(found + text.size());
  searched_ = 0;
  return true;
}

void ScriptPlayer::forget(std::size_t length) {
  output_.erase(0, length);
  searched_ -= std::min(searched_, length);
}

}  // namespace vp
