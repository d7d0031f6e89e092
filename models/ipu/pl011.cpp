// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/pl011.h"

#include <algorithm>

namespace ipu {
namespace {

enum Offset : std::uint32_t {
  dr = 0x000,
  rsr = 0x004,
  fr = 0x018,
  ilpr = 0x020,
  ibrd = 0x024,
  fbrd = 0x028,
  lcr_h = 0x02c,
  cr = 0x030,
  ifls = 0x034,
  imsc = 0x038,
  ris = 0x03c,
  mis = 0x040,
  icr = 0x044,
  dmacr = 0x048,
  identification = 0xfe0,
  end = 0x1000,
};

// Bits of DR. RSR holds the same bits, 8 places lower.
enum Data : std::uint32_t { dr_oe = 1 << 11 };
enum Status : std::uint32_t { rsr_oe = 1 << 3, rsr_character = 0x7 };

enum Flag : std::uint32_t {
  fr_cts = 1 << 0,
  fr_dsr = 1 << 1,
  fr_dcd = 1 << 2,
  fr_busy = 1 << 3,
  fr_rxfe = 1 << 4,
  fr_txff = 1 << 5,
  fr_rxff = 1 << 6,
  fr_txfe = 1 << 7,
  fr_ri = 1 << 8,
};

enum LineControl : std::uint32_t {
  lcr_pen = 1 << 1,
  lcr_stp2 = 1 << 3,
  lcr_fen = 1 << 4,
  lcr_wlen_shift = 5,
  lcr_mask = 0xff,
};

enum Control : std::uint32_t {
  cr_uarten = 1 << 0,
  cr_lbe = 1 << 7,
  cr_txe = 1 << 8,
  cr_rxe = 1 << 9,
  cr_dtr = 1 << 10,
  cr_rts = 1 << 11,
  cr_out1 = 1 << 12,
  cr_out2 = 1 << 13,
  cr_rtsen = 1 << 14,
  cr_ctsen = 1 << 15,
  cr_mask = 0xff87,
};

enum Interrupt : std::uint32_t {
  int_ri = 1 << 0,
  int_cts = 1 << 1,
  int_dcd = 1 << 2,
  int_dsr = 1 << 3,
  int_rx = 1 << 4,
  int_tx = 1 << 5,
  int_rt = 1 << 6,
  int_oe = 1 << 10,
  int_mask = 0x7ff,
};

// Table 3-1: PeriphID0 to 3 of revision r1p5, PCellID0 to 3.
constexpr std::array<std::uint8_t, 8> ids = {0x11, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1};

constexpr std::uint32_t control_reset = cr_txe | cr_rxe;
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
                       receive(byte);
                       start_receive();
                       update_irq();
                     }),
      quiet_event_(domain,
                   [this] {
                     raw_ |= int_rt;
                     update_irq();
                   }),
      control_(control_reset),
      levels_(levels_reset) {}

void Pl011::receive(std::string_view bytes) {
  wire_.insert(wire_.end(), bytes.begin(), bytes.end());
  start_receive();
  update_irq();
}

std::optional<std::uint64_t> Pl011::read(std::uint64_t offset) {
  switch (offset) {
    case dr:
      return read_data();
    case rsr:
      return status_;
    case fr:
      return flags();
    case ilpr:
      return irda_;
    case ibrd:
      return integer_divisor_;
    case fbrd:
      return fractional_divisor_;
    case lcr_h:
      return line_control_;
    case cr:
      return control_;
    case ifls:
      return levels_;
    case imsc:
      return mask_;
    case ris:
      return raw_;
    case mis:
      return raw_ & mask_;
    case dmacr:
      return dma_;
    default:
      break;
  }
  if (offset >= end) return std::nullopt;
  return offset >= identification ? ids[(offset - identification) / 4] : 0;
}

