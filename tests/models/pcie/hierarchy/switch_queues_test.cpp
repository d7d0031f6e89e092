// SPDX-License-Identifier: Apache-2.0
// Packets in a switch wait only for those that leave by the same port, and all ports get their
// turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "tests/models/pcie/hierarchy/switch_ends.h"

namespace pcie {
namespace {

constexpr auto posted = CreditClass::posted, non_posted = CreditClass::non_posted,
               completion = CreditClass::completion;

CreditConfig packets(unsigned count) {
  CreditConfig credits;
  for (Credits& of : credits.classes) of = {count, 16 * count};
  return credits;
}

// The address of a memory request, or for a completion its tag.
std::vector<std::uint64_t> marks(const End& end) {
  std::vector<std::uint64_t> found;
  for (const TlpPtr& tlp : end.received) {
    found.push_back(tlp->is_completion() ? tlp->header.tag : tlp->get_address());
  }
  return found;
}

// Fills the way to an end: one packet in its receive buffer, one at the port.
void fill(SwitchEnds& ends, unsigned from, unsigned to) {
  ends.ends[to]->set_full(posted, true);
  for (unsigned i = 0; i < 2; ++i) {
    ends.ends[from]->send(SwitchEnds::write(from, SwitchEnds::bar(to) + 8 * i));
  }
  ends.run();
}

TEST(SwitchQueues, ABlockedPortStopsNoOtherDestination) {
  SwitchEnds ends(SwitchEnds::with_ports(4), packets(1));
  fill(ends, 1, 0);
  // From the same port, behind a packet that has to wait.
  End& device = *ends.ends[1];
  device.send(SwitchEnds::write(1, SwitchEnds::bar(0) + 0x10));
  device.send(SwitchEnds::write(1, SwitchEnds::bar(2)));
  device.send(SwitchEnds::write(1, 0x1000));
  device.send(SwitchEnds::read(1, 0x2000));
  device.send(SwitchEnds::completion(1, SwitchEnds::host_id));
  // From other ports, and away from the host.
  ends.ends[3]->send(SwitchEnds::write(3, SwitchEnds::bar(0) + 0x18));
  ends.ends[3]->send(SwitchEnds::write(3, 0x3000));
  ends.root.send(Tlp::memory_read(SwitchEnds::bar(1), 8));
  ends.run();
  EXPECT_EQ(marks(*ends.ends[2]), std::vector<std::uint64_t>{SwitchEnds::bar(2)});
  EXPECT_EQ(marks(device), std::vector<std::uint64_t>{SwitchEnds::bar(1)});
  EXPECT_EQ(ends.root.received.size(), 4u);
  EXPECT_TRUE(ends.ends[0]->received.empty());
  // All that waited comes when the device takes it.
  ends.ends[0]->set_full(posted, false);
  ends.run();
  EXPECT_EQ(marks(*ends.ends[0]),
            (std::vector<std::uint64_t>{SwitchEnds::bar(0), SwitchEnds::bar(0) + 8,
                                        SwitchEnds::bar(0) + 0x10, SwitchEnds::bar(0) + 0x18}));
}

// Credits belong to a link and a class, whatever the exit (2.6.1): when the receive buffer is full
// of what has to wait, nothing else comes in by that port.
TEST(SwitchQueues, AFullReceiveBufferStopsAllDestinations) {
  SwitchConfig config = SwitchEnds::with_ports(3);
  config.credits = packets(4);
  SwitchEnds ends(config, packets(1));
  fill(ends, 2, 0);
  for (unsigned i = 0; i < 4; ++i) {
    ends.root.send(SwitchEnds::write(0, SwitchEnds::bar(0) + 0x10 + 8 * i));
  }
  ends.root.send(SwitchEnds::write(0, SwitchEnds::bar(1)));
  ends.run();
  EXPECT_TRUE(ends.ends[1]->received.empty());
  EXPECT_TRUE(ends.ends[0]->accept_one(posted));
  ends.run();
  EXPECT_EQ(marks(*ends.ends[1]), std::vector<std::uint64_t>{SwitchEnds::bar(1)});
  EXPECT_EQ(ends.ends[0]->received.size(), 1u);
}

// A port without room in one class takes the others, and keeps the order of the table.
TEST(SwitchQueues, OneDestinationKeepsItsOrder) {
  SwitchEnds ends(SwitchEnds::with_ports(3), packets(1));
  fill(ends, 1, 0);
  ends.ends[1]->send(SwitchEnds::write(1, SwitchEnds::bar(0) + 0x10));
  ends.ends[1]->send(SwitchEnds::read(1, SwitchEnds::bar(0) + 0x20));
  ends.ends[1]->send(SwitchEnds::completion(1, SwitchEnds::device_id(0)));
  // No write of this device is before its read.
  ends.ends[2]->send(SwitchEnds::read(2, SwitchEnds::bar(1)));
  ends.run();
  EXPECT_TRUE(ends.ends[0]->received.empty()) << "behind the writes of the same device";
  EXPECT_EQ(ends.ends[1]->received.size(), 1u);
  ends.ends[0]->set_full(posted, false);
  ends.run();
  EXPECT_EQ(marks(*ends.ends[0]),
            (std::vector<std::uint64_t>{SwitchEnds::bar(0), SwitchEnds::bar(0) + 8,
                                        SwitchEnds::bar(0) + 0x10, SwitchEnds::bar(0) + 0x20, 0}));
}

// The host writes to a device, and then moves the window by which the write has to be routed.
TEST(SwitchQueues, RegistersDoNotChangeTheRoutesOfEarlierWrites) {
  SwitchEnds ends(SwitchEnds::with_ports(2), packets(1));
  ends.ends[0]->set_full(posted, true);
  for (unsigned i = 0; i < 3; ++i) {
    ends.root.send(SwitchEnds::write(0, SwitchEnds::bar(0) + 8 * i));
  }
  ends.root.send(Tlp::config_read(true, SwitchEnds::port_id(0), Header::vendor_id, 4));
  ends.root.send(
      Tlp::config_write(true, SwitchEnds::port_id(0), Type1Header::memory_base, 4, 0x0000fff0));
  ends.run();
  ASSERT_EQ(ends.root.received.size(), 1u) << "a read of a register changes nothing";
  EXPECT_EQ(ends.root.take()->header.type, TlpType::CplD);
  ends.ends[0]->set_full(posted, false);
  ends.run();
  EXPECT_EQ(ends.ends[0]->received.size(), 3u);
  ASSERT_EQ(ends.root.received.size(), 1u);
  EXPECT_EQ(ends.counted("switch.upstream.unsupported_requests"), 0u);
  ends.root.take();
  ends.root.send(SwitchEnds::write(0, SwitchEnds::bar(0)));
  ends.run();
  EXPECT_EQ(ends.counted("switch.upstream.unsupported_requests"), 1u);
}

// What waits for a device goes elsewhere when software closes the window.
TEST(SwitchQueues, RegistersChangeTheRoutesOfPacketsThatWait) {
  SwitchEnds ends(SwitchEnds::with_ports(2), packets(1));
  fill(ends, 1, 0);
  ends.ends[1]->send(SwitchEnds::write(1, SwitchEnds::bar(0) + 0x10));
  ends.run();
  EXPECT_EQ(ends.counted("switch.upstream.unsupported_requests"), 0u);
  ends.config_write(SwitchEnds::port_id(0), Header::command, Header::CommandBit::bus_master, 2);
  EXPECT_EQ(ends.counted("switch.upstream.unsupported_requests"), 1u);
  EXPECT_TRUE(ends.ends[0]->received.empty());
}

// A host that takes no completions stops the requests that the switch answers, and no others.
// 2.9.1: requests that were not sent when the link went down are refused.
class AtTheExit : public testing::TestWithParam<bool> {};

TEST_P(AtTheExit, ALinkThatGoesDownRefusesWhatWaits) {
  const bool peer = GetParam();  // who waits at the exit: a device, or else the host
  SwitchEnds ends(SwitchEnds::with_ports(2), packets(1));
  ends.enable_errors(SwitchEnds::port_id(0));
  ends.ends[0]->set_full(non_posted, true);
  unsigned tag = 0x20;
  const auto host_reads = [&] {
    TlpPtr tlp = Tlp::memory_read(SwitchEnds::bar(0) + 8 * tag, 8);
    tlp->header.requester = SwitchEnds::host_id;
    tlp->header.tag = tag++;
    ends.root.send(std::move(tlp));
    ends.run();
  };
  const auto peer_reads = [&] {
    ends.ends[1]->send(SwitchEnds::read(1, SwitchEnds::bar(0)));
    ends.run();
  };
  host_reads();  // is in the device's buffer
  if (peer) peer_reads();
  host_reads();
  host_reads();
  if (!peer) peer_reads();
  ends.uncorrectable(SwitchEnds::port_id(0));
  EXPECT_TRUE(ends.root.received.empty());
  ends.root.send(Tlp::config_write(true, SwitchEnds::port_id(0), Type1Header::bridge_control, 2,
                                   Type1Header::BridgeControlBit::secondary_bus_reset));
  ends.run();
  const auto expect_refusals = [](const End& end, std::vector<std::uint64_t> tags) {
    std::vector<std::uint64_t> refused;
    for (const TlpPtr& tlp : end.received) {
      if (tlp->header.status != Status::unsupported_request) continue;
      EXPECT_EQ(tlp->header.completer, SwitchEnds::port_id(0));
      refused.push_back(tlp->header.tag);
    }
    std::sort(refused.begin(), refused.end());
    EXPECT_EQ(refused, tags);
  };
  expect_refusals(ends.root, {0x21, 0x22});
  expect_refusals(*ends.ends[1], {0x15});
  ends.root.received.clear();
  EXPECT_EQ(ends.uncorrectable(SwitchEnds::port_id(0)), bit_of(Error::unsupported_request));
  EXPECT_EQ(ends.counted("switch.port0.tlps_without_link"), 3u);
}
INSTANTIATE_TEST_SUITE_P(SwitchQueues, AtTheExit, testing::Bool(), [](const auto& info) {
  return info.param ? "AsADevicesRead" : "AsTheHostsRead";
});

TEST(SwitchQueues, AnswersOfTheSwitchDoNotPileUp) {
  SwitchConfig config = SwitchEnds::with_ports(2);
  config.credits.classes[static_cast<unsigned>(non_posted)] = {6, 0};
  SwitchEnds::Beyond beyond;
  beyond.top = packets(1);
  SwitchEnds ends(config, beyond);
  ends.root.set_full(completion, true);
  const std::uint64_t before = ends.counted("above.down.CfgRd1.tlps");
  const auto read_register = [&] {
    ends.root.send(Tlp::config_read(true, SwitchEnds::port_id(0), Header::vendor_id, 4));
  };
  for (unsigned i = 0; i < 4; ++i) read_register();
  ends.root.send(Tlp::memory_read(SwitchEnds::bar(1), 8));
  for (unsigned i = 0; i < 10; ++i) read_register();
  ends.run();
  EXPECT_EQ(ends.ends[1]->received.size(), 1u);
  // One answer is in the host's receive buffer and one at the port. Six requests are in that of the
  // switch, and the others still at the host.
  EXPECT_EQ(ends.counted("above.down.CfgRd1.tlps") - before, 8u);
  ends.root.set_full(completion, false);
  ends.run();
  EXPECT_EQ(ends.root.received.size(), 14u);
}

// The devices from which the packets of a class have come, in their order.
std::string sources(const End& end, CreditClass of) {
  std::string found;
  for (const TlpPtr& tlp : end.received) {
    if (credit_class(tlp->header.type) != of) continue;
    const Id id = tlp->is_completion() ? tlp->header.completer : tlp->header.requester;
    found += static_cast<char>('0' + bus_of(id) - 4);
  }
  return found;
}

// The entries 0, 1 and 2 always have packets for an exit: it takes one of each in turn.
std::string in_turns(std::size_t count) {
  std::string expected;
  for (std::size_t i = 0; i < count; ++i) expected += static_cast<char>('0' + i % 3);
  return expected;
}

SwitchEnds::Beyond narrow() {
  SwitchEnds::Beyond beyond;
  beyond.below = beyond.top = packets(1);
  return beyond;
}

// An exit serves its entries in turns, whatever another exit serves in between.
TEST(SwitchQueues, EachExitHasItsOwnTurns) {
  SwitchEnds ends(SwitchEnds::with_ports(4), narrow());
  End& host = ends.root;
  End& peer = *ends.ends[3];
  host.set_full(posted, true);
  peer.set_full(posted, true);
  constexpr unsigned each = 10;
  for (unsigned i = 0; i < each; ++i) {
    for (unsigned from = 0; from < 3; ++from) {
      ends.ends[from]->send(SwitchEnds::write(from, 0x1000));
      ends.ends[from]->send(SwitchEnds::write(from, SwitchEnds::bar(3)));
    }
  }
  ends.run();
  for (unsigned i = 0; i < 3 * each; ++i) {
    EXPECT_TRUE(host.accept_one(posted));
    ends.run();
    EXPECT_TRUE(peer.accept_one(posted));
    ends.run();
  }
  // The first two found an exit that was free.
  EXPECT_EQ(sources(host, posted), "01" + in_turns(3 * each - 3) + "2");
  EXPECT_EQ(sources(peer, posted), "01" + in_turns(3 * each - 3) + "2");
}

// An exit serves its entries in turns in each class, whatever it serves of another class.
TEST(SwitchQueues, EachClassHasItsOwnTurns) {
  SwitchEnds ends(SwitchEnds::with_ports(3), narrow());
  End& host = ends.root;
  host.set_full(posted, true);
  host.set_full(completion, true);
  constexpr unsigned each = 10;
  for (unsigned i = 0; i < each; ++i) {
    for (unsigned from = 0; from < 3; ++from) {
      ends.ends[from]->send(SwitchEnds::completion(from, SwitchEnds::host_id));
    }
  }
  for (unsigned i = 0; i < each; ++i) {
    for (unsigned from = 0; from < 3; ++from) {
      ends.ends[from]->send(SwitchEnds::write(from, 0x1000));
    }
  }
  ends.run();
  for (unsigned i = 0; i < 3 * each; ++i) {
    EXPECT_TRUE(host.accept_one(posted));
    ends.run();
    EXPECT_TRUE(host.accept_one(completion));
    ends.run();
  }
  EXPECT_EQ(sources(host, posted), "01" + in_turns(3 * each - 3) + "2");
  EXPECT_EQ(sources(host, completion), "01" + in_turns(3 * each - 3) + "2");
}

class SwitchQueuesAtRandom : public testing::TestWithParam<unsigned> {};

// Packets of all classes from everywhere to everywhere, while the ends take them at random. At each
// end, those of one source have not passed a write that was sent before them. With some ends full,
// all that is for the others arrives. In the end, all arrives.
TEST_P(SwitchQueuesAtRandom, NothingWaitsForAnotherDestination) {
  std::mt19937 random(GetParam());
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  constexpr unsigned ports = 4, host = ports;
  SwitchConfig config = SwitchEnds::with_ports(ports);
  config.latency = 2000 * below(50);
  config.cut_through = below(2) == 0;
  SwitchEnds::Beyond beyond;
  beyond.below = packets(1 + below(4));
  beyond.top = packets(1 + below(4));
  SwitchEnds ends(config, beyond);
  const auto end = [&](unsigned i) -> End& { return i == host ? ends.root : *ends.ends[i]; };
  const auto id = [&](unsigned i) {
    return i == host ? SwitchEnds::host_id : SwitchEnds::device_id(i);
  };
  const auto base = [&](unsigned i) { return i == host ? 0x100000 : SwitchEnds::bar(i); };
  std::map<unsigned, unsigned> sent;  // by destination
  // The address of a request, and the byte count of a completion, is its number.
  const auto send = [&](unsigned from, unsigned to) {
    const unsigned number = ++sent[to];
    TlpPtr tlp;
    switch (below(3)) {
      case 0: {
        const std::vector<std::uint8_t> data(4 + 4 * below(32));
        tlp = Tlp::memory_write(base(to) + 0x100 * number, data.data(), data.size());
        break;
      }
      case 1:
        tlp = Tlp::memory_read(base(to) + 0x100 * number, 8);
        break;
      default:
        tlp = SwitchEnds::completion(0, id(to));
        tlp->header.completer = id(from);
        tlp->header.byte_count = static_cast<std::uint16_t>(number);
        tlp->header.tag = static_cast<std::uint16_t>(number % 256);
    }
    if (!tlp->is_completion()) tlp->header.requester = id(from);
    end(from).send(std::move(tlp));
  };
  const unsigned full = below(ports + 1);
  for (const CreditClass of : {posted, non_posted, completion}) end(full).set_full(of, true);
  for (unsigned i = 0; i < 300; ++i) {
    const unsigned from = below(ports + 1);
    const unsigned to = (from + 1 + below(ports)) % (ports + 1);
    send(from, to);
    if (below(4) == 0) sc_core::sc_start(sc_core::sc_time(1 + below(100), sc_core::SC_NS));
    const auto of = static_cast<CreditClass>(below(credit_classes));
    if (below(12) == 0) end(full).accept_one(of);
  }
  ends.run();
  for (unsigned i = 0; i <= ports; ++i) {
    if (i == full) continue;
    EXPECT_EQ(end(i).received.size(), sent[i]) << i;
  }
  EXPECT_LT(end(full).received.size(), sent[full]);
  for (const CreditClass of : {posted, non_posted, completion}) end(full).set_full(of, false);
  ends.run();
  for (unsigned i = 0; i <= ports; ++i) {
    ASSERT_EQ(end(i).received.size(), sent[i]) << i;
    std::map<Id, unsigned> highest;  // by source
    for (const TlpPtr& tlp : end(i).received) {
      const bool is_completion = tlp->is_completion();
      const Id source = is_completion ? tlp->header.completer : tlp->header.requester;
      const auto number = is_completion
                              ? tlp->header.byte_count
                              : static_cast<unsigned>((tlp->get_address() - base(i)) / 0x100);
      if (tlp->header.type == TlpType::MWr) {
        EXPECT_GT(number, highest[source]) << "a later packet has passed the write";
      }
      highest[source] = std::max(highest[source], number);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Switch, SwitchQueuesAtRandom, testing::Range(0u, 40u),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace pcie
