// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/atomic.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr AtomicOperation operations[] = {AtomicOperation::fetch_add, AtomicOperation::swap,
                                          AtomicOperation::compare_and_swap};

struct Kind {
  AtomicOperation operation;
  unsigned operand;  // bytes
  unsigned operands() const {
    return operation == AtomicOperation::compare_and_swap ? 2 * operand : operand;
  }
};
// PCIe 5.0, table 2-13.
constexpr Kind kinds[] = {
    {AtomicOperation::fetch_add, 4},
    {AtomicOperation::fetch_add, 8},
    {AtomicOperation::swap, 4},
    {AtomicOperation::swap, 8},
    {AtomicOperation::compare_and_swap, 4},
    {AtomicOperation::compare_and_swap, 8},
    {AtomicOperation::compare_and_swap, 16},
};

// The reference: one number of 128 bits.
using Number = unsigned __int128;

Number number(const std::uint8_t* data, unsigned bytes) {
  Number value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= Number{data[i]} << 8 * i;
  return value;
}

void put(std::uint8_t* data, unsigned bytes, Number value) {
  for (unsigned i = 0; i < bytes; ++i) data[i] = static_cast<std::uint8_t>(value >> 8 * i);
}

Number result(const Kind& kind, Number before, const Bytes& operands) {
  const Number first = number(operands.data(), kind.operand);
  switch (kind.operation) {
    case AtomicOperation::fetch_add:
      return before + first;
    case AtomicOperation::swap:
      return first;
    default:
      return before == first ? number(operands.data() + kind.operand, kind.operand) : before;
  }
}

Bytes random_bytes(std::mt19937& random, unsigned count) {
  Bytes data(count);
  // Carries run far, and numbers are often equal.
  for (std::uint8_t& byte : data) byte = random() % 4 == 0 ? random() : random() % 2 ? 0xff : 0;
  return data;
}

std::unique_ptr<Logic::Dma> transfer(AtomicOperation operation, std::uint64_t address,
                                     const Bytes& operands) {
  auto dma = std::make_unique<Logic::Dma>();
  dma->data = operands;
  dma->access->atomic = operation;
  dma->set_extension(dma->access);
  dma->set_command(tlm::TLM_IGNORE_COMMAND);
  dma->set_address(address);
  dma->set_data_ptr(dma->data.data());
  dma->set_data_length(dma->data.size());
  dma->set_streaming_width(dma->data.size());
  return dma;
}

TEST(Atomic, EveryNumberOfBytesHasTheOperandsOfTheSpecification) {
  for (unsigned bytes = 0; bytes <= 64; ++bytes) {
    for (const TlpType type : {TlpType::FetchAdd, TlpType::Swap}) {
      EXPECT_EQ(operand_bytes(type, bytes), bytes == 4 || bytes == 8 ? bytes : 0u) << bytes;
    }
    const bool two = bytes == 8 || bytes == 16 || bytes == 32;
    EXPECT_EQ(operand_bytes(TlpType::CAS, bytes), two ? bytes / 2 : 0u) << bytes;
    EXPECT_EQ(operand_bytes(TlpType::MWr, bytes), 0u);
  }
}

TEST(Atomic, ComputesAsTheReferenceDoes) {
  std::mt19937 random(3);
  unsigned swapped = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    const Kind& kind = kinds[random() % std::size(kinds)];
    Bytes target = random_bytes(random, kind.operand);
    Bytes operands = random_bytes(random, kind.operands());
    if (random() % 2) std::copy(target.begin(), target.end(), operands.begin());
    if (random() % 4 == 0) operands[random() % kind.operand] ^= 1;
    Bytes expected = target;
    const Number after = result(kind, number(target.data(), kind.operand), operands);
    put(expected.data(), kind.operand, after);
    const TlpType type = *tlp_type_of(kind.operation);
    const bool written = execute(type, target.data(), operands.data(), kind.operand);
    ASSERT_EQ(target, expected) << to_string(type) << kind.operand;
    if (type != TlpType::CAS) {
      ASSERT_TRUE(written);
    }
    swapped += type == TlpType::CAS && written;
  }
  EXPECT_GT(swapped, 1000u);
}

