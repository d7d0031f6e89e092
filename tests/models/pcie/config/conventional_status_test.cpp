// SPDX-License-Identifier: Apache-2.0
// Status and Secondary Status of every function on a packet's way (PCIe 5.0, 6.2.8.1, 7.5.1.1.4,
// 7.5.1.3.7), with numbers of the specification.
#include "models/pcie/config/conventional_status.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

constexpr unsigned master_data_parity = 0x0100, signaled_target_abort = 0x0800,
                   received_target_abort = 0x1000, received_master_abort = 0x2000,
                   detected_parity = 0x8000;
constexpr unsigned all = 0xf900;
constexpr unsigned command_response = 0x0040, bridge_response = 0x0001;  // Parity Error Response
constexpr unsigned status = 0x06, secondary_status = 0x1e;

// The registers of a bridge.
struct Both {
  unsigned primary, secondary;
  bool operator==(const Both& other) const {
    return primary == other.primary && secondary == other.secondary;
  }
};
std::ostream& operator<<(std::ostream& out, const Both& both) {
  return out << std::hex << both.primary << " and " << both.secondary;
}

class SwitchStatus : public testing::Test {
 protected:
  static constexpr Id up = SwitchEnds::upstream_id;
  static constexpr Id port(unsigned i) { return SwitchEnds::port_id(i); }

  static SwitchConfig config() {
    SwitchConfig config = SwitchEnds::with_ports(3);
    config.ports[2].containment = true;
    return config;
  }
  static TlpPtr bad(TlpPtr tlp) {
    tlp->header.poisoned = true;
    return tlp;
  }
  static TlpPtr to(Id requester, TlpPtr completion) {
    completion->header.requester = requester;
    return completion;
  }
  static TlpPtr from_host(TlpPtr request) { return to(SwitchEnds::host_id, std::move(request)); }
  static TlpPtr completion(Id requester, Status with) {
    TlpPtr found = Tlp::completion(*SwitchEnds::read(0, 0), SwitchEnds::device_id(0), with);
    if (with == Status::success) {
      found->header.type = TlpType::CplD;
      found->header.length = 2;
      found->set_data_length(8);
    }
    return to(requester, std::move(found));
  }

  void respond(bool primary, bool secondary) {
    for (const Id id : {up, port(0), port(1), port(2)}) {
      fixture.config_write(id, Header::command, 6 | (primary ? command_response : 0), 2);
      fixture.config_write(id, Type1Header::bridge_control, secondary ? bridge_response : 0, 2);
    }
  }
  Both take(Id id) {
    const Both found{fixture.config_read(id, status, 2) & all,
                     fixture.config_read(id, secondary_status, 2) & all};
    fixture.config_write(id, status, all, 2);
    fixture.config_write(id, secondary_status, all, 2);
    return found;
  }
  // Sends the packet and expects exactly these bits. Ports that are not named have none.
  void expect(End& from, TlpPtr tlp, const std::map<Id, Both>& bits, const char* what) {
    from.send(std::move(tlp));
    fixture.run();
    for (const auto& end : fixture.ends) end->received.clear();
    fixture.root.received.clear();
    for (const Id id : {up, port(0), port(1), port(2)}) {
      const auto found = bits.find(id);
      EXPECT_EQ(take(id), (found != bits.end() ? found->second : Both{0, 0}))
          << what << " at " << to_string(id);
    }
  }

  SwitchEnds fixture{config()};
};

// 6.2.8.1: both virtual bridges on the way forward the packet.
TEST_F(SwitchStatus, OfPoisonedPacketsThatAreForwarded) {
  End& root = fixture.root;
  End& device = *fixture.ends[0];
  for (const bool primary : {false, true}) {
    for (const bool secondary : {false, true}) {
      respond(primary, secondary);
      const unsigned p = primary ? master_data_parity : 0, s = secondary ? master_data_parity : 0;
      const Both request_down{detected_parity, s}, completion_down{detected_parity | p, 0};
      const Both request_up{p, detected_parity}, completion_up{0, detected_parity | s};
      expect(root, bad(from_host(SwitchEnds::write(0, SwitchEnds::bar(2)))),
             {{up, request_down}, {port(2), request_down}}, "a request down");
      expect(root, bad(Tlp::config_write(true, SwitchEnds::device_id(1), 4, 2, 6)),
             {{up, request_down}, {port(1), request_down}}, "a configuration request down");
      expect(root, bad(completion(SwitchEnds::device_id(1), Status::success)),
             {{up, completion_down}, {port(1), completion_down}}, "a completion down");
      expect(device, bad(SwitchEnds::write(0, 0x1000)), {{up, request_up}, {port(0), request_up}},
             "a request up");
      expect(device, bad(completion(SwitchEnds::host_id, Status::success)),
             {{up, completion_up}, {port(0), completion_up}}, "a completion up");
      expect(device, bad(SwitchEnds::write(0, SwitchEnds::bar(2))),
             {{port(0), request_up}, {port(2), request_down}}, "a request of a peer");
      expect(device, bad(completion(SwitchEnds::device_id(1), Status::success)),
             {{port(0), completion_up}, {port(1), completion_down}}, "a completion of a peer");
      // What is not poisoned leaves no trace.
      expect(root, from_host(SwitchEnds::write(0, SwitchEnds::bar(2))), {}, "a good request");
      expect(device, completion(SwitchEnds::host_id, Status::success), {}, "a good completion");
    }
  }
}

