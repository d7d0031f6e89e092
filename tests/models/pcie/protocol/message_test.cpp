// SPDX-License-Identifier: Apache-2.0
// What each kind of port does about each message code (PCIe 5.0, 2.2.8, 2.3.1).
#include <gtest/gtest.h>

#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

// 2.2.8.6: Vendor-Defined Type 1. 2.2.8.7, table of ignored messages.
bool ignored(unsigned code) {
  for (const unsigned one : {0x40, 0x41, 0x43, 0x44, 0x45, 0x47, 0x48, 0x7f}) {
    if (code == one) return true;
  }
  return false;
}
// 2.2.8.1 and 2.2.8.3: what ports above a link receive. The model implements no other messages.
bool received_above(unsigned code) {
  return (code >= 0x20 && code <= 0x27) || code == 0x30 || code == 0x31 || code == 0x33;
}
TlpPtr message(unsigned code, Id requester) {
  return Tlp::message(static_cast<MessageCode>(code), requester);
}
constexpr std::uint32_t unsupported_request = 1u << 20;

TEST(Messages, ThatAPortOfASwitchDoesNotKnowAreUnsupportedRequests) {
  SwitchEnds fixture;
  const Id below = SwitchEnds::port_id(0), above = SwitchEnds::upstream_id;
  for (unsigned code = 0; code < 0x100; ++code) {
    fixture.ends[0]->send(message(code, SwitchEnds::device_id(0)));
    fixture.run();
    fixture.root.received.clear();  // INTx of the upstream port
    const bool known = ignored(code) || received_above(code);
    EXPECT_EQ(fixture.uncorrectable(below), known ? 0 : unsupported_request) << code;
    fixture.root.send(message(code, SwitchEnds::host_id));
    fixture.run();
    EXPECT_EQ(fixture.uncorrectable(above), ignored(code) ? 0 : unsupported_request) << code;
    EXPECT_TRUE(fixture.root.received.empty()) << "a message has no answer";
  }
  EXPECT_EQ(fixture.counted("switch.upstream.messages_ignored"), 8u);
}

TEST(Messages, ThatAnEndpointDoesNotKnowAreUnsupportedRequests) {
  vp::Domain host("host"), card("card");
  vp::Trace trace;
  vp::Statistics statistics;
  End root(host);
  EndpointConfig config;
  config.functions.resize(2);
  Endpoint endpoint("endpoint", config, card, statistics);
  Link link("link", {}, root, endpoint, trace, statistics);
  for (unsigned code = 0; code < 0x100; ++code) {
    root.send(message(code, SwitchEnds::host_id));
    sc_core::sc_start(100, sc_core::SC_US);
    EXPECT_TRUE(root.received.empty()) << "a message has no answer";
    for (unsigned i = 0; i < 2; ++i) {
      ConfigSpace& space = endpoint.function(i).config_space();
      const unsigned at =
          ConfigSpace::first_extended_capability + AdvancedErrorReporting::uncorrectable_status;
      EXPECT_EQ(space.read(at, 4), ignored(code) ? 0 : unsupported_request) << code;
      space.write(at, 4, ~0u);
    }
  }
  const nlohmann::json all = statistics.json();
  EXPECT_EQ(all.at("counters").at("endpoint.messages_ignored"), 8u);
}

}  // namespace
}  // namespace pcie
