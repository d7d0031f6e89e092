// SPDX-License-Identifier: Apache-2.0
// Requests of a guest to the platform: reset and power-off.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

constexpr std::uint64_t mmio = 0xd0000;

class InstanceRequestsTest : public testing::Test {
 protected:
  void start(std::uint8_t parameter, unsigned cpus = 1) {
    machine_ = std::make_unique<Machine>(host("requests", cpus));
    machine_->qemu.map_memory(mmio, 0x1000, 10);
    set(parameter);
    machine_->qemu.on_requests({[this] { ++shutdowns_; }, [this] { ++resets_; },
                                [] {
                                  ADD_FAILURE() << "GDB is not there";
                                  sc_core::sc_stop();
                                }});
  }
  void set(std::uint8_t parameter) {
    ASSERT_TRUE(machine_->qemu.write_memory(0x500, &parameter, 1));
  }
  std::size_t boots() const { return machine_->device.of(mmio).size(); }

  std::unique_ptr<Machine> machine_;
  int shutdowns_ = 0, resets_ = 0;
};

TEST_F(InstanceRequestsTest, ATripleFaultIsAReset) {
  start(1);
  machine_->device.on_access = [&](Access&) {
    if (boots() == 5) set(0);
  };
  run(1 * ms);
  // The guest had read the parameter before it was set, so it started once more.
  EXPECT_EQ(boots(), 6u);
  EXPECT_EQ(resets_, 5);
  EXPECT_EQ(shutdowns_, 0);
}

TEST_F(InstanceRequestsTest, AcpiReset) {
  start(2);
  machine_->device.on_access = [&](Access&) {
    if (boots() == 5) set(0);
  };
  run(1 * ms);
  EXPECT_EQ(boots(), 6u);
  EXPECT_EQ(resets_, 5);
}

TEST_F(InstanceRequestsTest, AResetTakesNoTime) {
  start(2);
  run(100 * us);
  const auto notes = machine_->device.of(mmio);
  ASSERT_GE(notes.size(), 1000u);
  const Picoseconds turn = notes[1].time - notes[0].time;
  EXPECT_LT(turn, 50 * ns);
  for (std::size_t i = 1; i < notes.size(); ++i) {
    ASSERT_EQ(notes[i].time - notes[i - 1].time, turn) << i;
  }
}

TEST_F(InstanceRequestsTest, PowerOffIsReportedOnceAndTheKernelGoesOn) {
  start(3);
  run(1 * ms);
  EXPECT_EQ(shutdowns_, 1);
  EXPECT_EQ(resets_, 0);
  EXPECT_EQ(boots(), 1u);
  EXPECT_EQ(now(), 1 * ms);
}

TEST_F(InstanceRequestsTest, PowerOffMayStopTheKernel) {
  start(3);
  machine_->qemu.on_requests({[] { sc_core::sc_pause(); }, {}, {}});
  run(1 * ms);
  EXPECT_LT(now(), 1 * us);
}

TEST_F(InstanceRequestsTest, NobodyHasToListen) {
  start(2);
  machine_->qemu.on_requests({});
  run(10 * us);
  EXPECT_GT(boots(), 100u);
}

}  // namespace
}  // namespace vp::qemu
