// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <systemc>
#include <tlm>

#include "models/pcie/protocol/ids.h"
#include "vp/time/time.h"

namespace pcie {

enum class TlpType : std::uint8_t {
  MRd,       ///< memory read, non-posted
  MWr,       ///< memory write, posted
  CfgRd0,    ///< configuration read of the device at the end of this link
  CfgWr0,    ///< configuration write of that device, non-posted
  CfgRd1,    ///< configuration read of a device behind a bridge
  CfgWr1,    ///< configuration write of that device, non-posted
  Cpl,       ///< completion without data
  CplD,      ///< completion with data
  Msg,       ///< message without data, posted
  FetchAdd,  ///< AtomicOps (see atomic.h), non-posted, with their operands as data
  Swap,
  CAS,
  DMWr,  ///< deferrable memory write, non-posted, completed without data
};
inline constexpr unsigned tlp_types = 13;

constexpr bool is_atomic(TlpType type) {
  return type >= TlpType::FetchAdd && type <= TlpType::CAS;
}

constexpr bool has_data(TlpType type) {
  switch (type) {
    case TlpType::MWr:
    case TlpType::CfgWr0:
    case TlpType::CfgWr1:
    case TlpType::CplD:
    case TlpType::FetchAdd:
    case TlpType::Swap:
    case TlpType::CAS:
    case TlpType::DMWr:
      return true;
    default:
      return false;
  }
}

/// The type's mnemonic in the specification, as the enumerator has it.
const char* to_string(TlpType type);
/// The type of that mnemonic, or nothing if there is none.
std::optional<TlpType> tlp_type_of(std::string_view name);

/// Completion status as encoded on the wire (PCIe 5.0, table 2-35).
enum class Status : std::uint8_t {
  success = 0,
  unsupported_request = 1,
  configuration_retry = 2,  ///< PCIe 6.0: request retry (RRS), also for a DMWr
  completer_abort = 4,
};

/// The kind of a memory request's address (PCIe 5.0, 2.2.4.1).
enum class AddressType : std::uint8_t {
  untranslated = 0,
  translation_request = 1,  ///< the request reads the address's translation
  translated = 2,
};

/// The message codes that the model sends (PCIe 5.0, 2.2.8.1, 2.2.8.3).
enum MessageCode : std::uint8_t {
  assert_inta = 0x20,    ///< plus 0 to 3 for INTA to INTD
  deassert_inta = 0x24,  ///< plus 0 to 3 for INTA to INTD
  err_cor = 0x30,
  err_nonfatal = 0x31,
  err_fatal = 0x33,
};

/// Whether a receiver drops messages of that code without an error: Vendor-Defined Type 1 (PCIe
/// 5.0, 2.2.8.6), and those of a former mechanism for hot-plug (2.2.8.7). All other messages that
/// the receiver does not support are Unsupported Requests (2.3.1).
constexpr bool is_ignored_message(unsigned code) {
  switch (code) {
    case 0x40:
    case 0x41:
    case 0x43:
    case 0x44:
    case 0x45:
    case 0x47:
    case 0x48:
    case 0x7f:
      return true;
    default:
      return false;
  }
}

/// The fields of a PCIe header that the generic payload does not have.
struct TlpHeader : tlm::tlm_extension<TlpHeader> {
  TlpType type = TlpType::MRd;
  Id requester = 0;
  Id completer = 0;  ///< completions only
  Id target = 0;     ///< configuration requests only
  std::uint16_t tag = 0;
  std::uint16_t length = 0;           ///< DW, 1 to 1024; 0 for a packet with neither data nor read
  std::uint8_t first_be = 0;          ///< byte enables of the first DW
  std::uint8_t last_be = 0;           ///< byte enables of the last DW; 0 if there is only one DW
  std::uint8_t traffic_class = 0;     ///< 0 to 7
  bool relaxed_ordering = false;      ///< RO
  bool id_based_ordering = false;     ///< IDO
  bool no_snoop = false;              ///< NS
  bool poisoned = false;              ///< EP
  bool ecrc = false;                  ///< TD: a digest of 4 bytes follows
  Status status = Status::success;    ///< completions only
  std::uint16_t byte_count = 0;       ///< completions only: bytes left with this one, 1 to 4096
  std::uint8_t lower_address = 0;     ///< completions only: address[6:0] of the first byte
  std::uint16_t register_offset = 0;  ///< configuration requests only: DW aligned, 0 to 0xffc
  std::uint8_t message_code = 0;
  /// AT, memory requests only
  AddressType address_type = AddressType::untranslated;

  tlm_extension_base* clone() const override { return new TlpHeader(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const TlpHeader&>(other);
  }
  void free() override {}  // the Tlp owns its header
};

/// A header as it is on the wire. Byte 0 is in bits 31:24 of the first DW; unused words are 0.
using HeaderWords = std::array<std::uint32_t, 4>;

/// A header as it is in flits: 3 or 4 DW and perhaps one of orthogonal header content.
struct FlitHeader {
  std::array<std::uint32_t, 5> words{};  ///< as in HeaderWords
  unsigned size = 0;                     ///< DW that are used
};

class Tlp;
struct TlpRelease {
  void operator()(Tlp* tlp) const;
};
/// A TLP has exactly one owner: the component that holds it.
using TlpPtr = std::unique_ptr<Tlp, TlpRelease>;

/// A transaction layer packet: a generic payload with its PCIe header and room for its data.
///
/// The address is DW aligned. The data has 4 x length bytes in address order. Bytes that are not
/// enabled are zero, so that equal requests are equal packets.
class Tlp : public tlm::tlm_generic_payload {
 public:
  static constexpr unsigned max_bytes = 4096;

