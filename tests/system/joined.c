/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * One end of joined ports: swaps COUNT slots for those of the other end, and holds what it gets
 * against what that gives: all of it, once, in order, after an empty one. With `patient`, the
 * function may be reset: the program then waits until it can open its port, settles the swap that
 * is in doubt, and offers a slot again if its swap has not taken place.
 *
 *   joined DEVICE OWN OTHER COUNT [patient]
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "oae.h"

#define TIMEOUT_NS 2000000000ull

static void fill(uint64_t payload[OAE_PAYLOAD_WORDS], uint64_t who, uint64_t number) {
  payload[0] = who;
  payload[1] = number;
  for (int i = 2; i < OAE_PAYLOAD_WORDS; i++)
    payload[i] = (who << 32 | number) * 0x9e3779b97f4a7c15ull + i;
}

static int fail(const char* what, uint64_t number, int error) {
  printf("%s %" PRIu64 ": %s\n", what, number, error ? oae_error_text(error) : "wrong");
  return 1;
}

/* Returns the error of a swap that has an outcome, which is then in `swap`. */
static int swap_in_the_end(struct oae_port* port, struct oae_swap* swap) {
  const struct oae_swap request = *swap;

  for (;;) {
    int error;

    *swap = request;
    error = oae_port_swap(port, swap);
    while (error == -EIO) {
      usleep(100);
      error = oae_port_settle(port, swap);
    }
    if (error == -ENODATA || (!error && swap->status == OAE_SWAP_STATUS_NOT_READY)) continue;
    return error;
  }
}

int main(int argc, char** argv) {
  uint64_t payload[OAE_PAYLOAD_WORDS], other, count;
  struct oae_port* port;
  bool patient = argc == 6;
  int error;

  if (argc != 5 && !patient) return 2;
  error = oae_port_open(argv[1], &port);
  while (patient && error == -EIO) {
    usleep(100);
    error = oae_port_open(argv[1], &port);
  }
  if (error) return fail("open", 0, error);
  other = strtoull(argv[3], NULL, 0);
  count = strtoull(argv[4], NULL, 0);
  for (uint64_t i = 1; i <= count; i++) {
    struct oae_swap swap = {.verb = OAE_SWAP_VERB_SWAP, .timeout_ns = TIMEOUT_NS};

    fill(payload, strtoull(argv[2], NULL, 0), i);
    for (int k = 0; k < OAE_PAYLOAD_WORDS; k++) swap.offer[k] = payload[k];
    error = patient ? swap_in_the_end(port, &swap) : oae_port_swap(port, &swap);
    if (error) return fail("swap", i, error);
    if (swap.status != OAE_SWAP_STATUS_OK) {
      printf("swap %" PRIu64 ": %s\n", i, oae_status_name(swap.status));
      return 1;
    }
    fill(payload, other, i - 1);
    for (int k = 0; k < OAE_PAYLOAD_WORDS; k++)
      if (swap.answer[k] != (i > 1 ? payload[k] : 0)) return fail("answer", i, 0);
  }
  printf("%" PRIu64 " swaps\n", count);
  oae_port_close(port);
  return 0;
}
