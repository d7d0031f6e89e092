/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system.h"

#include "base/cpu.h"
#include "base/mmio.h"
#include "oae_memory_map.h"
#include "oae_registers.h"

static uint64_t system_register(unsigned offset) {
  return mmio_read64(OAE_IPU_SYSTEM_BASE + offset);
}

unsigned system_cores(void) {
  return OAE_GET(system_register(OAE_SYSTEM_ID), OAE_SYSTEM_ID_CORES);
}

struct system_memory system_sram(void) {
  return (struct system_memory){system_register(OAE_SYSTEM_SRAM_BASE),
                                system_register(OAE_SYSTEM_SRAM_SIZE)};
}

struct system_memory system_dram(void) {
  return (struct system_memory){system_register(OAE_SYSTEM_DRAM_BASE),
                                system_register(OAE_SYSTEM_DRAM_SIZE)};
}

bool system_poll(void) {
  return OAE_GET(system_register(OAE_SYSTEM_BOOT_OPTIONS), OAE_SYSTEM_BOOT_OPTIONS_POLL);
}

uint64_t system_queue_memory(void) {
  return system_register(OAE_SYSTEM_QUEUE_MEMORY);
}

unsigned system_cell(void) {
  return OAE_GET(system_register(OAE_SYSTEM_ID), OAE_SYSTEM_ID_CELL);
}

unsigned system_links(void) {
  return OAE_GET(system_register(OAE_SYSTEM_ID), OAE_SYSTEM_ID_LINKS);
}

struct system_link system_link(unsigned n) {
  uint64_t peer = system_register(OAE_SYSTEM_LINK_PEER_AT(n));

  return (struct system_link){
      OAE_GET(peer, OAE_SYSTEM_LINK_PEER_CELL), system_register(OAE_SYSTEM_LINK_PORTS_AT(n)),
      peer & OAE_SYSTEM_LINK_PEER_BRIDGED_MASK, peer & OAE_SYSTEM_LINK_PEER_RELAYED_MASK};
}

_Noreturn static void halt(uint64_t reason) {
  mmio_write64(OAE_IPU_SYSTEM_BASE + OAE_SYSTEM_HALT, reason);
  cpu_park();
}

void system_halt_fault(void) {
  halt(OAE_HALT_REASON_FAULT);
}

void system_shutdown(void) {
  halt(OAE_HALT_REASON_SHUTDOWN);
}
