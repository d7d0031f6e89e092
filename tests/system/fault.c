// SPDX-License-Identifier: Apache-2.0
/*
 * Makes something fail, and says when it began, on the clock CLOCK_MONOTONIC in ns. All that takes
 * time is done before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "channel.h"

#define TICK_US 8000 /* two of the kernel's */

static const char usage[] =
    "usage: fault order RESOURCE OFFSET WORD  writes a word to a BAR\n"
    "       fault config FILE OFFSET BYTE     writes a byte of a configuration space\n"
    "       fault platform REQUEST            as vpctl does\n"
    "       fault kill PID                    and waits until the kernel has ended its scheduler\n"
    "       fault stop PID MICROSECONDS       for a while\n";

static int failed(const char* what) {
  fprintf(stderr, "fault: %s: %s\n", what, strerror(errno));
  return 1;
}

static uint64_t now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void begin(void) {
  printf("fault began at %" PRIu64 "\n", now_ns());
}

static uint32_t port_in(unsigned int offset) {
  return inl((unsigned short)(CHANNEL_BASE + offset));
}

static void port_out(unsigned int offset, uint32_t value) {
  outl(value, (unsigned short)(CHANNEL_BASE + offset));
}

static int platform(const char* request) {
  const struct channel channel = {port_in, port_out};
  char line[256], answer[256];
  const uint32_t length = (uint32_t)snprintf(line, sizeof(line), "%s\n", request);
  struct message message;

  if (length >= sizeof(line) || iopl(3)) return failed(request);
  begin();
  message_open(&message, &channel, length);
  message_write(&message, line, length);
  if (channel_answer(&channel, answer, sizeof(answer))) return 0;
  fprintf(stderr, "fault: %s: %s\n", request, answer);
  return 1;
}

static int order(const char* resource, unsigned long offset, uint64_t word) {
  const int file = open(resource, O_RDWR | O_SYNC);
  volatile uint8_t* page;

  if (file < 0) return failed(resource);
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED || offset > 4096 - sizeof(word)) return failed(resource);
  begin();
  *(volatile uint64_t*)(page + offset) = word;
  return 0;
}

static int config(const char* path, unsigned long offset, uint8_t byte) {
  const int file = open(path, O_RDWR);

  if (file < 0) return failed(path);
  begin();
  return pwrite(file, &byte, 1, (off_t)offset) == 1 ? 0 : failed(path);
}

static bool is_enabled(int file) {
  char state[16] = "";

  return pread(file, state, sizeof(state) - 1, 0) > 0 && strncmp(state, "enabled", 7) == 0;
}

static int kill_agent(pid_t process) {
  const char* path = "/sys/kernel/sched_ext/state";
  const int file = open(path, O_RDONLY);

  if (file < 0) return failed(path);
  begin();
  if (kill(process, SIGKILL)) return failed("kill");
  while (is_enabled(file)) continue;
  printf("scheduler ended at %" PRIu64 "\n", now_ns());
  return 0;
}

/* A sleep ends at a tick, so that the last part of the time is spun. */
static int stop(pid_t process, uint64_t us) {
  const uint64_t end = now_ns() + us * 1000;
  const uint64_t slept = us > TICK_US ? us - TICK_US : 0;
  const struct timespec time = {(time_t)(slept / 1000000), (long)(slept % 1000000) * 1000};

  begin();
  if (kill(process, SIGSTOP)) return failed("signal");
  if (slept) nanosleep(&time, NULL);
  while (now_ns() < end) continue;
  return kill(process, SIGCONT) ? failed("signal") : 0;
}

int main(int argc, char** argv) {
  const char* kind = argc > 2 ? argv[1] : "";

  if (argc == 3 && !strcmp(kind, "platform")) return platform(argv[2]);
  if (argc == 3 && !strcmp(kind, "kill")) return kill_agent(atoi(argv[2]));
  if (argc == 4 && !strcmp(kind, "stop")) return stop(atoi(argv[2]), strtoul(argv[3], NULL, 0));
  if (argc == 5 && !strcmp(kind, "order"))
    return order(argv[2], strtoul(argv[3], NULL, 0), strtoull(argv[4], NULL, 0));
  if (argc == 5 && !strcmp(kind, "config"))
    return config(argv[2], strtoul(argv[3], NULL, 0), (uint8_t)strtoul(argv[4], NULL, 0));
  fputs(usage, stderr);
  return 2;
}
