// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/queue_controller.h"

#include <tlm_utils/simple_target_socket.h>

#include "oae_registers.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::advance;
using test::start;
using Signals = std::vector<std::pair<unsigned, vp::Picoseconds>>;

constexpr std::uint64_t page = 0x1'2345'6000;

/// Host memory behind the function's `dma`, which may refuse writes or delay them.
struct Host : sc_core::sc_module {
  struct Write {
    std::uint64_t address;
    std::uint64_t first;  // word of the line
    std::uint64_t last;
    vp::Picoseconds time;
    bool operator==(const Write& other) const {
      return address == other.address && first == other.first && last == other.last &&
             time == other.time;
    }
  };
  tlm_utils::simple_target_socket<Host> socket;
  bool refuses = false;
  bool delays = false;
  tlm::tlm_generic_payload* delayed = nullptr;
  std::vector<Write> writes;

  explicit Host(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_fw(this, &Host::nb_transport_fw);
  }
  void accept(tlm::tlm_response_status status) {
    tlm::tlm_generic_payload& payload = *std::exchange(delayed, nullptr);
    if (status == tlm::TLM_OK_RESPONSE) take(payload);
    payload.set_response_status(status);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    EXPECT_EQ(socket->nb_transport_bw(payload, phase, delay), tlm::TLM_COMPLETED);
  }

