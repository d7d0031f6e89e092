// SPDX-License-Identifier: Apache-2.0
// Devices that reach each other through the root complex: one below a root port of its own, three
// below a switch at the other root port.
#include <gtest/gtest.h>

#include <random>

#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

using vp::ns;
using vp::us;

enum Service : unsigned {
  source_validation = AccessControl::ServiceBit::source_validation,
  request_redirect = AccessControl::ServiceBit::request_redirect,
  completion_redirect = AccessControl::ServiceBit::completion_redirect,
  upstream_forwarding = AccessControl::ServiceBit::upstream_forwarding,
  egress_control = AccessControl::ServiceBit::egress_control,
};
constexpr unsigned all_redirected = request_redirect | completion_redirect | upstream_forwarding;

SwitchFixture::Config reachable() {
  SwitchFixture::Config config;
  config.fixture.root_complex.peer_to_peer = true;
  return config;
}

struct PeerFixture : SwitchFixture {
  explicit PeerFixture(const Config& config = reachable()) : SwitchFixture(config) {}

  // Devices 0 to 2 are below the switch, 3 below root port 0.
  static constexpr unsigned alone = devices, all = devices + 1;
  Logic& logic_at(unsigned i) { return i == alone ? logic : logic_of(i); }
  static std::uint64_t bar_of(unsigned i) { return i == alone ? bar0 : bar(i); }
  static Id id_of(unsigned i) { return i == alone ? device : device_id(i); }

  void enumerate_all() {
    enumerate();
    enumerate_switch();
  }
  void control(Id id, unsigned services, unsigned vector = 0) {
    const unsigned at = find_extended(id, AccessControl::id);
    config_write(id, at + AccessControl::control, services, 2);
    config_write(id, at + AccessControl::egress_control_vector, vector, 4);
  }
  /// Writes and reads back. Returns whether the write has arrived, and its requester.
  bool reaches(unsigned from, unsigned to) {
    std::vector<std::uint8_t> data(700);
    for (unsigned i = 0; i < data.size(); ++i) data[i] = i * 7 + from * 3 + to + ++salt;
    const std::uint64_t address = bar_of(to) + 0x123;
    const auto write = logic_at(from).dma_write(address, data);
    const auto read = logic_at(from).dma_read(address, data.size());
    wait_for(*read);
    status = read->get_response_status();
    return read->is_response_ok() && read->data == data &&
           logic_at(to).uses.back().requester == id_of(from);
  }
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  unsigned salt = 0;
};

TEST(PeerToPeer, RootPortsRefuseItUnlessTheyAreMadeForIt) {
  SwitchFixture::Config config = reachable();
  config.fixture.root_complex.peer_to_peer = false;
  PeerFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_all();
    for (const unsigned services : {0u, 0x1fu}) {
      for (const Id id : {Fixture::root_port, root_id}) {
        const unsigned at = fixture.find_extended(id, AccessControl::id);
        EXPECT_EQ(fixture.config_read(id, at + AccessControl::capability, 2), 0x1fu);
        fixture.config_write(id, at + AccessControl::control, services, 2);
      }
      for (const auto& [from, to] : {std::pair(0u, PeerFixture::alone), {PeerFixture::alone, 2u}}) {
        EXPECT_FALSE(fixture.reaches(from, to));
        EXPECT_EQ(fixture.status, tlm::TLM_ADDRESS_ERROR_RESPONSE) << "Unsupported Request";
      }
    }
    EXPECT_TRUE(fixture.logic.uses.empty() && fixture.logic_of(2).uses.empty());
    EXPECT_GT(fixture.counter("root_complex.port0.unsupported_requests"), 0u);
    EXPECT_EQ(fixture.counter("root_complex.port0.peer_to_peer"), 0u);
    EXPECT_TRUE(fixture.works(0));
    fixture.expect_work();
  });
}

TEST(PeerToPeer, EveryDeviceReachesEveryOther) {
  PeerFixture fixture;
  fixture.run([&] {
    fixture.enumerate_all();
    for (unsigned from = 0; from < PeerFixture::all; ++from) {
      for (unsigned to = 0; to < PeerFixture::all; ++to) {
        if (from != to) {
          EXPECT_TRUE(fixture.reaches(from, to)) << from << ' ' << to;
        }
      }
    }
    // Each has written to three others, and of those below the switch each to one beyond it.
    const std::uint64_t writes = fixture.counted("fixture.link0.up.MWr.tlps");
    for (const char* name : {"link.up", "link.down", "link0.down", "above.up", "above.down"}) {
      EXPECT_EQ(fixture.counted(std::string("fixture.") + name + ".MWr.tlps"), writes) << name;
    }
    EXPECT_EQ(fixture.counter("root_complex.port0.redirected"), 0u);
    EXPECT_TRUE(fixture.memory.writes.empty());
    EXPECT_EQ(fixture.memory.refused, 0u);
    for (unsigned i = 0; i < devices; ++i) EXPECT_TRUE(fixture.works(i));
    fixture.expect_work();
  });
}

