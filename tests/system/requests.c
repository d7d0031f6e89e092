// SPDX-License-Identifier: Apache-2.0
// A program for the guest: takes the requests of the load function out of a ring and answers them.
// Arguments: the function's folder in sysfs, how many requests, how many of the first are left
// unanswered. Prints a line for each request, with its time, kind and number, and then the
// counters.
#include <stdbool.h>

#include "oae_memory_map.h"
#include "oae_registers.h"
#include "pinned_page.h"

struct entry {
  uint64_t time, kind, reserved, number;
};

enum { entries = page / sizeof(struct entry), most = 100000 };

static volatile uint8_t* bar;
static struct entry seen[most];

static uint64_t get(unsigned offset) {
  return *(volatile uint64_t*)(bar + offset);
}

static void put(unsigned offset, uint64_t value) {
  *(volatile uint64_t*)(bar + offset) = value;
}

static void open_function(const char* path) {
  char name[256];
  const uint16_t command = 1 << 2 | 1 << 1; /* Bus Master, memory */
  int file;

  snprintf(name, sizeof name, "%s/config", path);
  file = open(name, O_RDWR);
  if (file < 0 || pwrite(file, &command, 2, 4) != 2) {
    perror(name);
    exit(1);
  }
  close(file);
  snprintf(name, sizeof name, "%s/resource%d", path, OAE_LOAD_BAR);
  file = open(name, O_RDWR);
  bar = mmap(NULL, OAE_LOAD_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bar == MAP_FAILED) {
    perror(name);
    exit(1);
  }
}

int main(int count, char** arguments) {
  const uint64_t requests = count == 4 ? strtoull(arguments[2], NULL, 10) : 0;
  const uint64_t unanswered = count == 4 ? strtoull(arguments[3], NULL, 10) : 0;
  volatile struct entry* ring = new_page();

  if (requests == 0 || requests > most) return 1;
  open_function(arguments[1]);
  put(OAE_LOAD_SEED, 7);
  put(OAE_LOAD_INTERVAL, 1000000);
  put(OAE_LOAD_COUNT, requests);
  put(OAE_LOAD_WARM_UP, unanswered);
  put(OAE_LOAD_LONG_SHARE, 1u << 30);
  put(OAE_LOAD_RING, bus_address(ring));
  put(OAE_LOAD_RING_SIZE, entries);
  put(OAE_LOAD_CONTROL, OAE_LOAD_CONTROL_RUN_MASK);
  for (uint64_t n = 0; n < requests; n++) {
    volatile struct entry* entry = &ring[n % entries];
    while (entry->number != n + 1) {
      if (get(OAE_LOAD_STATUS) || get(OAE_LOAD_DROPPED)) return 1;
    }
    seen[n] = (struct entry){entry->time, entry->kind, 0, entry->number};
    put(OAE_LOAD_TAKEN, n + 1);
    if (n >= unanswered) put(OAE_LOAD_ANSWER, n + 1);
  }
  put(OAE_LOAD_ANSWER, requests + 1);
  for (uint64_t n = 0; n < requests; n++)
    printf("%lu %lu %lu\n", seen[n].time, seen[n].kind, seen[n].number);
  printf("%lu %lu %lu %lu\n", get(OAE_LOAD_GENERATED), get(OAE_LOAD_DROPPED),
         get(OAE_LOAD_ANSWERED), get(OAE_LOAD_UNKNOWN));
  return 0;
}
