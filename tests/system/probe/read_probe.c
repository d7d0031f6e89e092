// SPDX-License-Identifier: Apache-2.0
/* Reads the first register of a BAR many times, as any program may by a file of sysfs, and prints
 * how long each read took, in ns: the time stamp counter of the machine counts nanoseconds. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <x86intrin.h>

int main(int argc, char** argv) {
  const int file = argc == 3 ? open(argv[1], O_RDWR) : -1;
  const unsigned count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
  volatile uint64_t* bar = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  uint64_t* took = calloc(count, sizeof(*took));
  if (bar == MAP_FAILED || !took) {
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
