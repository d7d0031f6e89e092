// SPDX-License-Identifier: Apache-2.0
// Memory of a guest's program that a device can read and write without a driver.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { page = 4096 };

/* A page that stays where it is. */
static inline void* new_page(void) {
  void* found = mmap(NULL, page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED, -1, 0);

  if (found == MAP_FAILED) {
    perror("a page");
    exit(1);
  }
  memset(found, 0, page);
  return found;
}

static inline uint64_t bus_address(const volatile void* at) {
  int file = open("/proc/self/pagemap", O_RDONLY);
  uint64_t entry = 0;

  if (file < 0 ||
      pread(file, &entry, sizeof entry, (off_t)((uintptr_t)at / page * sizeof entry)) !=
          sizeof entry ||
      !(entry >> 63)) {
    perror("pagemap");
    exit(1);
  }
  close(file);
  return (entry & ((1ull << 55) - 1)) * page + (uintptr_t)at % page;
}
