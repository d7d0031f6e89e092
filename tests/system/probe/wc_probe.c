// SPDX-License-Identifier: Apache-2.0
/* Stores a line to page 7 of the memory that a sysfs file maps, and reads one as a stream. */
#include <fcntl.h>
#include <smmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int argc, char** argv) {
  const int file = argc == 2 ? open(argv[1], O_RDWR) : -1;
  uint8_t* bar = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bar == MAP_FAILED) {
    perror("wc_probe");
    return 1;
  }
  volatile uint64_t* line = (volatile uint64_t*)(bar + 7 * 4096 + 0xd00);
  for (unsigned i = 0; i < 8; ++i) line[i] = 0x0101010101010101 * i;
  _mm_sfence();
  __m128i* from = (__m128i*)(bar + 7 * 4096 + 0xd40);
  __m128i sum = _mm_setzero_si128();
  for (unsigned i = 0; i < 4; ++i) sum = _mm_add_epi64(sum, _mm_stream_load_si128(from + i));
  printf("%lld\n", (long long)_mm_cvtsi128_si64(sum));
  return 0;
}
