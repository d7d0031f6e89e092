// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rtl {

/// A verilated design with one clock. A model sees it by this interface and by references to its
/// pins, so that the model does not depend on the classes that Verilator makes.
class Design {
 public:
  virtual ~Design() = default;
  Design(const Design&) = delete;
  Design& operator=(const Design&) = delete;

  /// Makes the outputs follow the inputs. An output that depends on the state alone does not need
  /// this.
  virtual void settle() = 0;
  /// Makes one rising edge of the clock. If the library checks assertions, one that fails throws
  /// std::logic_error (rtl/stop.cpp).
  virtual void rise() = 0;

  /// Opens a waveform file, and returns whether that was possible. A library without waveforms has
  /// none.
  virtual bool open_waveform(const std::string&) { return false; }
  /// Writes the present values of all signals to the waveform, for a time in ps.
  virtual void dump(std::uint64_t) {}

 protected:
  Design() = default;
};

}  // namespace rtl
