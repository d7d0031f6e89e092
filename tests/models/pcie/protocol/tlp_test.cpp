// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/tlp.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace pcie {
namespace {

std::vector<std::uint8_t> pattern(unsigned bytes) {
  std::vector<std::uint8_t> data(bytes);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  return data;
}

TEST(Tlp, WriteEnablesExactlyItsBytes) {
  for (unsigned offset = 0; offset < 8; ++offset) {
    for (unsigned bytes = 1; bytes <= 20; ++bytes) {
      SCOPED_TRACE(testing::Message() << offset << " + " << bytes);
      const std::vector<std::uint8_t> data = pattern(bytes);
      const TlpPtr tlp = Tlp::memory_write(0x1000 + offset, data.data(), bytes);
      EXPECT_EQ(tlp->get_address(), (0x1000 + offset) & ~3ull);
      EXPECT_EQ(tlp->header.length, (offset % 4 + bytes + 3) / 4);
      EXPECT_TRUE(well_formed(*tlp, 4096));
      EXPECT_EQ(tlp->first_byte(), offset % 4);
      EXPECT_EQ(tlp->span(), bytes);
      for (unsigned i = 0; i < 4u * tlp->header.length; ++i) {
        const bool inside = i >= offset % 4 && i < offset % 4 + bytes;
        EXPECT_EQ(tlp->enabled(i), inside) << i;
        EXPECT_EQ(tlp->data()[i], inside ? data[i - offset % 4] : 0) << i;
      }
      const Tlp::Run run = tlp->next_run(0);
      EXPECT_EQ(run.begin, offset % 4);
      EXPECT_EQ(run.end, offset % 4 + bytes);
      EXPECT_TRUE(tlp->next_run(run.end).empty());
    }
  }
}

// All 16 x 16 byte enables of 1 to 4 DW, against a bit by bit account.
TEST(Tlp, RunsAreTheEnabledBytes) {
  for (unsigned length = 1; length <= 4; ++length) {
    for (unsigned first = 0; first < 16; ++first) {
      for (unsigned last = 0; last < 16; ++last) {
        const TlpPtr tlp = Tlp::memory_read(0x2000, 4 * length);
        tlp->header.first_be = first;
        tlp->header.last_be = last;
        std::set<unsigned> expected;
        for (unsigned i = 0; i < 4 * length; ++i) {
          const unsigned enables = i < 4 ? first : i >= 4 * (length - 1) ? last : 15;
          if (enables >> i % 4 & 1) expected.insert(i);
        }
        std::set<unsigned> found;
        for (Tlp::Run run = tlp->next_run(0); !run.empty(); run = tlp->next_run(run.end)) {
          for (unsigned i = run.begin; i < run.end; ++i) EXPECT_TRUE(found.insert(i).second);
          EXPECT_FALSE(found.count(run.end));
        }
        EXPECT_EQ(found, expected);
      }
    }
  }
}

// PCIe 5.0, table 2-38.
TEST(Tlp, ByteCountOfEveryPatternOfOneDw) {
  const unsigned expected[16] = {1, 1, 1, 2, 1, 3, 2, 3, 1, 4, 3, 4, 2, 4, 3, 4};
  for (unsigned first = 0; first < 16; ++first) {
    const TlpPtr tlp = Tlp::memory_read(0x2000, 4);
    tlp->header.first_be = first;
    EXPECT_EQ(tlp->span(), expected[first]) << first;
  }
}

TEST(Tlp, HeaderHasFourDwOnlyForAddressesAbove4GiB) {
  const std::uint8_t byte = 0;
  EXPECT_EQ(Tlp::memory_read(0xffffffff, 1)->header_bytes(), 12u);
  EXPECT_EQ(Tlp::memory_read(0x100000000, 1)->header_bytes(), 16u);
  EXPECT_EQ(Tlp::memory_write(0xfffff000, &byte, 1)->header_bytes(), 12u);
  EXPECT_EQ(Tlp::memory_write(0x100000000, &byte, 1)->header_bytes(), 16u);
  EXPECT_EQ(Tlp::config_read(false, 0x100, 0, 4)->header_bytes(), 12u);
  EXPECT_EQ(Tlp::message(assert_inta, 0x100)->header_bytes(), 16u);
}

// With 64-bit addresses: MWr and MRd have 24 bytes of overhead, completions 20.
TEST(Tlp, WireBytes) {
  const std::vector<std::uint8_t> data(256);
  for (unsigned generation = 1; generation <= 5; ++generation) {
    EXPECT_EQ(wire_bytes(*Tlp::memory_write(0x100000000, data.data(), 256), generation), 280u);
    EXPECT_EQ(wire_bytes(*Tlp::memory_write(0x1000, data.data(), 3), generation), 24u);
    EXPECT_EQ(wire_bytes(*Tlp::memory_read(0x100000000, 512), generation), 24u);
    const TlpPtr read = Tlp::memory_read(0x1000, 8);
    const TlpPtr completion = Tlp::completion(*read, 0x100, Status::success);
    EXPECT_EQ(wire_bytes(*completion, generation), 20u);
    EXPECT_EQ(wire_bytes(*completion, generation), min_wire_bytes(generation));
    completion->header.type = TlpType::CplD;
    completion->header.length = 2;
    EXPECT_EQ(wire_bytes(*completion, generation), 28u);
    completion->header.ecrc = true;
    EXPECT_EQ(wire_bytes(*completion, generation), 32u);
  }
}

// No framing; what few headers need is content of its own.
TEST(Tlp, WireBytesInFlits) {
  const std::vector<std::uint8_t> data(256);
  EXPECT_EQ(wire_bytes(*Tlp::memory_write(0x100000000, data.data(), 256), 6), 272u);
  EXPECT_EQ(wire_bytes(*Tlp::memory_write(0x1000, data.data(), 256), 6), 268u);
  EXPECT_EQ(wire_bytes(*Tlp::memory_write(0x1000, data.data(), 3), 6), 20u) << "byte enables";
  EXPECT_EQ(wire_bytes(*Tlp::memory_write(0x1000, data.data(), 7), 6), 24u) << "of the last DW";
  EXPECT_EQ(wire_bytes(*Tlp::memory_read(0x100000000, 512), 6), 16u);
  EXPECT_EQ(wire_bytes(*Tlp::config_read(false, 0x100, 0, 4), 6), 16u);
  EXPECT_EQ(wire_bytes(*Tlp::message(assert_inta, 0x100), 6), 16u);
  const TlpPtr read = Tlp::memory_read(0x1000, 8);
  TlpPtr completion = Tlp::completion(*read, 0x100, Status::success);
  EXPECT_EQ(wire_bytes(*completion, 6), 12u);
  EXPECT_EQ(wire_bytes(*completion, 6), min_wire_bytes(6));
  completion->header.lower_address = 1;
  EXPECT_EQ(wire_bytes(*completion, 6), 16u);
  completion = Tlp::completion(*read, 0x100, Status::unsupported_request);
  EXPECT_EQ(wire_bytes(*completion, 6), 16u);
}

TEST(Tlp, ConfigWriteHasItsBytesInPlace) {
  const TlpPtr tlp = Tlp::config_write(true, make_id(2, 3, 1), 0x3e, 2, 0xabcd1234);
  EXPECT_EQ(tlp->header.type, TlpType::CfgWr1);
  EXPECT_EQ(tlp->header.register_offset, 0x3c);
  EXPECT_EQ(tlp->header.first_be, 0xc);
  EXPECT_EQ(tlp->header.last_be, 0);
  EXPECT_EQ(tlp->data()[2], 0x34);
  EXPECT_EQ(tlp->data()[3], 0x12);
  EXPECT_EQ(tlp->data()[0], 0);
  EXPECT_TRUE(well_formed(*tlp, 128));
}

// The judge of packets, judged: each rule has a packet that breaks only it.
TEST(Tlp, EachMalformationIsSeen) {
  const std::vector<std::uint8_t> data(512);
  auto write = [&] { return Tlp::memory_write(0x1000, data.data(), 256); };
  EXPECT_TRUE(well_formed(*write(), 256));
  EXPECT_FALSE(well_formed(*write(), 128)) << "payload above the maximum";
  auto broken = [&](auto&& change) {
    TlpPtr tlp = write();
    change(tlp->header);
    return !well_formed(*tlp, 4096);
  };
  EXPECT_TRUE(broken([](TlpHeader& h) { h.length = 0; }));
  EXPECT_TRUE(broken([](TlpHeader& h) { h.length = 1025; }));
  EXPECT_TRUE(broken([](TlpHeader& h) { h.first_be = 0; }));
  EXPECT_TRUE(broken([](TlpHeader& h) { h.last_be = 0; }));
  EXPECT_TRUE(broken([](TlpHeader& h) { h.length = 1; })) << "one DW with last byte enables";
  EXPECT_TRUE(broken([](TlpHeader& h) { h.first_be = 0x1f; }));
  TlpPtr tlp = write();
  tlp->set_address(0x1002);
  EXPECT_FALSE(well_formed(*tlp, 4096)) << "not DW aligned";
  tlp->set_address(0x1f04);
  EXPECT_FALSE(well_formed(*tlp, 4096)) << "crosses 4 KiB";
  tlp->set_address(0x1f00);
  EXPECT_TRUE(well_formed(*tlp, 4096)) << "ends at 4 KiB";
  tlp = Tlp::config_read(false, 0x100, 0, 4);
  tlp->header.length = 2;
  tlp->header.last_be = 0xf;
  EXPECT_FALSE(well_formed(*tlp, 4096)) << "configuration of two DW";
  tlp = Tlp::completion(*Tlp::memory_read(0, 4), 0, Status::success);
  tlp->header.type = TlpType::CplD;
  EXPECT_FALSE(well_formed(*tlp, 4096)) << "data of no DW";
}

TEST(Tlp, PoolGivesBackWhatWasReleasedAndClean) {
  Tlp* first = nullptr;
  {
    TlpPtr tlp = Tlp::memory_read(0x123456789000, 64);
    tlp->header.poisoned = true;
    tlp->header.traffic_class = 5;
    first = tlp.get();
  }
  const TlpPtr tlp = Tlp::make(TlpType::Msg);
  EXPECT_EQ(tlp.get(), first);
  EXPECT_FALSE(tlp->header.poisoned);
  EXPECT_EQ(tlp->header.traffic_class, 0);
  EXPECT_EQ(tlp->get_address(), 0u);
  EXPECT_EQ(tlp->get_extension<TlpHeader>(), &tlp->header);
}

// By hand from PCIe 5.0, 2.2: figures 2-17 (memory), 2-20 (configuration), 2-22 (messages), 2-29
// (completions).
TEST(Tlp, HeadersAsOnTheWire) {
  const std::uint8_t bytes[8] = {};
  TlpPtr tlp = Tlp::memory_read(0xc0000004, 4);
  tlp->header.requester = 0x0108;
  tlp->header.tag = 0x2a5;
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x00800001, 0x0108a50f, 0xc0000004, 0}));
  tlp = Tlp::memory_read(0x123456789000, 4096);
  tlp->header.tag = 0x1ff;
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x20080000, 0x0000ffff, 0x1234, 0x56789000}));
  tlp = Tlp::memory_write(0x1003, bytes, 3);
  tlp->header.poisoned = tlp->header.relaxed_ordering = true;
  tlp->header.traffic_class = 7;
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x40706002, 0x00000038, 0x1000, 0}));
  tlp = Tlp::memory_write(0x100000000, bytes, 4);
  tlp->header.id_based_ordering = tlp->header.no_snoop = tlp->header.ecrc = true;
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x60049001, 0x0000000f, 1, 0}));

  constexpr unsigned extended_register = 0x108;  // beyond the 256 bytes of PCI
  const struct {
    TlpPtr tlp;
    std::uint32_t first;
  } configurations[] = {
      {Tlp::config_read(false, extended_register, 0x10e, 2), 0x04000001},
      {Tlp::config_read(true, extended_register, 0x10e, 2), 0x05000001},
      {Tlp::config_write(false, extended_register, 0x10e, 2, 0), 0x44000001},
      {Tlp::config_write(true, extended_register, 0x10e, 2, 0), 0x45000001},
  };
  for (const auto& one : configurations) {
    EXPECT_EQ(one.tlp->header_words(), (HeaderWords{one.first, 0x0000000c, 0x0108010c, 0}));
  }

  const TlpPtr request = Tlp::memory_read(0x1041, 2);
  request->header.requester = 0x0100;
  request->header.tag = 3;
  tlp = Tlp::completion(*request, 0x0008, Status::completer_abort);
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x0a000000, 0x00088002, 0x01000341, 0}));
  tlp->header.type = TlpType::CplD;
  tlp->header.length = 1024;
  tlp->header.byte_count = 4096;
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x4a000000, 0x00088000, 0x01000341, 0}));

  tlp = Tlp::message(assert_inta, 0x0100);
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x34000000, 0x01000020, 0, 0})) << "local";
  tlp = Tlp::message(err_fatal, 0x0100);
  EXPECT_EQ(tlp->header_words(), (HeaderWords{0x30000000, 0x01000033, 0, 0})) << "to the root";
}

