// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/oae/block.h"
#include "oae_registers.h"
#include "tests/rtl/slot.h"

inline constexpr vp::Picoseconds period = 2 * vp::ns;  // the period of the default clock

inline Header header(std::uint8_t epoch, std::uint32_t sequence, std::uint8_t flags = 0) {
  Header header;
  header.epoch = epoch;
  header.sequence = sequence;
  header.flags = flags;
  return header;
}

/// The block between a host and firmware. The script of the test plays the host, and further
/// scripts may play the firmware. Each script is a process that may wait.
class Fixture : public sc_core::sc_module, public pcie::InterruptIf, public vp::InterruptLineIf {
 public:
  using Script = std::function<void()>;

  tlm_utils::simple_initiator_socket<Fixture> bar;
  tlm_utils::simple_initiator_socket<Fixture> firmware;
  tlm_utils::simple_target_socket<Fixture> memory;

  explicit Fixture(const oae::BlockConfig& config = {}, const std::string& trace_path = {},
                   const sc_core::sc_module_name& name = "fixture")
      : sc_module(name), bar("bar"), firmware("firmware"), memory("memory"), domain("domain") {
    if (!trace_path.empty()) trace.open(trace_path, {});
    block = std::make_unique<oae::Block>("oae", config, domain, trace, statistics);
    bar.bind(block->bar);
    firmware.bind(block->registers);
    block->dma.bind(memory);
    block->interrupt.bind(*this);
    block->irq.bind(*this);
    bar.register_nb_transport_bw(this, &Fixture::complete);
    memory.register_nb_transport_fw(this, &Fixture::store);
  }

  /// Runs all scripts to the end. The first is the test.
  void run(std::vector<Script> scripts) {
    unsigned left = static_cast<unsigned>(scripts.size());
    for (Script& script : scripts) {
      sc_core::sc_spawn([&left, &script] {
        script();
        if (--left == 0) sc_core::sc_stop();
      });
    }
    sc_core::sc_start();
    EXPECT_EQ(left, 0u) << "a script is stuck";
  }

  static void pass(vp::Picoseconds span) { sc_core::wait(vp::to_sc_time(span)); }

  // The host

  tlm::tlm_response_status write(unsigned bar_number, std::uint64_t address, const void* data,
                                 unsigned bytes) {
    return transport(tlm::TLM_WRITE_COMMAND, bar_number, address, const_cast<void*>(data), bytes);
  }
  tlm::tlm_response_status write(unsigned bar_number, std::uint64_t address, std::uint64_t value) {
    return write(bar_number, address, &value, 8);
  }
  tlm::tlm_response_status read(unsigned bar_number, std::uint64_t address, void* data,
                                unsigned bytes) {
    return transport(tlm::TLM_READ_COMMAND, bar_number, address, data, bytes);
  }
  std::uint64_t read(unsigned bar_number, std::uint64_t address) {
    std::uint64_t value = 0;
    EXPECT_EQ(read(bar_number, address, &value, 8), tlm::TLM_OK_RESPONSE);
    return value;
  }
  /// The extension that all requests carry.
  pcie::Access access;

  /// Accepts the slot that waits, if there is one.
  void make_room() {
    full = false;
    if (unstored_ == nullptr) return;
    tlm::tlm_generic_payload& payload = *std::exchange(unstored_, nullptr);
    store(payload);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    EXPECT_EQ(memory->nb_transport_bw(payload, phase, delay), tlm::TLM_COMPLETED);
  }

  // The firmware; any script may call these.