TEST(PeerToPeer, WhatNoRootPortClaimsIsRefusedStill) {
  PeerFixture fixture;
  fixture.run([&] {
    fixture.enumerate_all();
    const auto refused = [&](std::uint64_t address) {
      const auto read = fixture.logic.dma_read(address, 4);
      fixture.wait_for(*read);
      return read->get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE;
    };
    EXPECT_TRUE(refused(0xd0000000)) << "in the window, of no port";
    EXPECT_TRUE(refused(Fixture::ecam));
    EXPECT_TRUE(refused(Fixture::bar2)) << "behind the port that received it";
    EXPECT_FALSE(refused(bar(1)));
    fixture.config_write(root_id, Header::command, Header::CommandBit::bus_master, 2);
    EXPECT_TRUE(refused(bar(1))) << "Memory Space of the other port";
    fixture.config_write(root_id, Header::command, memory_and_master, 2);
    const unsigned power =
        fixture.find_capability(root_id, PowerManagement::id) + PowerManagement::control;
    fixture.config_write(root_id, power, 3, 2);
    EXPECT_TRUE(refused(bar(1))) << "D3";
    fixture.config_write(root_id, power, 0, 2);
    fixture.config_write(Fixture::root_port, Header::command, Header::CommandBit::memory_space, 2);
    EXPECT_TRUE(refused(bar(1))) << "Bus Master of its own port";
    fixture.config_write(Fixture::root_port, Header::command, memory_and_master, 2);
    EXPECT_FALSE(refused(bar(1)));
    // What is lost with a link ends at once.
    fixture.root_complex.port(1).remove_card();
    EXPECT_TRUE(refused(bar(1)));
    fixture.logic.dma_write(bar(1), {1, 2, 3, 4});
    pause(20 * us);
    EXPECT_EQ(fixture.counter("root_complex.port1.tlps_without_link"), 2u);
    fixture.root_complex.port(1).insert_card();
    pause(30 * us);
    fixture.enumerate_switch();
    EXPECT_TRUE(fixture.reaches(PeerFixture::alone, 1));
  });
}

// A packet between two root ports takes twice the latency of the root complex.
TEST(PeerToPeer, TakesItsTimeToThePicosecond) {
  SwitchFixture::Config config = reachable();
  config.sw.latency = 123'456;
  config.fixture.root_complex.latency = 50'001;
  config.endpoint.latency = config.fixture.endpoint.latency = 33'333;
  config.fixture.link = config.wires;
  config.above.generation = config.wires.generation = config.fixture.link.generation = 1;
  config.above.lanes = config.wires.lanes = config.fixture.link.lanes = 1;
  PeerFixture fixture(config);
  fixture.run([&] {
    fixture.enumerate_all();
    const LineRate& rate = fixture.above.rate();
    const auto wire = [&](std::uint64_t bytes) {
      return static_cast<vp::Picoseconds>((bytes * rate.picoseconds + rate.bytes - 1) / rate.bytes);
    };
    const vp::Picoseconds up = 130 * ns, down = 150 * ns;
    vp::Picoseconds start = vp::now();
    fixture.logic_of(0).on_use = [&](const Logic::Use&) {
      EXPECT_EQ(vp::now() - start,
                33'333 + up + 2 * 50'001 + down + 123'456 + down + 33'333 + 3 * wire(24));
    };
    fixture.logic.dma_write(bar(0), {1, 2, 3, 4});
    pause(50 * us);
    ASSERT_EQ(fixture.logic_of(0).uses.size(), 1u);
    // To a neighbour, by the root complex.
    fixture.control(port_id(1), request_redirect);
    fixture.control(root_id, upstream_forwarding);
    start = vp::now();
    fixture.logic_of(0).on_use = [&](const Logic::Use&) {
      EXPECT_EQ(vp::now() - start,
                2 * 33'333 + 2 * (up + 123'456 + down) + 2 * 50'001 + 4 * wire(24));
    };
    fixture.logic_of(1).dma_write(bar(0), {1, 2, 3, 4});
    pause(50 * us);
    EXPECT_EQ(fixture.logic_of(0).uses.size(), 2u);
  });
}

