/* SPDX-License-Identifier: Apache-2.0 */
/* The trace, which the kernel makes and this program writes. */
#ifndef SCHEDULE_TRACE_H
#define SCHEDULE_TRACE_H

#include "agent.h"
#include "channel.h"
#include "counts.h"
#include "options.h"

/* Begins a trace with room for this number of records. Returns 0 or a negative errno. */
int trace_begin(const struct channel* channel, uint64_t records);

/* Ends it and writes the file. Returns false, and says why on stderr, if that fails or if the trace
 * is not complete. */
bool trace_write(const struct channel* channel, const struct options* options, uint64_t detached_ns,
                 const struct counts* kernel, const struct agent_counts* agent,
                 const struct port_counts* ports);

#endif
