// SPDX-License-Identifier: Apache-2.0
/* remote PORT TIMES: increments word 0 of the cell at the other end of the port, as others may do at the same time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest/liboae/oae.h"

#define COUNTER 0
#define SECOND 1000000000

/* Returns what oae_port_remote() does, however long the link takes. */
static int remote(struct oae_port *port, struct oae_step *step) {
  int result;

  /* A swap in the other cell holds the word, or nothing was asked for. */
  do result = oae_port_remote(port, step, 1, SECOND);
  while (result == -EBUSY || result == -EAGAIN);
  /* The step takes effect, and only its result is missing. */
  while (result == -EINPROGRESS || result == -EAGAIN)
    result = oae_port_result(port, step, 1, SECOND);
  return result;
}

int main(int argc, char **argv) {
  struct oae_step step = {.operation = OAE_STEP_ADD, .word = COUNTER, .operand = 1};
  struct oae_port *port;
  char path[32];
  int error;

  if (argc != 3) return 2;
  error = oae_port_path(0, (unsigned int)atoi(argv[1]), path, sizeof(path));
  if (!error) error = oae_port_open(path, &port);
  for (int i = 0; i < atoi(argv[2]) && error >= 0; i++) error = remote(port, &step);
  if (error < 0) {
    fprintf(stderr, "remote: %s\n", oae_error_text(error));
    return 1;
  }
  oae_port_close(port);
  printf("counted up to %" PRIu64 "\n", step.found + 1);
  return 0;
}
