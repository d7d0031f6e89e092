/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses of a vCPU to a region that the caller mapped: aligned, of 1, 2, 4 or 8 bytes, which are the
 * lowest of the value. QEMU's own dispatch would find nothing to check or to convert.
 */
#ifndef SYSTEM_OAE_REGION_H
#define SYSTEM_OAE_REGION_H

#include "exec/memory.h"

extern const MemoryRegionOps oae_region_ops;

static inline bool oae_is_callers(const MemoryRegion *mr)
{
    return mr->ops == &oae_region_ops;
}

MemTxResult oae_region_read(MemoryRegion *mr, hwaddr offset, uint64_t *value, unsigned size,
                            MemTxAttrs attrs);
MemTxResult oae_region_write(MemoryRegion *mr, hwaddr offset, uint64_t value, unsigned size,
                             MemTxAttrs attrs);

#endif
