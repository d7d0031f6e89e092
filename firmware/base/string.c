/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the compiler may call on its own. */
#include <stddef.h>

void* memset(void* to, int value, size_t count);
void* memcpy(void* restrict to, const void* restrict from, size_t count);

void* memset(void* to, int value, size_t count) {
  unsigned char* byte = to;

  while (count--) *byte++ = (unsigned char)value;
  return to;
}

void* memcpy(void* restrict to, const void* restrict from, size_t count) {
  unsigned char* byte = to;
  const unsigned char* source = from;

  while (count--) *byte++ = *source++;
  return to;
}
