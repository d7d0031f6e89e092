// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/block/fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include "oae_registers.h"
#include "tests/rtl/coverage.h"

Fixture::Fixture(unsigned ports, std::uint64_t seed, std::uint32_t clock_khz)
    : reference(ports, clock_khz), random(seed) {
  top.ports = ports;
  top.clock_khz = clock_khz;
  power_up();
  drain();
}

// Verilator's destructors look in the thread's context, which may be another fixture's.
Fixture::~Fixture() {
  write_coverage(context);
  Verilated::threadContextp(&context);
}

void Fixture::power_up() {
  top.reset = 1;
  clock();
  clock();
  top.reset = 0;
  alive_ = now;
}

void Fixture::lose_power() {
  requests_.clear();
  puts_.clear();
  gets_.clear();
  read_.reset();
  refusals_.clear();
  put_.reset();
  getting_ = false;
  waited_ = 0;
  top.request_valid = top.axi_awvalid = top.axi_wvalid = top.axi_arvalid = 0;
  reference.power_up();
  power_up();
}

void Fixture::post(bool write, unsigned bar, unsigned address, const void* data, unsigned bytes,
                   bool refused) {
  const unsigned at = address % 64;
  if (at + bytes > 64) throw std::logic_error("a request crosses a line");
  // Bytes that are not written have a value, too: what the pins had before.
  Request request{write, false, {bar, address / 64}, pins_, 0, refused, 0};
  if (data) std::memcpy(reinterpret_cast<char*>(request.data.data()) + at, data, bytes);
  for (unsigned i = at; i < at + bytes; ++i) request.enable |= std::uint64_t{1} << i;
  request.tag = tag_ = (tag_ + 1) % 1024;
  pins_ = request.data;
  requests_.push_back(request);
}

void Fixture::post_write(unsigned bar, unsigned address, const void* data, unsigned bytes) {
  post(true, bar, address, data, bytes, false);
}

void Fixture::post_read(unsigned bar, unsigned address, unsigned bytes, bool refused) {
  post(false, bar, address, nullptr, bytes, refused);
}

void Fixture::post_reset() {
  requests_.push_back({false, true, {0, 0}, {}, random(), false, 0});
}

void Fixture::post_put(unsigned address, std::uint64_t data, unsigned strobe) {
  puts_.push_back({address, data, strobe});
}

void Fixture::post_get(unsigned address) {
  gets_.push_back({address, 0, 0xff});
}

void Fixture::drive() {
  top.now = now;
  if (!top.request_valid && !requests_.empty() && go()) {
    const Request& request = requests_.front();
    top.request_valid = 1;
    top.request_write = request.write;
    top.request_reset = request.reset;
    top.request_bar = request.line.bar;
    top.request_line = request.line.line;
    std::memcpy(top.request_data.data(), request.data.data(), 64);
    top.request_enable = request.enable;
    top.request_tag = request.tag;
    top.request_class = request.tag % 8;
  }
  if (!puts_.empty()) {
    const Access& put = puts_.front();
    if (!top.axi_awvalid && go()) {
      top.axi_awvalid = 1;
      top.axi_awaddr = put.address;
      top.axi_awprot = put.address >> 3 & 7;  // which the block ignores
    }
    if (!top.axi_wvalid && go()) {
      top.axi_wvalid = 1;
      top.axi_wdata = put.data;
      top.axi_wstrb = put.strobe;
    }
  }
  if (!top.axi_arvalid && !gets_.empty() && go()) {
    top.axi_arvalid = 1;
    top.axi_araddr = gets_.front().address;
    top.axi_arprot = gets_.front().address >> 3 & 7;
  }
  top.axi_bready = go();
  top.axi_rready = go();
  top.completion_ready = go();
  top.interrupt_ready = go() && !hold_interrupts;
  top.dma_ready = accepts_slot();
  top.dma_refused = read_ ? read_->request.refused : random() % 2;
}

// Whether a slot has to wait is decided with the read, since a refusal means something else then.
bool Fixture::accepts_slot() {
  if (!top.dma_valid || !read_) return go() && !hold_slots;
  if (!std::exchange(read_->offered, true)) return !read_->late;
  return go() && !hold_slots;
}

