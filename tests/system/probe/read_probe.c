// SPDX-License-Identifier: Apache-2.0
/* Reads the first register of a BAR many times, as any program may by a file of sysfs, and prints
 * how long each read took, in ns: the time stamp counter of the machine counts nanoseconds. */
#include <x86intrin.h>

#include "bar.h"

int main(int argc, char** argv) {
  volatile uint64_t* bar = (volatile uint64_t*)map_bar(argc == 3 ? argv[1] : NULL, 1);
  const unsigned count = strtoul(argv[2], NULL, 10);
  uint64_t* took = calloc(count, sizeof(*took));
  if (!took) {
    perror("read_probe");
    return 1;
  }
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t start = __rdtsc();
    (void)*bar;
    took[i] = __rdtsc() - start;
  }
  for (unsigned i = 0; i < count; ++i) printf("%llu\n", (unsigned long long)took[i]);
  return 0;
}
