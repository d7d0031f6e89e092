/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduling agent, which the host starts and ends through the queues of its function. */
#ifndef FIRMWARE_AGENT_SERVICE_H
#define FIRMWARE_AGENT_SERVICE_H

#include <stdbool.h>

/* Serves the host on this core, which does nothing else. */
_Noreturn void agent_service_run(void);

/* Lets the agent's core begin anew if it has stopped and the host waits for it. Another core calls
 * this at every tick. Returns whether it did. */
bool agent_service_watch(unsigned core);

#endif
