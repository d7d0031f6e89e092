// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <string>
#include <string_view>

#include "vp/console/console.h"
#include "vp/time/domain.h"

namespace vp {

/// A place in a guest's run: a name that its `vpctl mark` says, or a line of its console.
struct Mark {
  enum class Kind { name, line };
  Kind kind = Kind::name;
  std::string text;  ///< the name, or what the line contains

  /// `NAME` or `line:TEXT`.
  static Mark parse(std::string_view text);
  std::string print() const { return (kind == Kind::line ? "line:" : "") + text; }
};

/// The moment of simulated time at which a guest first reaches a mark, and is given a command.
///
/// The kernel pauses there, whatever the quantum: sc_start() returns, reached() is true, and the
/// caller may fork, once or a thousand times (Child, Children). Whoever goes on, a child or the
/// process itself, gives the guest its command and calls sc_start() again, so that both do the
/// same.
///
/// A guest that said the name of the mark gets the command as the answer, at the same instant. One
/// that wrote the line gets it typed on its console a nanosecond later, followed by `exit`: there
/// should be a shell.
class Snapshot {
 public:
  explicit Snapshot(Mark mark) : mark_(std::move(mark)) {}
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// A guest that may write the line. Its console and domain outlive this object.
  void watch(Console& console, Domain& domain);
  /// A guest says a name: for ControlChannel, in the process of the vCPU, which is held while the
  /// kernel pauses. Returns the answer.
  std::string say(const std::string& name);

  const Mark& mark() const { return mark_; }
  /// The mark has not come yet.
  bool ahead() const { return state_ == State::ahead; }
  /// The kernel has paused at the mark, and go_on() has not been called.
  bool reached() const { return state_ == State::reached; }
  /// Gives the guest its command, of one line; it gets it as soon as the kernel runs.
  void go_on(std::string command);

 private:
  enum class State { ahead, reached, passed };

  /// A console on which the line may arrival.
  struct Guest {
    Guest(Snapshot& snapshot, Console& console, Domain& domain);
    void line(Picoseconds when);
    void type();

    Snapshot& snapshot;
    Console& console;
    Event arrival;  // the kernel's time is that of the line
    Event typed;    // the command
  };

  void reach();

  const Mark mark_;
  State state_ = State::ahead;
  std::string command_;
  std::list<Guest> guests_;
};

}  // namespace vp
