// SPDX-License-Identifier: Apache-2.0
// A switch whose links have few credits: what waits for what, and that nothing locks.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

using vp::ns;
using vp::us;

// A device that takes no writes holds up the way to it, and the store behind that.
TEST(Switch, AWriteThatIsNotTakenHoldsUpWhatIsBehind) {
  SwitchFixture::Config config;
  config.sw.credits = config.endpoint.credits = one_packet();
  config.endpoint.credits.classes[2] = {};
  SwitchFixture fixture(config);
  unsigned stored = 0;
  constexpr unsigned stores = 50;
  fixture.run([&] {
    fixture.enumerate_switch();
    fixture.logic_of(0).full = true;
    fixture.spawn([&] {
      for (; stored < stores; ++stored) fixture.write(bar(0) + 4 * stored, stored, 4);
    });
    settle(100 * us);
    // One at device logic, in either receive buffer, and at either port's link.
    EXPECT_EQ(stored, 5u);
    EXPECT_EQ(fixture.logic_of(0).uses.size(), 1u);
    // What goes elsewhere does not care.
    fixture.logic_of(1).dma_write(0x2000, {1, 2, 3, 4});
    settle();
    EXPECT_EQ(fixture.memory.writes.size(), 1u);
    fixture.logic_of(0).full = false;
    fixture.logic_of(0).accept();
    settle(100 * us);
    EXPECT_EQ(stored, stores);
    EXPECT_EQ(fixture.memory.writes.size(), 1u);
    for (unsigned i = 0; i < stores; ++i) EXPECT_EQ(fixture.read(bar(0) + 4 * i, 4), i);
  });
}

// Completions do not pass a write, and those that wait for it are not piled up in the switch.
TEST(Switch, CompletionsBehindAWriteWaitInTheReceiveBuffer) {
  SwitchFixture::Config config;
  config.sw.credits = one_packet();
  config.endpoint.credits.classes[0] = {1, 16};
  SwitchFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_switch();
    fixture.logic_of(0).full = true;
    for (unsigned i = 0; i < 3; ++i) fixture.write(bar(0) + 4 * i, i, 4);  // the last at the port
    settle();
    const auto read = fixture.logic_of(0).dma_read(0x1000, 4096);
    settle(100 * us);
    EXPECT_EQ(fixture.counted("fixture.above.down.CplD.tlps"), 2u) << "one of them in the buffer";
    EXPECT_EQ(fixture.counted("fixture.link0.down.CplD.tlps"), 0u);
    EXPECT_EQ(fixture.logic_of(0).uses.size(), 1u);
    fixture.logic_of(0).full = false;
    fixture.logic_of(0).accept();
    fixture.wait_for(*read);
    EXPECT_TRUE(read->is_response_ok());
    EXPECT_EQ(fixture.counted("fixture.link0.down.CplD.tlps"), 4096u / 128);
    EXPECT_EQ(fixture.logic_of(0).uses.size(), 3u);
  });
}

// Three devices write through a link with room for a packet, each as fast as it can.
TEST(Switch, DevicesTakeTurns) {
  SwitchFixture::Config config;
  config.fixture.root_complex.ports[1].credits.classes[0] = {1, 16};
  for (auto& port : config.sw.ports) port.credits.classes[0] = {1, 16};
  SwitchFixture fixture(config);
  constexpr unsigned count = 50;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) {
      fixture.spawn([&fixture, i] {
        for (unsigned n = 0; n < count; ++n) {
          const auto write = fixture.logic_of(i).dma_write(0x1000 * (i + 1), {1, 2, 3, 4});
          fixture.wait_for(*write);
        }
      });
    }
  });
  ASSERT_EQ(fixture.memory.writes.size(), devices * count);
  for (std::size_t at = 2 * devices; at < fixture.memory.writes.size() - 4 * devices; ++at) {
    std::set<std::uint64_t> seen;
    for (unsigned i = 0; i < 2 * devices; ++i) seen.insert(fixture.memory.writes[at + i].address);
    EXPECT_EQ(seen.size(), devices) << at;
  }
}