// A port that does not forward a packet has received it, but sends nothing.
TEST_F(SwitchStatus, OfPoisonedPacketsThatEndInTheSwitch) {
  respond(true, true);
  expect(fixture.root, bad(Tlp::config_write(false, up, Header::interrupt_line, 1, 5)),
         {{up, {detected_parity, 0}}}, "to the upstream port");
  expect(fixture.root, bad(Tlp::config_write(true, port(1), Header::interrupt_line, 1, 5)),
         {{up, {detected_parity, master_data_parity}}, {port(1), {detected_parity, 0}}},
         "to a port on the internal bus");
  expect(fixture.root, bad(from_host(SwitchEnds::write(0, 0x1000))), {{up, {detected_parity, 0}}},
         "to nobody");
  expect(*fixture.ends[0], bad(SwitchEnds::write(0, SwitchEnds::bar(0))),
         {{port(0), {0, detected_parity}}}, "back to where it came from");
  fixture.config_write(port(1), Header::command, command_response, 2);  // without Bus Master
  expect(*fixture.ends[1], bad(SwitchEnds::write(1, 0x1000)), {{port(1), {0, detected_parity}}},
         "without permission");
}

// 7.5.1.1.4: the primary side receives them on their way down. 7.5.1.3.7: the secondary side shows
// those of its own requests alone, and ports of a switch make none.
TEST_F(SwitchStatus, OfCompletionsThatAreForwarded) {
  respond(true, true);
  const std::pair<Status, unsigned> cases[] = {
      {Status::success, 0},
      {Status::configuration_retry, 0},
      {Status::unsupported_request, received_master_abort},
      {Status::completer_abort, received_target_abort},
  };
  for (const auto& [with, bit] : cases) {
    const Both seen{bit, 0};
    expect(fixture.root, completion(SwitchEnds::device_id(1), with), {{up, seen}, {port(1), seen}},
           "down");
    expect(*fixture.ends[0], completion(SwitchEnds::host_id, with), {}, "up");
    expect(*fixture.ends[0], completion(SwitchEnds::device_id(1), with), {{port(1), seen}},
           "of a peer");
  }
}

TEST_F(SwitchStatus, OfCompleterAbortsOfAPort) {
  const unsigned acs = fixture.find_extended(port(0), AccessControl::id);
  fixture.config_write(port(0), acs + AccessControl::control, 1u << 5, 2);
  fixture.config_write(port(0), acs + AccessControl::egress_control_vector, 1u << 2, 4);
  expect(*fixture.ends[0], SwitchEnds::read(0, SwitchEnds::bar(1)),
         {{port(0), {0, signaled_target_abort}}}, "6.12.4: a violation");
  const unsigned dpc = fixture.find_extended(port(2), DownstreamPortContainment::id);
  for (const bool unsupported : {false, true}) {
    fixture.config_write(port(2), dpc + DownstreamPortContainment::control,
                         1 | (unsupported ? 4 : 0) | 1u << 6, 2);  // triggered by software
    expect(fixture.root, from_host(SwitchEnds::read(0, SwitchEnds::bar(2))),
           {{port(2), {unsupported ? 0 : signaled_target_abort, 0}}}, "6.2.11: contained");
    fixture.config_write(port(2), dpc + DownstreamPortContainment::status, 1, 2);
    fixture.run();
  }
}

// A root port requests on behalf of processors, and a function on behalf of its device logic.
struct HostStatus : Fixture {
  unsigned take(Id id, unsigned at) {
    const unsigned found = config_read(id, at, 2) & all;
    config_write(id, at, all, 2);
    return found;
  }
  void respond(bool yes) {
    const unsigned command = memory_and_master | (yes ? command_response : 0);
    config_write(root_port, Header::command, command, 2);
    config_write(device, Header::command, command, 2);
    config_write(root_port, Type1Header::bridge_control, yes ? bridge_response : 0, 2);
  }
  // Expects these bits in the root port's two registers and the device's one.
  void expect(unsigned primary, unsigned secondary, unsigned of_device, const char* what) {
    settle();
    EXPECT_EQ(take(root_port, status), primary) << what;
    EXPECT_EQ(take(root_port, secondary_status), secondary) << what;
    EXPECT_EQ(take(device, status), of_device) << what;
  }
  tlm::tlm_response_status dma(std::uint64_t address) {
    auto read = logic.dma_read(address, 4);
    wait_for(*read);
    return read->get_response_status();
  }
};

