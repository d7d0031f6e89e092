// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/faults.h"

#include <fmt/format.h>

#include "oae_registers.h"

const char* name(Fault fault) {
  static constexpr const char* names[fault_kinds] = {
      "write lost",     "write damaged",  "write again",      "offer again",
      "offer late",     "offer instead",  "register damaged", "read lost",
      "read late",      "read delayed",   "completion lost",  "answer damaged",
      "answer refused", "answer held",    "state lost",       "state delayed",
      "state damaged",  "interrupt lost", "interrupt late",   "interrupt again",
      "link down",      "function reset", "power lost",       "firmware restarts",
      "owner dies"};
  return names[static_cast<unsigned>(fault)];
}

// Without a check of its own, a register relies on the link's CRC.
bool possible(Fault fault) {
#ifdef OAE_PORT_CONFIRM_CHECK_MASK
  static_cast<void>(fault);
  return true;
#else
  return fault != Fault::register_damaged;
#endif
}

void Evidence::add(const Evidence& other) {
  for (unsigned fault = 0; fault < fault_kinds; ++fault) {
    for (unsigned moment = 0; moment < 3; ++moment) {
      counts_[fault][moment] += other.counts_[fault][moment];
    }
  }
}

unsigned Evidence::injected(Fault fault) const {
  return injected(fault, Moment::quiet) + injected(fault, Moment::undecided) +
         injected(fault, Moment::tentative);
}

std::string Evidence::table() const {
  std::string text =
      fmt::format("{:18}{:>8}{:>11}{:>11}\n", "fault", "injected", "undecided", "tentative");
  for (unsigned i = 0; i < fault_kinds; ++i) {
    const auto fault = static_cast<Fault>(i);
    text += fmt::format("{:18}{:8}{:11}{:11}\n", name(fault), injected(fault),
                        injected(fault, Moment::undecided), injected(fault, Moment::tentative));
  }
  return text;
}

bool Faults::inject(unsigned access, Fault fault, Moment moment) {
  for (auto at = planned_.begin(); at != planned_.end() && at->first <= access; ++at) {
    if (at->second != fault) continue;
    planned_.erase(at);
    evidence.add(fault, moment);
    return true;
  }
  return false;
}
