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

namespace pcie {

enum class TlpType : std::uint8_t {
  MRd,       ///< memory read, non-posted
  MWr,       ///< memory write, posted
  CfgRd0,    ///< configuration read of the device at the end of this link
  CfgWr0,    ///< configuration write of it, non-posted
  CfgRd1,    ///< configuration read of a device behind a bridge
  CfgWr1,    ///< configuration write of it, non-posted
  Cpl,       ///< completion without data
  CplD,      ///< completion with data
  Msg,       ///< message without data, posted
  FetchAdd,  ///< AtomicOps, see atomic.h: non-posted, with their operands as data
  Swap,
  CAS,
  DMWr,  ///< deferrable memory write: non-posted, answered without data
};
inline constexpr unsigned tlp_types = 13;

constexpr bool is_atomic(TlpType type) {
  return type >= TlpType::FetchAdd && type <= TlpType::CAS;
}

const char* to_string(TlpType type);
std::optional<TlpType> tlp_type_of(std::string_view name);

/// Completion status as encoded on the wire (PCIe 5.0, table 2-35).
enum class Status : std::uint8_t {
  success = 0,
  unsupported_request = 1,
  configuration_retry = 2,  ///< PCIe 6.0: RRS, request retry; of a DMWr too
  completer_abort = 4,
};

/// What a memory request's address is (PCIe 5.0, 2.2.4.1).
enum class AddressType : std::uint8_t {
  untranslated = 0,
  translation_request = 1,  ///< a read of the address's translation
  translated = 2,
};

/// Message codes that the model sends (PCIe 5.0, 2.2.8.1).
enum MessageCode : std::uint8_t {
  assert_inta = 0x20,    ///< + 0..3 for INTA..INTD
  deassert_inta = 0x24,  ///< + 0..3
  err_cor = 0x30,        ///< correctable
  err_nonfatal = 0x31,
  err_fatal = 0x33,
};

/// What a PCIe header says beyond the generic payload's address, data and response.
struct TlpHeader : tlm::tlm_extension<TlpHeader> {
  TlpType type = TlpType::MRd;
  Id requester = 0;
  Id completer = 0;  ///< of a completion
  Id target = 0;     ///< of a configuration request
  std::uint16_t tag = 0;
  std::uint16_t length = 0;           ///< DW, 1 to 1024; 0 where there is neither data nor a read
  std::uint8_t first_be = 0;          ///< enabled bytes of the first DW
  std::uint8_t last_be = 0;           ///< of the last DW; 0 if there is only one
  std::uint8_t traffic_class = 0;     ///< 0 to 7
  bool relaxed_ordering = false;      ///< RO
  bool id_based_ordering = false;     ///< IDO
  bool no_snoop = false;              ///< NS
  bool poisoned = false;              ///< EP
  bool ecrc = false;                  ///< TD: a digest of 4 bytes follows
  Status status = Status::success;    ///< of a completion
  std::uint16_t byte_count = 0;       ///< of a completion: bytes left, these included; 1 to 4096
  std::uint8_t lower_address = 0;     ///< of a completion: address[6:0] of its first byte
  std::uint16_t register_offset = 0;  ///< of a configuration request, DW aligned, 0 to 0xffc
  std::uint8_t message_code = 0;
  /// AT, of a memory request
  AddressType address_type = AddressType::untranslated;

  tlm_extension_base* clone() const override { return new TlpHeader(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const TlpHeader&>(other);
  }
  void free() override {}  // lives and ends with its Tlp
};

/// A header as on the wire: byte 0 in bits 31:24 of the first DW; 0 behind the end.
using HeaderWords = std::array<std::uint32_t, 4>;

class Tlp;
struct TlpRelease {
  void operator()(Tlp* tlp) const;
};
/// A TLP has one owner at any time: the part that it is in.
using TlpPtr = std::unique_ptr<Tlp, TlpRelease>;

/// Transaction layer packet: a generic payload with its PCIe header and room for its data.
///
/// The address is DW aligned. Data holds 4 x length bytes in address order; bytes that are not
/// enabled are zero, so that equal requests are equal packets.
class Tlp : public tlm::tlm_generic_payload {
 public:
  static constexpr unsigned max_bytes = 4096;

  TlpHeader header;

  /// Taken from a pool of the process; the pool grows to the most that were ever in flight.
  static TlpPtr make(TlpType type);