TEST(RootPortStatus, OfProcessorsRequests) {
  HostStatus fixture;
  fixture.run([&] {
    fixture.enumerate();
    fixture.expect(0, 0, 0, "nothing");
    EXPECT_EQ(fixture.read(HostStatus::bar0, 4), 0u);
    fixture.expect(0, 0, 0, "success");
    fixture.logic.answer = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    EXPECT_EQ(fixture.read(HostStatus::bar0, 4), ~0u);
    fixture.expect(0, received_master_abort, 0, "unsupported");
    fixture.logic.answer = tlm::TLM_GENERIC_ERROR_RESPONSE;
    EXPECT_EQ(fixture.read(HostStatus::bar0, 4), ~0u);
    fixture.expect(0, received_target_abort, signaled_target_abort, "aborted");
    fixture.logic.answer = tlm::TLM_OK_RESPONSE;
    EXPECT_EQ(fixture.config_read(make_id(1, 0, 1), 0, 4), ~0u);
    fixture.expect(0, received_master_abort, 0, "no such function");
    for (const bool responds : {false, true}) {
      fixture.respond(responds);
      fixture.link.inject(Direction::up, {Error::poisoned_tlp, TlpType::CplD, 1});
      EXPECT_EQ(fixture.read(HostStatus::bar0, 4), ~0u);
      fixture.expect(0, detected_parity | (responds ? master_data_parity : 0), 0, "poisoned data");
      fixture.link.inject(Direction::down, {Error::poisoned_tlp, TlpType::MWr, 1});
      fixture.write(HostStatus::bar0, 1, 4);
      fixture.expect(0, 0, detected_parity, "a poisoned write arrives");
    }
  });
}

TEST(FunctionStatus, OfItsRequests) {
  HostStatus fixture;
  fixture.run([&] {
    fixture.enumerate();
    EXPECT_EQ(fixture.dma(0x1000), tlm::TLM_OK_RESPONSE);
    fixture.expect(0, 0, 0, "success");
    EXPECT_EQ(fixture.dma(HostStatus::ecam), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    fixture.expect(0, 0, received_master_abort, "unsupported");
    fixture.link.inject(Direction::up, {Error::completer_abort, TlpType::MRd, 1});
    EXPECT_EQ(fixture.dma(0x1000), tlm::TLM_GENERIC_ERROR_RESPONSE);
    fixture.expect(0, signaled_target_abort, received_target_abort, "aborted");
    for (const bool responds : {false, true}) {
      fixture.respond(responds);
      fixture.link.inject(Direction::down, {Error::poisoned_tlp, TlpType::CplD, 1});
      EXPECT_EQ(fixture.dma(0x1000), tlm::TLM_GENERIC_ERROR_RESPONSE);
      fixture.expect(0, 0, detected_parity | (responds ? master_data_parity : 0), "poisoned data");
      // The root port is the end of a write to memory and drops it.
      fixture.link.inject(Direction::up, {Error::poisoned_tlp, TlpType::MWr, 1});
      fixture.logic.dma_write(0x1000, {1, 2, 3, 4});
      fixture.expect(0, detected_parity, 0, "a poisoned write arrives");
    }
  });
}

// SR-IOV, 9.3.4.1.3: a virtual function has the errors of Status, but no Parity Error Response.
TEST(FunctionStatus, OfAVirtualFunction) {
  Fixture::Config config;
  config.endpoint.functions[0].virtual_functions = {
      1, 0x0ae1, {BarConfig::prefetchable_64(0, 0x4000)}, {}};
  Fixture fixture(config);
  Function& function = fixture.endpoint.function(0).virtual_function(0);
  Logic logic("logic_of_vf", fixture.card);
  function.bar.bind(logic.bar);
  logic.dma.bind(function.dma);
  fixture.run([&] {
    fixture.enumerate();
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00020100, 4);
    const unsigned sr_iov = fixture.find_extended_capability(Fixture::device, SrIov::id);
    fixture.config_write(Fixture::device, sr_iov + SrIov::num_vfs, 1, 2);
    fixture.config_write(Fixture::device, sr_iov + SrIov::control, 0x09, 2);
    const Id id = function.id();
    fixture.config_write(id, Header::command, 0x4 | command_response, 2);
    EXPECT_EQ(fixture.config_read(id, Header::command, 2), 0x4u);
    for (const bool responds : {false, true}) {
      fixture.config_write(Fixture::device, Header::command,
                           memory_and_master | (responds ? command_response : 0), 2);
      fixture.link.inject(Direction::down, {Error::poisoned_tlp, TlpType::CplD, 1});
      auto read = logic.dma_read(0x1000, 4);
      fixture.wait_for(*read);
      EXPECT_EQ(fixture.config_read(id, status, 2) & all,
                detected_parity | (responds ? master_data_parity : 0));
      fixture.config_write(id, status, all, 2);
      EXPECT_EQ(fixture.config_read(Fixture::device, status, 2) & all, 0u)
          << "it has no part in it";
    }
  });
}

}  // namespace
}  // namespace pcie
