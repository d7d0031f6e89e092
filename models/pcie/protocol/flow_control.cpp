// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/flow_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned header_bits = 8;
constexpr unsigned data_bits = 12;
constexpr unsigned max_atomic = 32;  // bytes of both operands of the largest CAS

// At most half of the counters' range may be outstanding (PCIe 5.0, 2.6.1 and 3.4.2).
std::uint32_t mask_of(unsigned advertised, unsigned bits, unsigned scale, const char* what) {
  const unsigned most = ((1u << (bits - 1)) - 1) * scale;
  if (advertised > most) {
    throw ConfigurationError(
        fmt::format("{} {} credits are impossible: at most {} fit the counter{}", advertised, what,
                    most, scale < 16 ? "; scaled flow control permits more" : ""));
  }
  return (scale << bits) - 1;
}

}  // namespace

CreditAccount::CreditAccount(const CreditConfig& advertised, unsigned max_payload, bool atomics,
                             unsigned deferrable_writes) {
  const unsigned non_posted_data = std::max(atomics ? max_atomic : 4, deferrable_writes);
  if (advertised.scale != 1 && advertised.scale != 4 && advertised.scale != 16) {
    throw ConfigurationError(
        fmt::format("a credit scale of {} is impossible: use 1, 4 or 16", advertised.scale));
  }
  for (unsigned i = 0; i < credit_classes; ++i) {
    const Credits& credits = advertised.classes[i];
    Class& one = classes_[i];
    const bool non_posted = static_cast<CreditClass>(i) == CreditClass::non_posted;
    const unsigned least = Credits::units(non_posted ? non_posted_data : max_payload);
    largest_[i] = least;
    if (credits.data != 0 && credits.data < least) {
      throw ConfigurationError(
          fmt::format("{} data credits are too few: one packet can need {}", credits.data, least));
    }
    if (credits.headers != 0 || credits.data != 0) unlimited_ = false;
    one.headers = {credits.headers == 0,
                   mask_of(credits.headers, header_bits, advertised.scale, "header"),
                   credits.headers};
    one.data = {credits.data == 0, mask_of(credits.data, data_bits, advertised.scale, "data"),
                credits.data};
  }
}

bool CreditAccount::enough(const Tlp& tlp) const {
  const Class& one = classes_[static_cast<unsigned>(credit_class(tlp.header.type))];
  const Credits needed = Credits::of(tlp);
  return one.headers.enough(needed.headers) && one.data.enough(needed.data);
}

void CreditAccount::deduct(const Tlp& tlp) {
  assert(enough(tlp));
  Class& one = classes_[static_cast<unsigned>(credit_class(tlp.header.type))];
  const Credits needed = Credits::of(tlp);
  one.headers.consumed = (one.headers.consumed + needed.headers) & one.headers.mask;
  one.data.consumed = (one.data.consumed + needed.data) & one.data.mask;
}

void CreditAccount::restore(CreditClass of, Credits credits) {
  Class& one = classes_[static_cast<unsigned>(of)];
  one.headers.limit = (one.headers.limit + credits.headers) & one.headers.mask;
  one.data.limit = (one.data.limit + credits.data) & one.data.mask;
}

Credits CreditAccount::available(CreditClass of) const {
  const Class& one = classes_[static_cast<unsigned>(of)];
  const auto left = [](const Counter& counter) {
    return counter.infinite ? ~0u : (counter.limit - counter.consumed) & counter.mask;
  };
  return {left(one.headers), left(one.data)};
}

}  // namespace pcie