  /// `bytes` 1 to 4096 from any `address`, not crossing 4 KiB. Data is left zero where disabled
  /// and otherwise copied from `data`.
  static TlpPtr memory_write(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  static TlpPtr memory_read(std::uint64_t address, unsigned bytes);
  /// As memory_write(); a completer takes up to 64 or 128 bytes of it.
  static TlpPtr deferrable_write(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  /// `bytes` within the DW at `offset` & ~3. A write takes its `bytes` bytes from `value`.
  static TlpPtr config_read(bool type1, Id target, unsigned offset, unsigned bytes);
  static TlpPtr config_write(bool type1, Id target, unsigned offset, unsigned bytes,
                             std::uint32_t value);
  /// An AtomicOp with `bytes` of operands, of a size that it has, at an aligned address.
  static TlpPtr atomic(TlpType type, std::uint64_t address, const std::uint8_t* operands,
                       unsigned bytes);
  /// A completion without data of `request`.
  static TlpPtr completion(const Tlp& request, Id completer, Status status);
  static TlpPtr message(MessageCode code, Id requester);

  std::uint8_t* data() { return data_.data(); }
  const std::uint8_t* data() const { return data_.data(); }

  bool has_data() const;
  bool is_completion() const { return header.type == TlpType::Cpl || header.type == TlpType::CplD; }
  bool is_atomic() const { return pcie::is_atomic(header.type); }
  /// A request that has an address of memory.
  bool is_memory() const {
    return header.type == TlpType::MRd || header.type == TlpType::MWr ||
           header.type == TlpType::DMWr || is_atomic();
  }
  bool is_config() const {
    return header.type >= TlpType::CfgRd0 && header.type <= TlpType::CfgWr1;
  }
  /// A request that is answered by a completion.
  bool is_non_posted() const {
    return header.type == TlpType::MRd || header.type == TlpType::DMWr || is_config() ||
           is_atomic();
  }
  /// 16 bytes if the address needs 64 bits, or for a message; else 12.
  unsigned header_bytes() const;
  /// The header of a generation 1 to 5 (PCIe 5.0, 2.2).
  HeaderWords header_words() const;
  unsigned payload_bytes() const { return has_data() ? 4u * header.length : 0; }

  /// Whether byte `index` of a request's 4 x length bytes is enabled.
  bool enabled(unsigned index) const;
  /// First enabled byte of a request; 0 if none is.
  unsigned first_byte() const;
  /// Bytes from the first to the last enabled one (PCIe 5.0, table 2-38); 1 if none is enabled.
  unsigned span() const;

  struct Run {
    unsigned begin;
    unsigned end;
    bool empty() const { return begin == end; }
  };
  /// The next enabled bytes without a hole at or after `from`; empty if there are no more.
  Run next_run(unsigned from) const;

 private:
  friend class TlpPool;
  Tlp();
  ~Tlp() override = default;

  // Not cleared: a page per packet would cost more than all else that is done to it.
  std::array<std::uint8_t, max_bytes> data_;
};

/// Bytes that `tlp` occupies on a link of `generation` 1 to 6, framing and LCRC included.
///
///     1, 2:  STP 1 | sequence 2 | header 12 or 16 | payload | ECRC 0 or 4 | LCRC 4 | END 1
///     3-5:   STP with sequence 4 | header 12 or 16 | payload | ECRC 0 or 4 | LCRC 4
///     6:     header 12 or 16 | orthogonal header content 0 or 4 | payload | ECRC 0 or 4
///
/// In flits, what few headers need is content of its own (PCIe 6.0, 2.2.1.2): byte enables that are
/// not all set (OHC-A1), those of a configuration request (OHC-A3), a completion's status if it is
/// not success and the lower two bits of its address if they are not 0 (OHC-A5).
unsigned wire_bytes(const Tlp& tlp, unsigned generation);
/// The least that any TLP occupies.
unsigned min_wire_bytes(unsigned generation);

/// Whether a receiver may act on `tlp`: length, byte enables, 4 KiB and its Max_Payload_Size are
/// kept to, and an AtomicOp has operands of a size that it can have, aligned to that and whole
/// (PCIe 5.0, 2.2.2, 2.2.5, 2.2.7). A malformed TLP is dropped, without a completion.
bool well_formed(const Tlp& tlp, unsigned max_payload);

}  // namespace pcie
