// SPDX-License-Identifier: Apache-2.0
/* deliver PORT WORD...: sends words to the host at the other end of the port, and says what has become of each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest/liboae/oae.h"

#define SECOND 1000000000

/* Sends a word, and waits until it is delivered or lost, however long the other host takes. */
static int deliver(struct oae_port *port, uint64_t word) {
  struct oae_swap swap = {.verb = OAE_SWAP_VERB_SEND, .timeout_ns = SECOND, .offer = {word}};
  int error = oae_port_swap(port, &swap), fate;

  if (error == -EIO) error = oae_port_settle(port, &swap);
  if (error) return error;
  if (swap.status != OAE_SWAP_STATUS_OK) return -EAGAIN;
  do fate = oae_port_fate(port, &swap, SECOND);
  while (fate == OAE_FATE_PENDING);
  return fate;
}

int main(int argc, char **argv) {
  struct oae_port *port;
  char path[32];
  int fate;

  if (argc < 3) return 2;
  fate = oae_port_path(0, (unsigned int)atoi(argv[1]), path, sizeof(path));
  if (!fate) fate = oae_port_open(path, &port);
  for (int i = 2; i < argc && fate >= 0; i++) {
    fate = deliver(port, strtoull(argv[i], NULL, 0));
    if (fate >= 0) printf("%s: %s\n", argv[i], oae_fate_name((unsigned int)fate));
  }
  if (fate < 0) {
    fprintf(stderr, "deliver: %s\n", oae_error_text(fate));
    return 1;
  }
  oae_port_close(port);
  return 0;
}
