// SPDX-License-Identifier: Apache-2.0
// As software margins a receiver (PCIe 5.0, 4.2.13 and 8.4.4): every command of every lane, byte by
// byte.
#include "models/pcie/config/capabilities/lane_margining.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

struct Mailbox {
  explicit Mailbox(PortType type = PortType::endpoint, unsigned lanes = 16, Eye eye = {})
      : margining(space, type, lanes, eye), own(is_above_link(type) ? 1 : 6) {
    margining.trained(4);
  }
  unsigned at(unsigned lane) const { return margining.offset() + 8 + 4 * lane; }
  // The status after a command.
  std::uint32_t command(unsigned lane, unsigned receiver, unsigned type, unsigned payload) {
    space.write(at(lane), 2, receiver | type << 3 | payload << 8);
    return space.read(at(lane) + 2, 2);
  }
  // The payload of the answer to the port's own receiver; no answer is all ones.
  unsigned ask(unsigned lane, unsigned type, unsigned payload) {
    EXPECT_EQ(command(lane, 0, 7, 0x9c), LaneMargining::no_command) << "clears the last answer";
    const std::uint32_t status = command(lane, own, type, payload);
    if (status == LaneMargining::no_command) return ~0u;
    EXPECT_EQ(status & 0xff, own | type << 3);
    return status >> 8;
  }
  ConfigSpace space;
  LaneMargining margining;
  const unsigned own;
};

TEST(LaneMargining, IsReadyAt16GigatransfersAndMore) {
  Mailbox mailbox;
  for (unsigned generation = 1; generation <= 6; ++generation) {
    mailbox.margining.trained(generation);
    EXPECT_EQ(mailbox.space.read(mailbox.margining.offset() + LaneMargining::port_status, 2),
              generation >= 4 ? 1u : 0u);
    EXPECT_EQ(mailbox.space.read(mailbox.margining.offset() + LaneMargining::port_capabilities, 2),
              0u)
        << "needs no driver";
  }
  mailbox.margining.trained(3);
  EXPECT_EQ(mailbox.command(0, 6, 1, 0x88), 0u) << "and else has no answer";
}

TEST(LaneMargining, ReportsWhatTheReceiverCanDo) {
  const struct {
    unsigned payload, answer;
  } reports[] = {{0x88, 0x17}, {0x89, 32}, {0x8a, 16}, {0x8b, 40}, {0x8c, 20},
                 {0x8d, 63},   {0x8e, 63}, {0x8f, 0},  {0x90, 15}};
  for (const PortType type : {PortType::endpoint, PortType::upstream_port, PortType::root_port,
                              PortType::downstream_port}) {
    Mailbox mailbox(type);
    for (unsigned lane = 0; lane < 16; ++lane) {
      for (const auto& one : reports) EXPECT_EQ(mailbox.ask(lane, 1, one.payload), one.answer);
    }
    for (unsigned payload = 0; payload < 256; ++payload) {
      if (payload >= 0x88 && payload <= 0x90) continue;
      EXPECT_EQ(mailbox.ask(0, 1, payload), ~0u) << payload;
    }
  }
  EXPECT_EQ(Mailbox(PortType::endpoint, 4).ask(3, 1, 0x90), 3u);
}

TEST(LaneMargining, SetsAreAnsweredByThemselves) {
  Mailbox mailbox;
  for (unsigned payload = 0; payload < 256; ++payload) {
    const bool known = payload == 0x0f || payload == 0x55 || payload >= 0xc0;
    EXPECT_EQ(mailbox.ask(5, 2, payload), known ? payload : ~0u) << payload;
    if (!known) continue;
    EXPECT_EQ(mailbox.command(5, 0, 2, payload), 0x10u | payload << 8) << "to all";
  }
}

