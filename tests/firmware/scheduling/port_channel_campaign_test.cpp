// SPDX-License-Identifier: Apache-2.0
// Agent and host do what they may in any order. Each decision is handed out once or comes back
// once.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "tests/firmware/scheduling/port_channel_fixture.h"

namespace {

class PortCampaign : public PortChannel {
 protected:
  // A decision, as the host and the agent know it.
  struct Decision {
    unsigned handed = 0;  // how many times a swap that the host has committed was answered by it
    bool over = false;    // the agent knows its end
  };

  // A CPU of the host.
  struct Cpu {
    bool open = false;              // a swap of the decision port is not settled
    std::uint64_t got = 0;          // the number of the decision that it has got by it
    std::uint64_t reporting = 0;    // a decision whose end is not reported
    std::uint64_t outstanding = 0;  // the agent's decision
    bool gives = false;             // a message with that swap
    std::uint64_t sent = 0, given = 0, received = 0;  // messages
    std::uint64_t outcomes = 0;                       // that were sent
    std::map<std::uint64_t, Decision> decisions;
  };

  unsigned port(unsigned cpu) const { return port_of_decisions(first, cpu); }

  void commit(Cpu& cpu) {
    cpu.open = false;
    cpu.given += cpu.gives;
    if (!cpu.got) return;
    ++cpu.decisions[cpu.got].handed;
    cpu.reporting = cpu.got;
  }

  void host_acts(unsigned number) {
    Cpu& cpu = cpus_[number];
    switch (random_() % 6) {
      case 0: {  // A CPU reports the end of a decision before it asks for another one.
        if (cpu.open || cpu.reporting) return;
        // It gives a message, half of the time.
        cpu.gives = random_() % 2;
        const auto got =
            host.ask(port(number), OAE_VERB_SWAP,
                     cpu.gives ? message_after(GHOST_BLOCKED, cpu.sent + cpu.given + 1,
                                               static_cast<std::uint32_t>(cpu.sent + cpu.outcomes))
                               : PortHost::Payload{});
        if (!got) return;
        port_payload payload;
        std::copy(got->begin(), got->end(), payload.words);
        EXPECT_EQ(payload.offer.run, control.request);
        cpu.open = true;
        cpu.got = payload.offer.kind == PORT_NOTHING ? 0 : payload.offer.number;
        return;
      }
      case 1:
        if (!cpu.open) return;
        host.confirm(port(number));
        return commit(cpu);
      case 2:
        if (!cpu.open || random_() % 2) return;
        host.reverse_last(port(number));
        cpu.open = false;
        return;
      case 3:  // A reversal of the next swap confirms the one before it.
        if (random_() % 4) return;
        host.reverse_next(port(number));
        if (cpu.open) commit(cpu);
        return;
      case 4:
        if (!cpu.reporting || !send_outcome(number, cpu.reporting, GHOST_COMPLETE, 1)) return;
        cpu.reporting = 0;
        ++cpu.outcomes;
        return;
      default:
        // While a swap is not settled, it is not known what has been given.
        if (!cpu.open) cpu.sent += send(number, GHOST_DEAD, cpu.sent + cpu.given + 1);
    }
  }

  void agent_acts(unsigned number) {
    Cpu& cpu = cpus_[number];
    switch (random_() % 4) {
      case 0:
        if (cpu.outstanding) return;
        decide({DECISION_RUN, number, 5, 6, 7});
        cpu.outstanding = channel.cpu[number].written;
        return;
      case 1:
        if (cpu.outstanding) withdraw(number);
        return;
      case 2:
        while (receive(number)) EXPECT_EQ(message.gtid, ++cpu.received);
        return;
      default:
        if (!cpu.outstanding || !ended(number)) return;
        EXPECT_FALSE(cpu.decisions[cpu.outstanding].over);
        // What the host has committed comes back by the host's report only.
        EXPECT_EQ(cpu.decisions[cpu.outstanding].handed, state == GHOST_COMPLETE);
        cpu.decisions[cpu.outstanding].over = true;
        cpu.outstanding = 0;
    }
  }

  void finish(unsigned number) {
    Cpu& cpu = cpus_[number];
    if (cpu.open) {
      host.confirm(port(number));
      commit(cpu);
    }
    if (cpu.outstanding) withdraw(number);
    while (receive(number)) ++cpu.received;
    if (cpu.reporting) {
      EXPECT_TRUE(send_outcome(number, cpu.reporting, GHOST_COMPLETE, 1));
    }
    while (receive(number)) ++cpu.received;
    if (cpu.outstanding) {
      EXPECT_TRUE(ended(number));
      EXPECT_EQ(cpu.decisions[cpu.outstanding].handed, state == GHOST_COMPLETE);
    }
    EXPECT_EQ(cpu.sent + cpu.given, cpu.received);
  }

  Cpu cpus_[cpus];
  std::mt19937 random_{1};
};

TEST_F(PortCampaign, EachDecisionIsHandedOutOrComesBack) {
  for (unsigned turn = 0; turn < 20'000 && !HasFailure(); ++turn) {
    const unsigned cpu = random_() % cpus;
    if (random_() % 2) {
      host_acts(cpu);
    } else {
      agent_acts(cpu);
    }
  }
  unsigned handed = 0;
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    finish(cpu);
    for (const auto& [number, decision] : cpus_[cpu].decisions) {
      EXPECT_LE(decision.handed, 1u) << number;
      handed += decision.handed;
    }
  }
  // All ways have been gone.
  EXPECT_GT(handed, 100u);
  EXPECT_GT(channel.counts.revoked, 100u);
  EXPECT_GT(channel.counts.late, 20u);
  EXPECT_GT(channel.counts.reversed, 20u);
  EXPECT_GT(channel.counts.idle_taken, 100u);
  EXPECT_GT(channel.counts.carried, 100u);
  EXPECT_EQ(channel.counts.taken, handed + channel.counts.reversed);
}

}  // namespace
