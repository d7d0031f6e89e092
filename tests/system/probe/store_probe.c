// SPDX-License-Identifier: Apache-2.0
/* Stores words of 4 bytes to page 7 of the memory that a sysfs file maps, one after the other.
 * Prints how many nanoseconds that took. Arguments: the file, the number of stores. */
#include <time.h>

#include "bar.h"

static int64_t now(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int main(int argc, char** argv) {
  uint8_t* bar = map_bar(argc == 3 ? argv[1] : NULL, 8);
  volatile uint32_t* word = (volatile uint32_t*)(bar + 7 * 4096 + 0xd00);
  const long count = atol(argv[2]);
  for (long i = 0; i < 1000; ++i) *word = 0; /* fills the queues */
  const int64_t start = now();
  for (long i = 0; i < count; ++i) *word = 0;
  printf("%lld\n", (long long)(now() - start));
  return 0;
}
