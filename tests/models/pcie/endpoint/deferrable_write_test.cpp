// SPDX-License-Identifier: Apache-2.0
// Deferrable memory writes (DMWr, PCIe 6.0, 6.32): on the wire, taken and deferred by device logic,
// asked for by it, and completed by host memory.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes counted(unsigned bytes) {
  Bytes data(bytes);
  for (unsigned i = 0; i < bytes; ++i) data[i] = 0x11 + i;
  return data;
}

TEST(DeferrableWrite, OnTheWire) {
  const Bytes data = counted(128);
  TlpPtr tlp = Tlp::deferrable_write(0xfffff004, data.data(), 64);
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x5b000010, 0x000000ff, 0xfffff004, 0}));
  EXPECT_EQ(wire_bytes(*tlp, 3), 8u + 12 + 64);
  EXPECT_EQ(wire_bytes(*tlp, 6), 12u + 64);
  EXPECT_EQ(Credits::of(*tlp).data, 4u);
  tlp = Tlp::deferrable_write(0x100000f83, data.data(), 122);
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x7b000020, 0x00000018, 1, 0x00000f80}))
      << "bytes 3 to 124 of 128";
  EXPECT_EQ(wire_bytes(*tlp, 6), 16u + 4 + 128) << "byte enables are content of their own";
  EXPECT_EQ(Credits::of(*tlp).data, 8u) << "more than any other non-posted request";
  EXPECT_TRUE(tlp->is_non_posted());
  EXPECT_TRUE(tlp->is_memory());
  EXPECT_TRUE(tlp->has_data());
  EXPECT_EQ(credit_class(TlpType::DMWr), CreditClass::non_posted);
  EXPECT_EQ(category(TlpType::DMWr), Category::non_posted_with_data);
  EXPECT_STREQ(to_string(TlpType::DMWr), "DMWr");
  const TlpPtr completion = Tlp::completion(*tlp, Fixture::device, Status::configuration_retry);
  EXPECT_EQ(completion->header_words(), (HeaderWords{0x0a000000, 0x01004004, 0, 0}))
      << "2.2.9: a byte count of 4, and no lower address";
}

TEST(DeferrableWrite, IsWellFormedAsAnyWriteIs) {
  const Bytes data = counted(128);
  for (unsigned bytes = 1; bytes <= 128; ++bytes) {
    for (unsigned offset = 0; offset < 4 && offset + bytes <= 128; ++offset) {
      TlpPtr tlp = Tlp::deferrable_write(0x1000 - 128 + offset, data.data(), bytes);
      EXPECT_TRUE(well_formed(*tlp, 128));
      if (tlp->header.length == 1) continue;
      tlp->set_address(0x1004 - 4 * tlp->header.length);
      EXPECT_FALSE(well_formed(*tlp, 128)) << "into the next 4 KiB";
    }
  }
  TlpPtr tlp = Tlp::deferrable_write(0x1000, data.data(), 128);
  tlp->header.length = 33;
  EXPECT_FALSE(well_formed(*tlp, 128)) << "more than Max_Payload_Size";
  EXPECT_TRUE(well_formed(*tlp, 256)) << "a length that is not supported is no malformation";
  tlp->header.length = 32;
  tlp->header.last_be = 0;
  EXPECT_FALSE(well_formed(*tlp, 128));
}

TEST(DeferrableWrite, ABufferHasRoomForOne) {
  CreditConfig config;
  Credits& credits = config.classes[static_cast<unsigned>(CreditClass::non_posted)];
  for (const unsigned bytes : {0u, 64u, 128u}) {
    for (const bool atomics : {false, true}) {
      const unsigned least = std::max({1u, atomics ? 2u : 0u, bytes / 16});
      for (credits.data = 1; credits.data < 10; ++credits.data) {
        if (credits.data < least) {
          EXPECT_THROW(CreditAccount(config, 128, atomics, bytes), ConfigurationError);
        } else {
          EXPECT_NO_THROW(CreditAccount(config, 128, atomics, bytes));
        }
      }
    }
  }
}

