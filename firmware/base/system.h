/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as its system controller describes it. */
#ifndef FIRMWARE_BASE_SYSTEM_H
#define FIRMWARE_BASE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

struct system_memory {
  uint64_t base;
  uint64_t size;
};

unsigned system_cores(void);
struct system_memory system_sram(void);
struct system_memory system_dram(void);
/* Returns whether the platform file asks the firmware to poll instead of sleeping. */
bool system_poll(void);

/* Bytes of memory that the queue function shares with the host, or 0 without that function. */
uint64_t system_queue_memory(void);

/* The number of this cell and its OAE links. */
struct system_link {
  unsigned peer;  /* the cell at the other end */
  uint64_t ports; /* a bit for each swap port whose slots the link carries */
  bool bridged;   /* it has a window, and a bridge joins it with the block */
  bool relayed;   /* it has a window, and a relay passes its slots on to the other link */
};

unsigned system_cell(void);
unsigned system_links(void);
struct system_link system_link(unsigned n);

/* Ends the run, because of a fault or because all work is done. */
_Noreturn void system_halt_fault(void);
_Noreturn void system_shutdown(void);

#endif