// Figures 2-15 and 2-16 with the types of table 2-3.
TEST(Atomic, OnTheWire) {
  const Bytes operands(32, 0xa5);
  TlpPtr tlp = Tlp::atomic(TlpType::FetchAdd, 0xfffffffc, operands.data(), 4);
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x4c000001, 0x0000000f, 0xfffffffc, 0}));
  EXPECT_EQ(wire_bytes(*tlp, 3), 8u + 12 + 4);
  EXPECT_EQ(wire_bytes(*tlp, 6), 12u + 4);
  tlp = Tlp::atomic(TlpType::Swap, 0x100000008, operands.data(), 8);
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x6d000002, 0x000000ff, 1, 8}));
  EXPECT_EQ(wire_bytes(*tlp, 3), 8u + 16 + 8);
  tlp = Tlp::atomic(TlpType::CAS, 0x100000010, operands.data(), 32);
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x6e000008, 0x000000ff, 1, 0x10}));
  EXPECT_EQ(wire_bytes(*tlp, 3), 8u + 16 + 32);
  EXPECT_EQ(Credits::of(*tlp).data, 2u) << "more than any other non-posted request";
  EXPECT_TRUE(tlp->is_non_posted());
  EXPECT_EQ(credit_class(TlpType::CAS), CreditClass::non_posted);

  tlp->header.tag = 9;
  const TlpPtr completion = complete_atomic(*tlp, Fixture::root_port);
  EXPECT_EQ(completion->header_words(), (HeaderWords{0x4a000004, 0x00080010, 0x00000900, 0}))
      << "the byte count is the operand's, the lower address reserved (2.2.9)";
}

TEST(Atomic, EachMalformationIsSeen) {
  const Bytes operands(32);
  for (const Kind& kind : kinds) {
    const TlpType type = *tlp_type_of(kind.operation);
    for (unsigned offset = 0xff0; offset < 0x1010; offset += kind.operand) {
      const TlpPtr tlp = Tlp::atomic(type, offset, operands.data(), kind.operands());
      EXPECT_TRUE(well_formed(*tlp, 128)) << "up to the end of a page, and from there";
      for (unsigned by = 1; by < kind.operand; ++by) {
        tlp->set_address(offset + by);
        EXPECT_FALSE(well_formed(*tlp, 128)) << to_string(type) << ' ' << by;
      }
    }
    for (unsigned length = 0; length <= 32; ++length) {
      const TlpPtr tlp = Tlp::atomic(type, 0x1000, operands.data(), kind.operands());
      tlp->header.length = length;
      tlp->header.last_be = length > 1 ? 0xf : 0;
      EXPECT_EQ(well_formed(*tlp, 128), operand_bytes(type, 4 * length) != 0) << length;
    }
    for (unsigned first = 0; first < 16; ++first) {
      for (unsigned last = 0; last < 16; ++last) {
        const TlpPtr tlp = Tlp::atomic(type, 0x1000, operands.data(), kind.operands());
        tlp->header.first_be = first;
        tlp->header.last_be = last;
        EXPECT_EQ(well_formed(*tlp, 128), first == 15 && last == (kind.operands() > 4 ? 15u : 0u));
      }
    }
  }
}

// Table 2-43: a completer of AtomicOps has room for all operands.
TEST(Atomic, CreditsOfACompleter) {
  CreditConfig config;
  auto& non_posted = config.classes[static_cast<unsigned>(CreditClass::non_posted)];
  non_posted = {1, 1};
  EXPECT_NO_THROW(CreditAccount(config, 128));
  EXPECT_THROW(CreditAccount(config, 128, true), ConfigurationError);
  non_posted = {1, 2};
  CreditAccount account(config, 128, true);
  const Bytes operands(32);
  const TlpPtr largest = Tlp::atomic(TlpType::CAS, 0, operands.data(), 32);
  EXPECT_TRUE(account.enough_for(*largest));
  account.consume(*largest);
  EXPECT_EQ(account.available(CreditClass::non_posted).data, 0u);
}

