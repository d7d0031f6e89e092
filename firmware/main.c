/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware of the IPU. Core 0 serves swap ports, OAE links and the mailbox, and gives the sign
 * of life. If the function of queues is there, the last of several cores runs a scheduling agent.
 * If the firmware polls, each other core polls some of the ports; otherwise the others sleep.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/gic.h"
#include "base/irq.h"
#include "base/mmu.h"
#include "base/start.h"
#include "base/system.h"
#include "base/timer.h"
#include "config.h"
#include "console/console.h"
#include "console/log.h"
#include "fault/fault.h"
#include "oae_memory_map.h"
#include "oae_registers.h"
#include "services/agent_service.h"
#include "services/link_service.h"
#include "services/mailbox_service.h"
#include "services/swap_service.h"
#include "services/window_service.h"

_Static_assert(LINKS_MAX == OAE_IPU_LINK_COUNT, "the link service has room for all links");

static struct swap_service swaps;
static struct link_service links;
/* With a window: one or two that bridges join with the block, or those of a relay. */
static struct window_service windows[OAE_IPU_WINDOW_LINK_COUNT];
static unsigned window_count;
/* This memory is not cleared at the start. */
static struct link_service_memory link_memory __attribute__((section(".kept")));

static void link_up(unsigned link) {
  log_info("link %u to cell %u: up", link, links.links[link].peer);
}

static void link_down(unsigned link, unsigned reason) {
  static const char* const reasons[] = {"the other side begins anew", "taken down",
                                        "nothing arrives", "too much trouble"};

  log_warning("link %u to cell %u: down: %s", link, links.links[link].peer,
              reason < sizeof(reasons) / sizeof(reasons[0]) ? reasons[reason] : "unknown");
}

static void link_in_doubt(unsigned link, uint32_t number) {
  log_warning("link %u to cell %u: transfer %u is in doubt", link, links.links[link].peer, number);
}

static void link_settled(unsigned link, uint32_t number, unsigned outcome) {
  log_info("link %u to cell %u: transfer %u is settled through another cell: %s", link,
           links.links[link].peer, number,
           outcome == OAE_OUTCOME_COMMITTED  ? "committed"
           : outcome == OAE_OUTCOME_REVERSED ? "reversed"
                                             : "lost");
}

static const struct link_observer link_log = {link_up, link_down, link_in_doubt, link_settled};

static void window_up(unsigned peer) {
  log_info("link with a window to cell %u: up", peer);
}

static void window_down(unsigned peer, unsigned reason) {
  static const char* const reasons[] = {"the other side begins anew", "taken down",
                                        "nothing arrives", "too much trouble",
                                        "the other side breaks the rules"};

  log_warning("link with a window to cell %u: down: %s", peer,
              reason < sizeof(reasons) / sizeof(reasons[0]) ? reasons[reason] : "unknown");
}

static void window_lost(unsigned peer, uint64_t slots) {
  log_warning("link with a window to cell %u: %lu slots are lost", peer, slots);
}

static const struct window_observer window_log = {window_up, window_down, window_lost};

/* Returns whether the links have windows. This IPU has no others then. */
static bool init_windows(unsigned count) {
  const struct system_link first = system_link(0);

  if (!count || !(first.bridged || first.relayed)) return false;
  if (count > OAE_IPU_WINDOW_LINK_COUNT || (first.relayed && count < OAE_IPU_WINDOW_LINK_COUNT))
    panic("%u links with a window cannot be served", count);
  for (; window_count < count; window_count++) {
    struct system_link link = system_link(window_count);

    window_service_init(&windows[window_count], OAE_IPU_WINDOW_LINK_AT(window_count),
                        link.bridged ? OAE_IPU_OAE_BASE : 0, link.peer, link.ports, &window_log);
  }
  return true;
}

static void init_links(void) {
  struct link_place places[LINKS_MAX];
  unsigned count = system_links();

  if (init_windows(count)) count = 0;
  if (count > LINKS_MAX) panic("%u OAE links are more than %u", count, LINKS_MAX);
  for (unsigned n = 0; n < count; n++) {
    struct system_link link = system_link(n);

    places[n] = (struct link_place){OAE_IPU_LINK_AT(n), link.peer, link.ports};
  }
  link_service_init(&links, system_cell(), places, count, &swaps, &link_memory, &link_log);
  for (unsigned n = 0; n < window_count; n++)
    if (windows[n].block) links.partner.bridged |= windows[n].ports;
}

/* The core of the scheduling agent, or 0 if there is none. */
static unsigned agent_core(void) {
  return system_queue_memory() ? system_cores() - 1 : 0;
}

