// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "models/axi/block.h"
#include "models/rtl/model.h"

namespace axi {

/// A block whose top module is the class `Top` that Verilator has made. A class derived from this
/// connects the pins.
template <typename Top>
class VerilatedBlock : protected rtl::Model<Top>, public Block {
 public:
  ~VerilatedBlock() override { Verilated::threadContextp(&this->context); }

  void settle() override {
    clock_.set(0);
    this->top->eval();
  }
  void rise() override {
    clock_.set(1);
    this->top->eval();
  }
  bool open_waveform(const std::string& path) override { return waveform_.open(*this->top, path); }
  void dump(std::uint64_t time) override { waveform_.dump(time); }

  void set_time(vp::Picoseconds time) override {
    this->context.time(static_cast<std::uint64_t>(time) / unit_);
  }

 protected:
  VerilatedBlock(const char* name, int seed) : rtl::Model<Top>(name, true, seed) {
    // $time counts in units of the precision, of which 10^0 s to 10^-15 s exist.
    for (int exponent = -12; exponent < this->context.timeprecision(); ++exponent) unit_ *= 10;
  }

  Pin clock_;

 private:
  std::uint64_t unit_ = 1;  // ps; of a precision below 1 ps, $time counts in ps
  rtl::Waveform waveform_;
};

}  // namespace axi
