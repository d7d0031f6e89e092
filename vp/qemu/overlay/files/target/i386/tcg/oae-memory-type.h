/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory type of an address, from the guest's page tables, PAT and MTRRs. */
#ifndef I386_TCG_OAE_MEMORY_TYPE_H
#define I386_TCG_OAE_MEMORY_TYPE_H

#include "cpu.h"

/* Stands for a PAT entry where no page table was walked. */
#define OAE_NO_PAT (-1)

/* PAT entry that a leaf of the page tables selects (Intel SDM volume 3, 12.12.3). */
static inline int oae_pat_entry(uint64_t pte, bool large)
{
    return ((pte >> 3) & 3) | (((pte >> (large ? 12 : 7)) & 1) << 2);
}

/* Effective type of physical address `addr`, an OaeMemoryType; uncacheable outside of regions. */
unsigned oae_memory_type(CPUX86State *env, hwaddr addr, int pat_entry);

/* Whether writing this MSR changes types. */
bool oae_types_msr(uint32_t msr);

#endif
