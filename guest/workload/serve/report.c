// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

#include "oae_registers.h"

static const char* const ends[] = {
    [DISPATCH_GOES_ON] = "dispatching did not end",
    [DISPATCH_REFUSED] = "the function may not write memory: has something reset it meanwhile?",
    [DISPATCH_GONE] = "the function does not answer: was the card removed?",
    [DISPATCH_STUCK] =
        "no request was given to a worker or answered for longer than --patience allows",
};

static void print(const char* what, uint64_t value) {
  printf("%s %" PRIu64 "\n", what, value);
}

static void print_kinds(const char* what, uint64_t all, uint64_t of_range) {
  printf("%s get %" PRIu64 " range %" PRIu64 "\n", what, all - of_range, of_range);
}

/* Complains if the count is not 0. */
static bool none(const char* what, uint64_t count) {
  if (count) fprintf(stderr, "serve: %s: %" PRIu64 "\n", what, count);
  return !count;
}

static void print_dispatchers(const struct dispatcher* dispatchers, unsigned count) {
  uint64_t first = UINT64_MAX, last = 0, dispatched = 0, sum = 0, max = 0;

  for (unsigned i = 0; i < count; i++) {
    const struct dispatcher* one = &dispatchers[i];
    if (!one->dispatched) continue;
    if (one->first_came < first) first = one->first_came;
    if (one->last_came > last) last = one->last_came;
    if (one->max_ns > max) max = one->max_ns;
    dispatched += one->dispatched;
    sum += one->sum_ns;
  }
  if (dispatched > 1 && last > first)
    print("rate", (uint64_t)((unsigned __int128)(dispatched - 1) * 1000000000000 / (last - first)));
  if (dispatched)
    printf("dispatch mean_ns %" PRIu64 " max_ns %" PRIu64 "\n", sum / dispatched, max);
}

static void print_churn(const struct churn* churn) {
  const uint64_t ns = churn->last_ns - churn->begin_ns;

  printf("churn");
  for (int kind = 0; kind < CHURN_KINDS; kind++)
    printf(" %s %" PRIu64, churn_names[kind], churn->made[kind]);
  printf(" missed %" PRIu64, churn->missed);
  if (churn->changes > 1) printf(" rate %" PRIu64, (churn->changes - 1) * 1000000000 / ns);
  printf("\n");
}

bool report(const struct dispatching* common, const struct dispatcher* dispatchers, unsigned count,
            const struct churn* churn) {
  const struct workplace* place = common->place;
  const struct load_function* function = &place->function;
  const uint64_t generated = load_function_get(function, OAE_LOAD_GENERATED),
                 dropped = load_function_get(function, OAE_LOAD_DROPPED),
                 refused = load_function_get(function, OAE_LOAD_REFUSED),
                 answered = load_function_get(function, OAE_LOAD_ANSWERED),
                 twice = load_function_get(function, OAE_LOAD_UNKNOWN);
  bool good = true;

  if (common->end != DISPATCH_DONE) {
    fprintf(stderr, "serve: %s\n", ends[common->end]);
    good = false;
  }
  print_kinds("requests", generated, load_function_get(function, OAE_LOAD_GENERATED_LONG));
  print_kinds("lost", dropped, load_function_get(function, OAE_LOAD_DROPPED_LONG));
  print_kinds("answers", answered, load_function_get(function, OAE_LOAD_ANSWERED_LONG));
  if (common->options->load.limit_ps)
    print_kinds("late", load_function_get(function, OAE_LOAD_LATE),
                load_function_get(function, OAE_LOAD_LATE_LONG));
  print("answered_twice", twice);
  print("unanswered", generated - dropped - refused - answered);
  print("wrong", place->wrong);
  print_dispatchers(dispatchers, count);
  printf("threads begun %" PRIu64 " ended %" PRIu64 "\n", place->begun, place->ended);
  if (common->options->churn_rate) print_churn(churn);
  good &= none("requests that the function could not write to memory", refused);
  good &= none("requests that were not answered", generated - dropped - refused - answered);
  good &= none("answers to requests that did not wait for one", twice);
  good &= none("answers that were wrong", place->wrong);
  good &= none("threads that did not end", place->begun - place->ended);
  good &= none("threads that could not be made what they have to be", place->failed);
  good &= none("changes of workers that the kernel has refused", churn->failed);
  return good;
}
