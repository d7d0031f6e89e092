/* SPDX-License-Identifier: Apache-2.0 */
/* This firmware makes each kind of bad offer before every good one, and at its last port no good
 * offer at all. The first words of its slots say how many bad offers it has made since the port was
 * opened, and how many of them the block has reported. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/gic.h"
#include "base/irq.h"
#include "base/mmio.h"
#include "base/mmu.h"
#include "base/start.h"
#include "console/console.h"
#include "console/log.h"
#include "fault/fault.h"
#include "oae_memory_map.h"
#include "oae_registers.h"
#include "services/crc64.h"

#define PORTS_MAX 64
#define SLICES 8

/* The mistake of an offer: the bits that differ from the correct ones. */
static const struct {
  uint64_t header, crc;
} wrongs[] = {
    {0, 1},
    {0, 1ull << 63},
    {OAE_PUT(OAE_SLOT_HEADER_EPOCH, 1), 0},
    {OAE_PUT(OAE_SLOT_HEADER_EPOCH, 0x80), 0},
    {OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, 1), 0},
    {OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, 0x80000000), 0},
    {OAE_PUT(OAE_SLOT_HEADER_STATUS, OAE_STATUS_NOT_READY), 0},
    {OAE_PUT(OAE_SLOT_HEADER_STATUS, 0x80), 0},
    {OAE_PUT(OAE_SLOT_HEADER_VERB, OAE_VERB_SWAP ^ OAE_VERB_NONE), 0},
    {OAE_PUT(OAE_SLOT_HEADER_VERB, OAE_VERB_SWAP ^ OAE_VERB_CAS), 0},
    {OAE_PUT(OAE_SLOT_HEADER_VERB, OAE_VERB_SWAP ^ OAE_VERB_SEND), 0},
    {OAE_PUT(OAE_SLOT_HEADER_VERB, 0x80), 0},
};
#define WRONGS (sizeof(wrongs) / sizeof(wrongs[0]))

static struct port { uint64_t epoch, made, reported; } ports[PORTS_MAX];

static void write_offer(unsigned n, uint64_t status, unsigned wrong) {
  uint64_t slices[SLICES] = {
      OAE_PUT(OAE_SLOT_HEADER_VERB, OAE_VERB_SWAP) |
          OAE_PUT(OAE_SLOT_HEADER_EPOCH, OAE_GET(status, OAE_FIRMWARE_STATUS_EPOCH)) |
          OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, OAE_GET(status, OAE_FIRMWARE_STATUS_NEXT_SEQUENCE)),
      ports[n].made,
      ports[n].reported,
  };

  if (wrong < WRONGS) slices[0] ^= wrongs[wrong].header;
  slices[SLICES - 1] = crc64_words(slices, SLICES - 1);
  if (wrong < WRONGS) slices[SLICES - 1] ^= wrongs[wrong].crc;
  for (unsigned i = 0; i < SLICES; i++)
    mmio_write64(OAE_IPU_OAE_BASE + OAE_FIRMWARE_OFFER_AT(n) + 8 * i, slices[i]);
  mmio_write64(OAE_IPU_OAE_BASE + OAE_FIRMWARE_COMMAND_AT(n), OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
}

static void serve(unsigned n, bool never_good) {
  struct port* port = &ports[n];
  uint64_t status = mmio_read64(OAE_IPU_OAE_BASE + OAE_FIRMWARE_STATUS_AT(n));
  uint64_t events = OAE_GET(status, OAE_FIRMWARE_STATUS_EVENTS);
  uint64_t epoch = OAE_GET(status, OAE_FIRMWARE_STATUS_EPOCH);
  uint64_t command = OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, events);
  uint64_t wrong;

  if (epoch != port->epoch) *port = (struct port){.epoch = epoch};
  if (events & OAE_FIRMWARE_EVENT_BAD_OFFER_MASK) port->reported++;
  if (status & OAE_FIRMWARE_STATUS_COMMITTED_MASK) command |= OAE_FIRMWARE_COMMAND_TAKE_MASK;
  if (command) mmio_write64(OAE_IPU_OAE_BASE + OAE_FIRMWARE_COMMAND_AT(n), command);
  if (!(status & OAE_FIRMWARE_STATUS_OPEN_MASK) || status & OAE_FIRMWARE_STATUS_OFFERED_MASK)
    return;
  wrong = port->made % (WRONGS + 1);
  if (never_good && wrong == WRONGS) wrong = 0;
  write_offer(n, status, (unsigned)wrong);
  port->made++;
}

void core_main(unsigned core) {
  unsigned count;

  if (core != 0) return;
  console_init();
  mmu_init();
  crc64_init();
  count = (unsigned)OAE_GET(mmio_read64(OAE_IPU_OAE_BASE + OAE_FIRMWARE_ID), OAE_FIRMWARE_ID_PORTS);
  log_info("bad offers of %lu kinds at %u ports", WRONGS, count);
  if (!gic_init()) panic("no redistributor");
  gic_enable(OAE_IPU_OAE_INTID);
  mmio_write64(OAE_IPU_OAE_BASE + OAE_FIRMWARE_IRQ_ENABLE, ~0ull >> (PORTS_MAX - count));
  cpu_unmask_irqs();
  for (;;) {
    uint32_t events = irq_wait(true);

    for (unsigned n = 0; n < count; n++) serve(n, n == count - 1);
    irq_done(events);
  }
}