void Fixture::clock() {
  ++now;
  drive();
  top.clock = 0;
  top.eval();
  const bool request = top.request_valid && top.request_ready;
  const bool put = top.axi_awvalid && top.axi_awready;
  const bool get = top.axi_arvalid && top.axi_arready;
  if (!top.reset) {
    EXPECT_EQ(put, top.axi_wvalid && top.axi_wready) << "the write channels go together";
    EXPECT_LE(request + put + get, 1) << "one operation at a time";
    EXPECT_TRUE(top.busy || !top.deadline_valid || now < top.deadline)
        << "the clock could stop at a deadline";
    EXPECT_TRUE(top.busy || !top.completion_valid) << "the clock could stop before a completion";
    if (top.idle && !top.busy) {
      EXPECT_EQ(top.irq, reference.irq());
    }
    if (top.dma_valid && top.dma_ready) take_answer();
    if (top.completion_valid && top.completion_ready) take_completion();
    if ((top.axi_bvalid && top.axi_bready) || (top.axi_rvalid && top.axi_rready)) take_response();
    if (top.interrupt_valid && top.interrupt_ready) signals.push_back(top.interrupt_vector);
    if (request) take_request();
    if (put || get) take_access();
    // What the test holds back keeps the block busy for as long as the test likes.
    const bool works = top.busy && !hold_interrupts && !hold_slots;
    if (!works && !posted() && !read_ && !put_ && !getting_) waited_ = 0;
    if (++waited_ > patience) throw std::runtime_error("the block is stuck");
  }
  top.clock = 1;
  top.eval();
  if (request) top.request_valid = 0;
  if (put) top.axi_awvalid = top.axi_wvalid = 0;
  if (get) top.axi_arvalid = 0;
  if (!top.reset && top.trace_valid) {
    transitions.push_back(
        {top.trace_port, top.trace_epoch, top.trace_sequence, top.trace_from, top.trace_to});
    check_limit(transitions.back());
  }
}

// The reference knows no time, so its caller says when a swap may be committed by the limit.
void Fixture::check_limit(const Transition& seen) {
  std::uint64_t& since = exchanged_[seen.port];
  if (seen.to == OAE_PORT_STATE_TENTATIVE) since = now;
  if (seen.to != OAE_PORT_STATE_COMMITTED) return;
  const std::uint64_t limit = reference.hold_limit();
  if (limit != 0 && now - since > limit && reference.expire(seen.port)) ++expired;
}

void Fixture::take_request() {
  waited_ = 0;
  const Request request = requests_.front();
  requests_.pop_front();
  if (request.reset) {
    voided_ = true;
    reference.function_reset();
  } else if (request.write) {
    reference.host_write(request.line, request.data, request.enable);
  } else {
    EXPECT_FALSE(read_) << "one read at a time";
    const bool late = hold_slots || !go();
    read_ =
        Read{request, reference.host_read(request.line, request.enable, request.refused && !late),
             now, alive_, late};
    const auto& answer = read_->expected.answer;
    if (answer && answer->refusal) refusals_[request.line.port()] = {now - alive_, {}, {}};
    if (answer && answer->exchanged) ++(read_->expected.streamed ? streamed : pushed);
  }
}

void Fixture::take_access() {
  waited_ = 0;
  if (top.axi_awvalid && top.axi_awready) {
    const Access put = puts_.front();
    puts_.pop_front();
    put_ = reference.firmware_write(put.address, put.data, put.strobe);
    // The write itself takes place one clock later.
    if ((put.address & ~7u) == OAE_FIRMWARE_LIVENESS) alive_ = now + 1;
  } else {
    getting_ = true;
    address_ = gets_.front().address;
    get_ = reference.firmware_read(gets_.front().address);
    gets_.pop_front();
  }
}

