// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/flow_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned max_atomic = 32;  // bytes of both operands of the largest CAS

}  // namespace

CreditAccount::Counter::Counter(unsigned advertised, unsigned bits, unsigned scale,
                                const char* what)
    : infinite(advertised == 0),
      unit(unit_of(advertised, bits, scale)),
      mask((unit << bits) - 1),
      limit(advertised) {
  const unsigned most = most_credits(bits, unit);
  if (advertised > most) {
    throw ConfigurationError(
        fmt::format("{} {} credits are impossible: at most {} fit the counter{}", advertised, what,
                    most, scale < 16 ? "; scaled flow control permits more" : ""));
  }
  if (advertised % unit != 0) {
    throw ConfigurationError(
        fmt::format("{} {} credits are impossible: so many are counted in units of {}; use {}",
                    advertised, what, unit, advertised - advertised % unit));
  }
}

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
    one.headers = Counter(credits.headers, header_bits, advertised.scale, "header");
    one.data = Counter(credits.data, data_bits, advertised.scale, "data");
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
