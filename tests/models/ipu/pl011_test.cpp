// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/pl011.h"

#include <algorithm>
#include <string>

#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::advance;
using test::start;

// Arm DDI 0183G, section 3.2.
constexpr std::uint64_t DR = 0x000, RSR = 0x004, FR = 0x018, IBRD = 0x024, FBRD = 0x028,
                        LCR_H = 0x02c, CR = 0x030, IFLS = 0x034, IMSC = 0x038, RIS = 0x03c,
                        MIS = 0x040, ICR = 0x044;
constexpr std::uint64_t BUSY = 0x08, RXFE = 0x10, TXFF = 0x20, RXFF = 0x40, TXFE = 0x80;
constexpr std::uint64_t modem = 0x07;  // CTS, DSR, DCD
constexpr std::uint64_t FEN = 0x10, WLEN8 = 0x60, STP2 = 0x08, PEN = 0x02;
constexpr std::uint64_t UARTEN = 0x001, LBE = 0x080, TXE = 0x100, RXE = 0x200, RTSEN = 0x4000,
                        CTSEN = 0x8000;
constexpr std::uint64_t on = UARTEN | TXE | RXE;
constexpr std::uint64_t RX = 0x10, TX = 0x20, RT = 0x40, OE = 0x400;
constexpr unsigned line = 1;

template <bool timed>
struct Fixture : testing::Test {
  vp::Domain domain{"domain"};
  test::Lines lines;
  std::string sent;
  std::vector<vp::Picoseconds> times;
  Pl011 uart{"uart", domain, {timed, 24'000'000}, line, [this](std::uint8_t byte) {
               sent.push_back(static_cast<char>(byte));
               times.push_back(vp::now());
             }};
  test::Initiator core;

  Fixture() {
    core.socket.bind(uart.socket);
    uart.irq.bind(lines);
    start();
  }
  std::uint64_t read(std::uint64_t offset) { return core.read(offset, 4); }
  void write(std::uint64_t offset, std::uint64_t value) { core.write(offset, value, 4); }
  std::string read_all() {
    std::string text;
    while (!(read(FR) & RXFE)) text.push_back(static_cast<char>(read(DR)));
    return text;
  }
  void configure(std::uint64_t line_control = FEN | WLEN8, std::uint64_t control = on) {
    write(LCR_H, line_control);
    write(CR, control);
  }
};
using Pl011Test = Fixture<false>;
using TimedPl011Test = Fixture<true>;

TEST_F(Pl011Test, HasTheResetValuesOfTheManual) {
  EXPECT_EQ(read(FR), TXFE | RXFE | modem);
  EXPECT_EQ(read(CR), 0x300u);
  EXPECT_EQ(read(IFLS), 0x12u);
  for (std::uint64_t offset : {DR, RSR, IBRD, FBRD, LCR_H, IMSC, RIS, MIS}) {
    EXPECT_EQ(read(offset), 0u) << std::hex << offset;
  }
  const std::uint64_t ids[] = {0x11, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1};
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(read(0xfe0 + 4 * i), ids[i]);
}

