// SPDX-License-Identifier: Apache-2.0
// Which completions have the IDO attribute (PCIe 5.0, 2.2.6.4, 7.5.3.16).
#include <gtest/gtest.h>

#include "tests/models/pcie/hierarchy/switch_ends.h"
#include "tests/models/pcie/hierarchy/switch_fixture.h"

namespace pcie {
namespace {

constexpr unsigned ido_request = 1u << 8, ido_completion = 1u << 9;  // in Device Control 2

TlpPtr with(bool ido, TlpPtr request) {
  request->header.requester = SwitchEnds::host_id;
  request->header.id_based_ordering = ido;
  return request;
}
std::vector<TlpPtr> requests(bool ido, std::uint64_t good, std::uint64_t bad) {
  const std::uint8_t operand[4] = {};
  std::vector<TlpPtr> all;
  all.push_back(with(ido, Tlp::memory_read(good, 4)));
  all.push_back(with(ido, Tlp::memory_read(good, 1024)));  // several completions
  all.push_back(with(ido, Tlp::memory_read(bad, 4)));
  all.push_back(with(ido, Tlp::atomic(TlpType::FetchAdd, good, operand, 4)));
  all.push_back(with(ido, Tlp::atomic(TlpType::FetchAdd, bad, operand, 4)));
  return all;
}

TEST(IdBasedOrdering, OfCompletionsOfAnEndpointIsEnabledBySoftware) {
  vp::Domain host("host"), card("card");
  vp::Trace trace;
  vp::Statistics statistics;
  End root(host);
  const Fixture::Config config;
  Endpoint endpoint("endpoint", config.endpoint, card, statistics);
  Link link("link", {}, root, endpoint, trace, statistics);
  Logic logic("logic", card);
  endpoint.function(0).bar.bind(logic.bar);
  logic.dma.bind(endpoint.function(0).dma);
  const auto run = [] { sc_core::sc_start(100, sc_core::SC_US); };
  const auto write = [&](unsigned offset, std::uint32_t value, unsigned bytes) {
    root.send(Tlp::config_write(false, Fixture::device, offset, bytes, value));
    run();
    root.received.clear();
  };
  write(Type0Header::bar(0), static_cast<std::uint32_t>(Fixture::bar0), 4);
  write(Header::command, memory_and_master, 2);
  ConfigSpace& space = endpoint.function(0).config_space();
  unsigned express = space.read(Header::capabilities_pointer, 1);
  while (space.read(express, 1) != PciExpress::id) express = space.read(express + 1, 1);
  for (const unsigned control : {0u, ido_request, ido_completion, ido_request | ido_completion}) {
    write(express + PciExpress::device_control_2, control, 2);
    for (const bool ido : {false, true}) {
      for (TlpPtr& request : requests(ido, Fixture::bar0, 0x1000)) {
        root.send(std::move(request));
        run();
        ASSERT_FALSE(root.received.empty());
        while (const TlpPtr completion = root.take()) {
          EXPECT_EQ(completion->header.id_based_ordering, ido && control & ido_completion);
        }
      }
    }
  }
}

TEST(IdBasedOrdering, OfCompletionsOfARootPortIsEnabledBySoftware) {
  Fixture::Config config;
  config.root_complex.ports.resize(2);
  Fixture fixture(config);
  End device(fixture.card);
  Link second("second", {}, fixture.root_complex.port(1), device, fixture.trace,
              fixture.statistics);
  fixture.run([&] {
    fixture.config_write(root_id, Type1Header::primary_bus_number, 0x00020200, 4);
    fixture.config_write(root_id, Header::command, memory_and_master, 2);
    const unsigned express = fixture.find_capability(root_id, PciExpress::id);
    for (const unsigned control : {0u, ido_request, ido_completion, ido_request | ido_completion}) {
      fixture.config_write(root_id, express + PciExpress::device_control_2, control, 2);
      for (const bool ido : {false, true}) {
        for (TlpPtr& request : requests(ido, 0x1000, Fixture::ecam)) {
          device.send(std::move(request));
          settle();
          ASSERT_FALSE(device.received.empty());
          while (const TlpPtr completion = device.take()) {
            EXPECT_EQ(completion->header.id_based_ordering, ido && control & ido_completion);
          }
        }
      }
    }
  });
}

// 7.5.3.16: a switch does not have the control.
TEST(IdBasedOrdering, OfCompletionsOfASwitchDoesNotExist) {
  SwitchEnds fixture;
  const unsigned express = fixture.find_capability(SwitchEnds::port_id(0), PciExpress::id);
  fixture.config_write(SwitchEnds::port_id(0), express + PciExpress::device_control_2,
                       ido_completion, 2);
  fixture.ends[0]->send(with(true, SwitchEnds::read(0, SwitchEnds::bar(0))));
  fixture.root.send(with(true, SwitchEnds::read(0, 0x1000)));
  fixture.run();
  for (End* end : {fixture.ends[0].get(), &fixture.root}) {
    const TlpPtr refusal = end->take();
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->header.status, Status::unsupported_request);
    EXPECT_FALSE(refusal->header.id_based_ordering);
  }
  // A completion of another component keeps it.
  TlpPtr completion = Tlp::completion(*SwitchEnds::read(0, 0), SwitchEnds::device_id(0),
                                      Status::unsupported_request);
  fixture.ends[0]->send(with(true, std::move(completion)));
  fixture.run();
  const TlpPtr arrived = fixture.root.take();
  ASSERT_TRUE(arrived);
  EXPECT_TRUE(arrived->header.id_based_ordering);
}

}  // namespace
}  // namespace pcie
