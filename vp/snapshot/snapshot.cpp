// SPDX-License-Identifier: Apache-2.0
#include "vp/snapshot/snapshot.h"

#include <utility>

namespace vp {
namespace {

constexpr std::string_view line_prefix = "line:";
// The time from the line until the command is typed. The event that types it is pending before a
// processor continues, so that none can run past it.
constexpr Picoseconds typing_delay = 1 * ns;

}  // namespace

Mark Mark::parse(std::string_view text) {
  if (text.substr(0, line_prefix.size()) != line_prefix) return {Kind::name, std::string(text)};
  return {Kind::line, std::string(text.substr(line_prefix.size()))};
}

void Snapshot::watch(Console& console, Domain& domain) {
  if (mark_.kind == Mark::Kind::line) guests_.emplace_back(*this, console, domain);
}

std::string Snapshot::say(const std::string& name) {
  if (state_ != State::ahead || mark_.kind != Mark::Kind::name || name != mark_.text) return {};
  reach();
  sc_core::wait(sc_core::SC_ZERO_TIME);
  return std::exchange(command_, {});
}

void Snapshot::reach() {
  state_ = State::reached;
  sc_core::sc_pause();
}

void Snapshot::go_on(std::string command) {
  state_ = State::passed;
  command_ = std::move(command);
}

Snapshot::Guest::Guest(Snapshot& snapshot, Console& console, Domain& domain)
    : snapshot(snapshot),
      console(console),
      arrival(domain,
              [this] {
                if (this->snapshot.state_ != State::ahead) return;
                this->snapshot.reach();
                typed.after(typing_delay);
              }),
      typed(domain, [this] { type(); }) {
  console.watch(snapshot.mark_.text, [this](std::string_view, Picoseconds when) { line(when); });
}

// The processor that wrote the line may be ahead of the SystemC kernel.
void Snapshot::Guest::line(Picoseconds when) {
  if (snapshot.state_ == State::ahead && !arrival.pending()) arrival.at(std::max(when, now()));
}

void Snapshot::Guest::type() {
  const std::string command = std::exchange(snapshot.command_, {});
  if (!command.empty()) console.type(command + "\nexit\n");
}

}  // namespace vp