// PCIe 6.0, table 2-5 (types), 2.2.1.2 (first DW and OHC-A), 2.2.7.2, 2.2.8 and 2.2.9.2, by hand.
TEST(Tlp, HeadersInFlits) {
  const auto expect = [](const Tlp& tlp, std::vector<std::uint32_t> words) {
    const FlitHeader header = tlp.flit_header();
    EXPECT_EQ(std::vector(header.words.begin(), header.words.begin() + header.size), words)
        << to_string(tlp.header.type);
    EXPECT_EQ(4 * header.size + tlp.payload_bytes() + (tlp.header.ecrc ? 4 : 0),
              wire_bytes(tlp, 6));
  };
  const std::uint8_t bytes[16] = {};
  TlpPtr tlp = Tlp::memory_read(0x12345678, 4);
  tlp->header.requester = 0x0108;
  tlp->header.tag = 0x2c5;
  expect(*tlp, {0x03000001, 0x010802c5, 0x12345678});
  tlp->header.address_type = AddressType::translated;
  expect(*tlp, {0x03000001, 0x010802c5, 0x1234567a});
  tlp = Tlp::memory_read(0x123456789002, 5);  // bytes 2 to 6: OHC-A1
  tlp->header.traffic_class = 5;
  expect(*tlp, {0x20a10002, 0x00000000, 0x1234, 0x56789000, 0x0000007c});
  tlp = Tlp::memory_write(0x1000, bytes, 8);
  tlp->header.poisoned = tlp->header.ecrc = true;
  tlp->header.id_based_ordering = true;
  tlp->header.tag = 3;  // reserved
  expect(*tlp, {0x40003002, 0x00008000, 0x1000});
  tlp = Tlp::memory_write(0x100001000, bytes, 4);
  tlp->header.relaxed_ordering = tlp->header.no_snoop = true;
  expect(*tlp, {0x60000c01, 0x00000000, 1, 0x1000});
  tlp = Tlp::deferrable_write(0x1001, bytes, 2);
  expect(*tlp, {0x5b010001, 0x00000000, 0x1000, 0x00000006});
  expect(*Tlp::atomic(TlpType::FetchAdd, 0x1000, bytes, 4), {0x4c000001, 0, 0x1000});
  expect(*Tlp::atomic(TlpType::Swap, 0x100000000, bytes, 8), {0x6d000002, 0, 1, 0});
  expect(*Tlp::atomic(TlpType::CAS, 0x1000, bytes, 16), {0x4e000004, 0, 0x1000});
  // The segment of the destination is always valid: OHC-A3.
  expect(*Tlp::config_read(false, 0x0108, 0x10e, 2), {0x04010001, 0, 0x0108010c, 0x0000800c});
  expect(*Tlp::config_read(true, 0x0108, 0x10c, 4), {0x05010001, 0, 0x0108010c, 0x0000800f});
  expect(*Tlp::config_write(false, 0x0108, 4, 2, 6), {0x44010001, 0, 0x01080004, 0x00008003});
  expect(*Tlp::config_write(true, 0x0108, 4, 2, 6), {0x45010001, 0, 0x01080004, 0x00008003});

  const TlpPtr request = Tlp::memory_read(0x1064, 8);
  request->header.requester = 0x0100;
  request->header.tag = 0x3ff;
  tlp = Tlp::completion(*request, 0x0008, Status::success);
  tlp->header.type = TlpType::CplD;
  tlp->header.length = 2;
  expect(*tlp, {0x4a000002, 0x000843ff, 0x01009008});
  tlp->header.lower_address = 0x3;  // OHC-A5
  expect(*tlp, {0x4a010002, 0x000803ff, 0x01000008, 0x00000018});
  tlp = Tlp::completion(*request, 0x0008, Status::completer_abort);
  expect(*tlp, {0x0a010000, 0x000843ff, 0x01009008, 0x00000004});

  expect(*Tlp::message(assert_inta, 0x0100), {0x34000000, 0x01000020, 0, 0});
  expect(*Tlp::message(err_fatal, 0x0100), {0x30000000, 0x01000033, 0, 0});
}

TEST(Tlp, TypesByName) {
  for (unsigned i = 0; i < tlp_types; ++i) {
    EXPECT_EQ(tlp_type_of(to_string(static_cast<TlpType>(i))), static_cast<TlpType>(i));
  }
  for (const char* name : {"", "mrd", "MRd ", "Memory"}) EXPECT_FALSE(tlp_type_of(name)) << name;
}

TEST(Tlp, IdsReadLikeLspci) {
  EXPECT_EQ(to_string(make_id(0xab, 0x1f, 7)), "ab:1f.7");
  EXPECT_EQ(make_id(0xab, 0x1f, 7), 0xabff);
  EXPECT_EQ(bus_of(0xab0a), 0xabu);
  EXPECT_EQ(device_of(0xab0a), 1u);
  EXPECT_EQ(function_of(0xab0a), 2u);
}

}  // namespace
}  // namespace pcie
