// SPDX-License-Identifier: Apache-2.0
#ifndef BAR_H
#define BAR_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Maps the first pages of a BAR, of which `file` is the file in sysfs. Ends the program with 1 if
 * that fails; a program that has not been told a file gives NULL. */
static inline uint8_t* map_bar(const char* file, unsigned pages) {
  const int descriptor = file ? open(file, O_RDWR) : -1;
  void* bar = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);

  if (bar == MAP_FAILED) {
    perror(file ? file : "no BAR is named");
    exit(1);
  }
  return bar;
}

#endif
