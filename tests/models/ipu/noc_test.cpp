// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/noc.h"

#include "models/ipu/memory.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::start;

constexpr vp::Picoseconds hop = 3 * vp::ns;
constexpr vp::Picoseconds low_latency = 10 * vp::ns;
constexpr vp::Picoseconds high_latency = 50 * vp::ns;

struct NocTest : testing::Test {
  Noc noc{"noc", hop};
  PlainStorage low_storage{0x1000};
  PlainStorage high_storage{0x2000};
  Memory low{"low", low_storage, low_latency};
  Memory high{"high", high_storage, high_latency};
  test::Initiator core{"core"};
  test::Initiator dma{"dma"};

  NocTest() {
    noc.connect(0x1000, 0x1000, low.socket);
    noc.connect(0x8000'0000, 0x1000, high.socket);
    noc.connect(0x9000'0000, 0x2000, high.socket);
    core.socket.bind(noc.in);
    dma.socket.bind(noc.in);
  }
};

TEST_F(NocTest, RoutesByAddressAndMakesItRelative) {
  start();
  core.write(0x1008, 0x1122334455667788);
  dma.write(0x8000'0010, 0xaabbccdd, 4);
  EXPECT_EQ(low_storage.bytes()[0x8], 0x88);
  EXPECT_EQ(high_storage.bytes()[0x10], 0xdd);
  EXPECT_EQ(core.read(0x9000'0010, 4), 0xaabbccddu) << "one target, two regions";
  EXPECT_EQ(dma.read(0x1008), 0x1122334455667788u);
  EXPECT_EQ(noc.transactions(), 4u);
  EXPECT_EQ(noc.unmapped(), 0u);
}

TEST_F(NocTest, TakesAHopEachWay) {
  start();
  core.delay = 7;
  core.read(0x1000);
  EXPECT_EQ(core.delay, 7 + 2 * hop + low_latency);
  core.delay = 0;
  core.read(0x8000'0000);
  EXPECT_EQ(core.delay, 2 * hop + high_latency);
}

// The time by which the initiator is ahead has passed; that of the hops has not.
TEST_F(NocTest, OnlyDecoupledTargetsAreReachedAheadOfTime) {
  PlainStorage storage{0x1000};
  Memory patient{"patient", storage, low_latency};
  noc.connect(0xa000'0000, 0x1000, patient.socket, Noc::Timing::decoupled);
  start();
  test::Ahead initiator;
  core.decoupled = &initiator;
  const vp::Picoseconds before = vp::now();
  initiator.ahead = core.delay = 500;
  core.read(0xa000'0000);
  EXPECT_EQ(vp::now(), before);
  EXPECT_EQ(core.delay, 500 + 2 * hop + low_latency);

  initiator.ahead = core.delay = 500;
  core.read(0x1000);
  EXPECT_EQ(vp::now(), before + 500);
  EXPECT_EQ(core.delay, 2 * hop + low_latency);
}

/// A target whose reads have no side effect, so that one answer may serve several of them.
struct Repeating : sc_core::sc_module {
  tlm_utils::simple_target_socket<Repeating> socket{"socket"};
  std::uint64_t version = 0;
  std::uint64_t reads = 0;
  unsigned counts = 1;

  explicit Repeating(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Repeating::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    vp::Repeatable answer{&version};
    for (unsigned i = 0; i < counts; ++i) answer.counts[i] = {&reads, 1};
    vp::repeatable(payload, answer);
  }
};

TEST_F(NocTest, AReadThatIsAnsweredAgainIsCounted) {
  Repeating target{"target"};
  noc.connect(0xa000'0000, 0x1000, target.socket, Noc::Timing::decoupled);
  start();
  test::Ahead initiator;
  core.decoupled = &initiator;
  initiator.ahead = core.delay = 500;
  core.read(0xa000'0000);
  ASSERT_EQ(initiator.repeatable.version, &target.version);
  EXPECT_EQ(initiator.repeatable.counts[0].counter, &target.reads);
  EXPECT_EQ(initiator.repeatable.counts[1].counter, &noc.transactions());
  EXPECT_EQ(initiator.repeatable.counts[1].amount, 1u);
  EXPECT_EQ(initiator.repeatable.counts[2].counter, nullptr);

  target.counts = std::size(initiator.repeatable.counts);
  initiator.ahead = core.delay = 500;
  core.read(0xa000'0000);
  EXPECT_EQ(initiator.repeatable.version, nullptr) << "there is no room for another counter";
}

TEST_F(NocTest, AnswersAnUnmappedAddressWithAnAddressError) {
  start();
  for (std::uint64_t address : std::vector<std::uint64_t>{
           0, 0xfff, 0xffa, 0x1ff9, 0x1fff, 0x2000, 0x7fff'ffff, 0x8000'0ff9, ~std::uint64_t{0}}) {
    core.delay = 0;
    EXPECT_EQ(core.try_read(address), tlm::TLM_ADDRESS_ERROR_RESPONSE) << std::hex << address;
    EXPECT_EQ(core.try_write(address), tlm::TLM_ADDRESS_ERROR_RESPONSE) << std::hex << address;
  }
  EXPECT_EQ(core.delay, 4 * hop) << "two transactions, answered by the router";
  EXPECT_EQ(noc.unmapped(), 18u);
}

TEST_F(NocTest, ForwardsDebugAccesses) {
  start();
  high_storage.bytes()[0x1fff] = 0x5a;
  std::uint8_t byte = 0;
  tlm::tlm_generic_payload payload;
  payload.set_read();
  payload.set_data_ptr(&byte);
  payload.set_data_length(1);
  payload.set_address(0x9000'1fff);
  EXPECT_EQ(core.socket->transport_dbg(payload), 1u);
  EXPECT_EQ(byte, 0x5a);
  EXPECT_EQ(payload.get_address(), 0x9000'1fffu);
  payload.set_address(0x9000'2000);
  EXPECT_EQ(core.socket->transport_dbg(payload), 0u);
  EXPECT_EQ(noc.transactions(), 0u);
}

TEST_F(NocTest, TranslatesDirectAccess) {
  start();
  tlm::tlm_generic_payload payload;
  payload.set_read();
  payload.set_data_length(8);
  payload.set_address(0x8000'0100);
  tlm::tlm_dmi dmi;
  ASSERT_TRUE(core.socket->get_direct_mem_ptr(payload, dmi));
  EXPECT_EQ(payload.get_address(), 0x8000'0100u);
  EXPECT_EQ(dmi.get_start_address(), 0x8000'0000u);
  EXPECT_EQ(dmi.get_end_address(), 0x8000'0fffu) << "not beyond the region";
  EXPECT_EQ(dmi.get_dmi_ptr(), high_storage.bytes());
  EXPECT_EQ(dmi.get_read_latency(), vp::to_sc_time(2 * hop + high_latency));
  payload.set_address(0x2000);
  dmi.init();
  EXPECT_FALSE(core.socket->get_direct_mem_ptr(payload, dmi));
  EXPECT_TRUE(dmi.is_none_allowed());
}

TEST_F(NocTest, PassesAnInvalidationToEveryInitiatorForEveryRegion) {
  start();
  high.socket->invalidate_direct_mem_ptr(0x800, 0x1800);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {
      {0x8000'0800, 0x8000'0fff}, {0x9000'0800, 0x9000'1800}};
  EXPECT_EQ(core.invalidated, expected);
  EXPECT_EQ(dma.invalidated, expected);
  core.invalidated.clear();
  high.socket->invalidate_direct_mem_ptr(0x1000, 0x1fff);
  EXPECT_THAT(core.invalidated, testing::ElementsAre(std::make_pair(0x9000'1000u, 0x9000'1fffu)))
      << "beyond the end of the other region";
}

TEST_F(NocTest, RefusesOverlaps) {
  EXPECT_THROW(noc.connect(0x1800, 0x1000, high.socket), MapMistake);
}

}  // namespace
}  // namespace ipu
