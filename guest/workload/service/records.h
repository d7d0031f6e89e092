/* SPDX-License-Identifier: Apache-2.0 */
/* What the database holds. Keys and values follow from their number, so that who reads them knows
 * whether they are right. */
#ifndef WORKLOAD_RECORDS_H
#define WORKLOAD_RECORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "random.h"

enum { RECORD_KEY = 8, RECORD_VALUE = 64, RECORD_WORDS = RECORD_VALUE / 8 };

/* Keys are in the order of their numbers. */
static inline void record_key(uint64_t number, char key[RECORD_KEY]) {
  for (int i = 0; i < RECORD_KEY; i++) key[i] = (char)(number >> 8 * (RECORD_KEY - 1 - i));
}

static inline void record_value(uint64_t number, char value[RECORD_VALUE]) {
  for (uint64_t i = 0; i < RECORD_WORDS; i++) {
    const uint64_t word = random_at(number, i);
    memcpy(value + 8 * i, &word, sizeof(word));
  }
}

static inline bool record_is(uint64_t number, const char* value, uint64_t length) {
  char expected[RECORD_VALUE];

  record_value(number, expected);
  return length == RECORD_VALUE && memcmp(value, expected, RECORD_VALUE) == 0;
}

#endif