void Fixture::check_age(std::uint64_t age) const {
  EXPECT_GE(age, std::min<std::uint64_t>(read_->accepted - read_->alive, 0xffff'ffff));
  EXPECT_LE(age, std::min<std::uint64_t>(now - read_->alive, 0xffff'ffff));
}

void Fixture::take_answer() {
  ASSERT_TRUE(read_ && read_->expected.answer) << "a slot leaves unasked";
  EXPECT_FALSE(read_->answered) << "a second slot leaves";
  EXPECT_EQ(top.dma_address, read_->expected.answer_address);
  EXPECT_EQ(top.dma_class, read_->request.tag % 8);
  read_->answered = true;
  if (top.dma_refused) {
    ++(read_->late ? refused_late : refused_at_once);
  } else if (read_->late) {
    ++pushed_late;
  }
  if (top.dma_refused) return;
  std::memcpy(pushed_slot.data(), top.dma_data.data(), 64);
  pushed_address = top.dma_address;
  ++pushes;
  EXPECT_TRUE(sealed(pushed_slot));
  Slot expected = read_->expected.answer->slot;
  if (read_->expected.answer->formed) check_formed(pushed_slot, 0xff, expected);
  EXPECT_EQ(pushed_slot, expected);
  if (on_slot) on_slot(pushed_address, pushed_slot);
}

// A slot that the block forms holds the age of that moment and a good CRC, however often and in
// whatever pieces it is read.
void Fixture::check_formed(const Slot& seen, unsigned words, Slot& expected) {
  Refusal& refusal = refusals_[read_->request.line.port()];
  if (words & 2) {
    if (!refusal.age) {
      EXPECT_GE(seen[1], std::min<std::uint64_t>(refusal.age_at_least, 0xffff'ffff));
      EXPECT_LE(seen[1], std::min<std::uint64_t>(refusal.age_at_least + 2, 0xffff'ffff));
      refusal.age = seen[1];
    }
    expected[1] = *refusal.age;
  }
  if (words & 0x80) {
    if (!refusal.crc) refusal.crc = seen[7];
    expected[7] = *refusal.crc;
  }
  if (!refusal.age || !refusal.crc) return;
  Slot whole = read_->expected.answer->slot;
  whole[1] = *refusal.age;
  seal(whole);
  EXPECT_EQ(*refusal.crc, whole[7]);
}

void Fixture::take_completion() {
  ASSERT_TRUE(read_) << "a completion unasked";
  waited_ = 0;
  Slot data;
  std::memcpy(data.data(), top.completion_data.data(), 64);
  Slot expected = read_->expected.data;
  if (read_->expected.aged && read_->request.enable >> 24 & 0xff) {
    check_age(data[3] >> 32);
    expected[3] |= data[3] >> 32 << 32;
  }
  unsigned words = 0;
  for (unsigned word = 0; word < 8; ++word) {
    if (read_->request.enable >> 8 * word & 0xff) words |= 1u << word;
  }
  if (read_->expected.streamed && read_->expected.answer->formed) {
    check_formed(data, words, expected);
  }
  EXPECT_EQ(data, expected) << "line " << read_->request.line.line;
  EXPECT_EQ(top.completion_tag, read_->request.tag);
  if (read_->expected.answer) {
    EXPECT_EQ(read_->answered, read_->expected.answer_address != 0);
  }
  for (unsigned word = 8; word-- > 0;) {
    if (words >> word & 1) result_ = line[word] = data[word];
  }
  latency = now - read_->accepted;
  const unsigned number = read_->request.tag;
  read_.reset();
  if (on_completion) on_completion(number, data);
}

void Fixture::take_response() {
  waited_ = 0;
  if (top.axi_bvalid && top.axi_bready) {
    ASSERT_TRUE(put_) << "a write response unasked";
    error = top.axi_bresp != 0;
    EXPECT_EQ(top.axi_bresp, *put_ ? 0 : 2);
    put_.reset();
    if (on_put) on_put();
  }
  if (top.axi_rvalid && top.axi_rready) {
    ASSERT_TRUE(getting_) << "a read response unasked";
    error = top.axi_rresp != 0;
    EXPECT_EQ(top.axi_rresp, get_ ? 0 : 2);
    EXPECT_EQ(top.axi_rdata, get_.value_or(0)) << std::hex << address_;
    result_ = top.axi_rdata;
    getting_ = false;
    if (on_get) on_get(result_);
  }
}

void Fixture::drain() {
  do {
    clock();
  } while ((hold_interrupts ? !top.idle : top.busy) || posted() ||
           (read_ && !(hold_slots && read_->offered)) || put_ || getting_);
  if (compare_signals && !hold_interrupts) check_signals();
  EXPECT_EQ(transitions.size(), reference.transitions.size());
  EXPECT_TRUE(transitions == reference.transitions) << "the trace differs from the reference's";
}

// An interrupt that had to wait stands for all that its port signalled meanwhile.
void Fixture::check_signals() {
  // Whoever uses the fixture may have cleared what was compared before.
  heard_ = std::min(heard_, signals.size());
  expected_ = std::min(expected_, reference.signals.size());
  const std::vector<unsigned> seen(signals.begin() + heard_, signals.end());
  const std::vector<unsigned> due(reference.signals.begin() + expected_, reference.signals.end());
  heard_ = signals.size();
  expected_ = reference.signals.size();
  const bool reset = std::exchange(voided_, false);
  if (stall == 0) {
    EXPECT_EQ(seen, due);
    return;
  }
  std::multiset<unsigned> left(due.begin(), due.end());
  for (const unsigned vector : seen) {
    const auto found = left.find(vector);
    if (found == left.end()) {
      ADD_FAILURE() << "vector " << vector << " is signalled unasked";
    } else {
      left.erase(found);
    }
  }
  if (!due.empty() && !reset) {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), due.back()) > 0, true) << "the last is lost";
  }
}

void Fixture::sleep(std::uint64_t clocks) {
  ASSERT_FALSE(top.busy || top.request_valid || top.axi_awvalid || top.axi_arvalid);
  if (top.deadline_valid) {
    ASSERT_LT(now, top.deadline);
    clocks = std::min(clocks, top.deadline - now - 1);
  }
  now += clocks;
}

void Fixture::write(unsigned bar, unsigned address, std::uint64_t value, unsigned bytes) {
  post_write(bar, address, &value, bytes);
  drain();
}

std::uint64_t Fixture::read(unsigned bar, unsigned address, unsigned bytes, bool refused) {
  post_read(bar, address, bytes, refused);
  drain();
  return result_;
}

void Fixture::write_slot(unsigned port, const Slot& slot) {
  post_write(2, port * OAE_PORT_SIZE + OAE_PORT_WINDOW, slot.data(), 64);
  drain();
}

std::uint64_t Fixture::answer(unsigned port, bool refused) {
  return read(2, port * OAE_PORT_SIZE + OAE_PORT_PUSHED_ANSWER, 8, refused);
}

Slot Fixture::stream(unsigned port) {
  read(4, port * OAE_STREAM_SIZE + OAE_STREAM_WINDOW, 64);
  return line;
}

void Fixture::confirm(unsigned port, std::uint8_t epoch, std::uint32_t sequence) {
  write(2, port * OAE_PORT_SIZE + OAE_PORT_CONFIRM,
        confirmation(OAE_PUT(OAE_PORT_CONFIRM_EPOCH, epoch) |
                     OAE_PUT(OAE_PORT_CONFIRM_SEQUENCE, sequence)));
}

void Fixture::reverse(unsigned port, std::uint8_t epoch, std::uint32_t sequence) {
  write(2, port * OAE_PORT_SIZE + OAE_PORT_REVERSE,
        reversal(OAE_PUT(OAE_PORT_REVERSE_EPOCH, epoch) |
                 OAE_PUT(OAE_PORT_REVERSE_SEQUENCE, sequence)));
}

void Fixture::function_reset() {
  post_reset();
  drain();
}

void Fixture::expire(unsigned port) {
  ASSERT_TRUE(top.deadline_valid);
  sleep(~std::uint64_t{0});
  drain();
  EXPECT_EQ(reference.ports[port].state(), unsigned{OAE_PORT_STATE_COMMITTED});
}

void Fixture::put(unsigned address, std::uint64_t value, unsigned strobe) {
  post_put(address, value, strobe);
  drain();
}

std::uint64_t Fixture::get(unsigned address) {
  post_get(address);
  drain();
  return result_;
}

void Fixture::publish(unsigned port, const Slot& slot) {
  for (unsigned i = 0; i < 8; ++i) put(OAE_FIRMWARE_OFFER_AT(port) + 8 * i, slot[i]);
  put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
}