class Credited : public testing::TestWithParam<unsigned> {};

// Whatever is advertised: host and devices use each other, all is delivered, and it ends.
TEST_P(Credited, NothingIsLostAndNothingLocks) {
  std::mt19937 random(GetParam());
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  const auto credits = [&](bool finite_completions, unsigned non_posted = 1) {
    CreditConfig found;
    for (unsigned of = 0; of < (finite_completions ? 3u : 2u); ++of) {
      const unsigned least = of == 1 ? non_posted : 16;  // 256 bytes
      const unsigned kind = below(4);
      if (kind == 0) continue;
      found.classes[of] = {1 + (kind > 1 ? below(20) : 0), least + (kind > 1 ? below(100) : 0)};
    }
    return found;
  };
  SwitchFixture::Config config;
  config.fixture.root_complex.ports[1].credits = credits(false, 2);  // the largest AtomicOp
  config.sw.credits = credits(true, 2);
  for (auto& each : config.sw.ports) each.credits = credits(true, 2);
  config.endpoint.credits = credits(false);
  config.nested = below(2) == 0;
  config.inner.credits = credits(true, 2);
  config.inner.ports[0].credits = credits(true, 2);
  config.above.generation = 1 + below(5);
  config.wires.latency_down = (1 + below(1000)) * ns;
  // All that completers and requesters may choose, too.
  const auto completions = [&] {
    return CompletionConfig{below(2) == 0, below(2) * 500 * ns, GetParam()};
  };
  config.fixture.root_complex.completions = completions();
  config.endpoint.completions = completions();
  config.endpoint.aligned_requests = below(2) == 0;
  config.sw.cut_through = below(2) == 0;
  config.inner.cut_through = below(2) == 0;
  SwitchFixture fixture(config);
  fixture.memory.keep_writes = false;
  bool over = false;
  unsigned processors = devices, transferring = devices;
  fixture.run([&] {
    fixture.enumerate_switch();
    for (unsigned i = 0; i < devices; ++i) {
      Logic& logic = fixture.logic_of(i);
      logic.keep_uses = false;
      logic.latency = below(2) * 100 * ns;
      fixture.spawn([&] {
        while (!over || logic.holds_write()) {
          settle((1 + below(2000)) * ns);
          logic.full = !over && below(3) == 0;
          if (!logic.full) logic.accept();
        }
      });
      // A processor has the first 4 KiB of each device, its neighbours the next ones.
      fixture.spawn([&, i] {
        std::vector<std::uint8_t> expected(0x1000);
        for (unsigned n = 0; n < 60; ++n) {
          const unsigned bytes = 1 + below(64), at = below(0x1000 - 64);
          if (below(3) > 0) {
            const std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(n));
            std::copy(data.begin(), data.end(), expected.begin() + at);
            fixture.write_bytes(bar(i) + at, data);
          } else {
            const std::vector<std::uint8_t> part(expected.begin() + at,
                                                 expected.begin() + at + bytes);
            EXPECT_EQ(fixture.read_bytes(bar(i) + at, bytes), part);
          }
        }
        over = --processors + transferring == 0;
      });
      fixture.spawn([&, i] {
        for (unsigned n = 0; n < 30; ++n) {
          const unsigned bytes = 1 + below(2000), to = below(3);
          const std::uint64_t address =
              to == 0 ? 0x10000 + 0x4000 * i : bar((i + to) % devices) + 0x1000 * (1 + to);
          std::vector<std::uint8_t> data(bytes, static_cast<std::uint8_t>(16 * i + n));
          const auto write = fixture.logic_of(i).dma_write(address, data);
          fixture.wait_for(*write);  // only then has it its place
          const auto read = fixture.logic_of(i).dma_read(address, bytes);
          fixture.wait_for(*read);
          EXPECT_EQ(read->data, data) << i << ' ' << n << ' ' << to;
        }
        over = processors + --transferring == 0;
      });
    }
  });
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

INSTANTIATE_TEST_SUITE_P(Switch, Credited, testing::Range(0u, 40u),
                         testing::PrintToStringParamName());
}  // namespace
}  // namespace pcie
