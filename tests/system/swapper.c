// SPDX-License-Identifier: Apache-2.0
// A program for the guest: swaps on a port until the file /tmp/stop is there, whatever happens to
// the device, and writes down what it knows, so that it may be killed. Arguments: port, file of the
// record; `mapped`: without the kernel. The record is seven numbers (swapper.py). Swaps that were begun, and have neither
// committed nor been reversed nor failed to take place, are those of which nobody knows the end.
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/liboae/oae.h"

static int record_file;
static bool mapped;
static struct {
  unsigned long begun, committed, not_taken, reversed;
  unsigned long has_device;    // 1 or 0
  unsigned long devices_left;  // how often it has left a device
  unsigned long committed_when_left;
} record;

static void write_record(void) {
  if (pwrite(record_file, &record, sizeof(record), 0) != sizeof(record)) exit(2);
}

static bool stopped(void) { return access("/tmp/stop", F_OK) == 0; }

/* The newest device there is: cards come and go. NULL: none. */
static struct oae_port* open_port(const char* number) {
  struct oae_port* port = NULL;
  char pattern[32];
  glob_t found;

  snprintf(pattern, sizeof(pattern), "/dev/oae*p%s", number);
  if (glob(pattern, 0, NULL, &found)) return NULL;
  for (size_t i = 0; i < found.gl_pathc && !port; i++) oae_port_open(found.gl_pathv[i], &port);
  globfree(&found);
  if (port && mapped && oae_port_map(port)) {
    oae_port_close(port);
    return NULL;
  }
  return port;
}

static void leave_device(void) {
  record.has_device = 0;
  record.devices_left++;
  record.committed_when_left = record.committed;
  write_record();
}

static bool note(const struct oae_swap* swap) {
  switch (swap->status) {
    case OAE_SWAP_STATUS_OK:
      record.committed++;
      break;
    case OAE_SWAP_STATUS_NOT_READY:
      record.not_taken++;
      break;
    case OAE_SWAP_STATUS_REVERSED:
      record.reversed++;
      break;
    default:
      printf("status %u\n", swap->status);
      exit(1);
  }
  write_record();
  return true;
}

/* Swaps until the device is gone, or it is to stop. */
static void swap_on(struct oae_port* port) {
  for (unsigned long i = 0; !stopped(); i++) {
    struct oae_swap swap = {
        .verb = OAE_SWAP_VERB_SWAP, .form = (__u8)(i % 2), .timeout_ns = 1000000};
    int error;

    swap.offer[0] = i;
    record.begun++;
    write_record();
    error = oae_port_swap(port, &swap);
    /* A request is refused while the device is being reset; what it was about may be in doubt. */
    while (error == -EIO) {
      error = i % 3 ? oae_port_settle(port, &swap) : oae_port_reverse(port, &swap);
      if (error == -EIO) usleep(1000);
    }
    if (!error) {
      note(&swap);
    } else if (error == -ENODATA) { /* it did not even begin */
      record.not_taken++;
      write_record();
    } else if (error == -ENODEV) {
      return;
    } else {
      printf("swap: %s\n", strerror(-error));
      exit(1);
    }
  }
}

int main(int count, char** arguments) {
  if (count < 3 || count > 4) return 2;
  mapped = count == 4;
  record_file = open(arguments[2], O_RDWR | O_CREAT, 0600);
  if (record_file < 0) return 2;
  if (pread(record_file, &record, sizeof(record), 0) < 0) return 2;
  if (record.has_device) leave_device();  // the process before this one was killed
  while (!stopped()) {
    struct oae_port* port = open_port(arguments[1]);

    if (port) {
      record.has_device = 1;
      swap_on(port);
      oae_port_close(port);
      leave_device();
    } else {
      usleep(10000);
    }
  }
  return 0;
}
