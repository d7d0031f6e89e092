// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "models/axi/pins.h"
#include "models/rtl/design.h"
#include "vp/time/time.h"

namespace axi {

/// A verilated block: registers behind an AXI4-Lite slave, and optionally an AXI4 master and
/// interrupt pins.
class Block : public rtl::Design {
 public:
  Pins pins;

  /// The time that $time shows from now on.
  virtual void set_time(vp::Picoseconds time) = 0;
};

/// What a block is, apart from its RTL. Every device of a kind has this in common.
struct BlockType {
  const char* name;          ///< name of the kind, and of the component by which it logs
  std::uint64_t clock_hz;    ///< unless a platform file says otherwise; 1 kHz to 10 GHz
  std::uint16_t vendor;      ///< unless a platform file says otherwise
  std::uint16_t device;      ///< unless a platform file says otherwise
  std::uint32_t class_code;  ///< class, subclass and programming interface, 24 bits
  std::uint64_t bar_size;    ///< bytes of BAR 0, a power of two of at least 4096
  unsigned vectors;          ///< 0 to 2048, the number of interrupt pins
  bool level;                ///< whether these keep their level until software has served them
  /// Makes a block. `seed` is that of its $random and $urandom, and not 0.
  std::unique_ptr<Block> (*make)(int seed);
};

}  // namespace axi
