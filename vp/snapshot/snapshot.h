// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <string>
#include <string_view>

#include "vp/console/console.h"
#include "vp/time/domain.h"

namespace vp {

/// A point in a guest's run: a name that its `vpctl mark` announces, or a line of its console.
struct Mark {
  enum class Kind { name, line };
  Kind kind = Kind::name;
  std::string text;  ///< the name, or a text that the line contains

  /// Parses `NAME` or `line:TEXT`.
  static Mark parse(std::string_view text);
  std::string print() const { return (kind == Kind::line ? "line:" : "") + text; }
};

/// The moment of simulated time at which a guest first reaches a mark and gets a command.
///
/// The SystemC kernel pauses at that moment, at any quantum: sc_start() returns, reached() is true,
/// and the caller may fork any number of times (Child, Children). A child, or the process itself,
/// then gives the guest its command and calls sc_start() again, so that both do the same.
///
/// A guest that announced the name gets the command as the answer at the same instant. For a guest
/// that wrote the line, the command and `exit` are typed on its console a nanosecond later; a shell
/// should be running there.
class Snapshot {
 public:
  explicit Snapshot(Mark mark) : mark_(std::move(mark)) {}
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// Adds a guest that may write the line. Its console and domain must outlive this object.
  void watch(Console& console, Domain& domain);
  /// Handles a name that a guest announces. ControlChannel calls this in the process of the vCPU,
  /// which waits while the kernel pauses. Returns the command for the guest, or an empty string.
  std::string say(const std::string& name);

  const Mark& mark() const { return mark_; }
  /// Whether the mark has not been reached yet.
  bool ahead() const { return state_ == State::ahead; }
  /// Whether the kernel has paused at the mark and go_on() has not been called since.
  bool reached() const { return state_ == State::reached; }
  /// Gives the guest its command of one line, which takes effect when the kernel runs again.
  void go_on(std::string command);

 private:
  enum class State { ahead, reached, passed };

  /// A guest that may write the line, and the events for that.
  struct Guest {
    Guest(Snapshot& snapshot, Console& console, Domain& domain);
    void line(Picoseconds when);
    void type();

    Snapshot& snapshot;
    Console& console;
    Event arrival;  // the SystemC kernel has reached the time of the line
    Event typed;    // the command is typed
  };

  void reach();

  const Mark mark_;
  State state_ = State::ahead;
  std::string command_;
  std::list<Guest> guests_;
};

}  // namespace vp
