// SPDX-License-Identifier: Apache-2.0
// The answers that a vCPU gives itself equal those of the target, in value and time.
#include <sstream>

#include "tests/vp/qemu/machine.h"
#include "vp/time/decoupled.h"

namespace vp::qemu {
namespace {

constexpr std::uint64_t plain_register = device + 0x10;
constexpr std::uint64_t clocked_register = device + 0x18;
constexpr std::uint64_t seen_register = device + 0x20;
constexpr Picoseconds round_trip = 7'300;  // to the registers and back
constexpr Picoseconds clock = 2 * ns;
constexpr Picoseconds edges = 4;

/// Two registers that change on their own. One of them is behind a clock.
struct Polled : sc_core::sc_module {
  Polled(const sc_core::sc_module_name& name, Domain& domain, bool repeats)
      : sc_module(name), repeats(repeats), change(domain, [this] {
          value += 0x1'0001;
          ++version;
          change.after(1'234'567 + static_cast<Picoseconds>(value % 11) * 1'003);
        }) {
    socket.register_b_transport(this, &Polled::b_transport);
    change.at(100'001);
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const Picoseconds start = now() + static_cast<Picoseconds>(delay.value());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    ++calls;
    if (payload.is_write()) {
      catch_up(payload, delay);
      std::uint64_t word = 0;
      std::memcpy(&word, payload.get_data_ptr(), payload.get_data_length());
      log << now() << ' ' << payload.get_address() << ' ' << word << '\n';
      return;
    }
    ++reads;
    const std::uint64_t address = payload.get_address();
    const std::uint64_t word = value >> 8 * (address % 8);
    std::memcpy(payload.get_data_ptr(), &word, payload.get_data_length());
    const bool clocked = address - address % 8 == clocked_register;
    const Picoseconds arrival = start + round_trip;
    const Picoseconds answered = clocked ? (arrival / clock + edges) * clock : arrival;
    delay += to_sc_time(answered + round_trip - start);
    if (!repeats) return;
    Repeatable answer{&version, 0, arrival, answered, {{&reads, 1}}};
    if (clocked) answer.clock = clock;
    repeatable(payload, answer);
  }

  tlm_utils::simple_target_socket<Polled> socket{"socket"};
  const bool repeats;
  std::uint64_t value = 1;
  std::uint64_t version = 0;
  std::uint64_t reads = 0;
  std::uint64_t calls = 0;
  std::ostringstream log;
  Event change;
};

enum class Processor { in_step, ahead };
enum class Answers { single, repeatable };

std::string polled(Processor processor, Answers answers, Picoseconds quantum, std::uint64_t ips) {
  const bool decoupled = processor == Processor::ahead;
  const bool repeats = answers == Answers::repeatable;
  return in_child([&] {
    Domain domain("domain");
    Instance::Config config = ipu("poll");
    config.decoupled = decoupled;
    config.max_quantum = quantum;
    config.ips = ips;
    Instance qemu("qemu", domain, config);
    qemu.map_memory(device, 0x1000, 1);
    Polled target("target", domain, repeats);
    qemu.cpu[0].socket.bind(target.socket);
    run(200 * us);
    EXPECT_GT(target.value, 0x80'0000u);
    if (decoupled && repeats && quantum >= 1 * us) {
      EXPECT_LT(target.calls, target.reads / 4);
    } else if (!repeats) {
      EXPECT_GT(target.calls, target.reads);
    }
    return target.log.str();
  });
}

class AnswersTest : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Rates, AnswersTest,
                         testing::Values(333'333'333, 1'000'000'000, 2'500'000'000),
                         [](const auto& param) { return std::to_string(param.param); });

TEST_P(AnswersTest, GivenAgainAreThoseOfTheTarget) {
  const std::string expected = polled(Processor::in_step, Answers::single, 1 * us, GetParam());
  EXPECT_GT(expected.size(), 2'000u);
  for (const Picoseconds quantum : {50 * ns, 1 * us, 1 * ms}) {
    EXPECT_EQ(polled(Processor::ahead, Answers::single, quantum, GetParam()), expected)
        << "ahead, " << quantum;
    EXPECT_EQ(polled(Processor::ahead, Answers::repeatable, quantum, GetParam()), expected)
        << "again, " << quantum;
  }
}

TEST_P(AnswersTest, ReadsAreCountedAllTheSame) {
  const auto reads = [&](bool repeats) {
    return in_child([&] {
      Domain domain("domain");
      Instance::Config config = ipu("poll");
      config.decoupled = true;
      config.ips = GetParam();
      Instance qemu("qemu", domain, config);
      qemu.map_memory(device, 0x1000, 1);
      Polled target("target", domain, repeats);
      qemu.cpu[0].socket.bind(target.socket);
      Event end(domain, [] { sc_core::sc_stop(); });
      end.at(100 * us);
      sc_core::sc_start();
      return std::to_string(target.reads);
    });
  };
  EXPECT_EQ(reads(true), reads(false));
}

// Instructions are never read from a device, also where a load has a remembered answer.
TEST(NoAnswersTest, AreGivenToInstructionFetches) {
  for (const bool repeats : {false, true}) {
    const std::string log = in_child([repeats] {
      Domain domain("domain");
      Instance::Config config = ipu("fetch");
      config.decoupled = true;
      Instance qemu("qemu", domain, config);
      qemu.map_memory(device, 0x1000, 1);
      Polled target("target", domain, repeats);
      target.value = 0xd65f'03c0;  // ret
      qemu.cpu[0].socket.bind(target.socket);
      run(50 * us);
      return target.log.str();
    });
    std::istringstream words(log);
    std::uint64_t time = 0, address = 0, syndrome = 0;
    EXPECT_TRUE(words >> time >> address >> syndrome) << log;
    EXPECT_EQ(address, seen_register);
    EXPECT_EQ(syndrome >> 26, 0x21u) << "an instruction abort";
  }
}

TEST(ManyAnswersTest, AreRememberedForWordsThatAreWholePagesApart) {
  in_child([] {
    Domain domain("domain");
    Instance::Config config = ipu("poll-pages");
    config.decoupled = true;
    Instance qemu("qemu", domain, config);
    qemu.map_memory(device, 16 * 0x5000, 1);
    Polled target("target", domain, true);
    qemu.cpu[0].socket.bind(target.socket);
    run(100 * us);
    EXPECT_GT(target.reads, 4'000u);
    EXPECT_LT(target.calls, target.reads / 4);
    return std::string();
  });
}

}  // namespace
}  // namespace vp::qemu
