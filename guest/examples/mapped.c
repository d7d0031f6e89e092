// SPDX-License-Identifier: Apache-2.0
/* mapped PORT SWAPS: prints what a swap costs through the kernel and without it, in ns. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "guest/liboae/oae.h"

static uint64_t now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int swap_once(struct oae_port *port, uint64_t word) {
  struct oae_swap swap = {.verb = OAE_SWAP_VERB_SWAP, .timeout_ns = 1000000000};
  int error;

  swap.offer[0] = word;
  error = oae_port_swap(port, &swap);
  if (error == -EIO) error = oae_port_settle(port, &swap);
  if (error) return error;
  return swap.status == OAE_SWAP_STATUS_OK ? 0 : -EAGAIN;
}

/* Measures the mean of some swaps, after one that fills caches and maps pages. */
static int time_swaps(struct oae_port *port, unsigned int count, uint64_t *mean) {
  int error = swap_once(port, 0);
  uint64_t begin = now_ns();

  for (unsigned int i = 0; i < count && !error; i++) error = swap_once(port, i);
  *mean = (now_ns() - begin) / count;
  return error;
}

int main(int argc, char **argv) {
  uint64_t through_kernel = 0, mapped = 0;
  struct oae_port *port;
  unsigned int count;
  char path[32];
  int error;

  if (argc != 3 || !(count = (unsigned int)atoi(argv[2]))) return 2;
  error = oae_port_path(0, (unsigned int)atoi(argv[1]), path, sizeof(path));
  if (!error) error = oae_port_open(path, &port);
  if (!error) {
    error = time_swaps(port, count, &through_kernel);
    if (!error) error = oae_port_map(port);
    if (!error) error = time_swaps(port, count, &mapped);
    oae_port_close(port);
  }
  if (error) {
    fprintf(stderr, "mapped: %s\n", oae_error_text(error));
    return 1;
  }
  printf("a swap takes %" PRIu64 " ns through the kernel, %" PRIu64 " ns without it\n", through_kernel,
         mapped);
  return 0;
}