class AtomicDma : public testing::Test {
 protected:
  static Fixture::Config with(const Credits& root_non_posted = {}) {
    Fixture::Config config;
    config.root_complex.ports[0].credits.classes[static_cast<unsigned>(CreditClass::non_posted)] =
        root_non_posted;
    return config;
  }
  // Device Control 2 of the device.
  static void permit(Fixture& fixture, bool permitted = true) {
    const unsigned control =
        fixture.find_capability(Fixture::device, PciExpress::id) + PciExpress::device_control_2;
    fixture.config_write(Fixture::device, control, permitted ? 1u << 6 : 0, 2);
  }
  static tlm::tlm_response_status run(Fixture& fixture, Logic::Dma& dma) {
    fixture.logic.start(dma);
    fixture.wait_for(dma);
    return dma.get_response_status();
  }
  static tlm::tlm_response_status run(Fixture& fixture, AtomicOperation operation,
                                      std::uint64_t address, const Bytes& operands) {
    const auto dma = transfer(operation, address, operands);
    return run(fixture, *dma);
  }
  static unsigned errors(Fixture& fixture, Id id) {
    const unsigned aer = fixture.find_extended_capability(id, AdvancedErrorReporting::id);
    return fixture.config_read(id, aer + AdvancedErrorReporting::uncorrectable_status, 4);
  }
  static void unmask_advisory(Fixture& fixture, Id id) {
    fixture.config_write(id,
                         fixture.find_extended_capability(id, AdvancedErrorReporting::id) +
                             AdvancedErrorReporting::correctable_mask,
                         0, 4);
  }
};

TEST_F(AtomicDma, SoftwareSeesWhoCompletesThemAndWhoMayAsk) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const unsigned root = fixture.find_capability(Fixture::root_port, PciExpress::id);
    const unsigned device = fixture.find_capability(Fixture::device, PciExpress::id);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, root + PciExpress::device_capabilities_2, 4) &
                  0x3c0,
              0x380u);
    EXPECT_EQ(
        fixture.config_read(Fixture::device, device + PciExpress::device_capabilities_2, 4) & 0x3c0,
        0u);
    fixture.config_write(Fixture::root_port, root + PciExpress::device_control_2, 0xc0, 2);
    EXPECT_EQ(
        fixture.config_read(Fixture::root_port, root + PciExpress::device_control_2, 2) & 0xc0, 0u);
    fixture.config_write(Fixture::device, device + PciExpress::device_control_2, 0xc0, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, device + PciExpress::device_control_2, 2) & 0xc0,
              0x40u);
  });
}

TEST_F(AtomicDma, EveryKindAtEveryPlaceAroundAPage) {
  Fixture fixture;
  std::mt19937 random(5);
  fixture.run([&] {
    fixture.enumerate();
    permit(fixture);
    unsigned count = 0;
    for (const Kind& kind : kinds) {
      for (unsigned at = 0x1fe0; at < 0x2020; at += kind.operand) {
        for (const bool equal : {false, true}) {
          std::uint8_t* target = &fixture.memory.bytes[at];
          for (unsigned i = 0; i < 0x60; ++i) fixture.memory.bytes[0x1fd0 + i] = random();
          Bytes operands = random_bytes(random, kind.operands());
          if (equal) std::copy_n(target, kind.operand, operands.begin());
          const Bytes before(target, target + kind.operand);
          Bytes all = fixture.memory.bytes;
          put(&all[at], kind.operand, result(kind, number(target, kind.operand), operands));
          const auto dma = transfer(kind.operation, at, operands);
          ASSERT_EQ(run(fixture, *dma), tlm::TLM_OK_RESPONSE);
          ASSERT_TRUE(std::equal(before.begin(), before.end(), dma->data.begin()));
          ASSERT_TRUE(std::equal(operands.begin() + kind.operand, operands.end(),
                                 dma->data.begin() + kind.operand))
              << "only the first operand";
          ASSERT_EQ(fixture.memory.bytes, all);
          ++count;
        }
      }
    }
    EXPECT_EQ(fixture.counter("endpoint.pf0.atomics"), count);
    EXPECT_EQ(fixture.link.count(Direction::up, TlpType::CAS).tlps, 2u * (16 + 8 + 4));
    EXPECT_EQ(fixture.link.count(Direction::up, TlpType::CAS).bytes, 2u * 64 * 2 * 3);
    EXPECT_EQ(errors(fixture, Fixture::root_port) | errors(fixture, Fixture::device), 0u);
  });
}

