/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that an agent on the host shares with the kernel: rings of messages, and slots. */
#ifndef SCHEDULE_CHANNEL_H
#define SCHEDULE_CHANNEL_H

#include <linux/oae_sched.h>

#include "agent.h"
#include "port_layout.h"

struct channel {
  int file;
  struct oae_sched_info info;
  char* memory;
};

/* Opens the device. Returns 0 or a negative errno. */
int channel_open(struct channel* channel);

void channel_close(struct channel* channel);

/* Starts an agent elsewhere. Returns 0 or a negative errno. */
int channel_start(const struct channel* channel, const char* transport,
                  const struct policy_config* policy);

/* Ends the work of that agent, when nothing is scheduled any more, and gets its counts, and those
 * of swap ports if it was reached by these. Returns 0 or a negative errno. */
int channel_finish(const struct channel* channel, struct agent_counts* counts,
                   struct port_counts* ports);

/* Shows the kernel that an agent on this host works. The number of its rounds is its sign of life.
 */
void channel_show_life(const struct channel* channel, uint64_t rounds);

/* What an agent needs of an open channel, which has to stay open. */
struct agent_channel channel_of_agent(struct channel* channel);

#endif