// Device logic that takes, defers, refuses, or answers later.
struct Queue : sc_core::sc_module {
  tlm_utils::simple_target_socket_optional<Queue> bar;
  tlm_utils::simple_initiator_socket<Queue> dma;
  struct Offer {
    std::uint64_t offset;
    Bytes data, enables;
  };
  std::vector<Offer> offers;
  unsigned to_defer = 0;
  tlm::tlm_response_status answer = tlm::TLM_OK_RESPONSE;
  bool later = false;
  bool full = false;      // accepts no write that cannot be deferred until accept()
  bool acquires = false;  // keeps a deferrable write beyond its answer
  tlm::tlm_generic_payload* waiting = nullptr;
  tlm::tlm_generic_payload* untaken = nullptr;
  std::deque<std::unique_ptr<Logic::Dma>> sent;

  explicit Queue(const sc_core::sc_module_name& name) : sc_module(name), bar("bar"), dma("dma") {
    bar.register_nb_transport_fw(this, &Queue::access);
    dma.register_nb_transport_bw(this, &Queue::response);
  }
  tlm::tlm_sync_enum access(tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
    EXPECT_TRUE(payload.is_write());
    EXPECT_EQ(untaken, nullptr) << "after a write that was not accepted";
    if (!payload.get_extension<Access>()->deferrable) {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      if (full) untaken = &payload;
      return full ? tlm::TLM_ACCEPTED : tlm::TLM_COMPLETED;
    }
    if (acquires) payload.acquire();
    const std::uint8_t* data = payload.get_data_ptr();
    const std::uint8_t* enables = payload.get_byte_enable_ptr();
    offers.push_back({payload.get_address(), Bytes(data, data + payload.get_data_length()), {}});
    if (enables != nullptr) {
      offers.back().enables.assign(enables, enables + payload.get_byte_enable_length());
    }
    waiting = &payload;
    if (later) return tlm::TLM_ACCEPTED;
    decide();
    return tlm::TLM_COMPLETED;
  }
  void decide() {
    waiting->set_response_status(answer);
    if (to_defer > 0) {
      --to_defer;
      waiting->get_extension<Access>()->deferred = true;
    }
  }
  void answer_now() {
    decide();
    respond(*waiting);
  }
  void accept() {
    full = false;
    respond(*std::exchange(untaken, nullptr));
  }
  void respond(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    EXPECT_EQ(bar->nb_transport_bw(payload, phase, delay), tlm::TLM_COMPLETED);
  }
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                              sc_core::sc_time&) {
    auto& transfer = static_cast<Logic::Dma&>(payload);
    EXPECT_FALSE(transfer.done);
    transfer.done = true;
    transfer.when = vp::now();
    return tlm::TLM_COMPLETED;
  }
  Logic::Dma& send(std::uint64_t address, const Bytes& data) {
    sent.push_back(std::make_unique<Logic::Dma>());
    Logic::Dma& transfer = *sent.back();
    transfer.data = data;
    transfer.access->deferrable = true;
    transfer.set_extension(transfer.access);
    transfer.set_command(tlm::TLM_WRITE_COMMAND);
    transfer.set_address(address);
    transfer.set_data_ptr(transfer.data.data());
    transfer.set_data_length(transfer.data.size());
    transfer.set_streaming_width(transfer.data.size());
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    if (dma->nb_transport_fw(transfer, phase, delay) == tlm::TLM_COMPLETED) {
      transfer.done = true;
      transfer.when = vp::now();
    }
    return transfer;
  }
};

// A host in the test's hands.
struct Hand : Port {
  struct Received {
    vp::Picoseconds when;
    TlpPtr tlp;
  };
  std::vector<Received> received;
  using Port::send;
  explicit Hand(vp::Domain& domain) : Port(domain, {5, 16, 0}) {}
  void receive(TlpPtr tlp) override { received.push_back({vp::now(), std::move(tlp)}); }
  void trained(unsigned, unsigned) override {}
};

