/* SPDX-License-Identifier: Apache-2.0 */
/* The load function, a PCIe function whose registers models/ipu/load_generator.h describes, for a
 * program without a driver. */
#ifndef WORKLOAD_LOAD_FUNCTION_H
#define WORKLOAD_LOAD_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What it generates. */
struct load {
  uint64_t seed;
  uint64_t interval_ps; /* the mean */
  uint64_t count;       /* 0: no limit */
  uint64_t warm_up;     /* requests that are not measured */
  uint64_t long_share;  /* in parts of 2^32 */
  uint64_t limit_ps;    /* after which an answer is late; 0: none is */
};

struct load_function {
  volatile uint8_t* registers;
};

/* Finds the first load function's folder in sysfs. Returns false if there is none. */
bool load_function_find(char* folder, size_t size);

/* Enables the function and maps its registers. Returns 0 or a negative errno value. */
int load_function_open(struct load_function* function, const char* folder);

static inline uint64_t load_function_get(const struct load_function* function, unsigned offset) {
  return *(volatile uint64_t*)(function->registers + offset);
}

static inline void load_function_put(const struct load_function* function, unsigned offset,
                                     uint64_t value) {
  *(volatile uint64_t*)(function->registers + offset) = value;
}

/* Starts the requests, which come into a ring of so many entries at this bus address. Returns the
 * number of the first one, or 0 if the function refuses. */
uint64_t load_function_start(const struct load_function* function, const struct load* load,
                             uint64_t ring, uint64_t entries);

#ifdef __cplusplus
}
#endif

#endif
