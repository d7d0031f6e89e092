// SPDX-License-Identifier: Apache-2.0
// A program for the guest: a virtual function reads a register of another one's BAR by DMA, and
// writes one. Arguments: the folders of both in sysfs. Reports for each transfer whether it arrives, is
// refused (the engine learns of it), or is lost (as a posted write is).
#include <inttypes.h>
#include <time.h>

#include "copy_function.h"

enum { here = 0 };  // in the engine's memory

/* Where the function's BAR 0 is on the bus. */
static uint64_t bar_address(const struct function* one) {
  char path[256];
  uint64_t found = 0;
  FILE* file;

  snprintf(path, sizeof path, "%s/resource", one->path);
  file = fopen(path, "r");
  if (!file || fscanf(file, "%" SCNx64, &found) != 1) {
    perror(path);
    exit(1);
  }
  fclose(file);
  return found;
}

/* Copies 8 bytes; whether the engine has ended it without an error. */
static bool copy(const struct function* one, uint64_t from, uint64_t to, uint64_t direction) {
  struct timespec now, end;

  put(one, OAE_DMA_SOURCE, from);
  put(one, OAE_DMA_DESTINATION, to);
  put(one, OAE_DMA_LENGTH, 8);
  put(one, OAE_DMA_STATUS, OAE_DMA_STATUS_DONE_MASK | OAE_DMA_STATUS_ERROR_MASK);
  put(one, OAE_DMA_CONTROL, OAE_DMA_CONTROL_START_MASK | direction);
  clock_gettime(CLOCK_MONOTONIC, &end);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > end.tv_sec + 1) complain(one, "no end", 0);
  } while (!(get(one, OAE_DMA_STATUS) & OAE_DMA_STATUS_DONE_MASK) && !failed);
  return !(get(one, OAE_DMA_STATUS) & OAE_DMA_STATUS_ERROR_MASK);
}

static const char* outcome(bool ended, uint64_t found, uint64_t expected) {
  return !ended ? "refused" : found == expected ? "arrives" : "lost";
}

int main(int count, char** arguments) {
  const uint64_t read_value = 0x0123456789abcdef, written_value = 0xfedcba9876543210;
  struct function one, other;
  uint64_t at, value = 0;
  bool ended;

  if (count != 3) return 1;
  open_function(&one, arguments[1]);
  open_function(&other, arguments[2]);
  enable(&one);
  enable(&other);
  at = bar_address(&other);

  put(&other, OAE_DMA_SOURCE, read_value);
  ended = copy(&one, at + OAE_DMA_SOURCE, here, OAE_DMA_CONTROL_SOURCE_HOST_MASK);
  if (ended) copy(&one, here, bus_address(one.destination), OAE_DMA_CONTROL_DESTINATION_HOST_MASK);
  memcpy(&value, one.destination, sizeof value);
  printf("read %s, ", outcome(ended, value, read_value));

  memcpy(one.source, &written_value, sizeof written_value);
  put(&other, OAE_DMA_DESTINATION, 0);
  copy(&one, bus_address(one.source), here, OAE_DMA_CONTROL_SOURCE_HOST_MASK);
  ended = copy(&one, here, at + OAE_DMA_DESTINATION, OAE_DMA_CONTROL_DESTINATION_HOST_MASK);
  printf("write %s\n", outcome(ended, get(&other, OAE_DMA_DESTINATION), written_value));
  return failed;
}
