// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verilated.h>
#include <verilated_vcd_c.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "vp/log/log.h"

namespace rtl {

/// A verilated top module with a context of its own. Only files that include a header which
/// Verilator has made need this one.
template <typename Top>
struct Model {
  /// `seed` is that of $random and $urandom, and not 0, since Verilator would then ask the system
  /// for one.
  explicit Model(const char* name, bool waveforms, int seed = 1) {
    context.threads(1);
    context.randSeed(seed);
    context.traceEverOn(waveforms);
    top.emplace(&context, name);
    top->eval();  // initial values; the first edge comes later
  }
  ~Model() {
    // Verilator has printed what a `final` block says. The run is over, so that nothing else is left
    // of an assertion that fails there.
    try {
      top->final();
    } catch (const std::exception& failure) {
      vp::log::get("rtl").error("in a `final` block: {}", failure.what());
    }
    // Verilator's destructors use the thread's context, which may belong to a model that is gone.
    Verilated::threadContextp(&context);
  }

  VerilatedContext context;
  std::optional<Top> top;
};

/// The waveform file of a model, in VCD format with times in picoseconds.
class Waveform {
 public:
  /// Returns whether the file could be opened.
  template <typename Top>
  bool open(Top& top, const std::string& path) {
    file_.set_time_unit("1ps");
    file_.set_time_resolution("1ps");
    top.trace(&file_, 99);
    file_.open(path.c_str());
    return file_.isOpen();
  }
  void dump(std::uint64_t time) { file_.dump(time); }

 private:
  VerilatedVcdC file_;
};

}  // namespace rtl
