// SPDX-License-Identifier: Apache-2.0
// A page of a guest's program that a device can read and write. A test ends where there is none.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pinned_memory.h"

enum { page = PINNED_PAGE };

static inline void* new_page(void) {
  void* found = pinned_memory(page);

  if (!found) {
    perror("a page");
    exit(1);
  }
  return found;
}

static inline uint64_t bus_address(const volatile void* at) {
  const uint64_t found = pinned_address(at);

  if (!found) {
    perror("pagemap");
    exit(1);
  }
  return found;
}