TEST(PeerToPeer, WhatASwitchRedirectsIsReflected) {
  PeerFixture fixture;
  fixture.run([&] {
    fixture.enumerate_all();
    for (unsigned i = 0; i < devices; ++i) fixture.control(port_id(i), all_redirected);
    const auto count = [&](const char* direction, const char* type) {
      return fixture.counted(std::string("fixture.above.") + direction + '.' + type + ".tlps");
    };
    EXPECT_FALSE(fixture.reaches(0, 1)) << "without upstream forwarding of the root port";
    EXPECT_EQ(fixture.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_TRUE(fixture.logic_of(1).uses.empty());
    fixture.control(root_id, upstream_forwarding);
    const std::uint64_t writes = count("up", "MWr");
    for (unsigned from = 0; from < devices; ++from) {
      for (unsigned to = 0; to < devices; ++to) {
        if (from != to) {
          EXPECT_TRUE(fixture.reaches(from, to)) << from << ' ' << to;
        }
      }
    }
    EXPECT_EQ(count("up", "MWr"), 7 * writes) << "once to be refused, and six times";
    EXPECT_EQ(count("down", "MWr"), 6 * writes);
    EXPECT_EQ(count("down", "CplD"), fixture.counted("fixture.link0.down.CplD.tlps") +
                                         fixture.counted("fixture.link1.down.CplD.tlps") +
                                         fixture.counted("fixture.link2.down.CplD.tlps"));
    EXPECT_EQ(fixture.counted("fixture.switch.peer_to_peer"), 0u);
    EXPECT_EQ(fixture.counter("root_complex.port1.redirected"),
              count("down", "MWr") + count("down", "MRd") + count("down", "CplD"));
    // Completions of requests that were not redirected, and the other way round.
    fixture.control(port_id(0), request_redirect);
    EXPECT_TRUE(fixture.reaches(0, 1));
    EXPECT_TRUE(fixture.reaches(1, 0));
    fixture.control(port_id(0), completion_redirect);
    EXPECT_TRUE(fixture.reaches(0, 1));
    EXPECT_TRUE(fixture.reaches(1, 0));
    EXPECT_GT(fixture.counted("fixture.switch.peer_to_peer"), 0u);
    EXPECT_TRUE(fixture.reaches(0, PeerFixture::alone));
    EXPECT_TRUE(fixture.reaches(PeerFixture::alone, 0));
  });
}

TEST(PeerToPeer, RootPortsControlTheirDevicesToo) {
  PeerFixture fixture;
  fixture.run([&] {
    fixture.enumerate_all();
    const unsigned acs = fixture.find_extended(Fixture::root_port, AccessControl::id);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, acs + AccessControl::capability, 2), 0x37fu);
    const unsigned alone = PeerFixture::alone;
    fixture.control(Fixture::root_port, egress_control, 1u << 2);
    EXPECT_FALSE(fixture.reaches(alone, 0));
    EXPECT_EQ(fixture.status, tlm::TLM_GENERIC_ERROR_RESPONSE) << "Completer Abort";
    EXPECT_EQ(fixture.uncorrectable(Fixture::root_port), bit_of(Error::acs_violation));
    EXPECT_EQ(
        fixture.counter("root_complex.port0.acs_violations"),
        fixture.counted("fixture.link.up.MWr.tlps") + fixture.counted("fixture.link.up.MRd.tlps"));
    EXPECT_TRUE(fixture.reaches(0, alone)) << "the other way it is free";
    fixture.control(Fixture::root_port, egress_control | request_redirect, 1u << 2);
    EXPECT_TRUE(fixture.reaches(alone, 0));
    const std::uint64_t requests = fixture.counter("root_complex.port0.redirected");
    EXPECT_GT(requests, 0u);
    fixture.control(Fixture::root_port, completion_redirect);
    EXPECT_TRUE(fixture.reaches(0, alone));
    EXPECT_GT(fixture.counter("root_complex.port0.redirected"), requests) << "completions";
    // A request with the ID of another device is refused where it enters.
    fixture.control(Fixture::root_port, source_validation);
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00090900, 4);
    EXPECT_FALSE(fixture.reaches(alone, 0));
    EXPECT_EQ(fixture.status, tlm::TLM_GENERIC_ERROR_RESPONSE);
  });
}

