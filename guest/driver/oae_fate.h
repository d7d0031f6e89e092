/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_FATE_H
#define OAE_FATE_H

#include <linux/types.h>

struct oae_fate;
struct oae_port;

/* Whether the block tells what becomes of slots that leave the cell. Nothing else is called if not. */
bool oae_fate_is_told(const struct oae_port *port);

/* The bit of a port's event register that has losses signalled, or 0: a claim's owner is not interrupted. */
u64 oae_fate_event(const struct oae_port *port);

/*
 * Takes the names of what the port has lost, and lets its next slot leave the cell. The device is LIVE,
 * or thaws. May be called wherever interrupts may be off.
 */
int oae_fate_collect(struct oae_port *port);

/*
 * Begins an epoch by a write of @control, which ends all that is known of the one before. Returns the
 * port's state after it, or all ones. The port is locked.
 */
u64 oae_fate_begin(struct oae_port *port, u64 control);

/* A REMOTE of this sequence is committed. */
void oae_fate_request(struct oae_port *port, u32 sequence);

/* Fills in the fate that @fate asks for, as it is now. */
int oae_fate_look(struct oae_port *port, struct oae_fate *fate);
/* The owner has the name of the oldest loss. */
void oae_fate_fetched(struct oae_port *port, u32 sequence);

/* What the owner of the port can have without waiting. */
struct oae_fate_news {
	bool unread; /* the name of a loss */
	bool remote; /* that the last REMOTE is lost */
};
struct oae_fate_news oae_fate_news(struct oae_port *port);

#endif
