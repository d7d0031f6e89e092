/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware's memory: identity-mapped and cached; only its text is executable. */
#ifndef FIRMWARE_BASE_MMU_H
#define FIRMWARE_BASE_MMU_H

/* Builds the tables of the whole machine, and enables MMU and caches of this core. */
void mmu_init(void);

/* Enables MMU and caches of another core, when the tables are built. */
void mmu_join(void);

#endif