TEST_F(Pl011Test, KeepsOnlyTheFieldsOfItsRegisters) {
  const std::pair<std::uint64_t, std::uint64_t> fields[] = {
      {0x020, 0xff}, {IBRD, 0xffff}, {FBRD, 0x3f},  {LCR_H, 0xff},
      {CR, 0xff87},  {IFLS, 0x3f},   {IMSC, 0x7ff}, {0x048, 0x7}};
  for (auto [offset, mask] : fields) {
    write(offset, 0xffff'ffff);
    EXPECT_EQ(read(offset), mask) << std::hex << offset;
    write(offset, 0);
    EXPECT_EQ(read(offset), 0u) << std::hex << offset;
  }
  for (std::uint64_t offset : {FR, RIS, MIS, std::uint64_t{0xfe0}, std::uint64_t{0x100}}) {
    const std::uint64_t before = read(offset);
    write(offset, 0xffff'ffff);
    EXPECT_EQ(read(offset), before) << std::hex << offset;
  }
  EXPECT_EQ(core.try_read(0x1000, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_write(0x1000, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_read(0, 8), tlm::TLM_BURST_ERROR_RESPONSE);
}

TEST_F(Pl011Test, SendsAtOnce) {
  configure();
  for (char c : std::string("hello")) write(DR, static_cast<std::uint64_t>(c));
  core.write(DR, '!', 1);
  EXPECT_EQ(sent, "hello!");
  EXPECT_EQ(uart.sent(), 6u);
  EXPECT_EQ(read(FR), TXFE | RXFE | modem);
  EXPECT_EQ(domain.next_event(), vp::never);
}

TEST_F(Pl011Test, SendsTheBitsOfItsWordLength) {
  for (unsigned wlen = 0; wlen < 4; ++wlen) {
    configure(FEN | wlen << 5);
    sent.clear();
    write(DR, 0xff);
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(static_cast<std::uint8_t>(sent[0]), 0xff >> (3 - wlen));
  }
}

TEST_F(Pl011Test, KeepsBytesWhileDisabledAndDropsThoseThatDoNotFit) {
  for (std::uint64_t control : {TXE, UARTEN, CTSEN | LBE | UARTEN | TXE}) {
    configure(FEN | WLEN8, control);
    for (unsigned i = 0; i < 16; ++i) {
      EXPECT_EQ(read(FR) & TXFF, 0u);
      write(DR, 'a' + i);
    }
    EXPECT_EQ(read(FR) & (TXFF | TXFE | BUSY), TXFF | BUSY);
    write(DR, 'z');
    EXPECT_EQ(sent, "");
    write(CR, on);
    EXPECT_EQ(sent, "abcdefghijklmnop");
    sent.clear();
  }
  configure(WLEN8, 0);
  write(DR, '1');
  EXPECT_EQ(read(FR) & TXFF, TXFF) << "one holding register with FIFOs off";
  write(DR, '2');
  write(CR, on);
  EXPECT_EQ(sent, "1");
}

TEST_F(Pl011Test, ReceivesAndInterruptsAtEachLevel) {
  const unsigned levels[] = {2, 4, 8, 12, 14, 14, 14, 14};
  configure();
  write(IMSC, RX);
  for (unsigned select = 0; select < 8; ++select) {
    write(IFLS, select << 3);
    for (unsigned level = 1; level <= 16; ++level) {
      uart.receive("x");
      EXPECT_EQ(lines.level[line], level >= levels[select]) << level;
      EXPECT_EQ(read(MIS), level >= levels[select] ? RX : 0) << level;
    }
    EXPECT_EQ(read(FR) & (RXFF | RXFE), RXFF);
    for (unsigned level = 15; level + 1 > 0; --level) {
      EXPECT_EQ(read(DR), 'x');
      EXPECT_EQ(lines.level[line], level >= levels[select]) << level;
    }
    EXPECT_EQ(read(FR) & (RXFF | RXFE), RXFE);
  }
}

TEST_F(Pl011Test, ReportsFewBytesByTheTimeout) {
  configure();
  write(IMSC, RT);
  uart.receive("ab");
  EXPECT_TRUE(lines.level[line]);
  EXPECT_EQ(read(DR), 'a');
  EXPECT_TRUE(lines.level[line]);
  EXPECT_EQ(read(DR), 'b');
  EXPECT_FALSE(lines.level[line]);
  EXPECT_EQ(read(DR), 0u) << "empty";
  uart.receive("c");
  write(ICR, RT);
  EXPECT_FALSE(lines.level[line]);
  EXPECT_EQ(read(DR), 'c');
}

TEST_F(Pl011Test, LosesNothingThatIsReceived) {
  std::string text;
  for (unsigned i = 0; i < 100; ++i) text.push_back(static_cast<char>(i));
  uart.receive(text.substr(0, 50));
  EXPECT_EQ(read(FR) & RXFE, RXFE) << "not enabled";
  configure();
  uart.receive(text.substr(50));
  EXPECT_EQ(read_all(), text);
  EXPECT_EQ(read(RSR), 0u);
  EXPECT_EQ(uart.received(), 100u);
  configure(WLEN8);
  uart.receive(text);
  EXPECT_EQ(read(FR) & RXFF, RXFF);
  EXPECT_EQ(read(RIS) & RX, RX);
  EXPECT_EQ(read_all(), text) << "with FIFOs off";
}

TEST_F(Pl011Test, InterruptsWhenThereIsRoom) {
  configure();
  EXPECT_EQ(read(RIS), 0u) << "not before something was sent";
  write(DR, 'a');
  EXPECT_EQ(read(RIS), TX);
  EXPECT_FALSE(lines.level[line]);
  write(IMSC, TX);
  EXPECT_TRUE(lines.level[line]);
  write(ICR, TX);
  EXPECT_FALSE(lines.level[line]);
}

TEST_F(Pl011Test, LoopsBack) {
  configure(FEN | WLEN8, on | LBE);
  uart.receive("outside");
  for (char c : std::string("0123456789abcdef")) write(DR, static_cast<std::uint64_t>(c));
  EXPECT_EQ(read(RSR), 0u);
  write(DR, 'x');
  EXPECT_EQ(read(RSR), 8u) << "overrun";
  EXPECT_EQ(read(RIS) & OE, OE);
  EXPECT_EQ(sent, "");
  EXPECT_EQ(read(DR), '0');
  write(DR, 'y');
  for (unsigned i = 0; i < 15; ++i) EXPECT_EQ(read(DR) & ~0xffu, 0u);
  EXPECT_EQ(read(DR), 0x800u | 'y') << "the byte after the overrun reports it";
  write(RSR, 0);
  EXPECT_EQ(read(RSR), 0u);
  write(CR, on);
  EXPECT_EQ(read_all(), "outside") << "it waited";
}

TEST_F(Pl011Test, LoopsModemSignalsBack) {
  const std::pair<std::uint64_t, std::uint64_t> wires[] = {
      {0x0400, 0x002}, {0x0800, 0x001}, {0x1000, 0x004}, {0x2000, 0x100}};
  const std::uint64_t interrupts[] = {0x8, 0x2, 0x4, 0x1};
  write(CR, LBE);
  write(ICR, 0x7ff);
  for (unsigned i = 0; i < 4; ++i) {
    write(CR, LBE | wires[i].first);
    EXPECT_EQ(read(FR) & 0x107, wires[i].second);
    EXPECT_EQ(read(RIS), interrupts[i]);
    write(CR, LBE);
    EXPECT_EQ(read(FR) & 0x107, 0u);
    write(ICR, 0x7ff);
  }
}

TEST_F(Pl011Test, FlushesWhenFifosAreSwitched) {
  configure(FEN | WLEN8, RXE | UARTEN);
  write(DR, 'a');
  uart.receive("b");
  write(LCR_H, WLEN8);
  EXPECT_EQ(read(FR) & (TXFE | RXFE), TXFE | RXFE);
}

TEST_F(Pl011Test, ReportsOnlyChangesToTheController) {
  configure();
  write(IMSC, RX | TX | RT);
  const unsigned before = lines.changes;
  for (unsigned i = 0; i < 10; ++i) write(DR, 'a');
  EXPECT_EQ(lines.changes, before + 1);
}

TEST_F(TimedPl011Test, TakesTheTimeOfItsDivisors) {
  // 115200 baud from 24 MHz need the divisor 13 + 1/64. A bit takes 16 x 13.015625 / 24 MHz.
  write(IBRD, 13);
  write(FBRD, 1);
  const vp::Picoseconds ten_bits = 10ll * (13 * 64 + 1) * vp::s / (4 * 24'000'000ll);
  configure();
  core.delay = 100;
  write(DR, 'a');
  EXPECT_EQ(read(FR) & (BUSY | TXFE), BUSY | TXFE) << "it is in the shift register";
  write(DR, 'b');
  EXPECT_EQ(read(FR) & (BUSY | TXFE), BUSY);
  advance(vp::ms);
  EXPECT_EQ(sent, "ab");
  EXPECT_EQ(times, (std::vector<vp::Picoseconds>{100 + ten_bits, 100 + 2 * ten_bits}));
  EXPECT_EQ(read(FR) & BUSY, 0u);
  EXPECT_EQ(domain.next_event(), vp::never);
}

TEST_F(TimedPl011Test, CountsParityAndStopBits) {
  write(IBRD, 1);
  const vp::Picoseconds bit = 16 * vp::s / 24'000'000;
  const std::pair<std::uint64_t, unsigned> frames[] = {
      {0, 7}, {WLEN8, 10}, {WLEN8 | PEN, 11}, {WLEN8 | STP2, 11}, {WLEN8 | PEN | STP2, 12}};
  for (auto [line_control, bits] : frames) {
    configure(line_control);
    const vp::Picoseconds began = vp::now();
    times.clear();
    write(DR, 1);
    advance(vp::ms);
    ASSERT_EQ(times.size(), 1u);
    EXPECT_NEAR(static_cast<double>(times[0] - began), static_cast<double>(bits * bit), 20.0);
  }
}

TEST_F(TimedPl011Test, MovesNothingWithoutADivisor) {
  configure();
  write(DR, 'a');
  uart.receive("b");
  advance(vp::ms);
  EXPECT_EQ(sent, "");
  EXPECT_EQ(read(FR) & RXFE, RXFE);
  write(IBRD, 1);
  advance(vp::ms);
  EXPECT_EQ(sent, "") << "divisors take effect by LCR_H";
  write(LCR_H, FEN | WLEN8);
  advance(vp::ms);
  EXPECT_EQ(sent, "a");
  EXPECT_EQ(read(DR), 'b');
}

TEST_F(TimedPl011Test, InterruptsAfter32QuietBitPeriods) {
  write(IBRD, 1);
  configure();
  const vp::Picoseconds bit = 16 * vp::s / 24'000'000;
  uart.receive("ab");
  advance(20 * bit + 31 * bit);
  EXPECT_EQ(read(RIS) & RT, 0u);
  advance(2 * bit);
  EXPECT_EQ(read(RIS) & RT, RT);
  EXPECT_EQ(read_all(), "ab");
  EXPECT_EQ(read(RIS) & RT, 0u);
  uart.receive("c");
  advance(11 * bit);
  EXPECT_EQ(read_all(), "c");
  EXPECT_EQ(domain.next_event(), vp::never) << "nothing left to tell of";
  uart.receive("d");
  advance(11 * bit);
  write(LCR_H, WLEN8);
  EXPECT_EQ(domain.next_event(), vp::never) << "flushed";
}

TEST_F(TimedPl011Test, OverrunsUnlessRtsHoldsTheFarEnd) {
  const std::string text = "0123456789abcdefghij";
  write(IBRD, 1);
  configure();
  uart.receive(text);
  advance(vp::ms);
  EXPECT_EQ(read(RIS) & OE, OE);
  EXPECT_EQ(read(RSR), 8u);
  EXPECT_EQ(read_all(), text.substr(0, 16));
  write(CR, on | RTSEN);
  write(ICR, OE);
  uart.receive(text);
  std::string got;
  for (unsigned i = 0; i < 10; ++i) {
    advance(vp::ms);
    got += read_all();
  }
  EXPECT_EQ(got.size(), text.size());
  EXPECT_EQ(read(RIS) & OE, 0u);
}

// All registers.
template <typename Uart>
std::string registers(Uart& uart) {
  std::string text;
  for (std::uint64_t offset = 0; offset < 0x1000; offset += 4) {
    text += std::to_string(uart.read(offset)) + ' ';
  }
  return text;
}

TEST_F(Pl011Test, AResetGivesAllRegistersTheirResetValues) {
  const std::string initial = registers(*this);
  for (const std::uint64_t control : {on, on | LBE, UARTEN | TXE, UARTEN | RXE}) {
    write(0x020, 0xff);
    write(IBRD, 13);
    write(FBRD, 1);
    configure(FEN | WLEN8 | PEN | STP2, control);
    write(IFLS, 0x24);
    write(IMSC, 0x7ff);
    write(0x048, 7);
    uart.receive("abcdefghijklmnopqrst");
    for (unsigned i = 0; i < 17; ++i) write(DR, 'x');
    EXPECT_TRUE(lines.level[line]) << control;
    const std::size_t bytes = sent.size();
    uart.reset();
    EXPECT_FALSE(lines.level[line]);
    EXPECT_EQ(registers(*this), initial) << control;
    configure(FEN | WLEN8);
    EXPECT_EQ(sent.size(), bytes) << "what was not sent yet is gone";
    read_all();
    const unsigned changes = lines.changes;
    uart.reset();
    uart.reset();
    EXPECT_EQ(registers(*this), initial);
    EXPECT_EQ(lines.changes, changes);
  }
}

TEST_F(Pl011Test, WhatTheFarEndHasSentIsLostInAReset) {
  const std::string text = "0123456789abcdefghij";
  configure();
  uart.receive(text);
  uart.reset();
  EXPECT_EQ(read(FR) & RXFE, RXFE);
  uart.receive("!");
  EXPECT_EQ(read(FR) & RXFE, RXFE) << "not enabled";
  configure();
  EXPECT_EQ(read_all(), "!");
}

// At any moment of a byte on its way in each direction, and of the silence behind it
TEST_F(TimedPl011Test, AResetCancelsWhatIsUnderWay) {
  const vp::Picoseconds bit = 16 * vp::s / 24'000'000;
  const std::string initial = registers(*this);
  for (unsigned moment = 0; moment < 60; moment += 3) {
    write(IBRD, 1);
    configure();
    read_all();
    sent.clear();
    write(DR, 'a');
    write(DR, 'b');
    uart.receive("c");
    advance(moment * bit + bit / 2);
    EXPECT_EQ(sent, std::string("ab").substr(0, std::min(2u, moment / 10))) << moment;
    const std::size_t bytes = sent.size();
    uart.reset();
    EXPECT_EQ(domain.next_event(), vp::never);
    EXPECT_EQ(registers(*this), initial);
    advance(vp::ms);
    EXPECT_EQ(sent.size(), bytes);
    write(IBRD, 1);
    configure();
    advance(vp::ms);
    EXPECT_EQ(sent.size(), bytes);
    EXPECT_EQ(read_all(), "") << moment;
    uart.reset();
  }
}

}  // namespace
}  // namespace ipu
