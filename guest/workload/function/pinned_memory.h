/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a program that a device can read and write without a driver: its bus addresses are
 * consecutive, and it stays where it is. */
#ifndef WORKLOAD_PINNED_MEMORY_H
#define WORKLOAD_PINNED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PINNED_PAGE = 4096, PINNED_MAX = 2 << 20 };

/* Returns memory of up to PINNED_MAX bytes that holds zeros, or NULL and errno. More than a page
 * takes one of the kernel's huge pages; if none is left, the kernel is asked for another one. */
void* pinned_memory(size_t size);

/* Returns where the memory is on the bus, or 0 and errno. */
uint64_t pinned_address(const volatile void* at);

#ifdef __cplusplus
}
#endif

#endif
