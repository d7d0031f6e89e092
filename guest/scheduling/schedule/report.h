/* SPDX-License-Identifier: Apache-2.0 */
/* What both sides have counted. */
#ifndef SCHEDULE_REPORT_H
#define SCHEDULE_REPORT_H

#include "agent.h"
#include "counts.h"
#include "port_layout.h"

/* Prints the counts. Returns false, and says why on stderr, if the two sides disagree. */
bool report(const struct counts* kernel, const struct agent_counts* agent,
            const struct port_counts* ports);

#endif
