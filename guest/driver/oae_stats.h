/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_STATS_H
#define OAE_STATS_H

struct attribute_group;
struct oae_port;
struct oae_stats;

/* Fills in the counters of the block and of the driver, or says why it cannot. */
int oae_port_stats(struct oae_port *port, struct oae_stats *stats);

/* Attributes of a port's device: the same counters in sysfs, which need no open port. */
extern const struct attribute_group *oae_port_groups[];

#endif
