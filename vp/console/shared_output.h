// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "vp/console/sink.h"

namespace vp {

/// A terminal to which several consoles write. Each line begins with its console's name, as in
/// `host| Linux version 6.1`, and no line mixes two consoles.
class SharedOutput {
 public:
  /// Writes to `output`, which must outlive this object.
  explicit SharedOutput(Sink& output) : output_(output) {}
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  /// Creates a sink for the console `name`. This object must outlive it.
  std::unique_ptr<Sink> sink(const std::string& name);

 private:
  class Part;

  Sink& output_;
  const Part* unfinished_ = nullptr;  // the console whose line is unfinished on the terminal
  std::string text_;
};

}  // namespace vp