  TlpHeader header;
  /// How long before its last byte the header has arrived, if the component that has received it
  /// may forward it meanwhile; or else 0.
  vp::Picoseconds head_start = 0;

  /// Allocates a packet from the pool of the process, which grows to the highest number in flight.
  static TlpPtr make(TlpType type);

  /// `bytes` is 1 to 4096, and the range from `address` must not cross 4 KiB. The packet copies
  /// `data` and sets disabled bytes to zero.
  static TlpPtr memory_write(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  static TlpPtr memory_read(std::uint64_t address, unsigned bytes);
  /// Like memory_write(); a completer accepts up to 64 or 128 bytes.
  static TlpPtr deferrable_write(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  /// `bytes` must lie within the DW at `offset` & ~3. A write sends the low bytes of `value`.
  static TlpPtr config_read(bool type1, Id target, unsigned offset, unsigned bytes);
  static TlpPtr config_write(bool type1, Id target, unsigned offset, unsigned bytes,
                             std::uint32_t value);
  /// `bytes` is the size of all operands, and `address` must be a multiple of one operand's size.
  static TlpPtr atomic(TlpType type, std::uint64_t address, const std::uint8_t* operands,
                       unsigned bytes);
  /// Makes a completion of `request` without data.
  static TlpPtr completion(const Tlp& request, Id completer, Status status);
  static TlpPtr message(MessageCode code, Id requester);

  std::uint8_t* data() { return data_.data(); }
  const std::uint8_t* data() const { return data_.data(); }

  bool has_data() const { return pcie::has_data(header.type); }
  bool is_completion() const { return header.type == TlpType::Cpl || header.type == TlpType::CplD; }
  bool is_atomic() const { return pcie::is_atomic(header.type); }
  /// Whether the packet is a request with a memory address.
  bool is_memory() const {
    return header.type == TlpType::MRd || header.type == TlpType::MWr ||
           header.type == TlpType::DMWr || is_atomic();
  }
  /// Whether the packet has a memory address that needs 64 bits.
  bool has_long_address() const { return is_memory() && get_address() >> 32 != 0; }
  bool is_config() const {
    return header.type >= TlpType::CfgRd0 && header.type <= TlpType::CfgWr1;
  }
  /// Whether the packet is a request that needs a completion.
  bool is_non_posted() const {
    return header.type == TlpType::MRd || header.type == TlpType::DMWr || is_config() ||
           is_atomic();
  }
  /// 16 bytes for a message or if the address needs 64 bits, otherwise 12.
  unsigned header_bytes() const {
    return has_long_address() || header.type == TlpType::Msg ? 16 : 12;
  }
  /// The header in the format of generations 1 to 5 (PCIe 5.0, 2.2).
  HeaderWords header_words() const;
  /// The header in flit mode (PCIe 6.0, 2.2.1.2).
  FlitHeader flit_header() const;
  unsigned payload_bytes() const { return has_data() ? 4u * header.length : 0; }

  /// Whether byte `index` of a request's 4 x length bytes is enabled.
  bool enabled(unsigned index) const;
  /// The first enabled byte of a request, or 0 if none is enabled.
  unsigned first_byte() const;
  /// The bytes from the first to the last enabled one (PCIe 5.0, table 2-38), or 1 if none is.
  unsigned span() const;

  struct Run {
    unsigned begin;
    unsigned end;
    bool empty() const { return begin == end; }
  };
  /// The next range of consecutive enabled bytes at or after `from`; empty at the end.
  Run next_run(unsigned from) const;

 private:
  friend class TlpPool;
  Tlp();
  ~Tlp() override = default;

  // The data is not cleared: clearing a page for each packet would cost more than all other work.
  std::array<std::uint8_t, max_bytes> data_;
};

/// The bytes that `tlp` takes on a link of `generation` 1 to 6, with framing and LCRC.
///
///     1, 2:  STP 1 | sequence 2 | header 12 or 16 | payload | ECRC 0 or 4 | LCRC 4 | END 1
///     3-5:   STP with sequence 4 | header 12 or 16 | payload | ECRC 0 or 4 | LCRC 4
///     6:     header 12 or 16 | orthogonal header content 0 or 4 | payload | ECRC 0 or 4
///
/// In flits, rare header fields are orthogonal header content (PCIe 6.0, 2.2.1.2): byte enables
/// that are not all set (OHC-A1), the byte enables of a configuration request (OHC-A3), and the
/// status and low address bits of a completion if they are not 0 (OHC-A5).
unsigned wire_bytes(const Tlp& tlp, unsigned generation);
/// Those of the bytes that follow the header.
unsigned bytes_after_header(const Tlp& tlp, unsigned generation);
/// The least bytes that any TLP takes.
unsigned min_wire_bytes(unsigned generation);

/// Whether a receiver may act on `tlp`. Length and byte enables must be valid, the packet must not
/// cross 4 KiB or exceed `max_payload` bytes, and the operands of an AtomicOp must have a valid
/// size, be aligned to it and be complete (PCIe 5.0, 2.2.2, 2.2.5, 2.2.7). A receiver drops a
/// malformed TLP without a completion.
bool well_formed(const Tlp& tlp, unsigned max_payload);

}  // namespace pcie