// Each step to each side with each limit.
TEST(LaneMargining, StepsBeyondTheEyeSeeErrors) {
  for (const unsigned eye : {0u, 1u, 7u, 16u}) {
    Mailbox mailbox(PortType::root_port, 8, {eye, 2 * eye});
    for (unsigned limit = 0; limit < 64; limit += 3) {
      EXPECT_EQ(mailbox.ask(7, 2, 0xc0 | limit), 0xc0 | limit);
      for (const unsigned side : {0u, 1u}) {
        for (unsigned steps = 0; steps < 128; ++steps) {
          const auto expected = [&](unsigned most, unsigned edge) {
            if (steps > most) return 3u << 6;
            unsigned errors = 0;
            for (unsigned i = edge; i < steps && errors < 63; ++i) errors = 2 * errors + 1;
            return (errors > limit ? 0u : 2u << 6) | errors;
          };
          if (steps < 64) {
            EXPECT_EQ(mailbox.ask(7, 3, side << 6 | steps), expected(16, eye)) << steps;
          }
          EXPECT_EQ(mailbox.ask(7, 4, side << 7 | steps), expected(32, 2 * eye)) << steps;
        }
      }
    }
  }
}

TEST(LaneMargining, TheLimitIsOfALaneAndFourAtFirst) {
  Mailbox mailbox(PortType::endpoint, 16, {0, 0});
  EXPECT_EQ(mailbox.ask(0, 3, 2), 2u << 6 | 3);
  EXPECT_EQ(mailbox.ask(0, 3, 3), 7u) << "too many";
  mailbox.ask(0, 2, 0xc0 | 7);
  EXPECT_EQ(mailbox.ask(0, 3, 3), 2u << 6 | 7);
  EXPECT_EQ(mailbox.ask(1, 3, 3), 7u);
  mailbox.margining.trained(5);
  EXPECT_EQ(mailbox.ask(0, 3, 3), 7u);
}

TEST(LaneMargining, WhatIsNoCommandOrForOthersHasNoAnswer) {
  for (const PortType type : {PortType::endpoint, PortType::root_port}) {
    Mailbox mailbox(type);
    for (unsigned receiver = 0; receiver < 8; ++receiver) {
      for (unsigned kind = 0; kind < 8; ++kind) {
        const unsigned payload = kind == 1 ? 0x88 : kind == 2 ? 0x0f : kind == 7 ? 0x9c : 1;
        mailbox.command(2, 0, 7, 0x9c);
        const bool own = receiver == mailbox.own && kind >= 1 && kind <= 4;
        const bool all = receiver == 0 && (kind == 2 || kind == 7);
        const std::uint32_t status = mailbox.command(2, receiver, kind, payload);
        if (own || all) {
          EXPECT_EQ(status & 0xff, receiver | kind << 3);
        } else {
          EXPECT_EQ(status, LaneMargining::no_command) << receiver << ' ' << kind;
        }
      }
    }
    mailbox.command(2, 0, 7, 0x9c);
    mailbox.space.write(mailbox.at(2), 2, mailbox.own | 1u << 3 | 1u << 6 | 0x8800);
    EXPECT_EQ(mailbox.space.read(mailbox.at(2) + 2, 2), LaneMargining::no_command)
        << "another usage model";
    EXPECT_EQ(mailbox.command(2, mailbox.own, 3, 0x81), LaneMargining::no_command)
        << "a reserved bit";
    EXPECT_EQ(mailbox.space.read(mailbox.at(3) + 2, 2), 0u) << "of another lane";
  }
}

TEST(LaneMargining, ImpossibleEyes) {
  ConfigSpace a, b, c;
  EXPECT_THROW(LaneMargining(a, PortType::endpoint, 4, {17, 32}), ConfigurationError);
  EXPECT_THROW(LaneMargining(b, PortType::endpoint, 4, {16, 33}), ConfigurationError);
  EXPECT_NO_THROW(LaneMargining(c, PortType::endpoint, 4, {16, 32}));
}

}  // namespace
}  // namespace pcie
