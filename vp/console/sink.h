// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vp {

/// A file or pseudo-terminal that cannot be opened.
struct ConsoleError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where the output of a console goes, and perhaps a place where input comes from.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Takes all bytes; what cannot be delivered is lost, and reported once in the log.
  virtual void write(std::string_view bytes) = 0;
  /// Appends at most `room` bytes of input that is there now, and never waits.
  virtual void read(std::string& input, std::size_t room) { (void)input, (void)room; }
};

}  // namespace vp