  tlm::tlm_response_status firmware_access(tlm::tlm_command command, std::uint64_t address,
                                           void* data, unsigned bytes, vp::Picoseconds delay = 0) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    sc_core::sc_time annotation = vp::to_sc_time(delay);
    firmware->b_transport(payload, annotation);
    EXPECT_EQ(annotation, payload.is_response_ok() ? sc_core::SC_ZERO_TIME : annotation);
    return payload.get_response_status();
  }
  void put(std::uint64_t address, std::uint64_t value) {
    EXPECT_EQ(firmware_access(tlm::TLM_WRITE_COMMAND, address, &value, 8), tlm::TLM_OK_RESPONSE);
  }
  std::uint64_t get(std::uint64_t address) {
    std::uint64_t value = 0;
    EXPECT_EQ(firmware_access(tlm::TLM_READ_COMMAND, address, &value, 8), tlm::TLM_OK_RESPONSE);
    return value;
  }
  void publish(unsigned port, const Slot& slot) {
    for (unsigned i = 0; i < 8; ++i) put(OAE_FIRMWARE_OFFER_AT(port) + 8 * i, slot[i]);
    put(OAE_FIRMWARE_COMMAND_AT(port), OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  }

  /// Opens a port and gives it an answer buffer, from the host's side.
  void open(unsigned port) {
    write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(port), buffer_of(port));
    write(0, OAE_HOST_PORT_EVENT_AT(port), 1 + port);
    write(0, OAE_HOST_PORT_CONTROL_AT(port), 1);
  }
  /// Opens port 0, where the firmware and then the host make their first offers.
  void begin_swap() {
    open(0);
    publish(0, make_slot(header(1, 1), 1));
    write(2, OAE_PORT_WINDOW, make_slot(header(1, 1), 2).data(), 64);
  }
  static std::uint64_t buffer_of(unsigned port) { return 0x12'3400'0000 + 64 * port; }
  static std::uint64_t page(unsigned port, std::uint64_t offset) {
    return port * std::uint64_t{OAE_PORT_SIZE} + offset;
  }

  void signal(unsigned vector) override { signals.emplace_back(vp::now(), vector); }
  void set_line(unsigned number, bool level) override {
    lines.push_back({vp::now(), number, level});
  }

  struct Line {
    vp::Picoseconds time;
    unsigned number;
    bool level;
  };

  vp::Domain domain;
  vp::Trace trace;
  vp::Statistics statistics;
  std::unique_ptr<oae::Block> block;
  bool bus_master = true;
  bool full = false;  ///< slots have to wait until make_room()
  std::map<std::uint64_t, Slot> buffers;
  vp::Picoseconds stored = 0;  ///< when the last slot arrived
  unsigned stored_class = 0;
  vp::Picoseconds completed = 0;  ///< when the last read completed
  std::vector<std::pair<vp::Picoseconds, unsigned>> signals;
  std::vector<Line> lines;

 private:
  tlm::tlm_response_status transport(tlm::tlm_command command, unsigned bar_number,
                                     std::uint64_t address, void* data, unsigned bytes) {
    tlm::tlm_generic_payload payload;
    pcie::Access extension = access;
    extension.bar = bar_number;
    payload.set_extension(&extension);
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    const auto sync = bar->nb_transport_fw(payload, phase, delay);
    if (sync == tlm::TLM_ACCEPTED) {
      waiting_.push_back(&payload);
      const auto outstanding = [&] {
        return std::find(waiting_.begin(), waiting_.end(), &payload) != waiting_.end();
      };
      while (outstanding()) sc_core::wait(completion_);
    }
    payload.clear_extension(&extension);
    return payload.get_response_status();
  }

  tlm::tlm_sync_enum complete(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time&) {
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    const auto found = std::find(waiting_.begin(), waiting_.end(), &payload);
    EXPECT_NE(found, waiting_.end());
    const auto alike = [&](const auto* other) { return other->is_read() == payload.is_read(); };
    EXPECT_TRUE(std::none_of(waiting_.begin(), found, alike)) << "completed out of order";
    waiting_.erase(found);
    if (payload.is_read()) completed = vp::now();
    completion_.notify();
    return tlm::TLM_COMPLETED;
  }

  tlm::tlm_sync_enum store(tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
    EXPECT_TRUE(payload.is_write());
    EXPECT_EQ(payload.get_data_length(), 64u);
    EXPECT_EQ(unstored_, nullptr);
    if (full) {
      unstored_ = &payload;
      return tlm::TLM_ACCEPTED;
    }
    store(payload);
    return tlm::TLM_COMPLETED;
  }

  void store(tlm::tlm_generic_payload& payload) {
    payload.set_response_status(bus_master ? tlm::TLM_OK_RESPONSE
                                           : tlm::TLM_COMMAND_ERROR_RESPONSE);
    if (bus_master) {
      std::memcpy(buffers[payload.get_address()].data(), payload.get_data_ptr(), 64);
      stored = vp::now();
      const auto* extension = payload.get_extension<pcie::Access>();
      stored_class = extension->traffic_class;
      EXPECT_FALSE(extension->relaxed_ordering || extension->id_based_ordering);
    }
  }

  tlm::tlm_generic_payload* unstored_ = nullptr;
  std::deque<tlm::tlm_generic_payload*> waiting_;
  sc_core::sc_event completion_;
};
