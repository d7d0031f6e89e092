// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/axi/fixture.h"
#include "tests/vp/log_capture.h"

namespace axi::test {
namespace {

TEST(Clock, StopsWhileTheBlockIsIdle) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    Bench::pass(1 * vp::us);
    EXPECT_TRUE(bench.bridge->clock_stopped());
    EXPECT_EQ(bench.bridge->clocks(), 0u);
    bench.put(0, 1, 4);
    Bench::pass(1 * vp::us);
    EXPECT_TRUE(bench.bridge->clock_stopped());
    const std::uint64_t clocks = bench.bridge->clocks();
    EXPECT_GT(clocks, 0u);
    EXPECT_LT(clocks, 10u);
    EXPECT_EQ(bench.domain.next_event(), vp::never) << "an idle block schedules no event";
    Bench::pass(1 * vp::ms);
    EXPECT_EQ(bench.bridge->clocks(), clocks);
  });
}

// The block says that it is idle while it waits for the host's memory.
TEST(Clock, StopsWhileTheHostReads) {
  Exerciser bench("exerciser-narrow");
  bench.read_latency = 1 * vp::ms;
  bench.run([&] {
    bench.start({Bench::base, 1, 2, 1, 0});
    Bench::pass(10 * vp::us);
    EXPECT_TRUE(bench.bridge->clock_stopped());
    const std::uint64_t clocks = bench.bridge->clocks();
    Bench::pass(980 * vp::us);
    EXPECT_EQ(bench.bridge->clocks(), clocks);
    Bench::pass(20 * vp::us);
    EXPECT_EQ(bench.beats(), 1u);
  });
}

TEST(Clock, RunsAllTheTimeWithoutAnIdlePin) {
  Bench bench("registers-only", {100'000'000, 1, ""});
  bench.run([&] {
    Bench::pass(1 * vp::us + 1);
    EXPECT_FALSE(bench.bridge->clock_stopped());
    EXPECT_EQ(bench.bridge->clocks(), 100u);
  });
}

// A write is seen at the first edge of the grid after its arrival, wherever the clock has stopped.
// The period of this clock is no whole number of picoseconds.
TEST(Clock, GoesOnAtItsPhase) {
  constexpr std::uint64_t hertz = 333'333'333;
  const rtl::ClockGrid grid(hertz);
  Exerciser bench("exerciser-narrow", {hertz, 1, ""});
  bench.run([&] {
    for (const vp::Picoseconds arrival :
         {1 * vp::us + 1, 4 * vp::us, grid.time(2'000), grid.time(3'000) - 1, grid.time(4'000) + 1,
          15 * vp::us + 123, 1 * vp::ms + 7}) {
      Bench::pass_until(arrival);
      bench.put(0x230, 0, 4);
      Bench::pass(500 * vp::ns);
      const auto stamp = static_cast<vp::Picoseconds>(bench.get(0x230));
      EXPECT_EQ(stamp, grid.time(grid.after(arrival))) << arrival;
      Bench::pass(500 * vp::ns);
    }
  });
}

// Edges that did not take place are missing, and those that did are counted once.
TEST(Clock, GivesTheBlockEveryEdgeThatItCounts) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    for (int i = 0; i < 5; ++i) {
      bench.put(0, 1, 4);
      Bench::pass(777 * vp::ns);
    }
    const std::uint64_t before = bench.bridge->clocks();
    // The read sees the count at the edge that accepts it, before that edge counts.
    EXPECT_EQ(bench.get(0x228, 4), before);
  });
}

