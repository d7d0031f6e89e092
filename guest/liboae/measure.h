/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIBOAE_MEASURE_H
#define LIBOAE_MEASURE_H

#include "oae.h"

/* What the driver measures, from its files in debugfs, for the port that is open as @fd. */
int oae_measure_reads(int fd, uint64_t *samples, uint32_t count);

/* The file that has the times of the last swap, or a negative errno value; and what it says now. */
int oae_measure_open(int fd);
int oae_measure_last_swap(int file, struct oae_times *times);

#endif
