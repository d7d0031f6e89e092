/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the IPU's memory as its cores and its DMA engine see it, and then shuts down. Panics at
 * the first difference. */
#include <stdint.h>

#include "base/cpu.h"
#include "base/mmio.h"
#include "base/mmu.h"
#include "base/start.h"
#include "base/system.h"
#include "console/console.h"
#include "console/log.h"
#include "fault/fault.h"
#include "oae_memory_map.h"
#include "oae_registers.h"

#define PAGE 0x1000ull

extern char __image_end[];

/* Every word holds a different number. */
static uint64_t pattern(uint64_t address) {
  return address * 0x9e3779b97f4a7c15ull ^ 0x5555;
}

static void check(uint64_t address, uint64_t expected) {
  uint64_t found = *(volatile uint64_t*)address;

  if (found != expected) panic("%lx holds %lx instead of %lx", address, found, expected);
}

static void check_region(const char* name, uint64_t base, uint64_t end, uint64_t step) {
  for (uint64_t address = base; address < end; address += step)
    *(volatile uint64_t*)address = pattern(address);
  *(volatile uint64_t*)(end - 8) = pattern(end - 8);
  for (uint64_t address = base; address < end; address += step) check(address, pattern(address));
  check(end - 8, pattern(end - 8));
  log_info("%s: %lx to %lx holds what is written", name, base, end);
}

static uint64_t dma_copy(uint64_t source, uint64_t destination, uint64_t length) {
  uint64_t status;

  mmio_write64(OAE_IPU_DMA_BASE + OAE_DMA_SOURCE, source);
  mmio_write64(OAE_IPU_DMA_BASE + OAE_DMA_DESTINATION, destination);
  mmio_write64(OAE_IPU_DMA_BASE + OAE_DMA_LENGTH, length);
  cpu_dsb();
  mmio_write64(OAE_IPU_DMA_BASE + OAE_DMA_CONTROL, OAE_DMA_CONTROL_START_MASK);
  do status = mmio_read64(OAE_IPU_DMA_BASE + OAE_DMA_STATUS);
  while (!(status & OAE_DMA_STATUS_DONE_MASK));
  mmio_write64(OAE_IPU_DMA_BASE + OAE_DMA_STATUS, status);
  return status;
}

static void check_dma(struct system_memory sram, uint64_t free) {
  const uint64_t length = 5 * PAGE + 24;

  if (dma_copy(sram.base + 16, free + 8, length) != OAE_DMA_STATUS_DONE_MASK)
    panic("DMA from SRAM to DRAM failed");
  for (uint64_t offset = 0; offset < length; offset += 8)
    check(free + 8 + offset, pattern(sram.base + 16 + offset));
  if (!(dma_copy(OAE_IPU_SYSTEM_BASE, free, 8) & OAE_DMA_STATUS_ERROR_MASK))
    panic("DMA from a device did not fail");
  if (!(dma_copy(0, free, 8) & OAE_DMA_STATUS_ERROR_MASK)) panic("DMA from nowhere did not fail");
  log_info("DMA: copies between memories, and refuses what is none");
}

void core_main(unsigned core) {
  struct system_memory sram;
  struct system_memory dram;
  uint64_t free = (uintptr_t)__image_end;

  if (core != 0) cpu_park();
  console_init();
  mmu_init();
  sram = system_sram();
  dram = system_dram();
  check_region("SRAM", sram.base, sram.base + sram.size, 8);
  check_region("DRAM", free, dram.base + dram.size, PAGE);
  check_dma(sram, free);
  system_shutdown();
}
