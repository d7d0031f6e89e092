// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>

#include "models/ipu/register_block.h"
#include "vp/irq_output.h"
#include "vp/time/domain.h"

namespace ipu {

/// PrimeCell UART PL011, revision r1p5 (Arm DDI 0183G), without DMA and IrDA. Its registers are
/// those of `pl011_registers.h`. DMACR and ILPR are stored without effect. A write of LCR_H makes
/// the divisors take effect, and a write of RSR clears it. Other offsets read zero and ignore
/// writes.
///
/// At the other ends of the wires CTS, DSR and DCD are asserted, and RI is not. Bytes to be
/// received wait until receiving is enabled. An untimed UART sends a byte when it is written, and
/// receives a byte as soon as the FIFO has room. A timed UART takes the time that the divisors give
/// (nothing moves while they are 0), and a full FIFO overruns unless RTS flow control is on.
class Pl011 : public RegisterBlock {
 public:
  struct Config {
    bool timed = false;
    std::uint64_t clock_hz = 24'000'000;  ///< UARTCLK, 1 or more; for a timed UART
  };
  /// Called with each byte that is sent, in order, at the time at which its stop bit ends.
  using Sink = std::function<void(std::uint8_t)>;

  /// The combined interrupt UARTINTR.
  vp::IrqOutput irq;

  /// `line` is the number of `irq` at its controller.
  Pl011(const sc_core::sc_module_name& name, vp::Domain& domain, const Config& config,
        unsigned line, Sink sink);

  /// Returns to the initial state. Bytes that are on their way in either direction are lost.
  void reset();

  /// Makes the far end send these bytes from now on.
  void receive(std::string_view bytes);

  /// Number of bytes sent.
  const std::uint64_t& sent() const { return sent_; }
  /// Number of bytes that entered the receive FIFO.
  const std::uint64_t& received() const { return received_; }

 private:
  static constexpr unsigned fifo_depth = 16;

  /// A ring of up to 16 entries, or of one entry if FIFOs are disabled.
  struct Fifo {
    std::array<std::uint16_t, fifo_depth> entries;
    unsigned head = 0;
    unsigned level = 0;
    void push(std::uint16_t entry) { entries[(head + level++) % fifo_depth] = entry; }
    std::uint16_t pop();
    void clear() { level = 0; }
  };

  std::optional<std::uint64_t> read(std::uint64_t offset) override;
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds delay) override;

  std::uint32_t flags() const;
  std::uint32_t modem_inputs() const;
  std::uint32_t read_data();
  void write_line_control(std::uint32_t value);
  void write_control(std::uint32_t value);

  unsigned depth() const;
  unsigned transmit_trigger() const;
  unsigned receive_trigger() const;
  vp::Picoseconds bit_periods(unsigned number) const;
  vp::Picoseconds frame() const;

  void transmit(std::uint8_t byte, vp::Picoseconds delay);
  void start_transmit(vp::Picoseconds delay);
  void send(std::uint8_t byte);
  bool may_receive() const;
  void start_receive();
  void enter_fifo(std::uint8_t byte);
  void update_irq();

  const Config config_;
  const Sink sink_;

  Fifo transmit_;
  Fifo receive_;
  std::uint8_t shift_ = 0;         // the byte that is being sent
  std::deque<std::uint8_t> wire_;  // bytes that have not reached the UART
  vp::Event sent_event_;           // the last bit of shift_ has left
  vp::Event arrived_event_;        // the byte at the head of wire_ has arrived
  vp::Event quiet_event_;          // no byte came for 32 bit periods

  std::uint32_t status_ = 0;  // RSR
  std::uint32_t irda_ = 0;
  std::uint32_t integer_divisor_ = 0;
  std::uint32_t fractional_divisor_ = 0;
  std::uint32_t divisor_ = 0;  // the effective one, in 64ths
  std::uint32_t line_control_ = 0;
  std::uint32_t control_;
  std::uint32_t levels_;
  std::uint32_t mask_ = 0;
  std::uint32_t raw_ = 0;
  std::uint32_t dma_ = 0;
  bool overrun_ = false;  // the next byte that is received carries OE

  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace ipu
