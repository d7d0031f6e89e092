/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project's firmware, whose scheduling agent fails when the host orders it. This file wraps the
 * function that does one round of the agent's work.
 *
 * An order is a word of the queue function's memory, which the firmware leaves alone otherwise: a
 * kind in bits 56 to 63, and an argument. It is carried out once, and is zero then.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/mmio.h"
#include "base/timer.h"
#include "oae_memory_map.h"
#include "scheduling/agent.h"

/* The linker leads the firmware's calls of the function to the first of these two. */
bool __wrap_agent_work(struct agent* agent);
bool __real_agent_work(struct agent* agent);

#define ORDER (OAE_IPU_QUEUE_MEMORY_BASE + 0xf00)

enum order {
  ORDER_PAUSE = 1, /* for so many microseconds */
  ORDER_HANG,
  ORDER_CRASH, /* by a read of an address without a device */
};

static void pause_for(uint64_t us) {
  const uint64_t end = timer_us() + us;

  while (timer_us() < end) cpu_pause();
}

bool __wrap_agent_work(struct agent* agent) {
  const uint64_t order = mmio_read64(ORDER);

  if (order) mmio_write64(ORDER, 0);
  switch (order >> 56) {
    case ORDER_PAUSE:
      pause_for(order & 0xffffffffffffff);
      break;
    case ORDER_HANG:
      for (;;) cpu_pause();
    case ORDER_CRASH:
      mmio_read64(0);
      break;
    default:
      break;
  }
  return __real_agent_work(agent);
}
