// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/pcie/protocol/ordering.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// The classes that credits are counted for.
enum class CreditClass : std::uint8_t { posted, non_posted, completion };
inline constexpr unsigned credit_classes = 3;

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

/// Credits of one class: a header credit for each packet, a data credit for each 16 bytes begun.
struct Credits {
  unsigned headers = 0;
  unsigned data = 0;

  static unsigned units(unsigned bytes) { return (bytes + 15) / 16; }
  static Credits of(const Tlp& tlp) { return {1, units(tlp.payload_bytes())}; }
};

/// What a receiver advertises when the link comes up (PCIe 5.0, 2.6.1); 0 is infinite.
struct CreditConfig {
  std::array<Credits, credit_classes> classes{};  ///< by CreditClass
  /// Units of headers and of data, 1, 4 or 16 (scaled flow control, 3.4.2).
  unsigned scale = 1;
};

/// A transmitter's account of what its receiver can still take (PCIe 5.0, 2.6.1.2). Its counters
/// are those of the DLLPs, 8 bits for headers and 12 for data, and wrap around as these do.
class CreditAccount {
 public:
  /// Throws ConfigurationError if no receiver could advertise that: more than the counters can
  /// tell, or less data than one packet of `max_payload` bytes has, or of AtomicOps, if the
  /// receiver completes these, or of the `deferrable_writes` bytes of a DMWr (PCIe 6.0, table
  /// 2-48).
  CreditAccount(const CreditConfig& advertised, unsigned max_payload, bool atomics = false,
                unsigned deferrable_writes = 0);

  bool enough_for(const Tlp& tlp) const { return unlimited_ || enough(tlp); }
  /// A packet leaves; there have to be enough.
  void consume(const Tlp& tlp) {
    if (!unlimited_) take(tlp);
  }
  /// The receiver has room again for so much.
  void give_back(CreditClass of, Credits credits);

  bool infinite(CreditClass of) const {
    const Class& one = classes_[static_cast<unsigned>(of)];
    return one.headers.infinite && one.data.infinite;
  }
  /// What may be sent now; ~0u if infinite.
  Credits available(CreditClass of) const;

 private:
  /// A pair of CREDIT_LIMIT and CREDITS_CONSUMED.
  struct Counter {
    bool infinite = false;
    std::uint32_t mask = 0;  // of the counters' width, scaled
    std::uint32_t limit = 0;
    std::uint32_t consumed = 0;

    bool enough(unsigned required) const {
      return infinite || ((limit - (consumed + required)) & mask) <= mask / 2;
    }
  };
  struct Class {
    Counter headers;
    Counter data;
  };

  bool enough(const Tlp& tlp) const;
  void take(const Tlp& tlp);

  std::array<Class, credit_classes> classes_;
  bool unlimited_ = true;
};

}  // namespace pcie
