/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware that replies to each request of the mailbox 300 ms after it has read it, whatever
 * happens meanwhile. Its counters of a port are the port's number; it makes no offers. */
#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/gic.h"
#include "base/irq.h"
#include "base/mmio.h"
#include "base/mmu.h"
#include "base/start.h"
#include "base/timer.h"
#include "console/console.h"
#include "console/log.h"
#include "fault/fault.h"
#include "oae_memory_map.h"
#include "oae_registers.h"

#define WORDS OAE_MAILBOX_REQUEST_COUNT
#define DELAY_US 300000
#define PERIOD_US 10000

static struct {
  bool read;
  uint64_t at_us;
  uint64_t words[WORDS];
} request;

static void read_request(void) {
  if (!(mmio_read64(OAE_IPU_MAILBOX_BASE + OAE_MAILBOX_STATUS) & OAE_MAILBOX_STATUS_REQUESTED_MASK))
    return;
  for (unsigned i = 0; i < WORDS; i++)
    request.words[i] = mmio_read64(OAE_IPU_MAILBOX_BASE + OAE_MAILBOX_REQUEST_AT(i));
  request.at_us = timer_us();
  request.read = true;
}

static void reply(void) {
  mmio_write64(OAE_IPU_MAILBOX_BASE + OAE_MAILBOX_REPLY, OAE_MAILBOX_RESULT_OK);
  for (unsigned i = 1; i < WORDS; i++)
    mmio_write64(
        OAE_IPU_MAILBOX_BASE + OAE_MAILBOX_REPLY_AT(i),
        request.words[0] == OAE_MAILBOX_COMMAND_ECHO ? request.words[i] : request.words[1]);
  mmio_write64(OAE_IPU_MAILBOX_BASE + OAE_MAILBOX_DOORBELL, OAE_MAILBOX_DOORBELL_RING_MASK);
  request.read = false;
}

void core_main(unsigned core) {
  if (core != 0) return;
  console_init();
  mmu_init();
  log_info("late replies");
  if (!gic_init()) panic("no redistributor");
  gic_enable(OAE_IPU_VIRTUAL_TIMER_INTID);
  timer_start(PERIOD_US);
  cpu_unmask_irqs();
  for (;;) {
    uint32_t events = irq_wait(true);

    timer_acknowledge();
    if (!request.read) read_request();
    if (request.read && timer_us() - request.at_us >= DELAY_US) reply();
    irq_done(events);
  }
}
