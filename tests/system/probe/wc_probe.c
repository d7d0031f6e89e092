// SPDX-License-Identifier: Apache-2.0
/* Stores a line to page 7 of the memory that a sysfs file maps, and reads one as a stream. */
#include <smmintrin.h>

#include "bar.h"

int main(int argc, char** argv) {
  uint8_t* bar = map_bar(argc == 2 ? argv[1] : NULL, 8);
  volatile uint64_t* line = (volatile uint64_t*)(bar + 7 * 4096 + 0xd00);
  for (unsigned i = 0; i < 8; ++i) line[i] = 0x0101010101010101 * i;
  _mm_sfence();
  __m128i* from = (__m128i*)(bar + 7 * 4096 + 0xd40);
  __m128i sum = _mm_setzero_si128();
  for (unsigned i = 0; i < 4; ++i) sum = _mm_add_epi64(sum, _mm_stream_load_si128(from + i));
  printf("%lld\n", (long long)_mm_cvtsi128_si64(sum));
  return 0;
}
