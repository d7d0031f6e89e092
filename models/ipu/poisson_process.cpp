// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/poisson_process.h"

namespace ipu {
namespace {

using Wide = unsigned __int128;

constexpr unsigned fraction = 40;

// ln 2 in units of 2^-64.
constexpr std::uint64_t ln_2 = 0xb17217f7d1cf79ab;

}  // namespace

// The logarithm to base 2, bit by bit: the square of a number from 1 to 2 is 2 or more if the next
// bit of its logarithm is 1. The errors of the squares, which are rounded down, stay far below the
// last bit that is used.
std::uint64_t PoissonProcess::negative_logarithm(std::uint64_t x) {
  const unsigned zeros = static_cast<unsigned>(__builtin_clzll(x));
  std::uint64_t mantissa = x << zeros;  // from 1 to 2, in units of 2^-63
  std::uint64_t bits = 0;
  constexpr unsigned digits = fraction + 8;
  for (unsigned i = 0; i < digits; ++i) {
    const Wide square = static_cast<Wide>(mantissa) * mantissa;
    const bool one = square >> 127 != 0;
    mantissa = static_cast<std::uint64_t>(square >> (one ? 64 : 63));
    bits = bits << 1 | one;
  }
  // log2(x / 2^64) is -(zeros + 1) + bits.
  const std::uint64_t negative = (std::uint64_t{zeros + 1} << digits) - bits;
  return static_cast<std::uint64_t>(static_cast<Wide>(negative) * ln_2 >> 64) >>
         (digits - fraction);
}

vp::Picoseconds PoissonProcess::next() {
  const std::uint64_t x = random_() | 1;
  const Wide time = static_cast<Wide>(mean_) * negative_logarithm(x) + rest_;
  rest_ = static_cast<std::uint64_t>(time) & ((std::uint64_t{1} << fraction) - 1);
  return static_cast<vp::Picoseconds>(time >> fraction);
}

}  // namespace ipu