constexpr std::uint64_t base = 0xc0000000;

struct Card {
  explicit Card(unsigned bytes, unsigned at_a_time = FunctionConfig().bar_reads)
      : endpoint("endpoint", config(bytes, at_a_time), card, statistics) {
    endpoint.function(0).bar.bind(queue.bar);
    queue.dma.bind(endpoint.function(0).dma);
    write(0x10, 4, base);
    write(0x04, 2, 6);
    if (bytes > 0) write(device_3() + 8, 4, 1);
    write(extended(AdvancedErrorReporting::id) + AdvancedErrorReporting::correctable_mask, 4,
          0);  // advisory errors set their bit too
  }
  static EndpointConfig config(unsigned bytes, unsigned at_a_time) {
    EndpointConfig config;
    FunctionConfig& function = config.functions[0];
    function.deferrable_writes = bytes;
    function.bar_reads = at_a_time;
    function.deferral = 3 * vp::us;
    function.bars = {BarConfig::memory_32(0, 0x10000)};
    function.msi_x = {16, 0, 0x8000, 0, 0xc000};
    return config;
  }
  ConfigSpace& space() { return endpoint.function(0).config_space(); }
  unsigned extended(unsigned id) {
    unsigned at = 0x100;
    while (at != 0 && space().read(at, 2) != id) at = space().read(at, 4) >> 20;
    return at;
  }
  unsigned device_3() { return extended(Device3::id); }
  void run(vp::Picoseconds span = 1 * vp::us) { sc_core::sc_start(vp::to_sc_time(span)); }
  void write(unsigned offset, unsigned bytes, std::uint32_t value) {
    host.send(Tlp::config_write(false, Fixture::device, offset, bytes, value));
    run();
    host.received.clear();
  }
  // The one completion of a deferrable write, and what the function logs of it.
  Status answer(TlpPtr tlp) {
    tlp->header.tag = ++tag;
    tlp->header.requester = Fixture::root_port;
    host.received.clear();
    host.send(std::move(tlp));
    run();
    return last();
  }
  Status last() {
    EXPECT_EQ(host.received.size(), 1u);
    if (host.received.empty()) return Status::completer_abort;
    const TlpHeader& header = host.received[0].tlp->header;
    EXPECT_EQ(header.type, TlpType::Cpl);
    EXPECT_EQ(header.tag, tag);
    EXPECT_EQ(header.requester, Fixture::root_port);
    EXPECT_EQ(header.completer, Fixture::device);
    EXPECT_EQ(header.byte_count, 4);
    return header.status;
  }
  // Bits of uncorrectable status since the last time.
  std::uint32_t errors() {
    const unsigned at =
        extended(AdvancedErrorReporting::id) + AdvancedErrorReporting::uncorrectable_status;
    const std::uint32_t found = space().read(at, 4);
    space().set(at, 4, 0);
    return found;
  }

  vp::Domain host_domain{"host"}, card{"card"};
  vp::Trace trace;
  vp::Statistics statistics;
  Hand host{host_domain};
  Endpoint endpoint;
  Link link{"link", {}, host, endpoint, trace, statistics};
  Queue queue{"queue"};
  unsigned tag = 0;
};

class Completing : public testing::TestWithParam<unsigned> {};