static void print_banner(bool polling) {
  unsigned cores = system_cores();

  log_info("OAE firmware %u.%u.%u: %u core%s, %lu KiB SRAM, %lu MiB DRAM, %u swap port%s, %s",
           FIRMWARE_VERSION_MAJOR, FIRMWARE_VERSION_MINOR, FIRMWARE_VERSION_PATCH, cores,
           cores == 1 ? "" : "s", system_sram().size >> 10, system_dram().size >> 20, swaps.count,
           swaps.count == 1 ? "" : "s", polling ? "polling" : "interrupt-driven");
  if (system_queue_memory()) {
    if (agent_core())
      log_info("core %u runs a scheduling agent", agent_core());
    else
      log_warning("a scheduling agent needs a second core");
  }
  for (unsigned n = 0; n < links.count; n++)
    log_info("link %u to cell %u, joined ports: %lx", n, links.links[n].peer, links.links[n].ports);
  for (unsigned n = 0; n < window_count; n++)
    log_info("link with a window to cell %u, %s ports: %lx", windows[n].peer,
             windows[n].block ? "bridged" : "relayed", windows[n].ports);
}

static void enable_interrupts(bool polling) {
  if (!gic_init()) panic("no redistributor for core %u", cpu_core());
  gic_enable(OAE_IPU_VIRTUAL_TIMER_INTID);
  gic_enable(OAE_IPU_MAILBOX_INTID);
  if (!polling) gic_enable(OAE_IPU_OAE_INTID);
  for (unsigned n = 0; n < links.count && !polling; n++) gic_enable(OAE_IPU_LINK_INTID + n);
  for (unsigned n = 0; n < window_count && !polling; n++) gic_enable(OAE_IPU_LINK_INTID + n);
  timer_start(FIRMWARE_TICK_US);
  cpu_unmask_irqs();
}

/* Returns the ports that a core serves. Core 0 serves all joined ports. */
static uint64_t ports_of(unsigned core, bool polling) {
  unsigned cores = polling ? system_cores() - (agent_core() ? 1 : 0) : 1;
  uint64_t mine = 0;

  for (unsigned n = 0; n < swaps.count; n++)
    if ((links.partner.ports >> n & 1 ? 0 : n % cores) == core) mine |= 1ull << n;
  return mine;
}

_Noreturn static void serve(bool polling) {
  const uint64_t mine = ports_of(0, polling);
  const unsigned agent = agent_core();

  for (;;) {
    uint32_t events = irq_wait(!polling);

    if (polling || events & IRQ_EVENT_OAE) swap_service_serve(&swaps, mine);
    for (unsigned n = 0; n < links.count; n++)
      if (polling || events & IRQ_EVENT_LINK << n) link_service_serve(&links, n);
    for (unsigned n = 0; n < window_count; n++)
      if (polling || events & IRQ_EVENT_LINK << n) window_service_serve(&windows[n]);
    if (events & IRQ_EVENT_TICK) {
      swap_service_tick(&swaps, timer_acknowledge());
      swap_service_retry(&swaps, mine);
      link_service_tick(&links);
      for (unsigned n = 0; n < window_count; n++) window_service_tick(&windows[n], swaps.liveness);
      if (agent && agent_service_watch(agent))
        log_warning("core %u does not answer the host, and begins anew", agent);
    }
    if (events & IRQ_EVENT_MAILBOX) mailbox_serve(OAE_IPU_MAILBOX_BASE, &swaps, polling);
    irq_done(events);
  }
}

_Noreturn static void serve_ports_only(unsigned core) {
  uint64_t mine = ports_of(core, true);
  uint32_t seen = 0;

  if (!mine) cpu_park();
  for (;;) {
    uint32_t liveness = swaps.liveness;

    swap_service_serve(&swaps, mine);
    if (liveness != seen) swap_service_retry(&swaps, mine);
    seen = liveness;
  }
}

/* This is not in .bss, which core 0 clears while the others already run. */
static volatile uint32_t others_may_begin __attribute__((section(".data"))) = 0;

void core_main(unsigned core) {
  const bool polling = system_poll();
  const unsigned agent = agent_core();

  if (core != 0) {
    if (!polling && core != agent) cpu_park();
    while (!others_may_begin) cpu_pause();
    mmu_join();
    if (core == agent) agent_service_run(&swaps);
    serve_ports_only(core);
  }
  console_init();
  mmu_init();
  init_links();
  if (!swap_service_init(&swaps, OAE_IPU_OAE_BASE, &links.partner))
    panic("no OAE block at %x", OAE_IPU_OAE_BASE);
  swap_service_share_words(&swaps, FIRMWARE_WORDS_PER_PORT);
  print_banner(polling);
  link_service_start(&links);
  for (unsigned n = 0; n < window_count; n++) window_service_start(&windows[n]);
  enable_interrupts(polling);
  others_may_begin = 1;
  cpu_clean(&others_may_begin, sizeof(others_may_begin));
  serve(polling);
}
