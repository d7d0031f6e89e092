/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIBOAE_MEASURE_H
#define LIBOAE_MEASURE_H

#include "oae.h"

/* What the driver measures, from its files in debugfs, for the port that is open as @fd. */
int oae_measure_last_swap(int fd, struct oae_times *times);
int oae_measure_reads(int fd, uint64_t *samples, uint32_t count);

/* The name of the port that is open as @fd, as "oae0p0". */
int oae_measure_name(int fd, char *name, size_t size);

#endif