TEST_P(Completing, TakesDefersAndRefuses) {
  const unsigned supported = GetParam();
  Card card(supported);
  for (unsigned bytes = 1; bytes <= 128; ++bytes) {
    for (const std::uint64_t offset : {std::uint64_t{0x1000}, std::uint64_t{0x1fff - 127}}) {
      const Bytes data = counted(bytes);
      card.queue.offers.clear();
      TlpPtr tlp = Tlp::deferrable_write(base + offset, data.data(), bytes);
      const bool fits = tlp->payload_bytes() <= supported;
      ASSERT_EQ(card.answer(std::move(tlp)), fits ? Status::success : Status::unsupported_request);
      ASSERT_EQ(card.errors(), fits ? 0 : bit_of(Error::unsupported_request));
      ASSERT_EQ(card.queue.offers.size(), fits ? 1u : 0u) << "in one piece";
      if (!fits) continue;
      EXPECT_EQ(card.queue.offers[0].offset, offset);
      EXPECT_EQ(card.queue.offers[0].data, data);
      EXPECT_TRUE(card.queue.offers[0].enables.empty());
      card.queue.to_defer = 1;
      ASSERT_EQ(card.answer(Tlp::deferrable_write(base + offset, data.data(), bytes)),
                Status::configuration_retry);
      ASSERT_EQ(card.errors(), 0u) << "to be deferred is no error";
    }
  }
  const Bytes data = counted(64);
  const auto one = [&](std::uint64_t offset) {
    return Tlp::deferrable_write(base + offset, data.data(), 64);
  };
  card.queue.answer = tlm::TLM_GENERIC_ERROR_RESPONSE;
  EXPECT_EQ(card.answer(one(0)), Status::completer_abort);
  EXPECT_EQ(card.errors(), bit_of(Error::completer_abort));
  card.queue.answer = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  EXPECT_EQ(card.answer(one(0)), Status::unsupported_request);
  EXPECT_EQ(card.errors(), bit_of(Error::unsupported_request));
  card.queue.answer = tlm::TLM_OK_RESPONSE;
  card.queue.offers.clear();
  for (const std::uint64_t offset : {0x8000, 0x80c0, 0xc000}) {
    EXPECT_EQ(card.answer(one(offset)), Status::unsupported_request) << "MSI-X " << offset;
    EXPECT_EQ(card.errors(), bit_of(Error::unsupported_request));
  }
  EXPECT_EQ(card.answer(one(0x10000)), Status::unsupported_request) << "no BAR";
  card.errors();
  TlpPtr poisoned = one(0);
  poisoned->header.poisoned = true;
  EXPECT_EQ(card.answer(std::move(poisoned)), Status::unsupported_request);
  EXPECT_EQ(card.errors(), bit_of(Error::poisoned_tlp));
  EXPECT_TRUE(card.queue.offers.empty());
  // Byte enables with holes reach device logic, and a write without bytes does not.
  TlpPtr holes = one(0x20);
  holes->header.first_be = 0xa;
  holes->header.last_be = 0x5;
  EXPECT_EQ(card.answer(std::move(holes)), Status::success);
  ASSERT_EQ(card.queue.offers.size(), 1u);
  EXPECT_EQ(card.queue.offers[0].offset, 0x21u);
  Bytes enables(62, 0xff);
  enables[1] = enables[60] = 0;
  EXPECT_EQ(card.queue.offers[0].enables, enables);
  TlpPtr nothing = Tlp::deferrable_write(base, data.data(), 4);
  nothing->header.first_be = 0;
  EXPECT_EQ(card.answer(std::move(nothing)), Status::success);
  EXPECT_EQ(card.queue.offers.size(), 1u);
  // Answered later, and after a reset no more.
  card.queue.later = true;
  for (const bool deferred : {false, true}) {
    card.host.received.clear();
    TlpPtr tlp = one(0);
    tlp->header.tag = ++card.tag;
    tlp->header.requester = Fixture::root_port;
    card.host.send(std::move(tlp));
    card.run();
    EXPECT_TRUE(card.host.received.empty());
    card.queue.to_defer = deferred;
    card.queue.answer_now();
    card.run();
    EXPECT_EQ(card.last(), deferred ? Status::configuration_retry : Status::success);
  }
  card.host.received.clear();
  card.host.send(one(0));
  card.run();
  card.endpoint.function(0).reset(Reset::function);
  card.queue.answer_now();
  card.run();
  ASSERT_EQ(card.host.received.size(), 1u);
  EXPECT_EQ(card.host.received[0].tlp->header.status, Status::unsupported_request);
}