// A processor's stores and a device's writes for one port that has room for a packet: none of them
// waits for the end of the other's.
TEST(PeerToPeer, ProcessorsAndDevicesTakeTurns) {
  SwitchFixture::Config config = reachable();
  config.fixture.endpoint.credits.classes[0] = {1, 16};
  PeerFixture fixture(config);
  constexpr unsigned count = 40;
  std::string order;
  fixture.run([&] {
    fixture.enumerate_all();
    fixture.logic.on_use = [&](const Logic::Use& use) {
      if (use.write) order += use.requester == device_id(0) ? 'd' : 'p';
    };
    fixture.logic.full = true;
    fixture.spawn([&] {
      for (unsigned i = 0; i < count; ++i) fixture.write(Fixture::bar0, i, 4);
    });
    fixture.spawn([&] {
      for (unsigned i = 0; i < count; ++i) {
        const auto write = fixture.logic_of(0).dma_write(Fixture::bar0 + 0x100, {1, 2, 3, 4});
        fixture.wait_for(*write);
      }
    });
    for (unsigned i = 0; i < 2 * count; ++i) {
      pause(20 * us);
      fixture.logic.accept();
    }
  });
  EXPECT_EQ(order.size(), 2 * count);
  // After a while of their own each has its share.
  for (std::size_t i = 4; i + 8 < order.size() - 8; ++i) {
    const std::string part = order.substr(i, 4);
    EXPECT_NE(part.find('d'), std::string::npos) << order;
    EXPECT_NE(part.find('p'), std::string::npos) << order;
  }
}

// Device 3 takes no writes, and device 0 sends it more than the way holds.
struct FullPeer : PeerFixture {
  FullPeer() : PeerFixture(one_write()) {}
  static Config one_write() {
    Config config = reachable();
    for (const CreditClass of : {CreditClass::posted, CreditClass::non_posted}) {
      config.fixture.endpoint.credits.classes[static_cast<unsigned>(of)] = {1, 16};
    }
    return config;
  }
  void fill() {
    enumerate_all();
    logic.full = true;
    for (unsigned i = 0; i < 4; ++i) logic_of(0).dma_write(bar0, {1, 2, 3, 4});
  }
};

TEST(PeerToPeer, ALinkThatGoesDownFreesWhoWaitsForIt) {
  FullPeer fixture;
  fixture.run([&] {
    fixture.fill();
    fixture.logic_of(0).dma_write(0x1000, {5, 6, 7, 8});
    pause(50 * us);
    EXPECT_EQ(fixture.memory.writes.size(), 1u) << "past those that wait, which go elsewhere";
    fixture.root_complex.port(0).remove_card();
    pause(50 * us);
    EXPECT_EQ(fixture.memory.writes.size(), 1u);
    EXPECT_TRUE(fixture.works(0));
  });
}

