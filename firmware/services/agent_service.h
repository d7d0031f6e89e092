/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduling agent, which the host starts and ends through the function of queues. It reaches the
 * host through the memory of that function, or through swap ports. */
#ifndef FIRMWARE_SERVICES_AGENT_SERVICE_H
#define FIRMWARE_SERVICES_AGENT_SERVICE_H

#include <stdbool.h>

#include "services/swap_service.h"

/* Serves the host on this core, which does nothing else. It borrows the ports that an agent uses.
 */
_Noreturn void agent_service_run(struct swap_service* swaps);

/* Lets the agent's core begin anew if it has stopped and the host waits for it. Another core calls
 * this at every tick. Returns whether it did. */
bool agent_service_watch(unsigned core);

#endif