TEST_F(AtomicDma, WhatNoFunctionMaySend) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const Bytes eight(8);
    const auto swap = [&] { return run(fixture, AtomicOperation::swap, 0x1000, eight); };
    EXPECT_EQ(swap(), tlm::TLM_COMMAND_ERROR_RESPONSE) << "AtomicOp Requester Enable is off";
    permit(fixture);
    EXPECT_EQ(swap(), tlm::TLM_OK_RESPONSE);
    fixture.config_write(Fixture::device, Header::command, Header::CommandBit::memory_space, 2);
    EXPECT_EQ(swap(), tlm::TLM_COMMAND_ERROR_RESPONSE) << "Bus Master is off";
    fixture.config_write(Fixture::device, Header::command, memory_and_master, 2);
    for (const AtomicOperation operation : operations) {
      for (unsigned bytes = 1; bytes <= 64; ++bytes) {
        const unsigned operand = operand_bytes(*tlp_type_of(operation), bytes);
        EXPECT_EQ(run(fixture, operation, 0x1000, Bytes(bytes)),
                  operand != 0 ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE);
        for (unsigned by = 1; by < operand; ++by) {
          EXPECT_EQ(run(fixture, operation, 0x1000 + by, Bytes(bytes)),
                    tlm::TLM_ADDRESS_ERROR_RESPONSE);
        }
      }
    }
    EXPECT_EQ(run(fixture, static_cast<AtomicOperation>(7), 0x1000, eight),
              tlm::TLM_BURST_ERROR_RESPONSE);
    for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
      const auto dma = transfer(AtomicOperation::swap, 0x1000, eight);
      dma->set_command(command);
      EXPECT_EQ(run(fixture, *dma), tlm::TLM_COMMAND_ERROR_RESPONSE) << "neither one nor the other";
    }
    const auto dma = transfer(AtomicOperation::none, 0x1000, eight);
    EXPECT_EQ(run(fixture, *dma), tlm::TLM_COMMAND_ERROR_RESPONSE);
  });
}

