/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIBOAE_MAPPING_H
#define LIBOAE_MAPPING_H

#include "oae.h"

/* The pages of a port in this process, and the host's side of its swaps. */
struct oae_mapping;

/* Maps the pages of the port that is open as @fd. */
int oae_mapping_create(int fd, uint64_t features, struct oae_mapping **mapping);
void oae_mapping_free(struct oae_mapping *mapping);

/* These do what the requests of the same names do, see linux/oae.h. */
int oae_mapping_swap(struct oae_mapping *mapping, struct oae_swap *swap);
int oae_mapping_settle(struct oae_mapping *mapping, struct oae_swap *swap);
/* What the last swap has taken. */
void oae_mapping_times(struct oae_mapping *mapping, struct oae_times *times);

#endif
