// SPDX-License-Identifier: Apache-2.0
/* swap PORT WORD: sends the firmware a word, and prints the slot that it gives in exchange. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest/liboae/oae.h"

int main(int argc, char **argv) {
  struct oae_swap swap = {.verb = OAE_SWAP_VERB_SWAP, .timeout_ns = 1000000000};
  struct oae_port *port;
  char path[32];
  int error;

  if (argc != 3) return 2;
  swap.offer[0] = strtoull(argv[2], NULL, 0);
  error = oae_port_path(0, (unsigned int)atoi(argv[1]), path, sizeof(path));
  if (!error) error = oae_port_open(path, &port);
  if (error) goto failed;
  error = oae_port_swap(port, &swap);
  if (error == -EIO) error = oae_port_settle(port, &swap);
  if (error) goto failed;
  oae_port_close(port);
  printf("%s; the firmware has seen %" PRIu64 " before, the last was %" PRIu64 "\n",
         oae_status_name(swap.status), (uint64_t)swap.answer[0], (uint64_t)swap.answer[3]);
  return swap.status == OAE_SWAP_STATUS_OK ? 0 : 1;

failed:
  fprintf(stderr, "swap: %s\n", oae_error_text(error));
  return 1;
}
