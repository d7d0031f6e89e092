// SPDX-License-Identifier: Apache-2.0
#include "models/oae/rtl.h"

#include <Voae_block.h>
#include <Voae_block_fast.h>
#include <Voae_block_fast___024root.h>
#include <Voae_cell.h>
#include <Voae_cell_fast.h>
#include <Voae_cell_of_two.h>
#include <Voae_cell_of_two_fast.h>
#include <Voae_link.h>
#include <Voae_link_fast.h>
#include <Voae_relay_cell.h>
#include <Voae_relay_cell_fast.h>

#include <cstring>

#include "models/rtl/model.h"

namespace oae {
namespace {

/// The block without checks. Each change of its clock's pin is an edge, which takes one evaluation
/// (FAST_MODEL in rtl/block/oae_block.sv).
class FastBlock final : private rtl::Model<Voae_block_fast>, public BlockRtl {
 public:
  explicit FastBlock(const char* name) : Model(name, false), BlockRtl(*top) {}

  void settle() override { top->eval(); }
  void rise() override {
    top->clock ^= 1;
    top->eval();
  }
  RegisterAnswer peek(const RegisterRead& read, std::uint64_t edge) override {
    top->now = edge;
    look(read.host, read.bar, read.word);
    return {top->peek_possible != 0, top->peek_fetches != 0, top->peek_error != 0, top->peek_value};
  }
  bool execute(const LineWrite& write) override {
    top->peek_write = 1;
    top->peek_enable = write.enable;
    std::memcpy(&top->peek_data, write.bytes + 8 * write.word, 8);
    look(write.host, write.bar, 8 * write.line + write.word);
    top->peek_write = 0;
    if (top->peek_commands) {
      command();
    } else if (!top->peek_fills) {
      return false;
    } else if (top->peek_changes) {
      fill(write);
    }
    return true;
  }

 private:
  void command() {
    auto& rtl = *top->rootp;
    rtl.oae_block__DOT__swap__DOT__row_in_work__DOT__rows[top->peek_port] = top->peek_row_after;
    rtl.oae_block__DOT__swap__DOT__irq_pending = top->peek_irq_pending_after;
    top->irq = top->peek_irq_after;
  }
  void fill(const LineWrite& write) {
    auto& rtl = *top->rootp;
    rtl.oae_block__DOT__swap__DOT__row_in_work__DOT__rows[top->peek_port] = top->peek_row_after;
    const unsigned place = top->peek_port * 8u + top->peek_bank;
    auto& slot = rtl.oae_block__DOT__swap__DOT__slots__DOT__memory[place];
    auto* bytes = reinterpret_cast<std::uint8_t*>(&slot[0]);
    for (unsigned word = 0; word < 8; ++word) {
      const std::uint64_t enabled = write.enable >> 8 * word & 0xff;
      if (enabled == 0xff) {
        std::memcpy(bytes + 8 * word, write.bytes + 8 * word, 8);
      } else if (enabled != 0) {
        for (unsigned i = 8 * word; i < 8 * word + 8; ++i) {
          if (write.enable >> i & 1) bytes[i] = write.bytes[i];
        }
      }
    }
  }
  void look(bool host, unsigned bar, std::uint64_t word) {
    top->peek_valid = 1;
    top->peek_host = host;
    top->peek_bar = static_cast<std::uint8_t>(bar);
    top->peek_address = static_cast<std::uint16_t>(word);
    top->eval();
    top->peek_valid = 0;
  }
};

template <typename Top>
auto clock_of(Top& top) -> decltype((top.clock)) {
  return top.clock;
}
template <typename Top>
auto clock_of(Top& top) -> decltype((top.clk_i)) {
  return top.clk_i;
}

/// A model whose clock has a low and a high phase.
template <typename Pins, typename Top>
class Clocked : protected rtl::Model<Top>, public Pins {
 public:
  explicit Clocked(const char* name, bool waveforms = false)
      : rtl::Model<Top>(name, waveforms), Pins(*this->top) {}

  void settle() override {
    clock_of(*this->top) = 0;
    this->top->eval();
  }
  void rise() override {
    if (clock_of(*this->top)) Clocked::settle();
    clock_of(*this->top) = 1;
    this->top->eval();
  }
};

template <typename Pins, typename Top>
class Checked final : public Clocked<Pins, Top> {
 public:
  explicit Checked(const char* name) : Clocked<Pins, Top>(name, true) {}
  ~Checked() override { Verilated::threadContextp(&this->context); }

  bool open_waveform(const std::string& path) override { return waveform_.open(*this->top, path); }
  void dump(std::uint64_t time) override { waveform_.dump(time); }

 private:
  rtl::Waveform waveform_;
};

}  // namespace

std::unique_ptr<BlockRtl> make_block_rtl(bool checked) {
  if (checked) return std::make_unique<Checked<BlockRtl, Voae_block>>("oae_block");
  return std::make_unique<FastBlock>("oae_block");
}

std::unique_ptr<BlockRtl> make_cell_rtl(unsigned links, bool checked) {
  if (links == 2) {
    if (checked) return std::make_unique<Checked<CellRtl<2>, Voae_cell_of_two>>("oae_cell");
    return std::make_unique<Clocked<CellRtl<2>, Voae_cell_of_two_fast>>("oae_cell");
  }
  if (checked) return std::make_unique<Checked<CellRtl<1>, Voae_cell>>("oae_cell");
  return std::make_unique<Clocked<CellRtl<1>, Voae_cell_fast>>("oae_cell");
}

std::unique_ptr<RelayRtl> make_relay_rtl(bool checked) {
  if (checked) return std::make_unique<Checked<RelayRtl, Voae_relay_cell>>("oae_relay_cell");
  return std::make_unique<Clocked<RelayRtl, Voae_relay_cell_fast>>("oae_relay_cell");
}

std::unique_ptr<LinkRtl> make_link_rtl(bool checked) {
  if (checked) return std::make_unique<Checked<LinkRtl, Voae_link>>("oae_link");
  return std::make_unique<Clocked<LinkRtl, Voae_link_fast>>("oae_link");
}

}  // namespace oae