// One read is in the device's buffer, where it is lost; one is at the root port, and one behind it.
TEST(PeerToPeer, ALinkThatGoesDownRefusesTheReadsThatWaitForIt) {
  FullPeer fixture;
  fixture.run([&] {
    fixture.enumerate_all();
    fixture.logic.full = true;
    fixture.logic_of(0).dma_write(Fixture::bar0, {1, 2, 3, 4});
    pause(50 * us);
    std::vector<std::unique_ptr<Logic::Dma>> reads;
    for (unsigned i = 0; i < 3; ++i)
      reads.push_back(fixture.logic_of(1).dma_read(Fixture::bar0, 8));
    pause(50 * us);
    fixture.root_complex.port(0).remove_card();
    pause(50 * us);
    EXPECT_FALSE(reads[0]->done) << "it ends by its timeout";
    for (unsigned i = 1; i < 3; ++i) {
      EXPECT_TRUE(reads[i]->done) << i;
      EXPECT_EQ(reads[i]->get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << i;
    }
  });
}

// What waits for a device is refused when software closes the window, and holds up nothing.
TEST(PeerToPeer, AWindowThatIsClosedFreesWhoWaitsForIt) {
  FullPeer fixture;
  fixture.run([&] {
    fixture.fill();
    pause(50 * us);
    const std::uint64_t refused = fixture.counter("root_complex.port1.unsupported_requests");
    fixture.config_write(Fixture::root_port, Header::command, Header::CommandBit::bus_master, 2);
    pause(50 * us);
    EXPECT_GT(fixture.counter("root_complex.port1.unsupported_requests"), refused);
    fixture.logic_of(0).dma_write(0x1000, {5, 6, 7, 8});
    pause(50 * us);
    EXPECT_EQ(fixture.memory.writes.size(), 1u);
  });
}

// A device sends translated addresses, although there is no IOMMU that could have translated them.
TEST(PeerToPeer, TranslatedAddressesAreAddresses) {
  Fixture::Config config;
  config.root_complex.ports.resize(2);
  config.root_complex.peer_to_peer = true;
  Fixture fixture(config);
  End end(fixture.card);
  Link link("second", {}, fixture.root_complex.port(1), end, fixture.trace, fixture.statistics);
  fixture.run([&] {
    fixture.enumerate();
    fixture.config_write(root_id, Type1Header::primary_bus_number, 0x00020200, 4);
    fixture.config_write(root_id, Header::command, memory_and_master, 2);
    for (const std::uint64_t address : {std::uint64_t{0x1000}, Fixture::bar0}) {
      for (const AddressType type :
           {AddressType::untranslated, AddressType::translation_request, AddressType::translated}) {
        TlpPtr read = Tlp::memory_read(address, 4);
        read->header.requester = make_id(2, 0, 0);
        read->header.address_type = type;
        end.send(std::move(read));
        pause(10 * us);
        const TlpPtr answer = end.take();
        ASSERT_TRUE(answer);
        const bool refused = type == AddressType::translation_request && address == 0x1000;
        EXPECT_EQ(answer->header.status, refused ? Status::unsupported_request : Status::success);
      }
    }
  });
}

class PeersCredited : public testing::TestWithParam<unsigned> {};

// Whatever is advertised and redirected: devices and processors use each other, and it ends.
TEST_P(PeersCredited, NothingIsLostAndNothingLocks) {
  std::mt19937 random(GetParam());
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  const auto credits = [&](bool finite_completions) {
    CreditConfig found;
    for (unsigned of = 0; of < (finite_completions ? 3u : 2u); ++of) {
      const unsigned kind = below(4);
      if (kind == 0) continue;
      const unsigned least = of == 1 ? 2 : 16;  // the largest AtomicOp, or 256 bytes
      found.classes[of] = {1 + (kind > 1 ? below(20) : 0), least + (kind > 1 ? below(100) : 0)};
    }
    return found;
  };
  SwitchFixture::Config config = reachable();
  for (auto& port : config.fixture.root_complex.ports) port.credits = credits(false);
  config.sw.credits = credits(true);
  for (auto& port : config.sw.ports) port.credits = credits(true);
  config.endpoint.credits = credits(false);
  config.fixture.endpoint.credits = credits(false);
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
  PeerFixture fixture(config);
  fixture.memory.keep_writes = false;
  bool over = false;
  unsigned transferring = PeerFixture::all, processors = PeerFixture::all;
  fixture.run([&] {
    fixture.enumerate_all();
    fixture.control(root_id, upstream_forwarding | (below(2) ? request_redirect : 0u));
    for (unsigned i = 0; i < devices; ++i) {
      fixture.control(port_id(i), below(2) ? all_redirected : below(2) ? completion_redirect : 0u);
    }
    for (unsigned i = 0; i < PeerFixture::all; ++i) {
      Logic& logic = fixture.logic_at(i);
      logic.keep_uses = false;
      logic.latency = below(2) * 100 * ns;
      fixture.spawn([&] {
        while (!over || logic.holds_write()) {
          pause((1 + below(2000)) * ns);
          logic.full = !over && below(3) == 0;
          if (!logic.full) logic.accept();
        }
      });
      fixture.spawn([&, i] {
        for (unsigned n = 0; n < 40; ++n) {
          const std::uint64_t at = PeerFixture::bar_of(i) + 64 * below(16);
          fixture.write(at, n, 8);
          if (below(3) == 0) {
            EXPECT_EQ(fixture.read(at, 8), n);
          }
        }
        over = --processors + transferring == 0;
      });
      fixture.spawn([&, i] {
        for (unsigned n = 0; n < 30; ++n) {
          const unsigned to = (i + 1 + below(PeerFixture::all)) % PeerFixture::all;
          const std::uint64_t address =
              to == i ? 0x10000 + 0x4000 * i : PeerFixture::bar_of(to) + 0x1000 * (1 + i);
          const std::vector<std::uint8_t> data(1 + below(2000), 16 * i + n);
          const auto write = fixture.logic_at(i).dma_write(address, data);
          fixture.wait_for(*write);
          const auto read = fixture.logic_at(i).dma_read(address, data.size());
          fixture.wait_for(*read);
          EXPECT_EQ(read->data, data) << i << ' ' << to << ' ' << n;
        }
        over = processors + --transferring == 0;
      });
    }
  });
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

INSTANTIATE_TEST_SUITE_P(PeerToPeer, PeersCredited, testing::Range(0u, 40u),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace pcie
