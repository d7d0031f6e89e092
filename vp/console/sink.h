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

/// A destination of a console's output, which may also be a source of input.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Writes all bytes. Bytes that cannot be written are lost, which is logged once.
  virtual void write(std::string_view bytes) = 0;
  /// Appends at most `room` bytes of available input to `input`. Never waits.
  virtual void read(std::string& input, std::size_t room) { (void)input, (void)room; }
};

}  // namespace vp
