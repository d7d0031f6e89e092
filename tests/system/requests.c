// SPDX-License-Identifier: Apache-2.0
// A program for the guest: takes the requests of the load function out of a ring and answers them.
// Arguments: the function's folder in sysfs, how many requests, how many of the first are left
// unanswered. Prints a line for each request, with its time, kind and number, and then the
// counters. The function is started twice, since numbers go on.
#include <inttypes.h>
#include <stdbool.h>

#include "load_function.h"
#include "oae_memory_map.h"
#include "oae_registers.h"
#include "pinned_page.h"
#include "request_ring.h"

enum { entries = page / sizeof(struct request_entry), most = 100000 };

static struct load_function function;
static struct request_ring ring;
static struct request seen[most];

/* Takes and answers so many requests but the first few. Returns false if one is lost. */
static bool take(uint64_t requests, uint64_t unanswered) {
  uint64_t told = 0;

  for (uint64_t n = 0; n < requests; n++) {
    while (!request_ring_take(&ring, &seen[n])) {
      if (load_function_get(&function, OAE_LOAD_STATUS) ||
          load_function_get(&function, OAE_LOAD_DROPPED))
        return false;
    }
    if (request_ring_tell(&ring, &told)) load_function_put(&function, OAE_LOAD_TAKEN, told);
    if (n >= unanswered) load_function_put(&function, OAE_LOAD_ANSWER, seen[n].number);
  }
  return true;
}

static bool run(const struct load* load, uint64_t unanswered) {
  void* memory = new_page();

  request_ring_init(&ring, memory, entries);
  ring.first = load_function_start(&function, load, bus_address(memory), entries);
  return ring.first != 0 && take(load->count, unanswered);
}

int main(int count, char** arguments) {
  const uint64_t requests = count == 4 ? strtoull(arguments[2], NULL, 10) : 0;
  const uint64_t unanswered = count == 4 ? strtoull(arguments[3], NULL, 10) : 0;
  const struct load few = {.seed = 8, .interval_ps = 1000000, .count = 2, .warm_up = 2};
  const struct load load = {.seed = 7,
                            .interval_ps = 1000000,
                            .count = requests,
                            .warm_up = unanswered,
                            .long_share = 1u << 30};

  if (requests == 0 || requests > most) return 1;
  if (load_function_open(&function, arguments[1]) || !run(&few, 0) || !run(&load, unanswered))
    return 1;
  load_function_put(&function, OAE_LOAD_ANSWER, ring.first + requests);
  for (uint64_t n = 0; n < requests; n++)
    printf("%" PRIu64 " %u %" PRIu64 "\n", seen[n].came, seen[n].kind, seen[n].number);
  for (const unsigned* offset =
           (const unsigned[]){OAE_LOAD_GENERATED, OAE_LOAD_DROPPED, OAE_LOAD_ANSWERED,
                              OAE_LOAD_UNKNOWN, OAE_LOAD_FIRST, OAE_LOAD_GENERATED_LONG, 0};
       *offset; offset++)
    printf("%" PRIu64 " ", load_function_get(&function, *offset));
  printf("\n");
  return 0;
}
