// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/pcie/endpoint/access.h"
#include "vp/interrupt_line.h"
#include "vp/time/decoupled.h"
#include "vp/time/domain.h"

namespace ipu::test {

/// Ends the elaboration. The body of a test after this is a script of accesses and advance().
inline void start() {
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
}
inline void advance(vp::Picoseconds span) {
  sc_core::sc_start(vp::to_sc_time(span));
}

/// An initiator of blocking transactions.
class Initiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Initiator> socket;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> invalidated;
  /// The delay annotation of the next transaction; afterwards, the annotation with which it ended.
  vp::Picoseconds delay = 0;

  /// An extension that the transactions carry, if it is set.
  vp::Decoupled* decoupled = nullptr;

  explicit Initiator(const sc_core::sc_module_name& name = "initiator")
      : sc_module(name), socket("socket") {
    socket.register_invalidate_direct_mem_ptr(this, &Initiator::invalidate);
  }

  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                  unsigned length) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    return access(payload);
  }
  tlm::tlm_response_status access(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    sc_core::sc_time annotation = vp::to_sc_time(delay);
    payload.set_extension<vp::Decoupled>(decoupled);
    socket->b_transport(payload, annotation);
    delay = static_cast<vp::Picoseconds>(annotation.value());
    EXPECT_EQ(payload.get_address(), address) << "the address must come back as it was";
    return payload.get_response_status();
  }

  /// Reads; the read must succeed.
  std::uint64_t read(std::uint64_t address, unsigned length = 8) {
    std::uint64_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, &value, length), tlm::TLM_OK_RESPONSE)
        << "read of " << length << " at " << std::hex << address;
    return value;
  }
  /// Writes; the write must succeed.
  void write(std::uint64_t address, std::uint64_t value, unsigned length = 8) {
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, address, &value, length), tlm::TLM_OK_RESPONSE)
        << "write of " << length << " at " << std::hex << address;
  }
  tlm::tlm_response_status try_read(std::uint64_t address, unsigned length = 8) {
    std::array<std::uint8_t, 64> data{};
    return access(tlm::TLM_READ_COMMAND, address, data.data(), length);
  }
  tlm::tlm_response_status try_write(std::uint64_t address, unsigned length = 8) {
    std::array<std::uint8_t, 64> data{};
    return access(tlm::TLM_WRITE_COMMAND, address, data.data(), length);
  }

 private:
  void invalidate(sc_dt::uint64 start, sc_dt::uint64 end) { invalidated.push_back({start, end}); }
};

/// An initiator that is ahead of the kernel's time by `ahead`.
struct Ahead : vp::Decoupled {
  vp::Picoseconds ahead = 0;
  void catch_up() override { advance(std::exchange(ahead, 0)); }
  bool may_stay_ahead() const override { return ahead > 0; }
};

/// An interrupt controller that records the lines.
class Lines : public vp::InterruptLineIf {
 public:
  std::map<unsigned, bool> level;
  unsigned changes = 0;

  void set_line(unsigned number, bool high) override {
    level[number] = high;
    ++changes;
  }
};

/// Records the function's interrupts, with the time of each.
class Interrupts : public pcie::InterruptIf {
 public:
  std::vector<std::pair<unsigned, vp::Picoseconds>> signals;

  void signal(unsigned vector) override { signals.push_back({vector, vp::now()}); }
};

/// An initiator of the protocol in models/pcie/endpoint/access.h, with one request at a time.
class FunctionPort : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<FunctionPort> socket;
  tlm::tlm_generic_payload payload;
  pcie::Access* access = new pcie::Access;  // the payload owns it
  std::array<std::uint8_t, 64> data{};
  unsigned responses = 0;  // those that came by nb_transport_bw

  explicit FunctionPort(const sc_core::sc_module_name& name = "function_port")
      : sc_module(name), socket("socket") {
    payload.set_extension(access);
    socket.register_nb_transport_bw(this, &FunctionPort::nb_transport_bw);
  }

  tlm::tlm_sync_enum request(tlm::tlm_command command, unsigned bar, std::uint64_t offset,
                             unsigned length) {
    access->bar = static_cast<std::uint8_t>(bar);
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(data.data());
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    return socket->nb_transport_fw(payload, phase, delay);
  }
  std::uint64_t read(unsigned bar, std::uint64_t offset, unsigned length = 8) {
    data = {};
    EXPECT_EQ(request(tlm::TLM_READ_COMMAND, bar, offset, length), tlm::TLM_COMPLETED);
    EXPECT_TRUE(payload.is_response_ok()) << "read at " << std::hex << offset;
    std::uint64_t value = 0;
    std::memcpy(&value, data.data(), 8);
    return value;
  }
  void write(unsigned bar, std::uint64_t offset, std::uint64_t value, unsigned length = 8) {
    std::memcpy(data.data(), &value, 8);
    EXPECT_EQ(request(tlm::TLM_WRITE_COMMAND, bar, offset, length), tlm::TLM_COMPLETED);
    EXPECT_TRUE(payload.is_response_ok()) << "write at " << std::hex << offset;
  }

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    ++responses;
    return tlm::TLM_COMPLETED;
  }
};

}  // namespace ipu::test
