// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/pl011.h"

#include <algorithm>

#include "models/ipu/pl011_registers.h"

namespace ipu {
namespace {

// Table 3-1: PeriphID0 to 3 of revision r1p5, PCellID0 to 3.
constexpr std::array<std::uint8_t, 8> ids = {0x11, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1};

constexpr std::uint32_t control_reset = PL011_CR_TXE | PL011_CR_RXE;
constexpr std::uint32_t levels_reset = 0x12;
constexpr unsigned timeout_bits = 32;

/// Entries at a level of IFLS: 1/8, 1/4, 1/2, 3/4 or 7/8 of 16. Reserved values are as the last.
unsigned trigger(std::uint32_t select) {
  constexpr std::array<unsigned, 5> entries = {2, 4, 8, 12, 14};
  return entries[std::min<std::uint32_t>(select & 7, 4)];
}

}  // namespace

std::uint16_t Pl011::Fifo::pop() {
  const std::uint16_t entry = entries[head];
  head = (head + 1) % fifo_depth;
  --level;
  return entry;
}

Pl011::Pl011(const sc_core::sc_module_name& name, vp::Domain& domain, const Config& config,
             unsigned line, Sink sink)
    : RegisterBlock(name, 4),
      irq("irq", line),
      config_(config),
      sink_(std::move(sink)),
      sent_event_(domain,
                  [this] {
                    send(shift_);
                    start_transmit(0);
                    update_irq();
                  }),
      arrived_event_(domain,
                     [this] {
                       const std::uint8_t byte = wire_.front();
                       wire_.pop_front();
                       enter_fifo(byte);
                       start_receive();
                       update_irq();
                     }),
      quiet_event_(domain,
                   [this] {
                     raw_ |= PL011_INT_RT;
                     update_irq();
                   }),
      control_(control_reset),
      levels_(levels_reset) {}

void Pl011::reset() {
  for (vp::Event* event : {&sent_event_, &arrived_event_, &quiet_event_}) event->cancel();
  transmit_.clear();
  receive_.clear();
  wire_.clear();
  status_ = irda_ = integer_divisor_ = fractional_divisor_ = divisor_ = line_control_ = 0;
  control_ = control_reset;
  levels_ = levels_reset;
  mask_ = raw_ = dma_ = 0;
  overrun_ = false;
  update_irq();
}

void Pl011::receive(std::string_view bytes) {
  wire_.insert(wire_.end(), bytes.begin(), bytes.end());
  start_receive();
  update_irq();
}

std::optional<std::uint64_t> Pl011::read(std::uint64_t offset) {
  switch (offset) {
    case PL011_DR:
      return read_data();
    case PL011_RSR:
      return status_;
    case PL011_FR:
      return flags();
    case PL011_ILPR:
      return irda_;
    case PL011_IBRD:
      return integer_divisor_;
    case PL011_FBRD:
      return fractional_divisor_;
    case PL011_LCR_H:
      return line_control_;
    case PL011_CR:
      return control_;
    case PL011_IFLS:
      return levels_;
    case PL011_IMSC:
      return mask_;
    case PL011_RIS:
      return raw_;
    case PL011_MIS:
      return raw_ & mask_;
    case PL011_DMACR:
      return dma_;
    default:
      break;
  }
  if (offset >= PL011_SIZE) return std::nullopt;
  return offset >= PL011_PERIPH_ID0 ? ids[(offset - PL011_PERIPH_ID0) / 4] : 0;
}

bool Pl011::write(std::uint64_t offset, std::uint64_t wide_value, std::uint64_t wide_mask,
                  vp::Picoseconds delay) {
  if (offset >= PL011_SIZE) return false;
  const auto value = static_cast<std::uint32_t>(wide_value);
  const auto mask = static_cast<std::uint32_t>(wide_mask);
  const auto merged = [&](std::uint32_t old, std::uint32_t writable) {
    return static_cast<std::uint32_t>(merge(old, value, mask & writable));
  };
  switch (offset) {
    case PL011_DR:
      if (mask & 0xff) transmit(static_cast<std::uint8_t>(value), delay);
      break;
    case PL011_RSR:
      status_ = 0;
      break;
    case PL011_ILPR:
      irda_ = merged(irda_, 0xff);
      break;
    case PL011_IBRD:
      integer_divisor_ = merged(integer_divisor_, 0xffff);
      break;
    case PL011_FBRD:
      fractional_divisor_ = merged(fractional_divisor_, 0x3f);
      break;
    case PL011_LCR_H:
      write_line_control(merged(line_control_, PL011_LCR_H_MASK));
      break;
    case PL011_CR:
      write_control(merged(control_, PL011_CR_MASK));
      break;
    case PL011_IFLS:
      levels_ = merged(levels_, 0x3f);
      break;
    case PL011_IMSC:
      mask_ = merged(mask_, PL011_INT_MASK);
      break;
    case PL011_ICR:
      raw_ &= ~(value & mask);
      break;
    case PL011_DMACR:
      dma_ = merged(dma_, 0x7);
      break;
    default:
      break;
  }
  update_irq();
  return true;
}

std::uint32_t Pl011::flags() const {
  std::uint32_t flags = modem_inputs();
  if (sent_event_.pending() || transmit_.level > 0) flags |= PL011_FR_BUSY;
  if (receive_.level == 0) flags |= PL011_FR_RXFE;
  if (transmit_.level == depth()) flags |= PL011_FR_TXFF;
  if (receive_.level == depth()) flags |= PL011_FR_RXFF;
  if (transmit_.level == 0) flags |= PL011_FR_TXFE;
  return flags;
}

// In loopback the modem outputs are fed to the inputs (section 2.4.2).
std::uint32_t Pl011::modem_inputs() const {
  if (!(control_ & PL011_CR_LBE)) return PL011_FR_CTS | PL011_FR_DSR | PL011_FR_DCD;
  std::uint32_t inputs = 0;
  if (control_ & PL011_CR_RTS) inputs |= PL011_FR_CTS;
  if (control_ & PL011_CR_DTR) inputs |= PL011_FR_DSR;
  if (control_ & PL011_CR_OUT1) inputs |= PL011_FR_DCD;
  if (control_ & PL011_CR_OUT2) inputs |= PL011_FR_RI;
  return inputs;
}

std::uint32_t Pl011::read_data() {
  if (receive_.level == 0) return 0;
  const std::uint32_t entry = receive_.pop();
  status_ = (status_ & PL011_RSR_OE) | (entry >> 8 & PL011_RSR_CHARACTER);
  if (receive_.level < receive_trigger()) raw_ &= ~PL011_INT_RX;
  if (receive_.level == 0) {
    raw_ &= ~PL011_INT_RT;
    quiet_event_.cancel();
  }
  start_receive();
  update_irq();
  return entry;
}

void Pl011::write_line_control(std::uint32_t value) {
  if ((value ^ line_control_) & PL011_LCR_H_FEN) {
    transmit_.clear();
    receive_.clear();
    quiet_event_.cancel();
  }
  line_control_ = value;
  divisor_ = integer_divisor_ << 6 | fractional_divisor_;
  start_transmit(0);
  start_receive();
}

void Pl011::write_control(std::uint32_t value) {
  const std::uint32_t before = modem_inputs();
  control_ = value;
  const std::uint32_t changed = before ^ modem_inputs();
  if (changed & PL011_FR_RI) raw_ |= PL011_INT_RI;
  if (changed & PL011_FR_CTS) raw_ |= PL011_INT_CTS;
  if (changed & PL011_FR_DCD) raw_ |= PL011_INT_DCD;
  if (changed & PL011_FR_DSR) raw_ |= PL011_INT_DSR;
  start_transmit(0);
  start_receive();
}

// With FIFOs disabled there is one holding register for each direction.
unsigned Pl011::depth() const {
  return line_control_ & PL011_LCR_H_FEN ? fifo_depth : 1;
}

unsigned Pl011::transmit_trigger() const {
  return depth() == 1 ? 0 : trigger(levels_);
}

unsigned Pl011::receive_trigger() const {
  return depth() == 1 ? 1 : trigger(levels_ >> 3);
}

// A bit takes 16 UARTCLK periods times the divisor in 64ths.
vp::Picoseconds Pl011::bit_periods(unsigned number) const {
  const auto quarters = static_cast<unsigned __int128>(number) * divisor_;
  return static_cast<vp::Picoseconds>(quarters * (vp::s / 4) / config_.clock_hz);
}

vp::Picoseconds Pl011::frame() const {
  const unsigned start_and_stop = line_control_ & PL011_LCR_H_STP2 ? 3 : 2;
  const unsigned parity = line_control_ & PL011_LCR_H_PEN ? 1 : 0;
  return bit_periods(start_and_stop + 5 + (line_control_ >> PL011_LCR_H_WLEN_SHIFT & 3) + parity);
}

// A byte written to a full FIFO is lost.
void Pl011::transmit(std::uint8_t byte, vp::Picoseconds delay) {
  if (transmit_.level == depth()) return;
  transmit_.push(byte);
  if (transmit_.level > transmit_trigger()) raw_ &= ~PL011_INT_TX;
  start_transmit(delay);
}

void Pl011::start_transmit(vp::Picoseconds delay) {
  constexpr std::uint32_t enabled = PL011_CR_UARTEN | PL011_CR_TXE;
  if (sent_event_.pending() || (control_ & enabled) != enabled) return;
  if ((control_ & PL011_CR_CTSEN) && !(modem_inputs() & PL011_FR_CTS)) return;
  if (config_.timed && divisor_ == 0) return;
  while (transmit_.level > 0) {
    shift_ = static_cast<std::uint8_t>(transmit_.pop());
    if (transmit_.level <= transmit_trigger()) raw_ |= PL011_INT_TX;
    if (config_.timed) {
      sent_event_.after(delay + frame());
      return;
    }
    send(shift_);
  }
}

void Pl011::send(std::uint8_t byte) {
  ++sent_;
  const unsigned word_length = 5 + (line_control_ >> PL011_LCR_H_WLEN_SHIFT & 3);
  const auto bits = static_cast<std::uint8_t>(byte & (0xff >> (8 - word_length)));
  if (!(control_ & PL011_CR_LBE)) {
    sink_(bits);
  } else if ((control_ & PL011_CR_RXE)) {
    enter_fifo(bits);
  }
}

bool Pl011::may_receive() const {
  constexpr std::uint32_t enabled = PL011_CR_UARTEN | PL011_CR_RXE;
  return (control_ & (enabled | PL011_CR_LBE)) == enabled;
}

void Pl011::start_receive() {
  if (wire_.empty() || arrived_event_.pending() || !may_receive()) return;
  if (config_.timed) {
    const bool held = (control_ & PL011_CR_RTSEN) && receive_.level >= receive_trigger();
    if (divisor_ != 0 && !held) arrived_event_.after(frame());
    return;
  }
  while (!wire_.empty() && receive_.level < depth()) {
    enter_fifo(wire_.front());
    wire_.pop_front();
  }
}

// RSR reports the overrun at once. In the FIFO, the next byte that finds room carries it (table
// 2-3).
void Pl011::enter_fifo(std::uint8_t byte) {
  if (receive_.level == depth()) {
    overrun_ = true;
    status_ |= PL011_RSR_OE;
    raw_ |= PL011_INT_OE;
    return;
  }
  std::uint32_t entry = byte;
  if (overrun_) entry |= PL011_DR_OE;
  receive_.push(static_cast<std::uint16_t>(entry));
  overrun_ = false;
  ++received_;
  if (receive_.level >= receive_trigger()) raw_ |= PL011_INT_RX;
  if (config_.timed) {
    quiet_event_.after(bit_periods(timeout_bits));
  } else {
    raw_ |= PL011_INT_RT;
  }
}

void Pl011::update_irq() {
  irq.set((raw_ & mask_) != 0);
}

}  // namespace ipu
