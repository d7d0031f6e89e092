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
  return (struct oae_swap){.size = sizeof(struct oae_swap), .verb = OAE_SWAP_VERB_SWAP, .form = form, .timeout_ns = 1000000000};
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
  for (unsigned int bit = 1; bit < 32; bit++) {
    swap = a_swap(OAE_SWAP_FORM_STREAMED);
    swap.flags = 1u << bit;
    expect("a flag", asked(port, OAE_IOC_SWAP, &swap), EINVAL);
  }
}

static void refuse_others(int port) {
  struct oae_swap swap = a_swap(OAE_SWAP_FORM_PUSHED);
  char byte = 0;

  expect("a request of another size", asked(port, _IOWR(OAE_IOC_MAGIC, 1, char), &swap), ENOTTY);
  expect("an unknown request", asked(port, _IO(OAE_IOC_MAGIC, 0x7f), NULL), ENOTTY);
  expect("nothing in doubt", asked(port, OAE_IOC_SETTLE, &swap), ENODATA);
  for (unsigned int bit = 0; bit < 32; bit++) {
    swap.flags = 1u << bit;
    expect("a flag of a settlement", asked(port, OAE_IOC_SETTLE, &swap),
           swap.flags == OAE_SETTLE_REVERSE ? ENODATA : EINVAL);
  }
  expect("a read", read(port, &byte, 1), -1);
  expect("a write", write(port, &byte, 1), -1);
  expect("a second open", open(path, O_RDWR), -1);
}

/* A structure as programs of another age have it: of this size, with a field behind what is known here. */
static void of_size(int port, unsigned long code, const char* what, uint32_t known) {
  union {
    uint32_t head[2];
    unsigned char bytes[8192];
  } structure;

  for (uint32_t size = 0; size <= 4096; size += size < 256 ? 1 : 64) {
    int error = 0, none = code == OAE_IOC_SETTLE ? ENODATA : 0;

    if (size < known) error = EINVAL;
    memset(&structure, 0xee, sizeof(structure));
    memset(&structure, 0, size);
    structure.head[0] = size;
    structure.head[1] = 0;
    if (!error) error = none;
    expect(what, asked(port, code, &structure), error);
    for (uint32_t i = known; i < sizeof(structure.bytes) && size >= known; i++)
      if (structure.bytes[i] != (i < size ? 0 : 0xee)) expect("a byte behind it", (long)i, -1);
    if (size <= known) continue;
    memset(&structure, 0, size);
    structure.head[0] = size;
    structure.bytes[size - 1] = 1;
    expect("a field that is not known", asked(port, code, &structure), E2BIG);
  }
  memset(&structure, 0, sizeof(structure));
  structure.head[0] = 4097;
  expect("more than a page", asked(port, code, &structure), E2BIG);
  structure.head[0] = known;
  structure.head[1] = 0x80000000;
  expect("a flag that is not known", asked(port, code, &structure), EINVAL);
}

static void grow(int port) {
  of_size(port, OAE_IOC_INFO, "info", sizeof(struct oae_info));
  of_size(port, OAE_IOC_SETTLE, "settle", sizeof(struct oae_swap));
  of_size(port, OAE_IOC_STATS, "stats", sizeof(struct oae_stats));
  of_size(port, OAE_IOC_BEGIN, "begin", sizeof(struct oae_epoch));
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
  struct oae_firmware_stats firmware = {.size = sizeof(firmware)};
  struct oae_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
  int port = open(path, O_RDWR);

  if (port < 0) {
    perror(path);
    return 1;
  }
  expect("stats", asked(port, OAE_IOC_STATS, &before), 0);
  refuse_swaps(port);
  refuse_others(port);
  grow(port);
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
