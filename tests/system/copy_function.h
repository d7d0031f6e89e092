// SPDX-License-Identifier: Apache-2.0
// A virtual function's DMA engine (models/ipu/copy_device.h) for programs of the guest. There is no
// driver: registers are reached through sysfs, and memory that it reads and writes stays in place.
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oae_registers.h"
#include "pinned_page.h"

enum { bar_size = 0x4000, memory_size = 0x10000 };

struct function {
  const char* path;  // its folder in sysfs
  volatile uint8_t* bar;
  uint8_t* source;
  uint8_t* destination;
  volatile uint32_t* message;
};

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
