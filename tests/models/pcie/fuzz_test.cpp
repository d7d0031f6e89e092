// SPDX-License-Identifier: Apache-2.0
// Whatever software and peers send, the simulator keeps running and valid accesses still work.
#include <gtest/gtest.h>

#include <iterator>
#include <random>

#include "tests/models/pcie/fixture.h"
#include "tests/models/pcie/hierarchy/switch_ends.h"

namespace pcie {
namespace {

// A peer that sends arbitrary packets.
struct Peer : Port {
  std::uint64_t received = 0;
  using Port::send;
  Peer(vp::Domain& domain) : Port(domain, {5, 16, 0}) {}
  void receive(TlpPtr) override { ++received; }
  void trained(unsigned, unsigned) override {}
};

TlpPtr random_tlp(std::mt19937& random) {
  TlpPtr tlp = Tlp::make(static_cast<TlpType>(random() % tlp_types));
  TlpHeader& header = tlp->header;
  const std::uint64_t bases[] = {Fixture::bar0,        Fixture::bar2, Fixture::bar4,
                                 Fixture::msi_x_table, 0x1000,        std::uint64_t{random()} << 32,
                                 ~0ull << 12};
  tlp->set_address((bases[random() % 7] + random() % 0x3000) & (random() % 8 ? ~3ull : ~0ull));
  const bool read = header.type == TlpType::MRd || header.type == TlpType::CfgRd0 ||
                    header.type == TlpType::CfgRd1;
  const bool write = header.type == TlpType::MWr || header.type == TlpType::CfgWr0 ||
                     header.type == TlpType::CfgWr1 || header.type == TlpType::DMWr;
  tlp->set_command(read    ? tlm::TLM_READ_COMMAND
                   : write ? tlm::TLM_WRITE_COMMAND
                           : tlm::TLM_IGNORE_COMMAND);
  header.requester = random() % 4 ? Fixture::root_port : random();
  header.completer = random();
  header.target = random() % 4 ? Fixture::device : random();
  header.tag = random() % 8 ? random() % 32 : random();
  header.length = random() % 4 ? 1 + random() % 4 : random() % 8 ? random() % 80 : random();
  header.first_be = random() % 4 ? 0xf : random();
  header.last_be = random() % 4 ? (header.length == 1 ? 0 : 0xf) : random();
  header.traffic_class = random();
  header.relaxed_ordering = random() & 1;
  header.id_based_ordering = random() & 1;
  header.poisoned = random() % 16 == 0;
  header.ecrc = random() % 16 == 0;
  header.address_type = static_cast<AddressType>(random() % 8 ? 0 : random() % 4);
  header.status = static_cast<Status>(random() % 8);
  header.byte_count = random() % 4 ? 4 * header.length : random();
  header.lower_address = random();
  header.register_offset = random() % 8 ? random() & 0xffc : random() & 0xfffc;
  header.message_code = random() % 4 ? 0x20 + random() % 8 : random();
  if (header.length <= 1024) {
    for (unsigned i = 0; i < 4u * header.length; ++i) tlp->data()[i] = random();
  }
  return tlp;
}

constexpr unsigned virtual_functions = 4;

void add_virtual_functions(FunctionConfig& config) {
  config.virtual_functions = {virtual_functions,
                              0x0ae1,
                              {BarConfig::prefetchable_64(0, 0x4000)},
                              {2, 0, 0x2000, 0, 0x3000}};
}

// Where software may have enabled some, and turned them off since.
void use_one(Function& physical, std::mt19937& random) {
  Function& function = physical.virtual_function(random() % virtual_functions);
  function.signal(random() % 3);
}

TEST(Fuzz, AnEndpointSurvivesAnyTlp) {
  vp::Domain host("host"), card("card");
  vp::Trace trace;
  vp::Statistics statistics;
  Peer peer(host);
  Fixture::Config config;
  add_virtual_functions(config.endpoint.functions[0]);
  config.endpoint.functions[0].deferrable_writes = 128;
  config.endpoint.functions.resize(2, config.endpoint.functions[0]);
  Endpoint endpoint("endpoint", config.endpoint, card, statistics);
  Link link("link", {}, peer, endpoint, trace, statistics);
  Logic logic("logic", card);
  endpoint.function(0).bar.bind(logic.bar);
  logic.dma.bind(endpoint.function(0).dma);
  const unsigned sr_iov = [&] {
    const ConfigSpace& space = endpoint.function(1).config_space();
    unsigned at = 0x100;
    while (space.read(at, 2) != 0x0010) at = space.read(at, 4) >> 20;
    return at;
  }();
  unsigned most = 0;
  std::mt19937 random(7);
  for (unsigned i = 0; i < 100'000; ++i) {
    if (i % 100 == 0) {  // gives it back its addresses
      const std::uint32_t values[][2] = {{0x10, 0xc0000000}, {0x14, 0},          {0x18, 0},
                                         {0x1c, 0x40},       {0x20, 0xc0100000}, {0x04, 6}};
      for (const auto& value : values) {
        peer.send(Tlp::config_write(false, Fixture::device, value[0], 4, value[1]));
      }
      const Id second = make_id(1, 0, 1);
      peer.send(Tlp::config_write(false, second, sr_iov + SrIov::num_vfs, 2, random() % 6));
      peer.send(Tlp::config_write(false, second, sr_iov + SrIov::vf_bar, 4, 0xc0000000));
      peer.send(Tlp::config_write(false, second, sr_iov + SrIov::vf_bar + 4, 4, 0));
      peer.send(Tlp::config_write(false, second, sr_iov + SrIov::control, 2, random()));
    }
    logic.latency = random() % 2 * 1000;
    logic.answer = random() % 8 ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE;
    peer.send(random_tlp(random));
    if (random() % 4 == 0) endpoint.function(0).signal(random() % 20);
    use_one(endpoint.function(random() % 2), random);
    for (unsigned j = 0; j < virtual_functions; ++j) {
      if (endpoint.function(1).virtual_function(j).exists()) most = std::max(most, j + 1);
    }
    if (i % 50 == 49) sc_core::sc_start(10, sc_core::SC_US);
  }
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_GT(peer.received, 10'000u);
  EXPECT_GT(logic.uses.size(), 1'000u);
  EXPECT_EQ(most, virtual_functions);
}

class AnyPeer : public testing::TestWithParam<bool> {};

// The same with peer-to-peer traffic, where packets can reach the other port or return.
TEST_P(AnyPeer, IsSurvivedByARootComplex) {
  Fixture::Config config;
  config.root_complex.ports.resize(2);
  config.root_complex.peer_to_peer = GetParam();
  config.root_complex.completion_timeout = 20 * vp::us;
  Fixture fixture(config);
  Peer peer(fixture.card);
  Link second("second", {}, fixture.root_complex.port(1), peer, fixture.trace, fixture.statistics);
  std::mt19937 random(11);
  fixture.run([&] {
    fixture.enumerate();
    const Id other = make_id(0, 2, 0);
    fixture.config_write(other, Type1Header::primary_bus_number, 0x00020200, 4);
    fixture.config_write(other, Type1Header::memory_base, 0xc200c200, 4);
    fixture.config_write(other, Header::command, memory_and_master, 2);
    const unsigned access_control = fixture.find_extended_capability(other, AccessControl::id);
    const std::uint64_t checked = Fixture::bar2 + 0x7000;  // where it does not write
    for (unsigned i = 0; i < 100'000; ++i) {
      TlpPtr tlp = random_tlp(random);
      if (tlp->is_completion() && random() % 2) tlp->header.requester = other;
      if (tlp->is_memory() && random() % 8 == 0) {
        tlp->set_address(0xc2000000 + (tlp->get_address() & 0xfffff));
      }
      if (i % 500 == 0)
        fixture.config_write(other, access_control + AccessControl::control, random() & 0x7e, 2);
      peer.send(std::move(tlp));
      if (i % 1000 == 0) {
        fixture.read(0xc2000000 + random() % 4096, 1 + random() % 8);  // all ones, or what it said
      }
      if (i % 100 == 99) {
        fixture.write(checked, i, 8);
        ASSERT_EQ(fixture.read(checked, 8), i) << "the other port works on";
      }
    }
  });
  EXPECT_GT(peer.received, 1'000u);
  EXPECT_EQ(fixture.counter("root_complex.port1.peer_to_peer") > 1'000, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Fuzz, AnyPeer, testing::Bool());

// From all sides, with the registers of its ports written at random; after a reset it is as new.
TEST(Fuzz, ASwitchSurvivesAnyTlp) {
  SwitchConfig config = SwitchEnds::with_ports(3);
  config.ports[0].containment = config.ports[1].containment = true;
  config.credits.classes[0] = config.ports[2].credits.classes[1] = {1, 16};
  SwitchEnds fixture(config);
  std::mt19937 random(13);
  unsigned received = 0;
  const auto reset = [&] {
    fixture.root.hold_link(Reset::fundamental);
    fixture.run();
    fixture.root.release_link(Reset::fundamental);
    fixture.run();
    fixture.root.received.clear();
    fixture.enumerate();
  };
  for (unsigned i = 0; i < 100'000; ++i) {
    TlpPtr tlp = random_tlp(random);
    if (tlp->is_memory() && random() % 2) {
      tlp->set_address(SwitchEnds::bar(random() % 4) + (tlp->get_address() & 0xffff));
    }
    if (random() % 2) tlp->header.requester = SwitchEnds::device_id(random() % 4);
    if (random() % 2) tlp->header.target = SwitchEnds::port_id(random() % 4) + random() % 2;
    const unsigned from = random() % 4;
    (from == 3 ? fixture.root : *fixture.ends[from]).send(std::move(tlp));
    if (random() % 64 == 0) {
      const Id id = random() % 4 ? SwitchEnds::port_id(random() % 3) : SwitchEnds::upstream_id;
      const unsigned offset = random() % 2 ? random() % 0x240 & ~3u : random() % 0x40 & ~3u;
      fixture.root.send(Tlp::config_write(id != SwitchEnds::upstream_id, id, offset, 4, random()));
    }
    if (i % 16 == 0) sc_core::sc_start(1, sc_core::SC_US);
    for (const auto& end : fixture.ends) {
      received += end->received.size();
      end->received.clear();
    }
    fixture.root.received.clear();
    if (i % 2'000 == 1'999) {
      reset();
      fixture.ends[0]->send(SwitchEnds::write(0, SwitchEnds::bar(1)));
      fixture.ends[2]->send(SwitchEnds::read(2, 0x1000));
      fixture.run();
      ASSERT_TRUE(fixture.ends[1]->take()) << i;
      ASSERT_TRUE(fixture.root.take()) << i;
    }
  }
  EXPECT_GT(received, 5'000u);
}

// Accesses of software anywhere, with the devices' registers written at random too; and perhaps a
// card that is pulled at any moment, and errors that contain it.
class AnySoftware : public testing::TestWithParam<bool> {};

TEST_P(AnySoftware, IsSurvived) {
  const bool cards = GetParam();
  Fixture::Config config;
  config.root_complex.completion_timeout = 50 * vp::us;
  if (cards) {
    config.root_complex.ports[0].hot_plug = HotPlugSlotConfig::with(
        {&HotPlugSlotConfig::button, &HotPlugSlotConfig::indicators, &HotPlugSlotConfig::power});
    config.root_complex.ports[0].containment = true;
    config.root_complex.peer_to_peer = true;  // to itself, where access control lets it
  }
  config.endpoint.functions[0].interrupt_pin = 1;
  add_virtual_functions(config.endpoint.functions[0]);
  Fixture fixture(config);
  fixture.logic.keep_uses = false;
  std::mt19937 random(23);
  unsigned removed = 0, contained = 0;
  auto disturb = [&] {
    RootPort& port = fixture.root_complex.port(0);
    const auto direction = static_cast<Direction>(random() % 2);
    switch (random() % 4) {
      case 0:
        removed += port.remove_card();
        break;
      case 1:
        port.insert_card();
        break;
      case 2:
        port.press_attention_button();
        break;
      default:
        fixture.link.inject(direction, {all_errors[random() % std::size(all_errors)], {}, 1});
    }
  };
  auto put_right = [&] {
    sc_core::wait(1, sc_core::SC_US);  // for what is on its way
    const unsigned express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    const unsigned containment =
        fixture.find_extended_capability(Fixture::root_port, DownstreamPortContainment::id);
    contained += fixture.config_read(Fixture::root_port,
                                     containment + DownstreamPortContainment::status, 2) &
                 1;
    fixture.config_write(Fixture::root_port, containment + DownstreamPortContainment::control, 0,
                         2);
    fixture.config_write(Fixture::root_port, containment + DownstreamPortContainment::status, 1, 2);
    fixture.config_write(Fixture::root_port, express + PciExpress::slot_control, 0, 2);
    fixture.root_complex.port(0).insert_card();
  };
  fixture.run([&] {
    fixture.enumerate();
    const unsigned express = fixture.find_capability(Fixture::device, PciExpress::id);
    EXPECT_EQ(express, fixture.find_capability(Fixture::root_port, PciExpress::id));
    const unsigned timeout_control = express + PciExpress::device_control_2;
    for (unsigned i = 0; i < 100'000; ++i) {
      std::uint8_t data[64], enables[64];
      for (unsigned j = 0; j < 64; ++j) data[j] = random();
      for (unsigned j = 0; j < 64; ++j) enables[j] = random() % 4 ? 0xff : 0;
      const std::uint64_t config_space =
          Fixture::ecam +
          (std::uint64_t{random() % 2 ? Fixture::device : Fixture::root_port} << 12);
      const std::uint64_t bases[] = {Fixture::bar0, Fixture::bar2, Fixture::bar4,
                                     Fixture::ecam, config_space,  config_space};
      tlm::tlm_generic_payload payload;
      payload.set_command(random() % 2 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
      payload.set_address(random() % 64 ? bases[random() % 6] + random() % 0x1100
                                        : std::uint64_t{random()} << random() % 33);
      const unsigned sizes[] = {1, 2, 4, 8, 64};
      const unsigned length = random() % 2 ? sizes[random() % 5] : random() % 68;
      // Software that turns the timeout off may wait forever, and is right to.
      const unsigned register_offset = payload.get_address() & 0xfff;
      if (payload.get_address() >= Fixture::ecam && register_offset < timeout_control + 2 &&
          register_offset + length > timeout_control) {
        continue;
      }
      payload.set_data_ptr(data);
      payload.set_data_length(length);
      payload.set_streaming_width(length);
      if (random() % 4 == 0) {
        payload.set_byte_enable_ptr(enables);
        payload.set_byte_enable_length(random() % 65);
      }
      if (cards && random() % 32 == 0) fixture.spawn(disturb);
      fixture.access(payload);
      if (random() % 16 == 0) {
        const std::uint64_t address = random() % 8 ? 0 : Fixture::bar0;
        fixture.logic.dma_write(address + random() % 0x110000,
                                std::vector<std::uint8_t>(1 + random() % 300));
      }
      if (random() % 16 == 0) {
        auto read = fixture.logic.dma_read(random() % 0x110000, 1 + random() % 300);
        fixture.wait_for(*read);
      }
      if (random() % 16 == 0) fixture.endpoint.function(0).signal(random() % 17);
      use_one(fixture.endpoint.function(0), random);
      if (random() % 16 == 0) fixture.endpoint.function(0).set_intx(random() & 1);
      if (i % 500 == 0) {
        fixture.config_write(Fixture::root_port, Type1Header::bridge_control, 0,
                             2);  // ends a reset of the secondary bus
        fixture.config_write(Fixture::root_port, express + PciExpress::link_control, 0,
                             2);  // enables the link
        if (cards) put_right();
        sc_core::wait(1, sc_core::SC_US);
        fixture.enumerate();
        const unsigned power = fixture.find_capability(Fixture::device, PowerManagement::id);
        fixture.config_write(Fixture::root_port,
                             ConfigSpace::first_capability + PowerManagement::control, 0, 4);
        fixture.config_write(Fixture::device, power + PowerManagement::control, 0, 2);
        fixture.enumerate();
        fixture.set_sizes(128, 512);
        fixture.write(Fixture::bar2, i, 8);
        ASSERT_EQ(fixture.read(Fixture::bar2, 8), i);
        if (cards) {
          const unsigned containment =
              fixture.find_extended_capability(Fixture::root_port, DownstreamPortContainment::id);
          fixture.config_write(Fixture::root_port, containment + DownstreamPortContainment::control,
                               random() % 3, 2);
        }
      }
    }
  });
  EXPECT_EQ(removed > 100, cards);
  EXPECT_EQ(contained > 10, cards);
}

INSTANTIATE_TEST_SUITE_P(Cards, AnySoftware, testing::Bool());

}  // namespace
}  // namespace pcie