INSTANTIATE_TEST_SUITE_P(DeferrableWrite, Completing, testing::Values(64, 128));

// Two deferrable writes for device logic that takes one at a time.
void send_two(Card& card) {
  const Bytes data = counted(16);
  for (card.tag = 1; card.tag <= 2; ++card.tag) {
    TlpPtr tlp = Tlp::deferrable_write(base + 64 * card.tag, data.data(), 16);
    tlp->header.tag = card.tag;
    tlp->header.requester = Fixture::root_port;
    card.host.send(std::move(tlp));
  }
}

// A configuration write passes a deferrable write that waits for device logic.
TEST(DeferrableWrite, IsRefusedIfItsBarIsClosedMeanwhile) {
  Card card(64, 1);
  card.queue.later = true;
  send_two(card);
  card.run();
  EXPECT_EQ(card.queue.offers.size(), 1u);
  card.write(0x04, 2, 4);  // without Memory Space
  card.queue.answer_now();
  card.run();
  ASSERT_EQ(card.host.received.size(), 2u);
  EXPECT_EQ(card.host.received[0].tlp->header.status, Status::success);
  EXPECT_EQ(card.host.received[1].tlp->header.status, Status::unsupported_request);
  EXPECT_EQ(card.queue.offers.size(), 1u);
}

// access.h: a function sends no other write before. The second one could be sent once the first one
// has its answer.
TEST(DeferrableWrite, ThatWaitsStaysBehindAWriteThatIsNotAccepted) {
  Card card(64, 1);
  card.queue.later = card.queue.full = true;
  send_two(card);
  const Bytes data = counted(4);
  card.host.send(Tlp::memory_write(base, data.data(), 4));
  card.run();
  ASSERT_NE(card.queue.untaken, nullptr);
  card.queue.answer_now();
  card.run();
  EXPECT_EQ(card.host.received.size(), 1u);
  EXPECT_EQ(card.queue.offers.size(), 1u);
  card.queue.accept();
  card.run();
  EXPECT_EQ(card.queue.offers.size(), 2u);
  card.queue.answer_now();
  card.run();
  EXPECT_EQ(card.host.received.size(), 2u);
}

// Device logic may keep a payload (IEEE 1666-2011, 14.5). The next one has its turn afterwards.
TEST(DeferrableWrite, WaitsForAPayloadThatDeviceLogicKeeps) {
  Card card(64, 1);
  card.queue.later = card.queue.acquires = true;
  send_two(card);
  card.run();
  card.queue.answer_now();
  card.run();
  EXPECT_EQ(card.host.received.size(), 1u);
  EXPECT_EQ(card.queue.offers.size(), 1u);
  card.queue.waiting->release();
  card.run();
  ASSERT_EQ(card.queue.offers.size(), 2u);
  card.queue.answer_now();
  card.queue.waiting->release();
  card.run();
  EXPECT_EQ(card.host.received.size(), 2u);
}

