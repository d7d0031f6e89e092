// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/queue_controller.h"

#include "oae_registers.h"
#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::advance;
using test::start;
using Signals = std::vector<std::pair<unsigned, vp::Picoseconds>>;

struct QueueControllerTest : testing::Test {
  vp::Domain domain{"domain"};
  test::Interrupts interrupts;
  QueueController controller{"controller", domain};
  test::Initiator core{"core"};

  QueueControllerTest() {
    core.socket.bind(controller.socket);
    controller.interrupt.bind(interrupts);
    start();
  }
  void send(unsigned vector, vp::Picoseconds delay) {
    core.delay = delay;
    core.write(OAE_QUEUE_INTERRUPT, vector);
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

TEST_F(QueueControllerTest, HasOneRegister) {
  EXPECT_EQ(core.read(OAE_QUEUE_INTERRUPT), 0u);
  core.write(OAE_QUEUE_INTERRUPT + 2, 7, 2);  // not the bytes of the vector
  EXPECT_EQ(core.try_read(OAE_QUEUE_INTERRUPT + 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(core.try_write(OAE_QUEUE_INTERRUPT + 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  advance(vp::us);
  EXPECT_TRUE(interrupts.signals.empty());
}

}  // namespace
}  // namespace ipu
