// SPDX-License-Identifier: Apache-2.0
#include "churn_choice.h"

#include "random.h"

const char* const churn_names[CHURN_KINDS] = {"die", "affinity", "class", "nice"};

/* Returns the position of the nth bit that is set. */
static unsigned nth_bit(uint64_t bits, unsigned n) {
  for (; n; n--) bits &= bits - 1;
  return __builtin_ctzll(bits);
}

struct churn_choice churn_choose(uint64_t seed, uint64_t index, unsigned kinds, unsigned workers,
                                 uint64_t cpus) {
  const uint64_t kind = random_at(seed, 3 * index), worker = random_at(seed, 3 * index + 1),
                 value = random_at(seed, 3 * index + 2);
  const unsigned count = __builtin_popcountll(cpus);
  struct churn_choice choice = {
      .kind = (enum churn_kind)nth_bit(kinds, random_below(kind, __builtin_popcount(kinds))),
      .worker = random_below(worker, workers),
      .cpus = cpus,
      .nice = random_below(value, CHURN_NICE_VALUES)};

  if (count > 1) choice.cpus &= ~(UINT64_C(1) << nth_bit(cpus, random_below(value, count)));
  return choice;
}
