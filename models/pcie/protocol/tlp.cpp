// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/tlp.h"

#include <fmt/format.h>

#include <cassert>
#include <cstring>
#include <vector>

#include "models/pcie/protocol/atomic.h"

namespace pcie {

std::string to_string(Id id) {
  return fmt::format("{:02x}:{:02x}.{}", bus_of(id), device_of(id), function_of(id));
}

const char* to_string(TlpType type) {
  static constexpr const char* names[tlp_types] = {"MRd",    "MWr", "CfgRd0", "CfgWr0", "CfgRd1",
                                                   "CfgWr1", "Cpl", "CplD",   "Msg",    "FetchAdd",
                                                   "Swap",   "CAS", "DMWr"};
  return names[static_cast<unsigned>(type)];
}

std::optional<TlpType> tlp_type_of(std::string_view name) {
  for (unsigned i = 0; i < tlp_types; ++i) {
    if (name == to_string(static_cast<TlpType>(i))) return static_cast<TlpType>(i);
  }
  return {};
}

class TlpPool : public tlm::tlm_mm_interface {
 public:
  // The pool is never destroyed, since packets may outlive static objects.
  static TlpPool& instance() {
    static TlpPool& pool = *new TlpPool;
    return pool;
  }

  Tlp* allocate() {
    if (free_.empty()) {
      free_.reserve(++made_);
      auto* tlp = new Tlp;
      tlp->set_mm(this);
      return tlp;
    }
    Tlp* tlp = free_.back();
    free_.pop_back();
    return tlp;
  }

  void free(tlm::tlm_generic_payload* payload) override {
    free_.push_back(static_cast<Tlp*>(payload));
  }

