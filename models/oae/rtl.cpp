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
#include <Voae_peek_fast.h>
#include <Voae_relay_cell.h>
#include <Voae_relay_cell_fast.h>

#include <cstring>

#include "models/rtl/model.h"
#include "oae_registers.h"

namespace oae {
namespace {

/// The block without checks. Each change of its clock's pin is an edge, which takes one evaluation
/// (FAST_MODEL in rtl/block/oae_block.sv). A model beside it (rtl/block/oae_peek.sv) says what some
/// operations do, so that they take no edge.
class FastBlock final : private rtl::Model<Voae_block_fast>, public BlockRtl {
 public:
  explicit FastBlock(const char* name) : Model(name, false), BlockRtl(*top) {}

  void settle() override { top->eval(); }
  void rise() override {
    top->clock ^= 1;
    top->eval();
  }
  RegisterAnswer peek(const RegisterRead& read, std::uint64_t edge) override {
    operation_.write = 0;
    operation_.now = edge;
    look(read.host, read.bar, read.word);
    return {operation_.possible != 0, operation_.more, operation_.error != 0, operation_.value};
  }
  WriteEffect execute(const LineWrite& write) override {
    operation_.write = 1;
    operation_.enable = write.enable;
    std::memcpy(operation_.data.data(), write.bytes, sizeof operation_.data);
    look(write.host, write.bar, 8 * write.line + write.word);
    if (!operation_.possible) return {};
    state_.oae_block__DOT__swap__DOT__row_in_work__DOT__rows[operation_.port] =
        operation_.row_after;
    state_.oae_block__DOT__swap__DOT__irq_pending = operation_.irq_pending_after;
    top->irq = operation_.irq_after;
    if (operation_.fills) fill(write);
    if (!operation_.commits) return {true, operation_.more, {}};
    top->trace_to = OAE_PORT_STATE_COMMITTED;  // stays on the pin
    const std::uint64_t name = operation_.committed;
    return {true, operation_.more,
            JournalChange{operation_.port, static_cast<unsigned>(name >> 32),
                          static_cast<std::uint32_t>(name), OAE_PORT_STATE_TENTATIVE,
                          OAE_PORT_STATE_COMMITTED}};
  }

 private:
  auto& slot() {
    return state_
        .oae_block__DOT__swap__DOT__slots__DOT__memory[operation_.port * 8u + operation_.bank];
  }
  void fill(const LineWrite& write) {
    auto* bytes = reinterpret_cast<std::uint8_t*>(slot().data());
    for (std::uint64_t left = write.enable; left != 0;) {
      const auto word = static_cast<unsigned>(__builtin_ctzll(left)) / 8;
      const std::uint64_t enabled = left >> 8 * word & 0xff;
      left ^= enabled << 8 * word;
      if (enabled == 0xff) {
        std::memcpy(bytes + 8 * word, write.bytes + 8 * word, 8);
      } else {
        for (unsigned i = 0; i < 8; ++i) {
          if (enabled >> i & 1) bytes[8 * word + i] = write.bytes[8 * word + i];
        }
      }
    }
  }
  void look(bool host, unsigned bar, std::uint64_t word) {
    operation_.host = host;
    operation_.bar = static_cast<std::uint8_t>(bar);
    operation_.address = static_cast<std::uint16_t>(word);
    operation_.ports = top->ports;
    operation_.clock_khz = top->clock_khz;
    operation_.liveness_count = state_.oae_block__DOT__swap__DOT__liveness__DOT__count;
    operation_.liveness_written = state_.oae_block__DOT__swap__DOT__liveness__DOT__written;
    operation_.liveness_limit = state_.oae_block__DOT__swap__DOT__liveness_limit;
    operation_.irq_enable = state_.oae_block__DOT__swap__DOT__irq_enable;
    operation_.irq_pending = state_.oae_block__DOT__swap__DOT__irq_pending;
    operation_.hold_limit = state_.oae_block__DOT__swap__DOT__hold_limit;
    unsigned port, bank;
    do {  // once, unless the operation before was one of another port, or had another slot
      port = operation_.port;
      bank = operation_.bank;
      operation_.row = state_.oae_block__DOT__swap__DOT__row_in_work__DOT__rows[port];
      operation_.slot = slot();
      operation_.eval();
    } while (operation_.port != port || (operation_.fetches && operation_.bank != bank));
  }

  Voae_block_fast___024root& state_ = *top->rootp;
  rtl::Model<Voae_peek_fast> peek_{"oae_peek", false};
  Voae_peek_fast& operation_ = *peek_.top;
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
