// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/test_function.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "models/pcie/protocol/configuration_error.h"
#include "vp/time/transfer.h"

namespace pcie {
namespace {

enum Command : std::uint32_t {
  raise_intx = 1 << 0,
  raise_msi = 1 << 1,
  raise_msi_x = 1 << 2,
  read_host = 1 << 3,
  write_host = 1 << 4,
  copy_host = 1 << 5,
};

// The bit after each `done` bit of a transfer is its `failed` bit.
enum Status : std::uint32_t {
  read_done = 1 << 0,
  write_done = 1 << 2,
  copy_done = 1 << 4,
  interrupt_raised = 1 << 6,
  source_invalid = 1 << 7,
  destination_invalid = 1 << 8,
};

constexpr std::uint64_t msi_x_pending = 0x1000, msi_x_table = 0x8000;
constexpr std::array<std::uint64_t, 6> bar_sizes = {0x10000, 0x200, 0x400, 0x1000, 0x2000, 0x4000};

std::uint32_t done(std::uint32_t command) {
  return (command & read_host ? read_done : 0u) | (command & write_host ? write_done : 0u) |
         (command & copy_host ? copy_done : 0u);
}
std::uint32_t failed(std::uint32_t command) {
  return done(command) << 1;
}

unsigned to_boundary(std::uint64_t address, unsigned boundary) {
  return static_cast<unsigned>(boundary - address % boundary);
}

}  // namespace

FunctionConfig TestFunction::function_config(unsigned msi_vectors, unsigned msi_x_vectors) {
  FunctionConfig config;
  for (unsigned index = 0; index < bar_sizes.size(); ++index) {
    config.bars.push_back(BarConfig::memory_32(index, bar_sizes[index]));
  }
  config.msi.vectors = msi_vectors;
  config.msi_x = {msi_x_vectors, 0, msi_x_table, 0, msi_x_pending};
  config.interrupt_pin = 1;
  return config;
}

TestFunction::TestFunction(const sc_core::sc_module_name& name, const TestFunctionConfig& config,
                           vp::Domain& domain)
    : sc_module(name),
      bar("bar"),
      dma("dma"),
      interrupt("interrupt"),
      config_(config),
      pieces_(config.outstanding),
      begin_(domain, [this] { advance(); }),
      pass_(domain, [this] { deliver(); }),
      end_(domain, [this] { finish(); }) {
  if (config.latency < 0 || config.bytes_per_second < 1 || config.outstanding < 1) {
    throw ConfigurationError(
        "the test function needs a latency that is not negative, a positive rate and at least one "
        "outstanding piece");
  }
  for (unsigned index = 1; index < memory_.size(); ++index) {
    memory_[index].resize(bar_sizes[index]);
  }
  bar.register_nb_transport_fw(this, &TestFunction::access);
  dma.register_nb_transport_bw(this, &TestFunction::response);
}

// The function has already ended all reads.
void TestFunction::reset() {
  begin_.cancel();
  pass_.cancel();
  end_.cancel();
  transfer_ = {};
  fetched_ = delivered_ = 0;
  words_ = {};
  for (auto& memory : memory_) std::fill(memory.begin(), memory.end(), 0);
  set_pin(false);
}

// The next functions implement registers and memory.

tlm::tlm_sync_enum TestFunction::access(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                        sc_core::sc_time&) {
  const std::uint64_t offset = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  const unsigned number = payload.get_extension<Access>()->bar;
  std::uint8_t* data = payload.get_data_ptr();
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (number == 0 && payload.is_write()) {
    write(offset, data, bytes);
  } else if (number == 0) {
    const auto* registers = reinterpret_cast<const std::uint8_t*>(words_.data());
    for (unsigned i = 0; i < bytes; ++i) {
      data[i] = offset + i < sizeof(words_) ? registers[offset + i] : 0;
    }
  } else if (payload.is_write()) {
    std::memcpy(&memory_[number][offset], data, bytes);
  } else {
    std::memcpy(data, &memory_[number][offset], bytes);
  }
  return tlm::TLM_COMPLETED;
}

void TestFunction::write(std::uint64_t offset, const std::uint8_t* data, unsigned bytes) {
  if (offset >= sizeof(words_)) return;
  const unsigned inside = std::min<unsigned>(bytes, sizeof(words_) - offset);
  std::memcpy(reinterpret_cast<std::uint8_t*>(words_.data()) + offset, data, inside);
  if (!(words_[status] & interrupt_raised)) set_pin(false);
  if (words_[command] != 0) accept_command();
}

// The next functions implement commands.

void TestFunction::accept_command() {
  const std::uint32_t what = words_[command];
  words_[command] = 0;
  if (transfer_.command != 0) {
    transfer_.refused |= failed(what);
    return;
  }
  words_[status] = 0;
  set_pin(false);
  switch (what) {
    case raise_intx:
      return raise(0);
    case raise_msi:
      return raise(1);
    case raise_msi_x:
      return raise(2);
    default:
      if (done(what) != 0) start(what);
  }
}

void TestFunction::start(std::uint32_t what) {
  transfer_ = {};
  transfer_.command = what;
  transfer_.source = address(source);
  transfer_.destination = address(destination);
  transfer_.left = words_[size];
  transfer_.checksum = words_[checksum];
  const std::uint64_t last = std::uint64_t{words_[size]} - 1;
  const bool one_bit = (what & (what - 1)) == 0;
  if (!one_bit || words_[size] < 1 || words_[size] > max_size) {
    fail(tlm::TLM_GENERIC_ERROR_RESPONSE, 0);
  } else if (what != write_host && transfer_.source + last < transfer_.source) {
    fail(tlm::TLM_ADDRESS_ERROR_RESPONSE, source_invalid);
  } else if (what != read_host && transfer_.destination + last < transfer_.destination) {
    fail(tlm::TLM_ADDRESS_ERROR_RESPONSE, destination_invalid);
  }
  begin_.after(config_.latency);
}

void TestFunction::advance() {
  fetch_ahead();
  pass_head();
  if (transfer_.left == 0 && fetched_ == delivered_ && !end_.pending()) end_.at(vp::now());
}

// The function may answer during the request, so the state must be consistent before each one.
void TestFunction::fetch_ahead() {
  while (transfer_.left > 0 && fetched_ - delivered_ < pieces_.size()) {
    Piece& next = piece(fetched_++);
    unsigned length = std::min(transfer_.left, piece_size);
    if (transfer_.command != write_host) {
      length = std::min(length, to_boundary(transfer_.source, piece_size));
    }
    if (transfer_.command != read_host) {
      length = std::min(length, to_boundary(transfer_.destination, piece_size));
    }
    next.length = length;
    next.destination = transfer_.destination;
    next.arrived = false;
    next.payload.set_address(transfer_.source);
    transfer_.source += length;
    transfer_.destination += length;
    transfer_.left -= length;
    fetch(next);
  }
}

void TestFunction::fetch(Piece& piece) {
  tlm::tlm_generic_payload& payload = piece.payload;
  payload.set_data_ptr(piece.data.data());
  payload.set_data_length(piece.length);
  payload.set_streaming_width(piece.length);
  if (transfer_.command == write_host) {
    for (unsigned at = 0; at < piece.length; at += 8) {
      const std::uint64_t random = random_();
      std::memcpy(&piece.data[at], &random, 8);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    piece.arrived = true;
    return;
  }
  payload.set_read();
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  if (dma->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED) piece.arrived = true;
}

tlm::tlm_sync_enum TestFunction::response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                          sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  for (std::uint64_t number = delivered_; number != fetched_; ++number) {
    Piece& waiting = piece(number);
    if (&waiting.payload != &payload) continue;
    if (payload.is_write()) {
      writing_ = false;
      delivered();
      break;
    }
    waiting.arrived = true;
    advance();
    break;
  }
  return tlm::TLM_COMPLETED;
}

// Pieces pass in order. After a failed piece, all later ones are dropped.
void TestFunction::pass_head() {
  while (delivered_ != fetched_ && !pass_.pending() && !writing_) {
    const Piece& head = piece(delivered_);
    if (!head.arrived) return;
    if (transfer_.status == 0 && head.payload.is_response_ok()) {
      pass_.after(vp::transfer_time(head.length, config_.bytes_per_second));
      return;
    }
    fail(head.payload.get_response_status(), source_invalid);
    ++delivered_;
  }
}

void TestFunction::deliver() {
  Piece& head = piece(delivered_);
  transfer_.crc = static_cast<std::uint32_t>(crc32(transfer_.crc, head.data.data(), head.length));
  if (transfer_.command != read_host) {
    head.payload.set_write();
    head.payload.set_address(head.destination);
    head.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    writing_ = dma->nb_transport_fw(head.payload, phase, delay) == tlm::TLM_ACCEPTED;
    if (writing_) return;
  }
  delivered();
}

void TestFunction::delivered() {
  const Piece& head = piece(delivered_);
  if (!head.payload.is_response_ok()) {
    fail(head.payload.get_response_status(), destination_invalid);
  }
  ++delivered_;
  advance();
}

// Ends the transfer's requests; it asks for no more pieces.
void TestFunction::fail(tlm::tlm_response_status response, std::uint32_t invalid) {
  transfer_.left = 0;
  transfer_.status |= failed(transfer_.command);
  if (response == tlm::TLM_ADDRESS_ERROR_RESPONSE) transfer_.status |= invalid;
}

void TestFunction::finish() {
  const Transfer ended = transfer_;
  transfer_ = {};
  fetched_ = delivered_ = 0;
  const std::uint32_t crc = ~ended.crc;
  std::uint32_t result = ended.status | ended.refused;
  if (ended.status == 0) {
    const bool good = ended.command != read_host || crc == ended.checksum;
    result |= good ? done(ended.command) : failed(ended.command);
    if (ended.command == write_host) words_[checksum] = crc;
  }
  words_[status] = result;
  raise(words_[interrupt_type]);
}

// The next functions implement interrupts.

// The values of the interrupt type register are those of InterruptMode.
void TestFunction::raise(std::uint32_t type) {
  const std::uint32_t vector = words_[interrupt_number] - 1;
  if (type != static_cast<std::uint32_t>(interrupt->interrupt_mode())) return;
  if (type == 0) {
    words_[status] |= interrupt_raised;
    set_pin(true);
  } else if (vector < interrupt->interrupt_vectors()) {
    words_[status] |= interrupt_raised;
    interrupt->signal(vector);
  }
}

void TestFunction::set_pin(bool level) {
  if (level == pin_) return;
  pin_ = level;
  interrupt->set_intx(level);
}

}  // namespace pcie
