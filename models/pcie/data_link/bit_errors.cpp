// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link/bit_errors.h"

#include <algorithm>
#include <cmath>

#include "models/pcie/data_link/limits.h"

namespace pcie {
namespace {

constexpr unsigned flit_bytes = 256;
constexpr unsigned groups[] = {86, 85, 85};
constexpr unsigned dllp_bytes = 8;
constexpr unsigned sdp_bits = 16;
constexpr unsigned bytes_of_sync_bit = 8;  // 2 bits for 16 bytes

// SplitMix64: every state has one successor, and all values are equally likely.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t value = state += 0x9e37'79b9'7f4a'7c15;
  value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ value >> 27) * 0x94d0'49bb'1331'11eb;
  return value ^ value >> 31;
}

// From 0 to less than 1.
double uniform(std::uint64_t& state) {
  return static_cast<double>(next(state) >> 11) * 0x1p-53;
}

// An STP token has its type and four bits of the length in the first byte, the rest of the length
// and the parity in the second, and the CRC of the length with four bits of the sequence number in
// the third (PCIe 5.0, figure 4-13). The type and the sequence number are in the low bits.
bool is_framing_of_stp(unsigned bit) {
  return bit < 16 || (bit >= 20 && bit < 24);
}

}  // namespace

BitErrors::BitErrors(const Mode& mode, std::uint64_t seed) {
  for (std::uint64_t* random : {&tlps_.random, &dllps_.random, &fatal_random_, &fate_random_,
                                &correction_random_, &idle_random_}) {
    *random = next(seed);
  }
  change(mode);
}

void BitErrors::change(const Mode& mode) {
  mode_ = mode;
  if (mode.rate == 0) return;
  tlps_.good = skip(tlps_.random, mode.rate);
  dllps_.good = skip(dllps_.random, mode.rate);
  tlp_rest_ = dllp_rest_ = 0;
  // Flits keep 8b/10b at the speeds that have it. A wrong symbol is a wrong byte.
  const int bits = mode.generation <= 2 ? 10 : 8;
  const double good_byte = std::exp(bits * std::log1p(-mode.rate));
  const double wrong_byte = -std::expm1(bits * std::log1p(-mode.rate));
  // The probability that a group has at least two wrong bytes, as a sum without cancellation.
  double all_right = 1, correctable = 1;
  uncorrected_ = 0;
  for (const unsigned bytes : groups) {
    double two_or_more = 0, term = std::pow(good_byte, bytes);
    all_right *= term;
    for (unsigned wrong = 1; wrong <= std::min(bytes, 20u); ++wrong) {
      term *= wrong_byte / good_byte * (bytes - wrong + 1) / wrong;
      if (wrong >= 2) two_or_more += term;
    }
    uncorrected_ += correctable * two_or_more;
    correctable *= 1 - two_or_more;
  }
  corrected_ = -std::expm1(std::log(all_right) - std::log(correctable));
  const unsigned sync_bits =
      mode.generation >= 3 && mode.generation <= 5 ? flit_bytes / bytes_of_sync_bit : 0;
  framing_ = -std::expm1(sync_bits * std::log1p(-mode.rate));
}

// The number of trials without success before one with success.
std::uint64_t BitErrors::skip(std::uint64_t& random, double probability) const {
  if (probability == 0) return without_end;
  const double trials = std::floor(std::log1p(-uniform(random)) / std::log1p(-probability));
  return trials < static_cast<double>(without_end) ? static_cast<std::uint64_t>(trials)
                                                   : without_end;
}

template <typename Classify>
BitErrors::Fate BitErrors::draw(Bits& stream, unsigned bits, Classify classify) {
  Fate fate = Fate::good;
  std::uint64_t left = bits;
  while (stream.good < left) {
    left -= stream.good + 1;
    fate = std::max(fate, classify(static_cast<unsigned>(bits - left - 1)));
    stream.good = skip(stream.random, mode_.rate);
  }
  stream.good -= left;
  return fate;
}

// Sync headers belong to no packet. Each packet has the bits that fall due while it is sent.
unsigned BitErrors::sync_header_bits(unsigned& rest, unsigned bytes) const {
  rest += bytes;
  const unsigned bits = rest / bytes_of_sync_bit;
  rest %= bytes_of_sync_bit;
  return bits;
}

BitErrors::Fate BitErrors::tlp(unsigned bytes) {
  if (mode_.generation <= 2) return draw(tlps_, 10 * bytes, [](unsigned) { return Fate::symbol; });
  return draw(tlps_, 8 * bytes + sync_header_bits(tlp_rest_, bytes), [bytes](unsigned bit) {
    return is_framing_of_stp(bit) || bit >= 8 * bytes ? Fate::framing : Fate::wrong;
  });
}

BitErrors::Fate BitErrors::dllp() {
  if (mode_.generation <= 2) {
    return draw(dllps_, 10 * dllp_bytes, [](unsigned) { return Fate::symbol; });
  }
  return draw(dllps_, 8 * dllp_bytes + sync_header_bits(dllp_rest_, dllp_bytes), [](unsigned bit) {
    return bit < sdp_bits || bit >= 8 * dllp_bytes ? Fate::framing : Fate::wrong;
  });
}

std::uint64_t BitErrors::flits_without_fatal_error() {
  return skip(fatal_random_, framing_ + (1 - framing_) * uncorrected_);
}

BitErrors::Fate BitErrors::fatal_error() {
  if (framing_ == 0) return Fate::wrong;
  const double fatal = framing_ + (1 - framing_) * uncorrected_;
  return uniform(fate_random_) * fatal < framing_ ? Fate::framing : Fate::wrong;
}

std::uint64_t BitErrors::flits_without_correction() {
  return skip(correction_random_, corrected_);
}

vp::Picoseconds BitErrors::idle_time() {
  const double bit =
      static_cast<double>(symbol_time(mode_.generation)) / (mode_.generation <= 2 ? 10 : 8);
  const double mean = bit / (mode_.lanes * -std::log1p(-mode_.rate));
  const double time = -std::log1p(-uniform(idle_random_)) * mean;
  return static_cast<vp::Picoseconds>(std::min(time, 1e17));
}

}  // namespace pcie
