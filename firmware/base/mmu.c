/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mmu.h"

#include <stdint.h>

#include "base/cpu.h"
#include "base/system.h"
#include "base/translation.h"
#include "config.h"
#include "fault/fault.h"
#include "oae_memory_map.h"

#define BLOCK 0x200000ull

/* MAIR_EL1 holds one byte for each index. */
#define MAIR (0x04ull << 8 * TRANSLATION_DEVICE | 0xffull << 8 * TRANSLATION_NORMAL)

/* TCR_EL1: TTBR0 translates 39 bits with a 4 KiB granule; walks are cached and inner shareable;
 * TTBR1 is not used; physical addresses have 40 bits. */
#define TCR_T0SZ (64 - 39)
#define TCR_WALKS (1ull << 8 | 1ull << 10 | 3ull << 12)
#define TCR_EPD1 (1ull << 23)
#define TCR_IPS_40 (2ull << 32)

#define SCTLR_M (1ull << 0)    /* MMU */
#define SCTLR_C (1ull << 2)    /* data cache */
#define SCTLR_SA (1ull << 3)   /* SP alignment check */
#define SCTLR_I (1ull << 12)   /* instruction cache */
#define SCTLR_WXN (1ull << 19) /* writable memory is not executable */

/* Defined in linker.ld and start.S. */
extern char __text_start[], __text_end[], __constants_end[], stacks[], __image_end[];

static uint64_t pages[12][TRANSLATION_ENTRIES] __attribute__((aligned(4096)));
static struct translation tables;

static void map(uint64_t base, uint64_t end, enum translation_kind kind) {
  if (!translation_map(&tables, base, end - base, kind)) panic("cannot map %lx to %lx", base, end);
}

static void map_device(uint64_t base, uint64_t size) {
  map(base & ~(BLOCK - 1), (base + size + BLOCK - 1) & ~(BLOCK - 1), TRANSLATION_KIND_DEVICE);
}

/* Leaves out the page below each stack, so that a stack that overflows reaches an unmapped page. */
static void map_stacks(void) {
  uint64_t core = (uintptr_t)stacks;

  for (unsigned i = 0; i < OAE_IPU_CORES; i++, core += FIRMWARE_CORE_STACKS_SIZE)
    map(core + FIRMWARE_GUARD_SIZE, core + FIRMWARE_CORE_STACKS_SIZE, TRANSLATION_KIND_DATA);
}

static void map_image(void) {
  map((uintptr_t)__text_start, (uintptr_t)__text_end, TRANSLATION_KIND_TEXT);
  map((uintptr_t)__text_end, (uintptr_t)__constants_end, TRANSLATION_KIND_CONSTANTS);
  map((uintptr_t)__constants_end, (uintptr_t)stacks, TRANSLATION_KIND_DATA);
  map_stacks();
}

void mmu_init(void) {
  struct system_memory sram = system_sram();
  struct system_memory dram = system_dram();

  if (dram.base != (uintptr_t)__text_start || dram.size < (size_t)(__image_end - __text_start))
    panic("linked for %p, but DRAM is %lx bytes at %lx", (void*)__text_start, dram.size, dram.base);
  translation_init(&tables, pages, sizeof(pages) / sizeof(pages[0]));
  map_device(OAE_IPU_GIC_DISTRIBUTOR_BASE,
             OAE_IPU_GIC_REDISTRIBUTOR_AT(OAE_IPU_CORES) - OAE_IPU_GIC_DISTRIBUTOR_BASE);
  map_device(OAE_IPU_CONSOLE_BASE, OAE_IPU_CONSOLE_SIZE);
  map_device(OAE_IPU_MAILBOX_BASE, OAE_IPU_MAILBOX_SIZE);
  map_device(OAE_IPU_DMA_BASE, OAE_IPU_DMA_SIZE);
  map_device(OAE_IPU_OAE_BASE, OAE_IPU_OAE_SIZE);
  map_device(OAE_IPU_SYSTEM_BASE, OAE_IPU_SYSTEM_SIZE);
  map_device(OAE_IPU_LINK_BASE, OAE_IPU_LINK_AT(OAE_IPU_LINK_COUNT) - OAE_IPU_LINK_BASE);
  map_device(OAE_IPU_WINDOW_LINK_BASE,
             OAE_IPU_WINDOW_LINK_AT(OAE_IPU_WINDOW_LINK_COUNT) - OAE_IPU_WINDOW_LINK_BASE);
  if (system_queue_memory()) {
    map_device(OAE_IPU_QUEUE_BASE, OAE_IPU_QUEUE_SIZE);
    map_device(OAE_IPU_QUEUE_MEMORY_BASE, OAE_IPU_QUEUE_MEMORY_SIZE);
    map(OAE_IPU_QUEUE_CACHED_BASE, OAE_IPU_QUEUE_CACHED_BASE + OAE_IPU_QUEUE_CACHED_SIZE,
        TRANSLATION_KIND_DATA);
  }
  map(sram.base, sram.base + sram.size, TRANSLATION_KIND_DATA);
  map_image();
  map((uintptr_t)__image_end, dram.base + dram.size, TRANSLATION_KIND_DATA);
  cpu_dsb();
  mmu_join();
}

void mmu_join(void) {
  cpu_write(mair_el1, MAIR);
  cpu_write(tcr_el1, TCR_T0SZ | TCR_WALKS | TCR_EPD1 | TCR_IPS_40);
  cpu_write(ttbr0_el1, (uintptr_t)pages[0]);
  cpu_isb();
  __asm__ volatile("tlbi vmalle1\n\tic iallu\n\tdsb sy\n\tisb" ::: "memory");
  cpu_write(sctlr_el1, cpu_read(sctlr_el1) | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_I | SCTLR_WXN);
  cpu_isb();
}
