/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Sends three slots at a joined port, of which two find room at the other port. Says what becomes
 * of them, before two of them are lost, after that, when the third one is delivered, and after a
 * reset of the function.
 *
 *   fates PORT DEVICE     DEVICE: the function's folder in sysfs
 *   fates PORT            requests steps of the other cell instead, which are lost, and requests
 * them again
 *   fates PORT idle       sends the slots, polls for a result that never comes, and does no more
 *   fates PORT full       sends slots until there is no room, and waits for room
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "oae.h"

enum { sent = 3, second = 1000000000 };

static struct oae_port* port;
static struct oae_swap slots[sent];

/* Whoever reads the output has each line at once. */
static void say(const char* format, ...) {
  va_list arguments;

  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  fflush(stdout);
}

static const char* fate(const struct oae_swap* slot, uint64_t timeout_ns) {
  int fate = oae_port_fate(port, slot, timeout_ns);

  return fate < 0 ? oae_error_text(fate) : oae_fate_name((unsigned int)fate);
}

static void say_fates(const char* when) {
  say("%s: %s, %s, %s", when, fate(&slots[0], 0), fate(&slots[1], 0), fate(&slots[2], 0));
}

static long long now_ms(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

static void say_events(int timeout_ms) {
  struct pollfd file = {.fd = oae_port_fd(port), .events = POLLPRI | POLLRDBAND};
  int ready = poll(&file, 1, timeout_ms);

  say("events: %d%s%s%s", ready, file.revents & POLLPRI ? " result" : "",
      file.revents & POLLRDBAND ? " loss" : "", file.revents & (POLLERR | POLLHUP) ? " error" : "");
}

static int say_loss(uint64_t timeout_ns) {
  struct oae_fate loss = {0};
  int error = oae_port_loss(port, &loss, timeout_ns);

  if (error)
    say("no loss: %s", error == -EAGAIN ? "there is none" : oae_error_text(error));
  else
    say("loss: sequence %u%s", loss.sequence,
        loss.epoch == slots[0].epoch ? "" : " of another epoch");
  return error;
}

static void say_result(uint64_t timeout_ns) {
  struct oae_swap swap = {.verb = OAE_SWAP_VERB_RESULT, .timeout_ns = timeout_ns};
  int error = oae_port_swap(port, &swap);

  if (error)
    say("result: %s", oae_error_text(error));
  else
    say("result: no error, %s", oae_status_name(swap.status));
}

/* Requests a step, which is harmless. */
static int request(struct oae_swap* swap) {
  struct oae_step step = {.operation = OAE_STEP_READ, .word = 0};
  int error = oae_swap_set_remote_steps(swap, &step, 1);

  if (!error) error = oae_port_swap(port, swap);
  if (!error) error = oae_swap_get_steps(swap, NULL, 0);
  if (error >= 0) say("requested: %u", swap->sequence);
  return error;
}

static int try_requests(void) {
  struct oae_swap again = {.timeout_ns = second};

  if (request(&slots[0]) < 0) return 1;
  say_result(0);
  say_events(5000);
  say_result(5ull * second);
  say("fate: %s", fate(&slots[0], 0));
  say_loss(0);
  say_events(0);
  if (request(&again) < 0) return 1;
  say_result(5ull * second);
  say_result(0);
  say_events(0);
  oae_port_close(port);
  return 0;
}

static int exchange(struct oae_swap* swap, uint8_t verb, uint64_t word, uint64_t timeout_ns) {
  int error;

  *swap = (struct oae_swap){.verb = verb, .timeout_ns = timeout_ns, .offer = {word}};
  error = oae_port_swap(port, swap);
  return !error && swap->status != OAE_SWAP_STATUS_OK ? -EAGAIN : error;
}

static int send_slots(void) {
  int error = 0;

  for (unsigned int i = 0; i < sent && !error; i++)
    error = exchange(&slots[i], OAE_SWAP_VERB_SEND, 100 + i, second);
  return error;
}

static int stay_idle(void) {
  int error = send_slots();

  if (error) return error;
  say_events(0);
  say("ready");
  for (;;) pause();
}

static int wait_for_room(void) {
  struct oae_swap swap;
  /* No offer stands after this, which would end each wait at once. */
  int error = exchange(&swap, OAE_SWAP_VERB_SWAP, 0, second);

  while (!error) error = exchange(&swap, OAE_SWAP_VERB_SEND, 0, 0);
  if (error != -EAGAIN) return error;
  say("ready");
  error = exchange(&swap, OAE_SWAP_VERB_SEND, 0, 5ull * second);
  if (!error) say("sent");
  return error;
}

int main(int count, char** arguments) {
  char path[32], command[128];
  bool requests = count == 2;
  bool idle = count == 3 && !strcmp(arguments[2], "idle");
  bool full = count == 3 && !strcmp(arguments[2], "full");
  long long begun;
  int error;

  if (count != 2 && count != 3) return 2;
  error = oae_port_path(0, (unsigned int)atoi(arguments[1]), path, sizeof(path));
  if (!error) error = oae_port_open(path, &port);
  if (!error && count == 3 && !strcmp(arguments[2], "mapped")) {
    requests = true;
    error = oae_port_map(port);
  }
  if (!error && requests) return try_requests();
  if (!error) error = idle ? stay_idle() : full ? wait_for_room() : send_slots();
  if (error) {
    say("%s", oae_error_text(error));
    return 1;
  }
  if (full) return 0;
  say("sent: %u to %u", slots[0].sequence, slots[2].sequence);
  say_fates("at first");
  begun = now_ms();
  say("a while later: %s", fate(&slots[0], 20000000));
  say("it waits: %s", now_ms() - begun >= 20 && now_ms() - begun < 25 ? "as long as it shall"
                                                                      : "too short or too long");
  say_events(0);
  say_loss(1000000);
  say("ready");

  /* Somebody else has the slots lost. */
  say_events(5000);
  say_fates("then");
  for (unsigned int i = 0; i < 2; i++) say_loss(0);
  say_loss(0);
  say_events(0);
  say("read");

  /* Somebody else takes the last slot. */
  say("the last one: %s", fate(&slots[2], 5ull * second));
  say_fates("at last");

  snprintf(command, sizeof(command), "echo 1 > %s/reset", arguments[2]);
  if (system(command)) say("no reset");
  say("after a reset: %s", fate(&slots[2], 0));
  oae_port_close(port);
  return 0;
}
