// SPDX-License-Identifier: Apache-2.0
// A program for the guest: a virtual function copies its whole memory to host memory, again and
// again, while a thread on every processor polls the last word of that.
// Arguments: the function's folder in sysfs, how many processors, how many copies.
// scripts/bench takes the wall time between the lines that it prints.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "copy_function.h"

enum { words = memory_size / 8, most = 64 };

static struct function function;
static volatile uint64_t* host; /* what the function writes */
static atomic_uint ready;
static atomic_bool done;
static unsigned long polls[most];

static void run_on(unsigned processor) {
  cpu_set_t set;

  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof(set), &set)) {
    perror("sched_setaffinity");
    exit(1);
  }
}

static void* poll(void* argument) {
  const unsigned processor = (unsigned)(uintptr_t)argument;

  run_on(processor);
  ready++;
  while (!done) polls[processor] += host[words - 1] <= words;
  return NULL;
}

static void copy(uint64_t source, uint64_t destination, uint64_t direction) {
  put(&function, OAE_DMA_SOURCE, source);
  put(&function, OAE_DMA_DESTINATION, destination);
  put(&function, OAE_DMA_LENGTH, memory_size);
  put(&function, OAE_DMA_CONTROL, OAE_DMA_CONTROL_START_MASK | direction);
}

static void wait_for_end(void) {
  while (!(get(&function, OAE_DMA_STATUS) & OAE_DMA_STATUS_DONE_MASK)) continue;
  if (get(&function, OAE_DMA_STATUS) != OAE_DMA_STATUS_DONE_MASK) {
    printf("bench: failed: a copy\n");
    exit(1);
  }
}

int main(int count, char** arguments) {
  const unsigned processors = count == 4 ? (unsigned)strtoul(arguments[2], NULL, 0) : 0;
  const unsigned long copies = count == 4 ? strtoul(arguments[3], NULL, 0) : 0;
  struct timespec began, ended;
  pthread_t threads[most];
  uint64_t address;

  if (processors < 1 || processors > most || copies < 1) return 1;
  run_on(0);
  open_function(&function, arguments[1]);
  enable(&function);
  host = pinned_memory(memory_size);
  if (!host) {
    perror("memory");
    return 1;
  }
  address = bus_address(host);
  for (unsigned i = 0; i < words; i++) host[i] = i + 1;
  copy(address, 0, OAE_DMA_CONTROL_SOURCE_HOST_MASK);
  wait_for_end();
  for (unsigned i = 1; i < processors; i++) {
    if (pthread_create(&threads[i], NULL, poll, (void*)(uintptr_t)i)) return 1;
  }
  while (ready < processors - 1) continue;

  clock_gettime(CLOCK_MONOTONIC, &began);
  printf("bench: begin\n");
  fflush(stdout);
  for (unsigned long i = 0; i < copies; i++) {
    host[words - 1] = 0;
    copy(0, address, OAE_DMA_CONTROL_DESTINATION_HOST_MASK);
    while (host[words - 1] == 0) continue;
  }
  clock_gettime(CLOCK_MONOTONIC, &ended);
  printf("bench: took %lld ns\n",
         (ended.tv_sec - began.tv_sec) * 1000000000LL + ended.tv_nsec - began.tv_nsec);
  printf("bench: end\n");
  fflush(stdout);

  done = true;
  for (unsigned i = 1; i < processors; i++) {
    pthread_join(threads[i], NULL);
    if (polls[i] < copies) printf("bench: failed: processor %u did not poll\n", i);
  }
  return 0;
}
