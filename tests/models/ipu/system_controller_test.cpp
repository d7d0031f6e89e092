// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/system_controller.h"

#include "oae_registers.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using Reason = SystemController::HaltReason;
using test::start;

struct SystemControllerTest : testing::Test {
  std::vector<Reason> halts;
  SystemController controller{"controller",
                              {24,
                               0x1000'0000,
                               0x40'0000,
                               0x8000'0000,
                               0x800'0000,
                               true,
                               5,
                               {{7, 0xf0}, {2, 1, true}, {3, 6, false, true}},
                               0x1'0000},
                              [this](Reason reason) { halts.push_back(reason); }};
  test::Initiator core;
  SystemControllerTest() { core.socket.bind(controller.socket); }
};

TEST_F(SystemControllerTest, DescribesTheMachine) {
  start();
  EXPECT_EQ(core.read(OAE_SYSTEM_ID), OAE_PUT(OAE_SYSTEM_ID_CORES, 24) |
                                          OAE_PUT(OAE_SYSTEM_ID_LINKS, 3) |
                                          OAE_PUT(OAE_SYSTEM_ID_CELL, 5));
  EXPECT_EQ(core.read(OAE_SYSTEM_SRAM_BASE), 0x1000'0000u);
  EXPECT_EQ(core.read(OAE_SYSTEM_SRAM_SIZE), 0x40'0000u);
  EXPECT_EQ(core.read(OAE_SYSTEM_DRAM_BASE), 0x8000'0000u);
  EXPECT_EQ(core.read(OAE_SYSTEM_DRAM_SIZE), 0x800'0000u);
  EXPECT_EQ(core.read(OAE_SYSTEM_BOOT_OPTIONS), 1u);
  EXPECT_EQ(core.read(OAE_SYSTEM_HALT), 0u);
  EXPECT_EQ(core.read(OAE_SYSTEM_QUEUE_MEMORY), 0x1'0000u);
  core.write(OAE_SYSTEM_QUEUE_MEMORY, 0);
  EXPECT_EQ(core.read(OAE_SYSTEM_QUEUE_MEMORY), 0x1'0000u);
  EXPECT_EQ(core.try_read(OAE_SYSTEM_QUEUE_MEMORY + 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_write(OAE_SYSTEM_QUEUE_MEMORY + 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(SystemControllerTest, DescribesTheLinks) {
  start();
  const std::uint64_t peers[] = {7, 2 | OAE_SYSTEM_LINK_PEER_BRIDGED_MASK,
                                 3 | OAE_SYSTEM_LINK_PEER_RELAYED_MASK, 0},
                      ports[] = {0xf0, 1, 6, 0};
  for (unsigned n = 0; n < 4; ++n) {
    EXPECT_EQ(core.read(OAE_SYSTEM_LINK_PEER_AT(n)), peers[n]);
    EXPECT_EQ(core.read(OAE_SYSTEM_LINK_PORTS_AT(n)), ports[n]);
    core.write(OAE_SYSTEM_LINK_PORTS_AT(n), ~std::uint64_t{0});
    EXPECT_EQ(core.read(OAE_SYSTEM_LINK_PORTS_AT(n)), ports[n]);
  }
  EXPECT_EQ(core.try_read(OAE_SYSTEM_LINK_PORTS_AT(4)), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_write(OAE_SYSTEM_LINK_PORTS_AT(4)), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_read(OAE_SYSTEM_LINK_PEER_AT(0) - 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(SystemControllerTest, IgnoresWritesToWhatCannotBeWritten) {
  start();
  for (std::uint64_t offset = 0; offset < OAE_SYSTEM_HALT; offset += 8) {
    const std::uint64_t before = core.read(offset);
    core.write(offset, 2);
    EXPECT_EQ(core.read(offset), before);
  }
  EXPECT_TRUE(halts.empty());
}

TEST_F(SystemControllerTest, HaltsForKnownReasons) {
  start();
  for (std::uint64_t reason : {0u, 3u, 255u}) core.write(OAE_SYSTEM_HALT, reason);
  core.write(OAE_SYSTEM_HALT + 1, 1, 1);  // not the byte of the reason
  EXPECT_TRUE(halts.empty());
  core.write(OAE_SYSTEM_HALT, OAE_HALT_REASON_SHUTDOWN);
  core.write(OAE_SYSTEM_HALT, OAE_HALT_REASON_FAULT, 1);
  EXPECT_EQ(halts, (std::vector<Reason>{Reason::shutdown, Reason::fault}));
}

}  // namespace
}  // namespace ipu