 private:
  void take(const tlm::tlm_generic_payload& payload) {
    std::array<std::uint64_t, 8> words;
    std::memcpy(words.data(), payload.get_data_ptr(), sizeof(words));
    writes.push_back({payload.get_address(), words[0], words[7], vp::now()});
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_TRUE(payload.is_write());
    EXPECT_EQ(payload.get_data_length(), QueueController::line_size);
    EXPECT_EQ(delayed, nullptr) << "one write at a time";
    if (delays) {
      delayed = &payload;
      return tlm::TLM_ACCEPTED;
    }
    if (!refuses) take(payload);
    payload.set_response_status(refuses ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
};

struct QueueControllerTest : testing::Test {
  vp::Domain domain{"domain"};
  test::Interrupts interrupts;
  Host host{"host"};
  QueueController controller{"controller", domain};
  test::Initiator core{"core"};

  QueueControllerTest() {
    core.socket.bind(controller.socket);
    controller.interrupt.bind(interrupts);
    controller.dma.bind(host.socket);
    start();
  }
  void send(unsigned vector, vp::Picoseconds delay) {
    core.delay = delay;
    core.write(OAE_QUEUE_INTERRUPT, vector);
  }
  /// A line whose words count up from `first`.
  void push(unsigned line, std::uint64_t first, vp::Picoseconds delay = 0) {
    for (unsigned i = 0; i < 8; ++i) core.write(OAE_QUEUE_DATA + 8 * i, first + i);
    core.delay = delay;
    core.write(OAE_QUEUE_PUSH, line);
    core.delay = 0;
  }
};

TEST_F(QueueControllerTest, InterruptsWhenTheWriteHasArrived) {
  const vp::Picoseconds sent = vp::now();
  send(5, 30 * vp::ns);
  EXPECT_TRUE(interrupts.signals.empty());
  advance(vp::us);
  EXPECT_EQ(interrupts.signals, (Signals{{5, sent + 30 * vp::ns}}));
  EXPECT_EQ(controller.interrupts(), 1u);
}

TEST_F(QueueControllerTest, KeepsAllThatAreOnTheirWay) {
  const vp::Picoseconds sent = vp::now();
  send(1, 30 * vp::ns);
  send(2, 10 * vp::ns);
  send(3, 30 * vp::ns);
  send(2, 20 * vp::ns);
  advance(vp::us);
  EXPECT_EQ(interrupts.signals, (Signals{{2, sent + 10 * vp::ns},
                                         {2, sent + 20 * vp::ns},
                                         {1, sent + 30 * vp::ns},
                                         {3, sent + 30 * vp::ns}}));
}

TEST_F(QueueControllerTest, AResetCancelsWhatIsOnItsWay) {
  send(1, 30 * vp::ns);
  controller.reset();
  advance(vp::us);
  EXPECT_TRUE(interrupts.signals.empty());
  send(2, 0);
  advance(vp::us);
  EXPECT_EQ(interrupts.signals.size(), 1u);
}

TEST_F(QueueControllerTest, ALineIsOneWriteOfTheDataThatWasThere) {
  core.write(OAE_QUEUE_PAGE, page | 0xabc);  // an address within the page
  EXPECT_EQ(core.read(OAE_QUEUE_PAGE), page);
  const vp::Picoseconds sent = vp::now();
  push(0, 100, 30 * vp::ns);
  push(63, 200, 40 * vp::ns);
  EXPECT_TRUE(host.writes.empty());
  advance(vp::us);
  EXPECT_EQ(host.writes,
            (std::vector<Host::Write>{{page, 100, 107, sent + 30 * vp::ns},
                                      {page + 63 * 64, 200, 207, sent + 40 * vp::ns}}));
  EXPECT_EQ(core.read(OAE_QUEUE_DATA + 8), 201u);
  EXPECT_EQ(core.read(OAE_QUEUE_REFUSED), 0u);
  EXPECT_EQ(controller.lines(), 2u);
}

TEST_F(QueueControllerTest, AnInterruptFollowsTheLinesBeforeIt) {
  core.write(OAE_QUEUE_PAGE, page);
  host.delays = true;
  push(1, 100);
  push(2, 200);
  send(7, 0);
  advance(vp::us);
  EXPECT_TRUE(interrupts.signals.empty());
  host.accept(tlm::TLM_OK_RESPONSE);
  advance(vp::us);
  EXPECT_TRUE(interrupts.signals.empty());
  send(8, 0);
  host.accept(tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(host.writes.size(), 2u);
  advance(vp::us);
  ASSERT_EQ(interrupts.signals.size(), 2u);
  EXPECT_EQ(interrupts.signals[0].first, 7u);
  EXPECT_EQ(interrupts.signals[1].first, 8u);
}

TEST_F(QueueControllerTest, CountsLinesThatAreRefused) {
  push(1, 100);  // there is no page
  EXPECT_EQ(core.read(OAE_QUEUE_REFUSED), 1u);
  core.write(OAE_QUEUE_PAGE, page);
  host.refuses = true;
  push(1, 100);
  send(3, 0);
  advance(vp::us);
  EXPECT_EQ(core.read(OAE_QUEUE_REFUSED), 2u);
  EXPECT_EQ(interrupts.signals.size(), 1u);
  EXPECT_TRUE(host.writes.empty());
}

TEST_F(QueueControllerTest, AResetForgetsThePageAndALineThatIsOnItsWay) {
  core.write(OAE_QUEUE_PAGE, page);
  host.delays = true;
  push(1, 100);
  push(2, 200);
  advance(vp::us);
  controller.reset();
  EXPECT_EQ(core.read(OAE_QUEUE_PAGE), 0u);
  EXPECT_EQ(core.read(OAE_QUEUE_DATA), 0u);
  core.write(OAE_QUEUE_PAGE, page + 0x1000);
  host.delays = false;
  push(3, 300);
  advance(vp::us);
  EXPECT_TRUE(host.writes.empty());  // the function still has the line of before
  host.accept(tlm::TLM_GENERIC_ERROR_RESPONSE);
  advance(vp::us);
  ASSERT_EQ(host.writes.size(), 1u);
  EXPECT_EQ(host.writes[0].address, page + 0x1000 + 3 * 64);
  EXPECT_EQ(core.read(OAE_QUEUE_REFUSED), 0u);
}

TEST_F(QueueControllerTest, HasTheseRegisters) {
  EXPECT_EQ(core.read(OAE_QUEUE_INTERRUPT), 0u);
  EXPECT_EQ(core.read(OAE_QUEUE_PUSH), 0u);
  core.write(OAE_QUEUE_INTERRUPT + 2, 7, 2);  // not the bytes of the vector
  core.write(OAE_QUEUE_PUSH + 1, 7, 1);       // nor those of the line
  core.write(OAE_QUEUE_REFUSED, 7);
  EXPECT_EQ(core.read(OAE_QUEUE_REFUSED), 0u);
  core.write(OAE_QUEUE_DATA + 60, 7, 4);
  EXPECT_EQ(core.read(OAE_QUEUE_DATA + 56), std::uint64_t{7} << 32);
  for (const unsigned offset : {0x20, 0x38, 0x80}) {
    EXPECT_EQ(core.try_read(offset), tlm::TLM_ADDRESS_ERROR_RESPONSE) << offset;
    EXPECT_EQ(core.try_write(offset), tlm::TLM_ADDRESS_ERROR_RESPONSE) << offset;
  }
  advance(vp::us);
  EXPECT_TRUE(interrupts.signals.empty());
}

}  // namespace
}  // namespace ipu