TEST(DeferrableWrite, IsRefusedWhereNothingTakesIt) {
  Card card(0);
  const Bytes data = counted(4);
  EXPECT_EQ(card.answer(Tlp::deferrable_write(base, data.data(), 4)), Status::unsupported_request);
  EXPECT_EQ(card.errors(), bit_of(Error::unsupported_request));
  EXPECT_EQ(card.device_3(), 0u);
  EXPECT_EQ(card.queue.send(0x1000, data).get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
}

TEST(DeferrableWrite, IsInTheRegisters) {
  Card card(64);
  const unsigned at = card.device_3();
  EXPECT_EQ(card.space().read(at, 4) & 0xfffff, 0x1002fu);
  EXPECT_EQ(card.space().read(at + Device3::device_capabilities_3, 4), 0u);
  card.space().write(at + Device3::device_control_3, 4, ~0u);
  EXPECT_EQ(card.space().read(at + Device3::device_control_3, 4), 1u);
  for (const unsigned bytes : {0u, 64u, 128u}) {
    ConfigSpace space;
    PciExpressConfig config;
    config.deferrable_writes = bytes;
    PciExpress express(space, config);
    EXPECT_EQ(space.read(express.offset() + PciExpress::device_capabilities_2, 4) >> 28,
              bytes == 0    ? 0u
              : bytes == 64 ? 1
                            : 3);
  }
  for (const unsigned bytes : {1u, 32u, 65u, 127u, 129u, 256u}) {
    ConfigSpace space;
    PciExpressConfig config;
    config.deferrable_writes = bytes;
    EXPECT_THROW(PciExpress(space, config), ConfigurationError);
  }
}

TEST(DeferrableWrite, IsSentWhileSoftwarePermits) {
  Card card(64);
  const Bytes data = counted(64);
  const auto refusal = [&](std::uint64_t address, unsigned bytes) {
    return card.queue.send(address, counted(bytes)).get_response_status();
  };
  EXPECT_EQ(refusal(0x1000, 129), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(refusal(0x1000, 0), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(refusal(0x1fff, 2), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "across 4 KiB";
  EXPECT_EQ(refusal(0x1f81, 128), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  card.write(card.device_3() + 8, 4, 0);
  EXPECT_EQ(refusal(0x1000, 64), tlm::TLM_COMMAND_ERROR_RESPONSE);
  card.write(card.device_3() + 8, 4, 1);
  card.write(0x04, 2, 2);
  EXPECT_EQ(refusal(0x1000, 64), tlm::TLM_COMMAND_ERROR_RESPONSE) << "Bus Master is off";
  card.write(0x04, 2, 6);
  Logic::Dma& one = card.queue.send(0x1f80, counted(128));
  card.run();
  ASSERT_EQ(card.host.received.size(), 1u);
  EXPECT_EQ(card.host.received[0].tlp->header.type, TlpType::DMWr);
  EXPECT_EQ(card.host.received[0].tlp->header.length, 32);
  EXPECT_FALSE(one.done);
}

// Until it is taken, by a new request each time and not sooner than the deferral.
TEST(DeferrableWrite, WhatIsDeferredIsSentAgain) {
  Card card(64);
  Logic::Dma& one = card.queue.send(0x1003, counted(61));
  card.run();
  vp::Picoseconds answered = 0;
  for (unsigned i = 0; i <= 5; ++i) {
    ASSERT_EQ(card.host.received.size(), 1u) << i;
    const Hand::Received request = std::move(card.host.received[0]);
    card.host.received.clear();
    EXPECT_EQ(request.tlp->header.type, TlpType::DMWr);
    EXPECT_EQ(request.tlp->get_address(), 0x1000u);
    EXPECT_EQ(std::memcmp(request.tlp->data() + 3, one.data.data(), 61), 0);
    if (i > 0) {
      EXPECT_GE(request.when - answered, 3 * vp::us);
      EXPECT_LT(request.when - answered, 4 * vp::us);
    }
    EXPECT_FALSE(one.done);
    answered = vp::now();
    card.host.send(Tlp::completion(*request.tlp, Fixture::root_port,
                                   i < 5 ? Status::configuration_retry : Status::success));
    card.run(5 * vp::us);
  }
  ASSERT_TRUE(one.done);
  EXPECT_TRUE(one.is_response_ok());
  EXPECT_TRUE(card.host.received.empty());
  EXPECT_EQ(card.errors(), 0u);
}

TEST(DeferrableWrite, EndsAsItsCompletionSays) {
  Card card(64);
  const struct {
    Status status;
    tlm::tlm_response_status response;
  } ends[] = {{Status::success, tlm::TLM_OK_RESPONSE},
              {Status::unsupported_request, tlm::TLM_ADDRESS_ERROR_RESPONSE},
              {Status::completer_abort, tlm::TLM_GENERIC_ERROR_RESPONSE}};
  for (const auto& end : ends) {
    Logic::Dma& one = card.queue.send(0x1000, counted(64));
    card.run();
    ASSERT_EQ(card.host.received.size(), 1u);
    card.host.send(Tlp::completion(*card.host.received[0].tlp, Fixture::root_port, end.status));
    card.run();
    card.host.received.clear();
    ASSERT_TRUE(one.done);
    EXPECT_EQ(one.get_response_status(), end.response);
  }
  // One without an answer, and one that waits to be sent again, in a reset and without Bus Master.
  Logic::Dma& lost = card.queue.send(0x1000, counted(64));
  card.run(60 * vp::ms);
  ASSERT_TRUE(lost.done);
  EXPECT_EQ(lost.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(card.errors(), bit_of(Error::completion_timeout));
  for (const bool reset : {true, false}) {
    card.host.received.clear();
    Logic::Dma& deferred = card.queue.send(0x1000, counted(64));
    card.run();
    const TlpPtr request = std::move(card.host.received[0].tlp);
    card.host.send(Tlp::completion(*request, Fixture::root_port, Status::configuration_retry));
    card.run();
    EXPECT_FALSE(deferred.done);
    if (reset) {
      card.endpoint.function(0).reset(Reset::function);
      EXPECT_EQ(deferred.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
      card.write(0x10, 4, base);
      card.write(card.device_3() + 8, 4, 1);
      card.write(0x04, 2, 6);
    } else {
      card.write(0x04, 2, 2);
      card.run(5 * vp::us);
      EXPECT_EQ(deferred.get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    EXPECT_TRUE(deferred.done);
    card.run(10 * vp::us);
    EXPECT_TRUE(card.host.received.empty()) << "nothing is sent again";
  }
}

class HostMemoryTakes : public testing::TestWithParam<unsigned> {};

TEST_P(HostMemoryTakes, WhatItSupports) {
  const unsigned supported = GetParam();
  Fixture::Config config;
  config.root_complex.deferrable_writes = supported;
  config.endpoint.functions[0].deferrable_writes = 128;
  config.root_complex.memory_latency = 40 * vp::ns;
  Fixture fixture(config);
  Queue queue("queue");
  queue.dma.bind(fixture.endpoint.function(0).dma);
  fixture.run([&] {
    fixture.enumerate();
    fixture.memory.fill();
    const unsigned at = fixture.find_extended_capability(Fixture::device, Device3::id);
    fixture.config_write(Fixture::device, at + Device3::device_control_3, 1, 4);
    for (unsigned bytes = 1; bytes <= 128; ++bytes) {
      for (const std::uint64_t address : {std::uint64_t{0x2000}, std::uint64_t{0x3000 - bytes}}) {
        const Bytes before = fixture.memory.at(address, bytes);
        Logic::Dma& one = queue.send(address, counted(bytes));
        pause(10 * vp::us);
        ASSERT_TRUE(one.done);
        const bool fits = ((address & 3) + bytes + 3) / 4 * 4 <= supported;
        EXPECT_EQ(one.get_response_status(),
                  fits ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE)
            << bytes;
        EXPECT_EQ(fixture.memory.at(address, bytes), fits ? counted(bytes) : before);
      }
    }
    for (const std::uint64_t address :
         {std::uint64_t{0xfee00000}, std::uint64_t{Fixture::bar0}, std::uint64_t{1} << 50}) {
      Logic::Dma& one = queue.send(address, counted(4));
      pause(10 * vp::us);
      ASSERT_TRUE(one.done);
      EXPECT_EQ(one.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << address;
    }
    EXPECT_TRUE(fixture.memory.messages.empty()) << "no interrupt";
    const unsigned express = fixture.find_capability(Fixture::root_port, PciExpress::id);
    EXPECT_EQ(
        fixture.config_read(Fixture::root_port, express + PciExpress::device_capabilities_2, 4) >>
            28,
        supported == 0    ? 0u
        : supported == 64 ? 1
                          : 3);
  });
}

INSTANTIATE_TEST_SUITE_P(DeferrableWrite, HostMemoryTakes, testing::Values(0, 64, 128));

}  // namespace
}  // namespace pcie