TEST_F(AtomicDma, OneThatWaitsForATagNeedsThePermissionStill) {
  Fixture fixture;
  fixture.memory.read_time = 10 * vp::us;
  fixture.run([&] {
    fixture.enumerate();
    permit(fixture);
    std::vector<std::unique_ptr<Logic::Dma>> all;
    for (unsigned i = 0; i < 33; ++i) {
      all.push_back(transfer(AtomicOperation::fetch_add, 0x1000, Bytes(4, 1)));
      fixture.logic.start(*all.back());
    }
    permit(fixture, false);
    for (const auto& dma : all) fixture.wait_for(*dma);
    for (unsigned i = 0; i < 32; ++i) EXPECT_TRUE(all[i]->is_response_ok());
    EXPECT_EQ(all[32]->get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(fixture.memory.bytes[0x1000], 32);
  });
}

TEST_F(AtomicDma, WhatIsNoMemoryIsUnsupportedAndStaysAsItWas) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    permit(fixture);
    unmask_advisory(fixture, Fixture::root_port);
    const std::uint64_t end = fixture.memory.bytes.size();
    EXPECT_EQ(run(fixture, AtomicOperation::compare_and_swap, end - 16, Bytes(32)),
              tlm::TLM_OK_RESPONSE)
        << "operands do not lie behind one another there";
    EXPECT_EQ(errors(fixture, Fixture::root_port), 0u);
    unsigned refused = 0;
    for (const std::uint64_t address : {end, std::uint64_t{0xfee00000}, Fixture::bar0,
                                        Fixture::bar2, Fixture::ecam, ~std::uint64_t{15}}) {
      for (const Kind& kind : kinds) {
        EXPECT_EQ(run(fixture, kind.operation, address, Bytes(kind.operands())),
                  tlm::TLM_ADDRESS_ERROR_RESPONSE);
        ++refused;
      }
    }
    EXPECT_EQ(errors(fixture, Fixture::root_port), bit_of(Error::unsupported_request));
    EXPECT_EQ(fixture.counter("root_complex.port0.unsupported_requests"), refused);
    EXPECT_TRUE(fixture.memory.messages.empty());
    fixture.config_write(Fixture::root_port, Header::command, Header::CommandBit::memory_space, 2);
    EXPECT_EQ(run(fixture, AtomicOperation::swap, 0, Bytes(4)), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
}

TEST_F(AtomicDma, OnlyRamTakesThemWhereItIsKnown) {
  Fixture::Config config;
  config.root_complex.ram = {0x1000, 0x1000};
  Fixture fixture(config);
  fixture.run([&] {
    fixture.enumerate();
    permit(fixture);
    for (unsigned at = 0xff0; at < 0x2010; at += 8) {
      const bool inside = at >= 0x1000 && at < 0x2000;
      EXPECT_EQ(run(fixture, AtomicOperation::fetch_add, at, Bytes(8, 1)),
                inside ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE)
          << at;
      EXPECT_EQ(fixture.memory.bytes[at], inside ? 1 : 0);
    }
  });
}

TEST_F(AtomicDma, InjectedErrorsEndThem) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    permit(fixture);
    const auto swap = [&] { return run(fixture, AtomicOperation::swap, 0x1000, Bytes(8, 7)); };
    ASSERT_TRUE(fixture.link.inject(Direction::up, {Error::poisoned_tlp, TlpType::Swap}));
    EXPECT_EQ(swap(), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "2.7.2.2: Unsupported Request";
    EXPECT_EQ(errors(fixture, Fixture::root_port), bit_of(Error::poisoned_tlp));
    ASSERT_TRUE(fixture.link.inject(Direction::up, {Error::completer_abort, TlpType::Swap}));
    EXPECT_EQ(swap(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(fixture.memory.bytes[0x1000], 0) << "the target is as it was";
    ASSERT_TRUE(fixture.link.inject(Direction::up, {Error::completion_timeout, TlpType::Swap}));
    EXPECT_EQ(swap(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(errors(fixture, Fixture::device), bit_of(Error::completion_timeout));
    EXPECT_EQ(swap(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(fixture.memory.bytes[0x1000], 7);
  });
}

// As a read of one DW, whose request has 4 bytes of data more: 32 ns at x1 of generation 1.
TEST_F(AtomicDma, TakesTheTimeOfAReadAndOfItsOperands) {
  Fixture::Config config;
  config.link.generation = 1;
  config.link.lanes = 1;
  config.root_complex.memory_latency = 70 * vp::ns;
  Fixture fixture(config);
  fixture.memory.read_time = 30 * vp::ns;
  fixture.run([&] {
    fixture.enumerate();
    permit(fixture);
    const auto elapsed = [&](Logic::Dma& dma) {
      const vp::Picoseconds start = vp::now();
      if (!dma.done) fixture.wait_for(dma);
      return dma.when - start;
    };
    sc_core::wait(10, sc_core::SC_US);
    const auto read = fixture.logic.dma_read(0x1000, 4);
    const vp::Picoseconds of_read = elapsed(*read);
    const auto dma = transfer(AtomicOperation::fetch_add, 0x1000, Bytes(4, 1));
    sc_core::wait(10, sc_core::SC_US);
    fixture.logic.start(*dma);
    const double bytes = static_cast<double>(fixture.link.rate().picoseconds) /
                         static_cast<double>(fixture.link.rate().bytes);
    EXPECT_NEAR(static_cast<double>(elapsed(*dma) - of_read), 4 * bytes, 2);
  });
}

// Four functions, with several AtomicOps and writes under way at any time and few credits.
TEST_F(AtomicDma, FetchAddsOfManyLoseNoneAmongWrites) {
  Fixture::Config config = with({4, 2});
  config.endpoint.functions.resize(4, config.endpoint.functions[0]);
  Fixture fixture(config);
  std::mt19937 random(7);
  std::vector<std::unique_ptr<Logic>> others;
  for (unsigned i = 1; i < 4; ++i) {
    others.push_back(std::make_unique<Logic>(fmt::format("logic{}", i).c_str(), fixture.card));
    fixture.endpoint.function(i).bar.bind(others.back()->bar);
    others.back()->dma.bind(fixture.endpoint.function(i).dma);
  }
  fixture.run([&] {
    fixture.enumerate();
    const unsigned control =
        fixture.find_capability(Fixture::device, PciExpress::id) + PciExpress::device_control_2;
    for (unsigned i = 0; i < 4; ++i) {
      fixture.config_write(make_id(1, 0, i), Header::command, memory_and_master, 2);
      fixture.config_write(make_id(1, 0, i), control, 1u << 6, 2);
    }
    // Counters at 0x1000 that all add to; tickets at 0x2000 that all swap; a stack's head at 0x3000
    // that all compare and swap; and beside each 8 bytes that all write.
    std::vector<std::unique_ptr<Logic::Dma>> adds, swaps, compares, writes;
    std::vector<std::uint64_t> compared;
    std::uint64_t sum = 0;
    unsigned replaced = 0, expected_replacements = 0;
    for (unsigned i = 0; i < 4000; ++i) {
      Logic& logic = i % 4 == 0 ? fixture.logic : *others[i % 4 - 1];
      const auto go = [&](auto& list, AtomicOperation operation, std::uint64_t address,
                          const Bytes& operands) {
        list.push_back(transfer(operation, address, operands));
        logic.start(*list.back());
      };
      Bytes operands(16);
      switch (random() % 4) {
        case 0: {
          const std::uint64_t value = random();
          put(operands.data(), 8, value);
          operands.resize(8);
          sum += value;
          go(adds, AtomicOperation::fetch_add, 0x1000, operands);
          break;
        }
        case 1:
          put(operands.data(), 8, i + 1);
          operands.resize(8);
          go(swaps, AtomicOperation::swap, 0x2000, operands);
          break;
        case 2:
          compared.push_back(random() % 8);
          put(operands.data(), 8, compared.back());
          put(operands.data() + 8, 8, random() % 8);
          go(compares, AtomicOperation::compare_and_swap, 0x3000, operands);
          break;
        default:
          writes.push_back(logic.dma_write(0x1008 + 0x1000 * (random() % 3), Bytes(8, i)));
      }
      if (random() % 8 == 0) sc_core::wait(random() % 200, sc_core::SC_NS);
    }
    for (const auto* list : {&adds, &swaps, &compares, &writes}) {
      for (const auto& dma : *list) {
        fixture.wait_for(*dma);
        ASSERT_TRUE(dma->is_response_ok());
      }
    }
    const auto memory = [&](unsigned at) { return number(&fixture.memory.bytes[at], 8); };
    EXPECT_EQ(memory(0x1000), sum);
    // Every ticket was taken over by exactly one, or is there still.
    std::multiset<std::uint64_t> put_there{0}, taken{static_cast<std::uint64_t>(memory(0x2000))};
    // The order in memory: every write to a target, as the value before and after it.
    std::map<std::uint64_t, std::uint64_t> value{{0x1000, 0}, {0x2000, 0}, {0x3000, 0}};
    for (const HostMemory::Write& write : fixture.memory.writes) {
      if (value.count(write.address) == 0) continue;
      ASSERT_EQ(write.data.size(), 8u);
      value[write.address] = static_cast<std::uint64_t>(number(write.data.data(), 8));
      if (write.address == 0x2000) put_there.insert(value[0x2000]);
      replaced += write.address == 0x3000;
    }
    for (std::size_t i = 0; i < compares.size(); ++i) {
      expected_replacements += number(compares[i]->data.data(), 8) == compared[i];
    }
    EXPECT_EQ(replaced, expected_replacements) << "where the value before was that, and only there";
    EXPECT_GT(replaced, 50u);
    for (const auto& dma : swaps) taken.insert(number(dma->data.data(), 8));
    EXPECT_EQ(taken, put_there);
    EXPECT_EQ(value[0x3000], memory(0x3000));
    std::set<std::uint64_t> partial_sums;
    for (const auto& dma : adds) {
      EXPECT_TRUE(partial_sums.insert(number(dma->data.data(), 8)).second) << "seen twice";
    }
    EXPECT_GT(compares.size(), 500u);
    EXPECT_GT(fixture.memory.writes.size(), adds.size() + swaps.size() + writes.size());
  });
}

// 6.15.2: BARs of an endpoint are no targets.
class Downstream : public testing::Test {};

TEST_F(Downstream, AFunctionAnswersUnsupportedRequest) {
  Fixture fixture;
  fixture.run([&] {
    fixture.enumerate();
    const unsigned aer =
        fixture.find_extended_capability(Fixture::device, AdvancedErrorReporting::id);
    fixture.config_write(Fixture::device, aer + AdvancedErrorReporting::correctable_mask, 0, 4);
    RootPort& port = fixture.root_complex.port(0);
    unsigned sent = 0;
    for (const std::uint64_t address : {Fixture::bar0, Fixture::bar2, Fixture::bar4 + 0x1000}) {
      for (const Kind& kind : kinds) {
        const Bytes operands(32);
        std::uint8_t before[16];
        const auto answer = port.transact(
            Tlp::atomic(*tlp_type_of(kind.operation), address, operands.data(), kind.operands()),
            before);
        EXPECT_TRUE(answer.answered);
        EXPECT_EQ(answer.status, Status::unsupported_request);
        ++sent;
      }
    }
    EXPECT_TRUE(fixture.logic.uses.empty());
    EXPECT_EQ(
        fixture.config_read(Fixture::device, aer + AdvancedErrorReporting::uncorrectable_status, 4),
        bit_of(Error::unsupported_request));
    EXPECT_EQ(
        fixture.counter("endpoint.pf0.refused") + fixture.counter("endpoint.unsupported_requests"),
        sent);
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 0u);
  });
}

}  // namespace
}  // namespace pcie
