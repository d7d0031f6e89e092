// SPDX-License-Identifier: Apache-2.0
/* transfer PORT FROM TO AMOUNT: moves an amount from one word to another, if there is enough. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest/liboae/oae.h"

/* 1: moved; 0: there is not enough; else a negative error. */
static int transfer(struct oae_port *port, unsigned int from, unsigned int to, uint64_t amount) {
  struct oae_step look = {.operation = OAE_STEP_READ, .word = from};
  int done;

  do {
    done = oae_port_multi(port, &look, 1);
    if (done == 1 && look.found < amount) return 0;
    if (done == 1) {
      struct oae_step move[] = {
          {.operation = OAE_STEP_COMPARE, .word = from, .operand = look.found},
          {.operation = OAE_STEP_ADD, .word = from, .operand = 0 - amount},
          {.operation = OAE_STEP_ADD, .word = to, .operand = amount},
      };
      done = oae_port_multi(port, move, 3);
    }
    /* Another process was faster, or holds the words. */
  } while (done == 0 || done == -EBUSY);
  return done;
}

int main(int argc, char **argv) {
  struct oae_port *port;
  char path[32];
  int result;

  if (argc != 5) return 2;
  result = oae_port_path(0, (unsigned int)atoi(argv[1]), path, sizeof(path));
  if (!result) result = oae_port_open(path, &port);
  if (!result) {
    result = transfer(port, (unsigned int)atoi(argv[2]), (unsigned int)atoi(argv[3]),
                      strtoull(argv[4], NULL, 0));
    oae_port_close(port);
  }
  if (result < 0) {
    fprintf(stderr, "transfer: %s\n", oae_error_text(result));
    return 1;
  }
  printf(result ? "moved\n" : "not enough\n");
  return result ? 0 : 3;
}
