// SPDX-License-Identifier: Apache-2.0
// A million TLPs of a device, and a million configuration writes of software, of which each is
// accepted or answered as a small reference of its own says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <random>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

constexpr unsigned million = 1'000'000;
constexpr unsigned aer = 0x100;  // the first extended capability of all that is here

using Random = std::mt19937;

unsigned any(Random& random, unsigned least, unsigned most) {
  return least + static_cast<unsigned>(random() % (most - least + 1));
}

// A device that sends arbitrary packets and keeps the answers.
struct Peer : Port {
  std::vector<TlpPtr> received;
  using Port::send;
  explicit Peer(vp::Domain& domain) : Port(domain, {5, 16, 0}) {}
  void receive(TlpPtr tlp) override { received.push_back(std::move(tlp)); }
  void trained(unsigned, unsigned) override {}
};

TlpPtr any_tlp(Random& random) {
  TlpPtr tlp = Tlp::make(static_cast<TlpType>(random() % tlp_types));
  TlpHeader& header = tlp->header;
  const std::uint64_t bases[] = {0,
                                 0x7f000,
                                 0xfee00000,
                                 Fixture::bar0,
                                 Fixture::bar2,
                                 Fixture::ecam,
                                 std::uint64_t{random()} << 32,
                                 ~0ull << 12};
  tlp->set_address((bases[random() % 8] + random() % 0x3000) & (random() % 8 ? ~3ull : ~0ull));
  tlp->set_command(tlp->has_data() ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  header.requester = static_cast<Id>(random());
  header.completer = static_cast<Id>(random());
  header.target = static_cast<Id>(random());
  header.tag = random() % 4 ? random() % 256 : random();
  header.length = random() % 4   ? any(random, 1, 64)
                  : random() % 4 ? any(random, 0, 1025)
                                 : random();
  header.first_be = random() % 4 ? 0xf : random() % 32;
  header.last_be = random() % 4 ? (header.length == 1 ? 0 : 0xf) : random() % 32;
  header.traffic_class = random() % 8;
  header.relaxed_ordering = random() & 1;
  header.id_based_ordering = random() & 1;
  header.no_snoop = random() & 1;
  header.poisoned = random() % 16 == 0;
  header.ecrc = random() % 16 == 0;
  header.status = static_cast<Status>(random() % 8);
  header.byte_count = random() % 4 ? 4 * header.length : random();
  header.lower_address = random() % 128;
  header.register_offset = random() & 0xffc;
  header.message_code = random() % 2 ? 0x20 + random() % 0x20 : random();
  if (header.length <= 1024) {
    for (unsigned i = 0; i < header.length; ++i) {
      const std::uint32_t word = random();
      std::memcpy(tlp->data() + 4 * i, &word, 4);
    }
    tlp->set_data_length(4u * header.length);
  }
  return tlp;
}

// The reference: what PCIe 5.0 has a root port do about a TLP, and nothing about how.

// Bytes of an operand of an AtomicOp (table 2-13), 0 if there is none of this length.
unsigned operand_of(const TlpHeader& header) {
  switch (header.length) {
    case 1:
      return header.type == TlpType::CAS ? 0 : 4;
    case 2:
      return header.type == TlpType::CAS ? 4 : 8;
    case 4:
      return header.type == TlpType::CAS ? 8 : 0;
    case 8:
      return header.type == TlpType::CAS ? 16 : 0;
    default:
      return 0;
  }
}

// 2.2.2, 2.2.5, 2.2.7, 2.2.9
bool malformed(const Tlp& tlp, unsigned max_payload) {
  const TlpHeader& header = tlp.header;
  if (header.type == TlpType::Cpl || header.type == TlpType::Msg) return false;
  if (header.length == 0 || header.length > 1024) return true;
  if (tlp.has_data() && 4u * header.length > max_payload) return true;
  if (header.type == TlpType::CplD) return header.byte_count == 0 || header.byte_count > 4096;
  if (header.first_be >= 16 || header.last_be >= 16) return true;
  if (header.length == 1 && header.last_be != 0) return true;
  if (header.length > 1 && (header.first_be == 0 || header.last_be == 0)) return true;
  if (is_atomic(header.type)) {
    const unsigned operand = operand_of(header);
    return operand == 0 || tlp.get_address() % operand != 0 || header.first_be != 15 ||
           (header.length > 1 && header.last_be != 15);
  }
  const bool memory =
      header.type == TlpType::MRd || header.type == TlpType::MWr || header.type == TlpType::DMWr;
  if (!memory) return header.length != 1;
  const std::uint64_t offset = tlp.get_address() & 0xfff;
  return offset % 4 != 0 || offset + 4u * header.length > 0x1000;
}

bool enabled(const TlpHeader& header, unsigned byte) {
  if (byte / 4 == 0) return header.first_be >> byte & 1;
  return byte / 4 + 1u < header.length || header.last_be >> byte % 4 & 1;
}

// 2.2.8.1, 2.2.8.3, and what 2.2.8.6 and 2.2.8.7 have a receiver ignore.
bool known_message(unsigned code) {
  const bool ignored = code == 0x40 || code == 0x41 || (code >= 0x43 && code <= 0x45) ||
                       code == 0x47 || code == 0x48 || code == 0x7f;
  return ignored || (code >= 0x20 && code <= 0x27) || code == 0x30 || code == 0x31 || code == 0x33;
}

constexpr unsigned deferrable_bytes = 128;  // that the root complex completes

struct Expected {
  std::optional<Error> error;
  enum { nothing, refusal, done, data, before } answer = nothing;
};

Expected expected(const Tlp& tlp, unsigned max_payload, std::uint64_t memory_size) {
  if (malformed(tlp, max_payload)) return {Error::malformed_tlp};
  const TlpHeader& header = tlp.header;
  const bool none = header.length == 1 && header.first_be == 0;
  const std::uint64_t address = tlp.get_address();
  switch (header.type) {
    case TlpType::Cpl:
    case TlpType::CplD:  // nobody has asked
      return {Error::unexpected_completion};
    case TlpType::Msg:
      if (known_message(header.message_code)) return {};
      return {Error::unsupported_request};
    case TlpType::MWr:
      if (header.poisoned) return {Error::poisoned_tlp};
      if (none || address < memory_size || address >> 20 == 0xfee) return {};
      return {Error::unsupported_request};
    case TlpType::MRd:
      if (none || address < memory_size) return {std::nullopt, Expected::data};
      return {Error::unsupported_request, Expected::refusal};
    case TlpType::FetchAdd:
    case TlpType::Swap:
    case TlpType::CAS:
      if (header.poisoned) return {Error::poisoned_tlp, Expected::refusal};
      if (address < memory_size) return {std::nullopt, Expected::before};
      return {Error::unsupported_request, Expected::refusal};
    case TlpType::DMWr:
      if (header.length > deferrable_bytes / 4) {
        return {Error::unsupported_request, Expected::refusal};
      }
      if (header.poisoned) return {Error::poisoned_tlp, Expected::refusal};
      if (none || address < memory_size) return {std::nullopt, Expected::done};
      return {Error::unsupported_request, Expected::refusal};
    default:  // configuration requests go down only
      return {Error::unsupported_request, Expected::refusal};
  }
}

class RootPortFuzz : public testing::Test {
 protected:
  static Fixture::Config config() {
    Fixture::Config config;
    config.root_complex.ports.resize(2);
    config.root_complex.deferrable_writes = deferrable_bytes;
    return config;
  }

  void set_max_payload(unsigned bytes) {
    const unsigned control =
        fixture.find_capability(id, PciExpress::id) + PciExpress::device_control;
    fixture.config_write(id, control,
                         (fixture.config_read(id, control, 2) & ~0xe0u) | (bytes / 256) << 5, 2);
    max_payload = bytes;
  }

  void check_data(const TlpHeader& request, std::uint64_t address) {
    unsigned first = 0, end = 4u * request.length;
    while (first + 1 < end && !enabled(request, first)) ++first;
    while (end > first + 1 && !enabled(request, end - 1)) --end;
    if (request.length == 1 && request.first_be == 0) first = 0, end = 1;
    for (const TlpPtr& tlp : peer.received) {
      const TlpHeader& header = tlp->header;
      ASSERT_EQ(header.type, TlpType::CplD);
      ASSERT_EQ(header.status, Status::success);
      ASSERT_EQ(header.requester, request.requester);
      ASSERT_EQ(header.tag, request.tag);
      ASSERT_EQ(header.byte_count, end - first);
      ASSERT_EQ(header.lower_address, (address + first) & 0x7f);
      ASSERT_LE(4u * header.length, max_payload);
      const unsigned offset = (address + first) & 3;
      const unsigned bytes = std::min(4u * header.length - offset, end - first);
      for (unsigned i = 0; i < bytes; ++i) {
        if (!enabled(request, first + i)) continue;
        ASSERT_EQ(tlp->data()[offset + i], shadow[address + first + i]);
      }
      first += bytes;
    }
    ASSERT_EQ(first, end) << "all data has arrived";
  }

  void check_atomic(const TlpHeader& request, std::uint64_t address,
                    const std::vector<std::uint8_t>& operands) {
    const unsigned bytes = operand_of(request);
    std::uint8_t* target = &shadow[address];
    ASSERT_EQ(peer.received.size(), 1u);
    const TlpHeader& header = peer.received[0]->header;
    ASSERT_EQ(header.type, TlpType::CplD);
    ASSERT_EQ(header.requester, request.requester);
    ASSERT_EQ(header.tag, request.tag);
    ASSERT_EQ(4u * header.length, bytes);
    ASSERT_EQ(header.byte_count, bytes);
    ASSERT_EQ(header.lower_address, 0);
    ASSERT_EQ(std::memcmp(peer.received[0]->data(), target, bytes), 0);
    if (request.type == TlpType::FetchAdd) {
      std::uint64_t sum = 0, addend = 0;
      std::memcpy(&sum, target, bytes);
      std::memcpy(&addend, operands.data(), bytes);
      sum += addend;
      std::memcpy(target, &sum, bytes);
    } else if (request.type == TlpType::Swap) {
      std::memcpy(target, operands.data(), bytes);
    } else if (std::memcmp(target, operands.data(), bytes) == 0) {
      std::memcpy(target, operands.data() + bytes, bytes);
    }
    ASSERT_EQ(std::memcmp(&fixture.memory.bytes[address], target, bytes), 0);
    ++atomics;
  }

  void check(const Tlp& sent, const TlpHeader& header, const std::vector<std::uint8_t>& data) {
    const Expected reference = expected(sent, max_payload, shadow.size());
    ConfigSpace& space = fixture.root_complex.port(1).config_space();
    ASSERT_EQ(space.get(aer + AdvancedErrorReporting::uncorrectable_status, 4),
              reference.error ? bit_of(*reference.error) : 0);
    space.set(aer + AdvancedErrorReporting::uncorrectable_status, 4, 0);
    const std::uint64_t address = sent.get_address();
    const bool write = header.type == TlpType::MWr || header.type == TlpType::DMWr;
    if (write && !reference.error && address < shadow.size()) {
      for (unsigned i = 0; i < data.size(); ++i) {
        if (enabled(header, i)) shadow[address + i] = data[i];
      }
      ASSERT_EQ(std::memcmp(&fixture.memory.bytes[address], &shadow[address], data.size()), 0);
    }
    switch (reference.answer) {
      case Expected::nothing:
        ASSERT_TRUE(peer.received.empty());
        break;
      case Expected::refusal:
        ASSERT_EQ(peer.received.size(), 1u);
        ASSERT_EQ(peer.received[0]->header.type, TlpType::Cpl);
        ASSERT_EQ(peer.received[0]->header.status, Status::unsupported_request);
        ASSERT_EQ(peer.received[0]->header.requester, header.requester);
        ASSERT_EQ(peer.received[0]->header.tag, header.tag);
        break;
      case Expected::done:
        ASSERT_EQ(peer.received.size(), 1u);
        ASSERT_EQ(peer.received[0]->header.type, TlpType::Cpl);
        ASSERT_EQ(peer.received[0]->header.status, Status::success);
        ASSERT_EQ(peer.received[0]->header.requester, header.requester);
        ASSERT_EQ(peer.received[0]->header.tag, header.tag);
        ++deferrable_writes;
        break;
      case Expected::data:
        check_data(header, address);
        break;
      case Expected::before:
        check_atomic(header, address, data);
        break;
    }
  }

  static constexpr Id id = make_id(0, 2, 0);
  Fixture fixture{config()};
  Peer peer{fixture.card};
  Link second{"second", {}, fixture.root_complex.port(1), peer, fixture.trace, fixture.statistics};
  std::vector<std::uint8_t> shadow = fixture.memory.bytes;
  unsigned max_payload = 128;
  unsigned atomics = 0, deferrable_writes = 0;
};

TEST_F(RootPortFuzz, AMillionTlpsAreAcceptedOrAnsweredByTheErrorThatPcieNames) {
  fixture.memory.keep_writes = false;
  Random random(11);
  unsigned errors = 0, answers = 0;
  fixture.run([&] {
    fixture.config_write(id, Type1Header::primary_bus_number, 0x00020200, 4);
    fixture.config_write(id, Header::command, memory_and_master, 2);
    ASSERT_EQ(fixture.config_read(id, aer, 4) & 0xffff, 1u);
    fixture.config_write(id, aer + AdvancedErrorReporting::correctable_mask, 0,
                         4);  // advisory errors set their bit too
    for (unsigned i = 0; i < million && !HasFatalFailure(); ++i) {
      if (i % 100'000 == 0) set_max_payload(i / 100'000 % 2 ? 256 : 128);
      TlpPtr tlp = any_tlp(random);
      const Tlp& sent = *tlp;
      const TlpPtr copy = Tlp::make(sent.header.type);
      copy->header = sent.header;
      copy->set_address(sent.get_address());
      const unsigned bytes = sent.header.length <= 1024 ? 4u * sent.header.length : 0;
      const std::vector<std::uint8_t> data(sent.data(), sent.data() + bytes);
      peer.received.clear();
      peer.send(std::move(tlp));
      sc_core::wait(10, sc_core::SC_US);  // the longest takes 5 us on the link
      check(*copy, copy->header, data);
      const Expected reference = expected(*copy, max_payload, shadow.size());
      errors += reference.error.has_value();
      answers += !peer.received.empty();
      fixture.memory.messages.clear();
    }
    EXPECT_EQ(fixture.config_read(Fixture::root_port, Header::vendor_id, 4), 0x0a01f0aeu)
        << "it still works";
  });
  EXPECT_GT(errors, million / 4);
  EXPECT_GT(answers, million / 20);
  EXPECT_GT(atomics, million / 10'000);
  EXPECT_GT(deferrable_writes, million / 1'000);
}

// The header of each function as PCIe 5.0, 7.5.1 has it: what software can write.
struct Word {
  unsigned offset;
  std::uint32_t writable;
  std::uint32_t fixed;  // what the other bits read
};
// BARs as Fixture has them: 64 KiB, 32 KiB prefetchable and 4 KiB, the last one of 32 bits.
constexpr Word device_header[] = {
    {0x00, 0, 0x0ae0f0ae}, {0x10, 0xffff0000, 0x4},
    {0x14, ~0u, 0},        {0x18, 0xffff8000, 0xc},
    {0x1c, ~0u, 0},        {0x20, 0xfffff000, 0},
    {0x24, 0, 0},          {0x28, 0, 0},
    {0x2c, 0, 0x0001f0ae}, {0x30, 0, 0},
    {0x3c, 0xff, 0},
};
constexpr Word port_header[] = {
    {0x00, 0, 0x0a01f0ae}, {0x10, 0, 0},          {0x14, 0, 0},
    {0x18, 0x00ffffff, 0}, {0x20, 0xfff0fff0, 0}, {0x24, 0xfff0fff0, 0x00010001},
    {0x28, ~0u, 0},        {0x2c, ~0u, 0},        {0x30, 0, 0},
    {0x38, 0, 0},
};

class SoftwareFuzz : public testing::Test {
 protected:
  // Whether configuration requests for the device reach it.
  bool reachable() {
    RootPort& port = fixture.root_complex.port(0);
    return port.link_up() && port.secondary_bus() == 1 && port.routes(1);
  }
  // The IDs and links of the capabilities, by which software finds them.
  using Chains = std::vector<std::pair<unsigned, std::uint32_t>>;
  Chains chains(const ConfigSpace& space) {
    Chains found{{0x34, space.get(Header::capabilities_pointer, 1)}};
    for (unsigned at = space.get(Header::capabilities_pointer, 1); at != 0;
         at = space.get(at + 1, 1)) {
      found.push_back({at, space.get(at, 2)});
    }
    for (unsigned at = ConfigSpace::first_extended_capability; at != 0;
         at = space.get(at, 4) >> 20) {
      found.push_back({at, space.get(at, 4)});
    }
    return found;
  }
  void expect_chains(const ConfigSpace& space, const Chains& before) {
    for (const auto& [at, value] : before) {
      const unsigned bytes = at == 0x34 ? 1 : at < 0x100 ? 2 : 4;
      ASSERT_EQ(space.get(at, bytes), value) << std::hex << at;
    }
  }

  static constexpr unsigned functions = 2;
  static Fixture::Config config() {
    Fixture::Config config;
    config.endpoint.tags = 768;
    config.endpoint.functions[0].deferrable_writes = 128;
    config.endpoint.functions.resize(functions, config.endpoint.functions[0]);
    return config;
  }
  Fixture fixture{config()};
};

TEST_F(SoftwareFuzz, AMillionConfigurationWritesDoWhatTheirRegistersSay) {
  Random random(23);
  fixture.logic.keep_uses = false;
  unsigned checked = 0, unreachable = 0;
  fixture.run([&] {
    fixture.enumerate();
    ConfigSpace& port_space = fixture.root_complex.port(0).config_space();
    const auto space_of = [&](Id id) -> ConfigSpace& {
      return id == Fixture::root_port ? port_space
                                      : fixture.endpoint.function(function_of(id)).config_space();
    };
    const auto port_chains = chains(port_space);
    const std::array<Chains, functions> device_chains{chains(space_of(make_id(1, 0, 0))),
                                                      chains(space_of(make_id(1, 0, 1)))};
    const unsigned link_control =
        fixture.find_capability(Fixture::root_port, PciExpress::id) + PciExpress::link_control;
    ASSERT_GT(port_chains.size(), 4u);
    for (const Chains& one : device_chains) ASSERT_GT(one.size(), 4u);
    for (unsigned i = 0; i < million && !HasFatalFailure(); ++i) {
      if (i % 64 == 0) {  // the way to the device is there again
        fixture.config_write(Fixture::root_port, Type1Header::bridge_control, 0, 2);
        fixture.config_write(Fixture::root_port, link_control, 0, 2);
        sc_core::wait(1, sc_core::SC_US);
        fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00010100, 4);
      }
      const bool of_port = random() % 2;
      const bool absent = !of_port && random() % 8 == 0;
      const unsigned function = absent ? any(random, functions, 7) : random() % functions;
      const Id id = of_port ? Fixture::root_port : make_id(1, 0, function);
      const unsigned length = any(random, 1, 8);
      const unsigned offset = random() % 2 ? any(random, 0, 0x3f) : any(random, 0, 4096 - length);
      std::vector<std::uint8_t> data(length);
      for (std::uint8_t& byte : data) byte = random() % 4 ? random() : random() % 2 ? 0 : 0xff;
      // The written word of the header and its new value, if the reference knows the word.
      const Word* word = nullptr;
      const auto find = [&](const auto& words) {
        for (const Word& one : words) {
          if (offset < one.offset + 4 && one.offset < offset + length) word = &one;
        }
      };
      if (of_port) find(port_header);
      if (!of_port && !absent) find(device_header);
      std::uint32_t wanted = 0;
      if (word != nullptr) {
        wanted = space_of(id).get(word->offset, 4);
        for (unsigned j = 0; j < length; ++j) {
          const unsigned byte = offset + j - word->offset;
          if (byte < 4)
            wanted = (wanted & ~(0xffu << 8 * byte)) | std::uint32_t{data[j]} << 8 * byte;
        }
        wanted = (wanted & word->writable) | word->fixed;
      }
      const bool reached = of_port || reachable();
      if (!reached && word != nullptr) wanted = space_of(id).get(word->offset, 4);
      fixture.write_bytes(Fixture::ecam + (std::uint64_t{id} << 12) + offset, data);
      if (absent) {
        ASSERT_EQ(fixture.config_read(id, Header::vendor_id, 4), ~0u);
      }
      if (word == nullptr) continue;
      if (of_port || reachable()) {
        ASSERT_EQ(fixture.config_read(id, word->offset, 4), wanted)
            << std::hex << id << " at " << offset << ", bytes " << length;
        ++checked;
      } else {
        ASSERT_EQ(fixture.config_read(id, word->offset, 4), ~0u);
        ++unreachable;
      }
      if (i % 16 == 0) {
        expect_chains(port_space, port_chains);
        const unsigned one = i / 16 % functions;
        expect_chains(space_of(make_id(1, 0, one)), device_chains[one]);
      }
    }
  });
  EXPECT_GT(checked, million / 8);
  EXPECT_GT(unreachable, million / 100);
  EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 0u) << "all were answered";
}

}  // namespace
}  // namespace pcie
