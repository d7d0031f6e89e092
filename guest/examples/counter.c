// SPDX-License-Identifier: Apache-2.0
/* counter PORT TIMES: increments word 0, as other processes may do at the same time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest/liboae/oae.h"

#define COUNTER 0

int main(int argc, char **argv) {
  struct oae_port *port;
  uint64_t found = 0;
  char path[32];
  int error;

  if (argc != 3) return 2;
  error = oae_port_path(0, (unsigned int)atoi(argv[1]), path, sizeof(path));
  if (!error) error = oae_port_open(path, &port);
  for (int i = 0; i < atoi(argv[2]) && !error; i++) {
    /* Another process that counts at this moment holds the word until its swap is confirmed. */
    do error = oae_port_fetch_add(port, COUNTER, 1, &found);
    while (error == -EBUSY);
  }
  if (error) {
    fprintf(stderr, "counter: %s\n", oae_error_text(error));
    return 1;
  }
  oae_port_close(port);
  printf("counted up to %" PRIu64 "\n", found + 1);
  return 0;
}
