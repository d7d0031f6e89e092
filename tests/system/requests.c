// SPDX-License-Identifier: Apache-2.0
// A program for the guest: asks the driver for what it must refuse, then swaps in both forms in
// turns on the same open port. Tells what is not as it must be; its exit code is 1 then.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/oae.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "expect.h"

enum { swaps = 60 };

static const char path[] = "/dev/oae0p1";

static struct oae_swap a_swap(uint8_t form) {
  return (struct oae_swap){.verb = OAE_SWAP_VERB_SWAP, .form = form, .timeout_ns = 1000000000};
}

static void refuse_swaps(int port) {
  struct oae_swap swap;

  expect("no address", asked(port, OAE_IOC_SWAP, NULL), EFAULT);
  expect("a bad address", asked(port, OAE_IOC_SWAP, (void*)-64L), EFAULT);
  for (unsigned int value = 0; value < 256; value++) {
    swap = a_swap(OAE_SWAP_FORM_STREAMED);
    swap.verb = (__u8)value;
    if (value < OAE_SWAP_VERB_SWAP || value > OAE_SWAP_VERB_SEND)
      expect("verb", asked(port, OAE_IOC_SWAP, &swap), EINVAL);
    swap = a_swap(OAE_SWAP_FORM_STREAMED);
    swap.flags = (__u8)value;
    if (value & ~OAE_SWAP_FLAG_MORE) expect("flags", asked(port, OAE_IOC_SWAP, &swap), EINVAL);
    swap = a_swap((uint8_t)value);
    if (value > OAE_SWAP_FORM_STREAMED) expect("form", asked(port, OAE_IOC_SWAP, &swap), EINVAL);
  }
  for (size_t i = 0; i < sizeof(swap.reserved); i++) {
    swap = a_swap(OAE_SWAP_FORM_STREAMED);
    swap.reserved[i] = 1;
    expect("reserved", asked(port, OAE_IOC_SWAP, &swap), EINVAL);
  }
}

static void refuse_others(int port) {
  struct oae_read_bench bench = {.count = 0};
  struct oae_swap swap;
  char byte = 0;

  expect("a request of another size", asked(port, _IOWR(OAE_IOC_MAGIC, 1, char), &swap), ENOTTY);
  expect("an unknown request", asked(port, _IO(OAE_IOC_MAGIC, 0x7f), NULL), ENOTTY);
  expect("nothing in doubt", asked(port, OAE_IOC_SETTLE, &swap), ENODATA);
  expect("no reads", asked(port, OAE_IOC_READ_BENCH, &bench), EINVAL);
  bench.count = OAE_READ_BENCH_MAX + 1;
  expect("too many reads", asked(port, OAE_IOC_READ_BENCH, &bench), EINVAL);
  bench = (struct oae_read_bench){.count = 1, .reserved = 1};
  expect("reserved", asked(port, OAE_IOC_READ_BENCH, &bench), EINVAL);
  bench.reserved = 0;
  expect("no samples", asked(port, OAE_IOC_READ_BENCH, &bench), EFAULT);
  expect("a read", read(port, &byte, 1), -1);
  expect("a write", write(port, &byte, 1), -1);
  expect("a second open", open(path, O_RDWR), -1);
}

/* Each swap of the row must be the next, and its answer the firmware's offer for it. */
static void swap_in_turns(int port) {
  uint8_t epoch = 0;

  for (uint32_t i = 1; i <= swaps; i++) {
    struct oae_swap swap = a_swap(i % 3 ? OAE_SWAP_FORM_STREAMED : OAE_SWAP_FORM_PUSHED);

    swap.offer[0] = i;
    if (i % 4 && i < swaps) swap.flags = OAE_SWAP_FLAG_MORE;
    expect("swap", asked(port, OAE_IOC_SWAP, &swap), 0);
    expect("status", swap.status, OAE_SWAP_STATUS_OK);
    expect("sequence", swap.sequence, i);
    expect("the firmware's sequence", (long)swap.answer[1], i);
    expect("reads in doubt", swap.reads, 0);
    if (i > 1) expect("epoch", swap.epoch, epoch);
    epoch = swap.epoch;
  }
}

int main(void) {
  struct oae_firmware_stats firmware;
  struct oae_stats before, after;
  int port = open(path, O_RDWR);

  if (port < 0) {
    perror(path);
    return 1;
  }
  expect("stats", asked(port, OAE_IOC_STATS, &before), 0);
  refuse_swaps(port);
  refuse_others(port);
  expect("stats", asked(port, OAE_IOC_STATS, &after), 0);
  expect("swaps that were refused", (long)(after.committed - before.committed), 0);
  expect("offers that the block saw", (long)(after.not_ready + after.rejected), 0);
  swap_in_turns(port);
  /* The mailbox comes behind the last confirmation. */
  expect("firmware's stats", asked(port, OAE_IOC_FIRMWARE_STATS, &firmware), 0);
  expect("stats", asked(port, OAE_IOC_STATS, &after), 0);
  expect("committed in the block", (long)(after.committed - before.committed), swaps);
  expect("committed by the firmware", (long)firmware.committed, swaps);
  expect("doubts", (long)after.doubts, 0);
  close(port);
  if (!failed) printf("all requests were answered as they must be\n");
  return failed;
}
