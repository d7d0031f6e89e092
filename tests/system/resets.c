// SPDX-License-Identifier: Apache-2.0
// A program for the guest: swaps on a port that stays open, and asks the firmware for its counts,
// while the function is reset through sysfs. Arguments: how many times, the file to write to. Each
// request must end, well or by an error that says what to do; nothing may be lost or done twice.
// Reports what is not as it must be; its exit code is 1 then.
#include <errno.h>
#include <fcntl.h>
#include <linux/oae.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char path[] = "/dev/oae0p2";
static const char* reset_file;
static atomic_bool resetting;
static bool failed;

static unsigned int committed;   /* as the host knows it */
static unsigned int interrupted; /* requests that a reset ended */
static unsigned int settled;

static void complain(const char* what, long value) {
  printf("%s: %ld\n", what, value);
  failed = true;
}

/* 0, or the errno value that a request fails with. */
static int asked(int port, unsigned long request, void* argument) {
  return ioctl(port, request, argument) < 0 ? errno : 0;
}

static void* reset(void* unused) {
  int file = open(reset_file, O_WRONLY);

  (void)unused;
  if (file < 0 || write(file, "1", 1) != 1) complain("the reset fails", errno);
  close(file);
  atomic_store(&resetting, false);
  return NULL;
}

/* The outcome of what a reset has interrupted. */
static void settle(int port) {
  struct oae_swap swap = {.size = sizeof(swap)};
  int error;

  interrupted++;
  while ((error = asked(port, OAE_IOC_SETTLE, &swap)) == EIO) usleep(1000);
  if (error == ENODATA) return;
  if (error) complain("what is in doubt is not settled", error);
  settled++;
  committed += swap.status == OAE_SWAP_STATUS_OK;
}

/* One swap; 0 or EIO. */
static int swap_once(int port, struct oae_swap* swap) {
  int error;

  *swap = (struct oae_swap){
      .size = sizeof(*swap), .verb = OAE_SWAP_VERB_SWAP, .form = (__u8)(committed % 2), .timeout_ns = 10000000000};
  swap->offer[0] = committed;
  error = asked(port, OAE_IOC_SWAP, swap);
  if (!error && swap->status != OAE_SWAP_STATUS_OK) complain("status", swap->status);
  if (!error) committed++;
  if (error && error != EIO) complain("a swap ends by an error of another kind", error);
  return error;
}

static void reset_once(int port, unsigned int number) {
  struct oae_firmware_stats firmware = {.size = sizeof(firmware)};
  struct pollfd ready = {.fd = port, .events = POLLIN};
  struct oae_swap before, after;
  pthread_t thread;

  if (swap_once(port, &before)) complain("a swap before the reset fails", (long)number);
  atomic_store(&resetting, true);
  if (pthread_create(&thread, NULL, reset, NULL)) exit(1);
  while (atomic_load(&resetting)) {
    int error;

    if (swap_once(port, &after)) settle(port);
    error = asked(port, OAE_IOC_FIRMWARE_STATS, &firmware);
    if (error && error != EIO && error != ETIMEDOUT) complain("the mailbox", error);
    if (poll(&ready, 1, 0) < 0) complain("poll", errno);
  }
  pthread_join(thread, NULL);
  if (swap_once(port, &after)) complain("a swap after the reset fails", (long)number);
  if (after.epoch == before.epoch) complain("the epoch is the same", after.epoch);
  if (asked(port, OAE_IOC_FIRMWARE_STATS, &firmware)) complain("the mailbox", (long)number);
}

int main(int count, char** arguments) {
  struct oae_firmware_stats firmware = {.size = sizeof(firmware)}, firmware_before = firmware;
  struct oae_stats block = {.size = sizeof(block)}, block_before = block;
  int port = open(path, O_RDWR);
  unsigned int resets;

  if (port < 0 || count != 3) {
    perror(path);
    return 1;
  }
  resets = (unsigned int)atoi(arguments[1]);
  reset_file = arguments[2];
  if (asked(port, OAE_IOC_STATS, &block_before)) complain("block's stats", errno);
  if (asked(port, OAE_IOC_FIRMWARE_STATS, &firmware_before)) complain("firmware's stats", errno);
  for (unsigned int i = 0; i < resets; i++) reset_once(port, i);
  /* The mailbox comes behind the last confirmation. */
  if (asked(port, OAE_IOC_FIRMWARE_STATS, &firmware)) complain("firmware's stats", errno);
  if (asked(port, OAE_IOC_STATS, &block)) complain("block's stats", errno);
  block.committed -= block_before.committed;
  firmware.committed -= firmware_before.committed;
  if (block.committed != committed) complain("committed in the block", (long)block.committed);
  if (firmware.committed != committed) complain("by the firmware", (long)firmware.committed);
  printf("%u resets, %u committed, %u interrupted, %u settled: %s\n", resets, committed,
         interrupted, settled, failed ? "wrong" : "agree");
  close(port);
  return failed;
}