bool Pl011::write(std::uint64_t offset, std::uint64_t wide_value, std::uint64_t wide_mask,
                  vp::Picoseconds delay) {
  if (offset >= end) return false;
  const auto value = static_cast<std::uint32_t>(wide_value);
  const auto mask = static_cast<std::uint32_t>(wide_mask);
  const auto merged = [&](std::uint32_t old, std::uint32_t writable) {
    return static_cast<std::uint32_t>(merge(old, value, mask & writable));
  };
  switch (offset) {
    case dr:
      if (mask & 0xff) transmit(static_cast<std::uint8_t>(value), delay);
      break;
    case rsr:
      status_ = 0;
      break;
    case ilpr:
      irda_ = merged(irda_, 0xff);
      break;
    case ibrd:
      integer_divisor_ = merged(integer_divisor_, 0xffff);
      break;
    case fbrd:
      fractional_divisor_ = merged(fractional_divisor_, 0x3f);
      break;
    case lcr_h:
      write_line_control(merged(line_control_, lcr_mask));
      break;
    case cr:
      write_control(merged(control_, cr_mask));
      break;
    case ifls:
      levels_ = merged(levels_, 0x3f);
      break;
    case imsc:
      mask_ = merged(mask_, int_mask);
      break;
    case icr:
      raw_ &= ~(value & mask);
      break;
    case dmacr:
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
  if (sent_event_.pending() || transmit_.level > 0) flags |= fr_busy;
  if (receive_.level == 0) flags |= fr_rxfe;
  if (transmit_.level == depth()) flags |= fr_txff;
  if (receive_.level == depth()) flags |= fr_rxff;
  if (transmit_.level == 0) flags |= fr_txfe;
  return flags;
}

// In loopback the modem outputs are fed to the inputs (section 2.4.2).
std::uint32_t Pl011::modem_inputs() const {
  if (!(control_ & cr_lbe)) return fr_cts | fr_dsr | fr_dcd;
  std::uint32_t inputs = 0;
  if (control_ & cr_rts) inputs |= fr_cts;
  if (control_ & cr_dtr) inputs |= fr_dsr;
  if (control_ & cr_out1) inputs |= fr_dcd;
  if (control_ & cr_out2) inputs |= fr_ri;
  return inputs;
}

std::uint32_t Pl011::read_data() {
  if (receive_.level == 0) return 0;
  const std::uint32_t entry = receive_.pop();
  status_ = (status_ & rsr_oe) | (entry >> 8 & rsr_character);
  if (receive_.level < receive_trigger()) raw_ &= ~int_rx;
  if (receive_.level == 0) {
    raw_ &= ~int_rt;
    quiet_event_.cancel();
  }
  start_receive();
  update_irq();
  return entry;
}

void Pl011::write_line_control(std::uint32_t value) {
  if ((value ^ line_control_) & lcr_fen) {
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
  if (changed & fr_ri) raw_ |= int_ri;
  if (changed & fr_cts) raw_ |= int_cts;
  if (changed & fr_dcd) raw_ |= int_dcd;
  if (changed & fr_dsr) raw_ |= int_dsr;
  start_transmit(0);
  start_receive();
}

// With FIFOs disabled there is one holding register for each direction.
unsigned Pl011::depth() const {
  return line_control_ & lcr_fen ? fifo_depth : 1;
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
  const unsigned start_and_stop = line_control_ & lcr_stp2 ? 3 : 2;
  const unsigned parity = line_control_ & lcr_pen ? 1 : 0;
  return bit_periods(start_and_stop + 5 + (line_control_ >> lcr_wlen_shift & 3) + parity);
}

// A byte written to a full FIFO is lost.
void Pl011::transmit(std::uint8_t byte, vp::Picoseconds delay) {
  if (transmit_.level == depth()) return;
  transmit_.push(byte);
  if (transmit_.level > transmit_trigger()) raw_ &= ~int_tx;
  start_transmit(delay);
}

void Pl011::start_transmit(vp::Picoseconds delay) {
  constexpr std::uint32_t enabled = cr_uarten | cr_txe;
  if (sent_event_.pending() || (control_ & enabled) != enabled) return;
  if ((control_ & cr_ctsen) && !(modem_inputs() & fr_cts)) return;
  if (config_.timed && divisor_ == 0) return;
  while (transmit_.level > 0) {
    shift_ = static_cast<std::uint8_t>(transmit_.pop());
    if (transmit_.level <= transmit_trigger()) raw_ |= int_tx;
    if (config_.timed) {
      sent_event_.after(delay + frame());
      return;
    }
    send(shift_);
  }
}

void Pl011::send(std::uint8_t byte) {
  ++sent_;
  const unsigned word_length = 5 + (line_control_ >> lcr_wlen_shift & 3);
  const auto bits = static_cast<std::uint8_t>(byte & (0xff >> (8 - word_length)));
  if (!(control_ & cr_lbe)) {
    sink_(bits);
  } else if ((control_ & cr_rxe)) {
    receive(bits);
  }
}

bool Pl011::may_receive() const {
  constexpr std::uint32_t enabled = cr_uarten | cr_rxe;
  return (control_ & (enabled | cr_lbe)) == enabled;
}

void Pl011::start_receive() {
  if (wire_.empty() || arrived_event_.pending() || !may_receive()) return;
  if (config_.timed) {
    const bool held = (control_ & cr_rtsen) && receive_.level >= receive_trigger();
    if (divisor_ != 0 && !held) arrived_event_.after(frame());
    return;
  }
  while (!wire_.empty() && receive_.level < depth()) {
    receive(wire_.front());
    wire_.pop_front();
  }
}

// RSR reports the overrun at once. In the FIFO, the next byte that finds room carries it (table
// 2-3).
void Pl011::receive(std::uint8_t byte) {
  if (receive_.level == depth()) {
    overrun_ = true;
    status_ |= rsr_oe;
    raw_ |= int_oe;
    return;
  }
  std::uint32_t entry = byte;
  if (overrun_) entry |= dr_oe;
  receive_.push(static_cast<std::uint16_t>(entry));
  overrun_ = false;
  ++received_;
  if (receive_.level >= receive_trigger()) raw_ |= int_rx;
  if (config_.timed) {
    quiet_event_.after(bit_periods(timeout_bits));
  } else {
    raw_ |= int_rt;
  }
}

void Pl011::update_irq() {
  irq.set((raw_ & mask_) != 0);
}

}  // namespace ipu
