// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/pcie/protocol/ordering.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// The classes of packets that have credits of their own.
enum class CreditClass : std::uint8_t { posted, non_posted, completion };
inline constexpr unsigned credit_classes = 3;
/// The width of their counters in DLLPs (PCIe 5.0, 3.4.1).
inline constexpr unsigned header_bits = 8, data_bits = 12;

/// The most that a counter can hold in that unit: half of its range less one (PCIe 5.0, 2.6.1).
constexpr unsigned most_credits(unsigned bits, unsigned unit) {
  return ((1u << (bits - 1)) - 1) * unit;
}
/// The smallest unit in which a counter can hold these credits, but `scale` at most.
constexpr unsigned unit_of(unsigned credits, unsigned bits, unsigned scale) {
  unsigned unit = 1;
  while (unit < scale && credits > most_credits(bits, unit)) unit *= 4;
  return unit;
}

inline CreditClass credit_class(TlpType type) {
  switch (category(type)) {
    case Category::posted:
      return CreditClass::posted;
    case Category::completion:
      return CreditClass::completion;
    default:
      return CreditClass::non_posted;
  }
}

/// Credits of one class: one header credit for each packet, and one data credit for each 16 bytes
/// of data or part thereof.
struct Credits {
  unsigned headers = 0;
  unsigned data = 0;

  static unsigned units(unsigned bytes) { return (bytes + 15) / 16; }
  static Credits of(const Tlp& tlp) { return {1, units(tlp.payload_bytes())}; }
};

/// The credits that a receiver advertises when the link comes up (PCIe 5.0, 2.6.1). 0 is infinite.
struct CreditConfig {
  std::array<Credits, credit_classes> classes{};  ///< indexed by CreditClass
  /// The largest unit in which headers or data may be counted: 1, or 4 or 16 with scaled flow
  /// control (3.4.2). Each counter has the smallest unit in which it can hold its credits, and they
  /// are a multiple of it.
  unsigned scale = 1;
  /// Instead of `classes` and `scale`, as many as keep the link busy: default_credits().
  bool by_link = false;
};

/// A transmitter's account of the room in its receiver (PCIe 5.0, 2.6.1.2). Its counters have the
/// width that they have in DLLPs, 8 bits for headers and 12 bits for data, and wrap around.
class CreditAccount {
 public:
  /// Throws ConfigurationError if no receiver could advertise these credits: if they exceed the
  /// counters' range or are no multiple of their unit, or if there is less data credit than one
  /// packet needs. A packet is a write of `max_payload` bytes, the operands of an AtomicOp if
  /// `atomics` is set, or a DMWr of `deferrable_writes` bytes (PCIe 6.0, table 2-48).
  CreditAccount(const CreditConfig& advertised, unsigned max_payload, bool atomics = false,
                unsigned deferrable_writes = 0);

  bool enough_for(const Tlp& tlp) const { return unlimited_ || enough(tlp); }
  /// Consumes the credits of a packet that leaves. enough_for() must hold.
  void consume(const Tlp& tlp) {
    if (!unlimited_) deduct(tlp);
  }
  /// Adds credits that the receiver has returned.
  void restore(CreditClass of, Credits credits);

  bool infinite(CreditClass of) const {
    const Class& one = classes_[static_cast<unsigned>(of)];
    return one.headers.infinite && one.data.infinite;
  }
  /// The credits that are left, ~0u if infinite.
  Credits available(CreditClass of) const;
  /// The units in which the credits of a class are returned, 0 if infinite.
  Credits unit(CreditClass of) const {
    const Class& one = classes_[static_cast<unsigned>(of)];
    return {one.headers.infinite ? 0 : one.headers.unit, one.data.infinite ? 0 : one.data.unit};
  }
  /// What the largest packet of a class needs.
  Credits largest(CreditClass of) const { return {1, largest_[static_cast<unsigned>(of)]}; }

 private:
  /// A pair of CREDIT_LIMIT and CREDITS_CONSUMED.
  struct Counter {
    bool infinite = false;
    unsigned unit = 1;
    std::uint32_t mask = 0;  // the range of the counters, scaled
    std::uint32_t limit = 0;
    std::uint32_t consumed = 0;

    Counter() = default;
    Counter(unsigned advertised, unsigned bits, unsigned scale, const char* what);
    bool enough(unsigned required) const {
      return infinite || ((limit - (consumed + required)) & mask) <= mask / 2;
    }
  };
  struct Class {
    Counter headers;
    Counter data;
  };

  bool enough(const Tlp& tlp) const;
  void deduct(const Tlp& tlp);

  std::array<Class, credit_classes> classes_;
  std::array<unsigned, credit_classes> largest_{};  // data credits
  bool unlimited_ = true;
};

}  // namespace pcie
