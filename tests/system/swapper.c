// SPDX-License-Identifier: Apache-2.0
// A program for the guest: swaps on a port until the file /tmp/stop is there, whatever happens to
// the device, and writes down what it knows, so that it may be killed. Arguments: port, file of the
// record. The record is four numbers: swaps begun, committed, not taken place, reversed. What was
// begun and is none of these, is what nobody knows.
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/oae.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int record_file;
static struct {
  unsigned long begun, committed, not_taken, reversed;
} record;

static void write_record(void) {
  if (pwrite(record_file, &record, sizeof(record), 0) != sizeof(record)) exit(2);
}

static bool stopped(void) { return access("/tmp/stop", F_OK) == 0; }

/* The newest device there is: cards come and go. -1: none. */
static int open_port(const char* port) {
  char pattern[32];
  glob_t found;
  int file = -1;

  snprintf(pattern, sizeof(pattern), "/dev/oae*p%s", port);
  if (glob(pattern, 0, NULL, &found)) return -1;
  for (size_t i = 0; i < found.gl_pathc && file < 0; i++) file = open(found.gl_pathv[i], O_RDWR);
  globfree(&found);
  return file;
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
static void swap_on(int port) {
  for (unsigned long i = 0; !stopped(); i++) {
    struct oae_swap swap = {
        .verb = OAE_SWAP_VERB_SWAP, .form = (__u8)(i % 2), .timeout_ns = 1000000};
    int error;

    swap.offer[0] = i;
    record.begun++;
    write_record();
    error = ioctl(port, OAE_IOC_SWAP, &swap) < 0 ? errno : 0;
    /* A request is refused while the device is being reset; what it was about may be in doubt. */
    while (error == EIO) {
      error = ioctl(port, i % 3 ? OAE_IOC_SETTLE : OAE_IOC_REVERSE, &swap) < 0 ? errno : 0;
      if (error == EIO) usleep(1000);
    }
    if (!error) {
      note(&swap);
    } else if (error == ENODATA) { /* it did not even begin */
      record.not_taken++;
      write_record();
    } else if (error == ENODEV) {
      return;
    } else {
      printf("swap: %s\n", strerror(error));
      exit(1);
    }
  }
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  record_file = open(arguments[2], O_RDWR | O_CREAT, 0600);
  if (record_file < 0) return 2;
  if (pread(record_file, &record, sizeof(record), 0) < 0) return 2;
  while (!stopped()) {
    int port = open_port(arguments[1]);

    if (port >= 0) {
      swap_on(port);
      close(port);
    } else {
      usleep(1000);
    }
  }
  return 0;
}
