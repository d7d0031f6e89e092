/* SPDX-License-Identifier: Apache-2.0 */
/* Memory as the firmware uses it: mapped to itself, cached, and only its text executable. */
#ifndef FIRMWARE_MMU_H
#define FIRMWARE_MMU_H

/* Builds the tables of the whole machine and turns MMU and caches of this core on. */
void mmu_init(void);

/* The same for another core, once the tables are built. */
void mmu_join(void);

#endif
