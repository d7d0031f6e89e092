// SPDX-License-Identifier: Apache-2.0
// A program for the guest: every virtual function, all at once, copies host memory to its own, and
// that back to another place; MSI-X tells of each copy's end. There is no driver: registers are
// reached through sysfs, and a message is a write, so it goes to memory that this program polls.
// Arguments: the functions' folders in sysfs. Tells what is not as it must be; its exit code is 1
// then.
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "oae_registers.h"

enum { page = 4096, most = 64, table = 0x2000, bar_size = 0x4000, memory_size = 0x10000 };

struct function {
  const char* path;
  volatile uint8_t* bar;
  uint8_t* source;
  uint8_t* destination;
  volatile uint32_t* message;
};

static struct function functions[most];
static int number_of_functions;
static bool failed;

static void complain(const struct function* one, const char* what, long value) {
  printf("%s: %s: %ld\n", one->path, what, value);
  failed = true;
}

static uint64_t get(const struct function* one, unsigned offset) {
  return *(volatile uint64_t*)(one->bar + offset);
}

static void put(const struct function* one, unsigned offset, uint64_t value) {
  *(volatile uint64_t*)(one->bar + offset) = value;
}

/* A page that stays where it is. */
static void* new_page(void) {
  void* found = mmap(NULL, page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0);

  if (found == MAP_FAILED) {
    perror("a page");
    exit(1);
  }
  memset(found, 0, page);
  return found;
}

static uint64_t bus_address(const volatile void* at) {
  int file = open("/proc/self/pagemap", O_RDONLY);
  uint64_t entry = 0;

  if (file < 0 ||
      pread(file, &entry, sizeof entry, (off_t)((uintptr_t)at / page * sizeof entry)) != sizeof entry ||
      !(entry >> 63)) {
    perror("pagemap");
    exit(1);
  }
  close(file);
  return (entry & ((1ull << 55) - 1)) * page + (uintptr_t)at % page;
}

/* Bus Master, and MSI-X with its one vector. */
static void enable(const struct function* one) {
  char path[256];
  uint16_t command = 1 << 2, enabled = 1 << 15;
  uint8_t capability[2] = {0, 0};
  uint8_t at;
  int file;

  snprintf(path, sizeof path, "%s/config", one->path);
  file = open(path, O_RDWR);
  if (file < 0 || pwrite(file, &command, 2, 4) != 2 || pread(file, &at, 1, 0x34) != 1) {
    perror(path);
    exit(1);
  }
  while (at && pread(file, capability, 2, at) == 2 && capability[0] != 0x11) at = capability[1];
  if (!at || pwrite(file, &enabled, 2, at + 2) != 2) complain(one, "MSI-X", at);
  close(file);
}

static void open_function(struct function* one, const char* path) {
  char name[256];
  int file;

  one->path = path;
  snprintf(name, sizeof name, "%s/resource0", path);
  file = open(name, O_RDWR);
  one->bar = mmap(NULL, bar_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || one->bar == MAP_FAILED) {
    perror(name);
    exit(1);
  }
  close(file);
  one->source = new_page();
  one->destination = new_page();
  one->message = new_page();
}

static void start(const struct function* one, uint64_t from, uint64_t to, uint64_t direction,
                  uint32_t message) {
  *one->message = 0;
  put(one, table, bus_address(one->message));
  put(one, table + 8, message); /* not masked */
  put(one, OAE_DMA_SOURCE, from);
  put(one, OAE_DMA_DESTINATION, to);
  put(one, OAE_DMA_LENGTH, page);
  put(one, OAE_DMA_STATUS, OAE_DMA_STATUS_DONE_MASK | OAE_DMA_STATUS_ERROR_MASK);
  put(one, OAE_DMA_CONTROL, OAE_DMA_CONTROL_START_MASK | OAE_DMA_CONTROL_IRQ_ENABLE_MASK | direction);
}

/* A message comes behind what was written before it. */
static void wait_for(const struct function* one, uint32_t message) {
  struct timespec now, end;
  uint64_t status;

  clock_gettime(CLOCK_MONOTONIC, &end);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > end.tv_sec + 1) return complain(one, "no message", (long)*one->message);
  } while (*one->message == 0);
  if (*one->message != message) complain(one, "another message", (long)*one->message);
  status = get(one, OAE_DMA_STATUS);
  if (status != OAE_DMA_STATUS_DONE_MASK) complain(one, "status", (long)status);
}

int main(int count, char** arguments) {
  int i, at;

  if (count < 2 || count > most + 1) return 1;
  number_of_functions = count - 1;
  for (i = 0; i < number_of_functions; i++) {
    open_function(&functions[i], arguments[1 + i]);
    for (at = 0; at < page; at++) functions[i].source[at] = (uint8_t)(at * 7 + at / 256 + i * 31);
    if (get(&functions[i], OAE_DMA_STATUS)) complain(&functions[i], "status before", 1);
    enable(&functions[i]);
  }
  /* Into its own memory, to its last page, and back. */
  for (i = 0; i < number_of_functions; i++)
    start(&functions[i], bus_address(functions[i].source), memory_size - page,
          OAE_DMA_CONTROL_SOURCE_HOST_MASK, 0x1000 + (uint32_t)i);
  for (i = 0; i < number_of_functions; i++) wait_for(&functions[i], 0x1000 + (uint32_t)i);
  for (i = 0; i < number_of_functions; i++)
    start(&functions[i], memory_size - page, bus_address(functions[i].destination),
          OAE_DMA_CONTROL_DESTINATION_HOST_MASK, 0x2000 + (uint32_t)i);
  for (i = 0; i < number_of_functions; i++) {
    wait_for(&functions[i], 0x2000 + (uint32_t)i);
    if (memcmp(functions[i].source, functions[i].destination, page) != 0)
      complain(&functions[i], "the copy is another", 0);
  }
  printf("%d functions: %s\n", number_of_functions, failed ? "wrong" : "agree");
  return failed;
}
