/* SPDX-License-Identifier: Apache-2.0 */
/* A scheduling agent, which the host starts and ends through the queues of its function. */
#ifndef FIRMWARE_AGENT_SERVICE_H
#define FIRMWARE_AGENT_SERVICE_H

/* Serves the host on this core, which does nothing else. */
_Noreturn void agent_service_run(void);

#endif