// An edge at which nothing is at work does not take place, even if something arrives at its instant
// before the bridge's own event of that instant.
TEST(Clock, DoesNotDependOnTheOrderOfAnInstant) {
  int seen[2];
  for (int first = 0; first < 2; ++first) {
    const pid_t child = fork();
    if (child == 0) {
      Exerciser bench("exerciser-narrow");
      // Made before or after the bridge's own event for this instant, the second edge after a
      // write.
      bench.run([&] {
        vp::Event event(bench.domain, [&] {
          std::uint64_t data = 0;
          tlm::tlm_generic_payload payload;
          payload.set_command(tlm::TLM_WRITE_COMMAND);
          payload.set_address(0x230);
          payload.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
          payload.set_data_length(4);
          payload.set_streaming_width(4);
          tlm::tlm_phase phase = tlm::BEGIN_REQ;
          sc_core::sc_time delay;
          bench.bar->nb_transport_fw(payload, phase, delay);
        });
        const vp::Picoseconds stop =
            3 * 2 * vp::ns;  // the write is accepted at 2 ns, answered at 4
        if (first == 0) event.at(stop);
        bench.put(0, 1, 4);
        if (first == 1) {
          Bench::pass(stop - 1);
          event.at(stop);
        }
        Bench::pass(1 * vp::us);
        const auto clocks = static_cast<int>(bench.bridge->clocks());
        const auto stamp = static_cast<int>(bench.get(0x230) / vp::ns);
        _exit(testing::Test::HasFailure() ? 255 : 16 * stamp + clocks);
      });
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    seen[first] = WEXITSTATUS(status);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], 16 * 8 + 4) << "the next edge at 8 ns, and two edges for each write";
}

TEST(Clock, RefusesAnImpossibleFrequency) {
  EXPECT_THROW(Bench("exerciser-narrow", {999, 1, ""}), pcie::ConfigurationError);
  EXPECT_THROW(Bench("exerciser-narrow", {10'000'000'001, 1, ""}), pcie::ConfigurationError);
}

TEST(Waveform, HoldsThePinsAtTheirTimes) {
  const std::string path = testing::TempDir() + "axi.vcd";
  {
    Exerciser bench("exerciser-narrow", {500'000'000, 1, path});
    bench.run([&] {
      Bench::pass(99 * vp::ns);
      bench.put(0, 1, 4);
      Bench::pass(1 * vp::us);
    });
  }
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  const std::string vcd = content.str();
  EXPECT_THAT(vcd, testing::HasSubstr("1ps $end"));
  for (const char* pin : {"cfg_awvalid", "bus_rdata", "random"}) {
    EXPECT_THAT(vcd, testing::HasSubstr(pin)) << "pins and signals inside";
  }
  EXPECT_THAT(vcd, testing::HasSubstr("\n#100000\n")) << "the edge that sees the write";
  EXPECT_THAT(vcd, testing::Not(testing::HasSubstr("\n#90000\n"))) << "the clock has stopped";
}

TEST(Waveform, MustBeWritable) {
  EXPECT_THROW(Bench("exerciser-narrow", {500'000'000, 1, "/nowhere/to/be.vcd"}),
               pcie::ConfigurationError);
}

// A failed assertion, $stop or $finish ends the run, and not the process.
TEST(Assertions, OfTheBlockEndTheRun) {
  Exerciser bench("exerciser-narrow");
  sc_core::sc_spawn([&] { bench.put(0x248, 1, 4); });
  try {
    sc_core::sc_start();
    ADD_FAILURE() << "$finish has not been noticed";
  } catch (const sc_core::sc_report& report) {
    EXPECT_THAT(report.get_msg(), testing::HasSubstr("$finish at"));
  }
}

// The run is over when a `final` block is executed. What fails there is an error in the log.
TEST(Assertions, OfAFinalBlockAreLogged) {
  const vp::LogCapture log;
  {
    Exerciser bench("exerciser-narrow");
    bench.run([&] {
      bench.put(0x220, 0x7f, 4);
      Bench::pass(1 * vp::us);
    });
    EXPECT_THAT(log.text(), testing::Not(testing::HasSubstr("rtl error")));
  }
  EXPECT_THAT(log.text(), testing::HasSubstr("rtl error: in a `final` block"));
}

}  // namespace
}  // namespace axi::test