 private:
  std::vector<Tlp*> free_;
  std::size_t made_ = 0;
};

void TlpRelease::operator()(Tlp* tlp) const {
  tlp->release();
}

Tlp::Tlp() {
  set_data_ptr(data_.data());
  set_extension(&header);
}

TlpPtr Tlp::make(TlpType type) {
  Tlp* tlp = TlpPool::instance().allocate();
  tlp->acquire();
  tlp->header = TlpHeader();
  tlp->header.type = type;
  tlp->head_start = 0;
  tlp->set_command(tlm::TLM_IGNORE_COMMAND);
  tlp->set_address(0);
  tlp->set_data_length(0);
  tlp->set_streaming_width(0);
  tlp->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return TlpPtr(tlp);
}

namespace {

// Sets address, length and byte enables of a request for `bytes` bytes from `address`.
void request(Tlp& tlp, tlm::tlm_command command, std::uint64_t address, unsigned bytes) {
  assert(bytes >= 1 && (address & 0xfff) + bytes <= Tlp::max_bytes);
  const unsigned offset = address & 3;
  const unsigned end = (offset + bytes) & 3;
  const unsigned tail = end != 0 ? (1u << end) - 1 : 0xfu;
  TlpHeader& header = tlp.header;
  header.length = (offset + bytes + 3) / 4;
  header.first_be = 0xf << offset & 0xf;
  if (header.length == 1) {
    header.first_be &= tail;
  } else {
    header.last_be = tail;
  }
  tlp.set_command(command);
  tlp.set_address(address & ~std::uint64_t{3});
  tlp.set_data_length(4u * header.length);
  tlp.set_streaming_width(4u * header.length);
}

TlpPtr write(TlpType type, std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
  TlpPtr tlp = Tlp::make(type);
  request(*tlp, tlm::TLM_WRITE_COMMAND, address, bytes);
  std::memset(tlp->data(), 0, 4);
  std::memset(tlp->data() + 4 * (tlp->header.length - 1), 0, 4);
  std::memcpy(tlp->data() + (address & 3), data, bytes);
  return tlp;
}

}  // namespace

TlpPtr Tlp::memory_write(std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
  return write(TlpType::MWr, address, data, bytes);
}

TlpPtr Tlp::deferrable_write(std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
  return write(TlpType::DMWr, address, data, bytes);
}

TlpPtr Tlp::memory_read(std::uint64_t address, unsigned bytes) {
  TlpPtr tlp = make(TlpType::MRd);
  request(*tlp, tlm::TLM_READ_COMMAND, address, bytes);
  return tlp;
}

TlpPtr Tlp::config_read(bool type1, Id target, unsigned offset, unsigned bytes) {
  TlpPtr tlp = make(type1 ? TlpType::CfgRd1 : TlpType::CfgRd0);
  request(*tlp, tlm::TLM_READ_COMMAND, offset, bytes);
  tlp->header.target = target;
  tlp->header.register_offset = offset & 0xffc;
  return tlp;
}

TlpPtr Tlp::config_write(bool type1, Id target, unsigned offset, unsigned bytes,
                         std::uint32_t value) {
  TlpPtr tlp = make(type1 ? TlpType::CfgWr1 : TlpType::CfgWr0);
  request(*tlp, tlm::TLM_WRITE_COMMAND, offset, bytes);
  tlp->header.target = target;
  tlp->header.register_offset = offset & 0xffc;
  std::memset(tlp->data(), 0, 4);
  for (unsigned i = 0; i < bytes; ++i) tlp->data()[(offset & 3) + i] = value >> 8 * i;
  return tlp;
}

TlpPtr Tlp::atomic(TlpType type, std::uint64_t address, const std::uint8_t* operands,
                   unsigned bytes) {
  assert(operand_bytes(type, bytes) != 0 && address % operand_bytes(type, bytes) == 0);
  TlpPtr tlp = make(type);
  tlp->header.length = bytes / 4;
  tlp->header.first_be = 0xf;
  tlp->header.last_be = bytes > 4 ? 0xf : 0;
  tlp->set_address(address);
  tlp->set_data_length(bytes);
  tlp->set_streaming_width(bytes);
  std::memcpy(tlp->data(), operands, bytes);
  return tlp;
}

TlpPtr Tlp::completion(const Tlp& request, Id completer, Status status) {
  TlpPtr tlp = make(TlpType::Cpl);
  TlpHeader& header = tlp->header;
  header.requester = request.header.requester;
  header.tag = request.header.tag;
  header.traffic_class = request.header.traffic_class;
  header.relaxed_ordering = request.header.relaxed_ordering;
  header.id_based_ordering = request.header.id_based_ordering;
  header.no_snoop = request.header.no_snoop;
  header.completer = completer;
  header.status = status;
  // 2.2.9: the byte count is 4 and the lower address 0, except for memory reads.
  header.byte_count = 4;
  if (request.header.type == TlpType::MRd) {
    header.byte_count = request.span();
    header.lower_address = (request.get_address() + request.first_byte()) & 0x7f;
  }
  return tlp;
}

TlpPtr Tlp::message(MessageCode code, Id requester) {
  TlpPtr tlp = make(TlpType::Msg);
  tlp->header.message_code = code;
  tlp->header.requester = requester;
  return tlp;
}

namespace {

// The fields Fmt 31:29 and Type 28:24 for a 32-bit address (2.2.1, table 2-3).
std::uint32_t format_and_type(const TlpHeader& header) {
  switch (header.type) {
    case TlpType::MRd:
      return 0x00;
    case TlpType::MWr:
      return 0x40;
    case TlpType::CfgRd0:
      return 0x04;
    case TlpType::CfgWr0:
      return 0x44;
    case TlpType::CfgRd1:
      return 0x05;
    case TlpType::CfgWr1:
      return 0x45;
    case TlpType::Cpl:
      return 0x0a;
    case TlpType::CplD:
      return 0x4a;
    case TlpType::Msg:  // 2.2.8: INTx is local to the link, error messages go to the root complex
      return header.message_code < err_cor ? 0x34 : 0x30;
    case TlpType::FetchAdd:
      return 0x4c;
    case TlpType::Swap:
      return 0x4d;
    case TlpType::CAS:
      return 0x4e;
    case TlpType::DMWr:
      return 0x5b;
  }
  return 0;
}

}  // namespace

HeaderWords Tlp::header_words() const {
  const std::uint32_t tag = header.tag;
  const std::uint32_t long_header = has_long_address() ? 1u << 29 : 0;
  HeaderWords words{};
  words[0] = format_and_type(header) << 24 | long_header | (tag >> 9 & 1) << 23 |
             (header.traffic_class & 7u) << 20 | (tag >> 8 & 1) << 19 |
             std::uint32_t{header.id_based_ordering} << 18 | std::uint32_t{header.ecrc} << 15 |
             std::uint32_t{header.poisoned} << 14 | std::uint32_t{header.relaxed_ordering} << 13 |
             std::uint32_t{header.no_snoop} << 12 |
             (static_cast<std::uint32_t>(header.address_type) & 3) << 10 | (header.length & 0x3ffu);
  if (is_completion()) {
    words[1] = std::uint32_t{header.completer} << 16 |
               (static_cast<std::uint32_t>(header.status) & 7) << 13 | (header.byte_count & 0xfffu);
    words[2] =
        std::uint32_t{header.requester} << 16 | (tag & 0xff) << 8 | (header.lower_address & 0x7fu);
    return words;
  }
  words[1] = std::uint32_t{header.requester} << 16 | (tag & 0xff) << 8;
  if (header.type == TlpType::Msg) {
    words[1] |= header.message_code;
    return words;
  }
  words[1] |= (header.last_be & 0xfu) << 4 | (header.first_be & 0xfu);
  if (is_config()) {
    words[2] = std::uint32_t{header.target} << 16 | (header.register_offset & 0xffcu);
  } else if (long_header != 0) {
    words[2] = static_cast<std::uint32_t>(get_address() >> 32);
    words[3] = static_cast<std::uint32_t>(get_address()) & ~3u;
  } else {
    words[2] = static_cast<std::uint32_t>(get_address()) & ~3u;
  }
  return words;
}

namespace {

bool has_orthogonal_content(const Tlp& tlp) {
  const TlpHeader& header = tlp.header;
  if (tlp.is_memory()) {
    return header.first_be != 0xf || (header.length > 1 && header.last_be != 0xf);
  }
  if (tlp.is_completion()) {
    return header.status != Status::success || (header.lower_address & 3) != 0;
  }
  return tlp.is_config();
}

constexpr std::uint32_t flit_read_32 = 0x03;  // the only type that differs from Fmt and Type
constexpr std::uint32_t ohc_a = 1u << 16;
constexpr std::uint32_t ecrc_trailer = 1u << 13;
constexpr std::uint32_t destination_segment_valid = 1u << 15;

// OHC-A1, A3 or A5 (figures 2-7, 2-9, 2-11). All buses are in segment 0. A request for
// configuration always names its segment, and a completion does where a request has named its own.
std::uint32_t orthogonal_content(const Tlp& tlp) {
  const TlpHeader& header = tlp.header;
  if (tlp.is_completion()) {
    return (header.lower_address & 3u) << 3 | (static_cast<std::uint32_t>(header.status) & 7);
  }
  const std::uint32_t enables = (header.last_be & 0xfu) << 4 | (header.first_be & 0xfu);
  return tlp.is_config() ? destination_segment_valid | enables : enables;
}

}  // namespace

FlitHeader Tlp::flit_header() const {
  const HeaderWords plain = header_words();
  const bool is_long = has_long_address();
  const bool content = has_orthogonal_content(*this);
  const std::uint32_t type =
      header.type == TlpType::MRd && !is_long ? flit_read_32 : plain[0] >> 24;
  const std::uint32_t attributes = std::uint32_t{header.id_based_ordering} << 2 |
                                   std::uint32_t{header.relaxed_ordering} << 1 |
                                   std::uint32_t{header.no_snoop};
  const std::uint32_t poisoned = std::uint32_t{header.poisoned} << 15;
  FlitHeader flit;
  flit.words[0] = type << 24 | (header.traffic_class & 7u) << 21 | (content ? ohc_a : 0) |
                  (header.ecrc ? ecrc_trailer : 0) | attributes << 10 | (header.length & 0x3ffu);
  if (is_completion()) {
    flit.words[1] = std::uint32_t{header.completer} << 16 | poisoned |
                    (header.lower_address >> 6 & 1u) << 14 | (header.tag & 0x3fffu);
    flit.words[2] = std::uint32_t{header.requester} << 16 |
                    (header.lower_address >> 2 & 0xfu) << 12 | (header.byte_count & 0xfffu);
  } else {
    // 2.2.6.2: the tag of a posted request is reserved; a message has its code there.
    const std::uint32_t tag = header.type == TlpType::Msg ? header.message_code
                              : is_non_posted()           ? header.tag & 0x3fffu
                                                          : 0;
    flit.words[1] = std::uint32_t{header.requester} << 16 | poisoned | tag;
    flit.words[2] = plain[2];
    flit.words[3] = plain[3];
    // AT is in the low bits of the address.
    if (is_memory()) {
      flit.words[is_long ? 3 : 2] |= static_cast<std::uint32_t>(header.address_type) & 3;
    }
  }
  flit.size = header_bytes() / 4;
  if (content) flit.words[flit.size++] = orthogonal_content(*this);
  return flit;
}

bool Tlp::enabled(unsigned index) const {
  if (index < 4) return header.first_be >> index & 1;
  const unsigned last = 4u * (header.length - 1);
  return index < last || (header.last_be >> (index - last) & 1);
}

unsigned Tlp::first_byte() const {
  for (unsigned i = 0; i < 4; ++i) {
    if (header.first_be >> i & 1) return i;
  }
  return 0;
}

unsigned Tlp::span() const {
  unsigned end = 4u * header.length;
  for (unsigned i = 0; i < 4 && !enabled(end - 1); ++i) --end;
  const unsigned first = first_byte();
  return end > first ? end - first : 1;
}

Tlp::Run Tlp::next_run(unsigned from) const {
  const unsigned end = 4u * header.length;
  if (header.first_be == 0xf && (header.last_be == 0xf || header.length == 1)) return {from, end};
  const unsigned last = end - 4;
  Run run{from, from};
  while (run.begin < end && !enabled(run.begin)) ++run.begin;
  run.end = run.begin;
  while (run.end < end && enabled(run.end))
    run.end = run.end >= 4 && run.end < last ? last : run.end + 1;
  return run;
}

namespace {

unsigned framing_bytes(unsigned generation) {
  if (generation == 6) return 0;
  return generation <= 2 ? 2 + 2 + 4 : 4 + 4;
}

}  // namespace

unsigned wire_bytes(const Tlp& tlp, unsigned generation) {
  return framing_bytes(generation) + tlp.header_bytes() + tlp.payload_bytes() +
         (tlp.header.ecrc ? 4 : 0) + (generation == 6 && has_orthogonal_content(tlp) ? 4 : 0);
}

unsigned bytes_after_header(const Tlp& tlp, unsigned generation) {
  const unsigned trailer = generation == 6 ? 0 : generation >= 3 ? 4 : 5;  // LCRC, END
  return tlp.payload_bytes() + (tlp.header.ecrc ? 4 : 0) + trailer;
}

unsigned min_wire_bytes(unsigned generation) {
  return framing_bytes(generation) + 12;
}

bool well_formed(const Tlp& tlp, unsigned max_payload) {
  const TlpHeader& header = tlp.header;
  if (header.type == TlpType::Cpl || header.type == TlpType::Msg) return true;
  if (header.length < 1 || header.length > 1024) return false;
  if (tlp.has_data() && tlp.payload_bytes() > max_payload) return false;
  if (header.type == TlpType::CplD) return header.byte_count >= 1 && header.byte_count <= 4096;
  const bool one = header.length == 1;
  if (one ? header.last_be != 0 : header.first_be == 0 || header.last_be == 0) return false;
  if (header.first_be > 0xf || header.last_be > 0xf) return false;
  if (tlp.is_config()) return one;
  if (tlp.is_atomic()) {
    const unsigned operand = operand_bytes(header.type, tlp.payload_bytes());
    return operand != 0 && tlp.get_address() % operand == 0 && header.first_be == 0xf &&
           (one || header.last_be == 0xf);
  }
  return tlp.get_address() % 4 == 0 && tlp.get_address() % 4096 + 4u * header.length <= 4096;
}

}  // namespace pcie
