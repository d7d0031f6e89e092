// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <stddef.h>
#include <string.h>

static bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

static bool read_number(const char** text, uint64_t max, uint64_t* number) {
  uint64_t value = 0;

  if (!is_digit(**text)) return false;
  for (; is_digit(**text); ++*text) {
    const unsigned digit = **text - '0';
    if (value > (max - digit) / 10 || max < digit) return false;
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

bool value_number(const char* text, uint64_t max, uint64_t* number) {
  return read_number(&text, max, number) && !*text;
}

/* Reads a decimal fraction, in millionths. */
static bool read_millionths(const char** text, uint64_t max, uint64_t* millionths) {
  uint64_t whole, fraction = 0, weight = 100000;

  if (!read_number(text, max / 1000000, &whole)) return false;
  if (**text == '.') {
    ++*text;
    if (!is_digit(**text)) return false;
    for (; is_digit(**text); ++*text, weight /= 10) {
      if (!weight && **text != '0') return false;
      fraction += weight * (**text - '0');
    }
  }
  *millionths = whole * 1000000 + fraction;
  return *millionths <= max;
}

struct unit {
  const char* name;
  uint64_t size;
};

/* Reads a number with one of these units. What would be rounded off is a mistake. */
static bool read_with_unit(const char* text, const struct unit* units, uint64_t max,
                           uint64_t* value) {
  uint64_t millionths;

  if (!read_millionths(&text, UINT64_C(1000000000000000), &millionths)) return false;
  for (; units->name; units++) {
    if (strcmp(text, units->name) != 0) continue;
    if (millionths > UINT64_MAX / units->size || millionths * units->size % 1000000) return false;
    *value = millionths * units->size / 1000000;
    return *value <= max;
  }
  return false;
}

bool value_rate(const char* text, uint64_t max, uint64_t* rate) {
  static const struct unit units[] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {NULL, 0}};

  return read_with_unit(text, units, max, rate);
}

bool value_time(const char* text, uint64_t* ns) {
  static const struct unit units[] = {
      {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

  return read_with_unit(text, units, UINT64_C(1000000000000), ns);
}

bool value_share(const char* text, uint64_t* parts) {
  uint64_t millionths;

  if (!read_millionths(&text, 100000000, &millionths) || strcmp(text, "%") != 0) return false;
  *parts = ((millionths << 32) + 50000000) / 100000000;
  if (*parts > UINT32_MAX) *parts = UINT32_MAX;
  return true;
}

bool value_cpus(const char* text, unsigned cpus, uint64_t* set) {
  *set = 0;
  for (;;) {
    uint64_t first, last;
    if (!read_number(&text, cpus - 1, &first)) return false;
    last = first;
    if (*text == '-' && (text++, !read_number(&text, cpus - 1, &last))) return false;
    if (last < first) return false;
    for (uint64_t cpu = first; cpu <= last; cpu++) *set |= UINT64_C(1) << cpu;
    if (!*text) return true;
    if (*text++ != ',') return false;
  }
}
