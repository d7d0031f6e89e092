// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/copy_device.h"

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>

#include "oae_registers.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::advance;
using test::start;

constexpr std::uint64_t memory_size = 0x3000;
constexpr std::uint64_t host_size = 0x4000;
constexpr std::uint64_t start_bit = OAE_DMA_CONTROL_START_MASK;
constexpr std::uint64_t from_host = OAE_DMA_CONTROL_SOURCE_HOST_MASK;
constexpr std::uint64_t to_host = OAE_DMA_CONTROL_DESTINATION_HOST_MASK;
constexpr std::uint64_t irq_enable = OAE_DMA_CONTROL_IRQ_ENABLE_MASK;
constexpr std::uint64_t done = OAE_DMA_STATUS_DONE_MASK;
constexpr std::uint64_t error = OAE_DMA_STATUS_ERROR_MASK;

/// Host memory from address 0 on, behind a function that may be reset while it holds reads.
struct Host : sc_core::sc_module {
  tlm_utils::simple_target_socket<Host> socket;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(host_size);
  bool holds_reads = false;
  std::vector<tlm::tlm_generic_payload*> held;

  explicit Host(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_fw(this, &Host::nb_transport_fw);
  }
  void end_reads() {
    for (tlm::tlm_generic_payload* payload : std::exchange(held, {})) {
      payload->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay;
      EXPECT_EQ(socket->nb_transport_bw(*payload, phase, delay), tlm::TLM_COMPLETED);
    }
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_core::sc_time&) {
    if (payload.is_read() && holds_reads) {
      held.push_back(&payload);
      return tlm::TLM_ACCEPTED;
    }
    std::uint8_t* at = bytes.data() + payload.get_address();
    std::uint8_t* data = payload.get_data_ptr();
    if (payload.is_write()) std::copy_n(data, payload.get_data_length(), at);
    if (payload.is_read()) std::copy_n(at, payload.get_data_length(), data);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
};

struct CopyDeviceTest : testing::Test {
  vp::Domain domain{"domain"};
  CopyDevice device{"device", domain, {100 * vp::ns, 1'000'000'000, 4}, memory_size};
  Host host{"host"};
  test::FunctionPort function;
  test::Interrupts interrupts;

  CopyDeviceTest() {
    function.socket.bind(device.bar);
    device.engine.host.bind(host.socket);
    device.interrupt.bind(interrupts);
    start();
    for (unsigned i = 0; i < host_size / 2; ++i) host.bytes[i] = i * 13 >> 2;
  }
  void copy(std::uint64_t from, std::uint64_t to, std::uint64_t length, std::uint64_t control) {
    function.write(0, OAE_DMA_SOURCE, from);
    function.write(0, OAE_DMA_DESTINATION, to);
    function.write(0, OAE_DMA_LENGTH, length);
    function.write(0, OAE_DMA_STATUS, done | error);
    function.write(0, OAE_DMA_CONTROL, control | start_bit);
  }
  std::uint64_t status() { return function.read(0, OAE_DMA_STATUS); }
};

TEST_F(CopyDeviceTest, CopiesToItsMemoryAndBackAndInterrupts) {
  for (const std::uint64_t length : {1u, 4095u, 4096u, 4097u, 0x2000u}) {
    interrupts.signals.clear();
    std::fill(host.bytes.begin() + host_size / 2, host.bytes.end(), 0);
    const std::uint64_t inside = memory_size - length;
    copy(0, inside, length, from_host | irq_enable);
    advance(vp::ms);
    EXPECT_EQ(status(), done);
    copy(inside, host_size / 2, length, to_host | irq_enable);
    advance(vp::ms);
    EXPECT_EQ(status(), done);
    EXPECT_TRUE(std::equal(host.bytes.begin(), host.bytes.begin() + length,
                           host.bytes.begin() + host_size / 2));
    ASSERT_EQ(interrupts.signals.size(), 2u);
    EXPECT_EQ(interrupts.signals[0].first, 0u);
    copy(0, inside, length, from_host);
    advance(vp::ms);
    EXPECT_EQ(interrupts.signals.size(), 2u) << "not enabled";
  }
}

TEST_F(CopyDeviceTest, ReachesNoOtherMemory) {
  for (const std::uint64_t at : {memory_size, memory_size - 1, ~std::uint64_t{0}}) {
    copy(0, at, 2, from_host);
    advance(vp::ms);
    EXPECT_EQ(status(), done | error) << at;
  }
}

TEST_F(CopyDeviceTest, RegistersSupportTheSameAccessesAsOtherBlocks) {
  EXPECT_EQ(function.request(tlm::TLM_READ_COMMAND, 0, 0x28, 8), tlm::TLM_COMPLETED);
  EXPECT_EQ(function.payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(function.request(tlm::TLM_READ_COMMAND, 0, 0, 16), tlm::TLM_COMPLETED);
  EXPECT_EQ(function.payload.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
}

// The reset comes at any time of a copy, also while the function still holds its reads.
TEST_F(CopyDeviceTest, ResetLeavesNothing) {
  for (const bool holds_reads : {false, true}) {
    for (vp::Picoseconds span = 10 * vp::ns; span < 10 * vp::us; span += 370 * vp::ns) {
      host.holds_reads = false;
      copy(0, 0, memory_size, from_host);
      advance(vp::ms);
      interrupts.signals.clear();
      host.holds_reads = holds_reads;
      copy(0x100, 0, 0x2800, from_host | irq_enable);
      advance(span);
      host.end_reads();
      device.reset();
      interrupts.signals.clear();
      for (const std::uint64_t offset :
           {OAE_DMA_SOURCE, OAE_DMA_DESTINATION, OAE_DMA_LENGTH, OAE_DMA_CONTROL, OAE_DMA_STATUS}) {
        EXPECT_EQ(function.read(0, offset), 0u) << offset;
      }
      advance(vp::ms);
      EXPECT_TRUE(interrupts.signals.empty());
      EXPECT_EQ(status(), 0u);
      host.holds_reads = false;
      copy(0, host_size / 2, memory_size - 0x1000, to_host);
      advance(vp::ms);
      EXPECT_EQ(status(), done);
      EXPECT_TRUE(std::all_of(host.bytes.begin() + host_size / 2, host.bytes.end(),
                              [](std::uint8_t byte) { return byte == 0; }));
    }
  }
}

}  // namespace
}  // namespace ipu
