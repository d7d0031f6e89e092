/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * One end of joined ports whose cells may lose their power. Until UNTIL (ms since the boot), sends
 * numbered slots and takes those of the other end, which must be whole. A port that is gone is
 * opened again when its card is back, which begins a new life of the cell.
 *
 *   lives FUNCTION PORT OWN OTHER UNTIL      FUNCTION: the function's folder in sysfs
 *
 * It prints a line for each thing that it learns:
 *
 *   life               the port was opened
 *   sent N             the block has committed slot N in a swap
 *   extra N            the block has committed slot N without a slot of the other end
 *   doubt N            the cell's power went while slot N was offered, so that nobody knows
 *   got N              slot N of the other end has come
 *   delivered N, lost N, pending N           the fate of slot N
 *   told N             slot N was named as a loss
 *   end MS             it has stopped, and the last slot had come so many ms before
 *
 * Slots whose fate is pending are listed at the end of their life.
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "oae.h"

enum { most = 100000, burst = 12, patience_ns = 8000000, linger_ms = 200, return_ms = 2000 };

static struct oae_port* port;
static struct {
  bool sent; /* otherwise in doubt */
  uint32_t epoch, sequence;
} slots[most + 1];           /* by their numbers, from 1 on */
static unsigned int last;    /* number of the slot that was offered last */
static unsigned int settled; /* up to which the fates are known, or no longer asked for */
static uint64_t own, other;
static unsigned int got_at; /* when the last slot came */
static const char* stop;
static unsigned int stopped_at; /* or 0 */

static unsigned int uptime_ms(void) {
  struct timespec now;

  clock_gettime(CLOCK_BOOTTIME, &now);
  return (unsigned int)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

static bool stopped(void) {
  if (!stopped_at && !access(stop, F_OK)) stopped_at = uptime_ms();
  return stopped_at;
}

static void fill(uint64_t payload[OAE_PAYLOAD_WORDS], uint64_t who, uint64_t number) {
  payload[0] = who;
  payload[1] = number;
  for (int i = 2; i < OAE_PAYLOAD_WORDS; i++)
    payload[i] = (who << 32 | number) * 0x9e3779b97f4a7c15ull + i;
}

/* Ends the program unless the error says that the card is gone, or does not answer. Returns whether
 * there is one. */
static bool failed(const char* what, int error) {
  if (error >= 0) return false;
  if (error == -ENODEV || error == -EIO) return true;
  printf("error: %s: %s\n", what, oae_error_text(error));
  exit(1);
}

static bool open_port(const char* function, const char* number) {
  char pattern[256];
  glob_t found;
  int error = -ENOENT;

  snprintf(pattern, sizeof pattern, "%s/oae/oae*p%s", function, number);
  if (glob(pattern, 0, NULL, &found)) return false;
  char path[256];
  snprintf(path, sizeof path, "/dev/%s", strrchr(found.gl_pathv[0], '/') + 1);
  globfree(&found);
  error = oae_port_open(path, &port);
  return error != -ENOENT && !failed("open", error);
}

static void take(const uint64_t answer[OAE_PAYLOAD_WORDS]) {
  uint64_t expected[OAE_PAYLOAD_WORDS];

  if (!answer[0] && !answer[1]) return; /* an empty slot begins a session */
  fill(expected, other, answer[1]);
  if (memcmp(answer, expected, sizeof expected)) {
    printf("error: a slot is damaged\n");
    exit(1);
  }
  printf("got %" PRIu64 "\n", answer[1]);
  got_at = uptime_ms();
}

/*
 * Offers the next slot, and takes one of the other end unless it only sends. Sets `*done` to
 * whether both sides have committed. Returns whether the card is there.
 */
static bool offer(uint8_t verb, bool* done) {
  const unsigned int number = last + 1;
  struct oae_swap swap = {.verb = verb, .timeout_ns = verb == OAE_SWAP_VERB_SEND ? 0 : patience_ns};
  uint64_t payload[OAE_PAYLOAD_WORDS];
  int error;

  *done = false;
  if (last == most) return true;
  fill(payload, own, number);
  for (int i = 0; i < OAE_PAYLOAD_WORDS; i++) swap.offer[i] = payload[i];
  error = oae_port_swap(port, &swap);
  while (error == -EIO) {
    usleep(100);
    error = oae_port_settle(port, &swap);
  }
  if (error == -ENODATA) return true; /* nothing was exchanged */
  if (failed("swap", error) || (!error && swap.status == OAE_SWAP_STATUS_HISTORY_LOST)) {
    last = number;
    printf("doubt %u\n", number);
    return false;
  }
  if (swap.status != OAE_SWAP_STATUS_OK) return true;
  *done = true;
  last = number;
  slots[number].sent = true;
  slots[number].epoch = swap.epoch;
  slots[number].sequence = swap.sequence;
  printf("%s %u\n", verb == OAE_SWAP_VERB_SWAP ? "sent" : "extra", number);
  for (int i = 0; i < OAE_PAYLOAD_WORDS; i++) payload[i] = swap.answer[i];
  if (verb == OAE_SWAP_VERB_SWAP) take(payload);
  return true;
}

/*
 * Asks for what was lost, and for the fates in their order. Returns whether the card is there; one
 * that does not answer may be.
 */
static bool ask(void) {
  struct oae_fate loss = {0};
  int error;

  while (!(error = oae_port_loss(port, &loss, 0))) {
    unsigned int number = last;
    while (number > 0 &&
           (slots[number].epoch != loss.epoch || slots[number].sequence != loss.sequence))
      number--;
    printf("told %u\n", number);
  }
  if (error != -EAGAIN && failed("loss", error)) return error == -EIO;
  while (settled < last) {
    const struct oae_swap swap = {.verb = OAE_SWAP_VERB_SWAP,
                                  .epoch = slots[settled + 1].epoch,
                                  .sequence = slots[settled + 1].sequence};
    const int fate = oae_port_fate(port, &swap, 0);
    if (failed("fate", fate)) return fate == -EIO;
    if (fate == OAE_FATE_PENDING) break;
    printf("%s %u\n", fate == OAE_FATE_LOST ? "lost" : "delivered", ++settled);
  }
  return true;
}

/*
 * Swaps a few times. If no slot comes for longer than any cut of the link takes, those that were on
 * their way may be lost, so that both ends would wait. It sends one then without taking one.
 */
static bool exchange(void) {
  bool done = true;

  for (int i = 0; i < burst && done; i++)
    if (!offer(OAE_SWAP_VERB_SWAP, &done)) return false;
  if (!done && !offer(OAE_SWAP_VERB_SEND, &done)) return false;
  return ask();
}

/* Lists the slots of the life whose fate is not known. */
static void end_life(void) {
  while (settled++ < last)
    if (slots[settled].sent) printf("pending %u\n", settled);
  settled = last;
  oae_port_close(port);
  port = NULL;
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  own = strtoull(argv[3], NULL, 0);
  other = strtoull(argv[4], NULL, 0);
  stop = argv[5];
  while (!stopped() || uptime_ms() - stopped_at < return_ms) {
    bool there = true;

    if (!open_port(argv[1], argv[2])) {
      usleep(1000);
      continue;
    }
    printf("life\n");
    fflush(stdout); /* somebody may wait for it */
    while (there && !stopped()) {
      there = exchange();
      usleep(500);
    }
    for (int i = 0; there && i < linger_ms; i++) {
      there = ask();
      usleep(1000);
    }
    end_life();
    if (there) {
      printf("end %u\n", stopped_at - got_at);
      return 0;
    }
  }
  printf("error: the card does not come back\n");
  return 1;
}
