/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
#ifndef OAE_LOSSES_H
#define OAE_LOSSES_H

#include <linux/string.h>
#include <linux/types.h>

#include "oae_registers.h"

/*
 * What is known of the losses of a port: slots and REMOTEs that have left the cell, and of which nobody
 * knows whether they have arrived. The includer has included the interface, for OAE_FATE_*. The driver
 * uses this, and its tests.
 */
#define OAE_LOSSES_MAX 16

struct oae_losses {
	u8 epoch; /* The names are of this one. */
	u32 names[OAE_LOSSES_MAX]; /* their sequences, the oldest first */
	unsigned int count;
	unsigned int unread; /* how many of them, the newest ones, the port's owner has not fetched */
	u32 forgotten; /* the last name that had to make room for another, or 0 */
	u32 remote; /* the REMOTE that is lost if none was committed after it, or 0 */
	u64 before; /* the last delivery before this epoch, as its register shows it */
	u64 last, first, last_remote; /* the names that were taken last, as their registers show them */
	u64 slots, remotes; /* how many were lost in all epochs */
};

/* Whether a sequence comes after another one. Sequences wrap. */
static inline bool oae_sequence_is_after(u32 sequence, u32 other)
{
	return (__s32)(sequence - other) > 0;
}

/* A new epoch begins. @delivered is the register of that name, whose last delivery can be of long ago. */
static inline void oae_losses_begin(struct oae_losses *losses, u8 epoch, u64 delivered)
{
	losses->epoch = epoch;
	losses->count = 0;
	losses->unread = 0;
	losses->forgotten = 0;
	losses->remote = 0;
	losses->before = delivered;
}

static inline void oae_losses_add(struct oae_losses *losses, u32 sequence)
{
	if (losses->count == OAE_LOSSES_MAX) {
		losses->forgotten = losses->names[0];
		losses->count--;
		memmove(&losses->names[0], &losses->names[1],
			losses->count * sizeof(losses->names[0]));
		if (losses->unread > losses->count)
			losses->unread = losses->count;
	}
	losses->names[losses->count++] = sequence;
	losses->unread++;
}

/* Names have the same layout in all registers. */
static inline u32 oae_losses_sequence(u64 name)
{
	return OAE_GET(name, OAE_HOST_PORT_LOST_LAST_SEQUENCE);
}

static inline bool oae_losses_is_present(const struct oae_losses *losses, u64 name)
{
	return OAE_GET(name, OAE_HOST_PORT_LOST_LAST_EPOCH) == losses->epoch;
}

/*
 * Takes what the registers of these names show, @lost being port_lost. Names of an epoch that has ended are
 * counted only. Returns false if nothing is lost, or if it was taken before: the acknowledgement did not
 * arrive then.
 */
static inline bool oae_losses_take(struct oae_losses *losses, u64 lost, u64 last, u64 first, u64 remote)
{
	unsigned int slots = OAE_GET(lost, OAE_HOST_PORT_LOST_SLOTS);
	bool has_remote = lost & OAE_HOST_PORT_LOST_REMOTE_MASK;
	u32 names[3];
	unsigned int count = 0, i;

	if (slots < 2)
		first = losses->first;
	if (slots < 1)
		last = losses->last;
	if (!has_remote)
		remote = losses->last_remote;
	if (last == losses->last && first == losses->first && remote == losses->last_remote)
		return false;
	losses->last = last;
	losses->first = first;
	losses->last_remote = remote;
	losses->slots += slots;
	losses->remotes += has_remote;

	if (slots > 1 && oae_losses_is_present(losses, first))
		names[count++] = oae_losses_sequence(first);
	if (slots && oae_losses_is_present(losses, last))
		names[count++] = oae_losses_sequence(last);
	if (has_remote && oae_losses_is_present(losses, remote)) {
		losses->remote = oae_losses_sequence(remote);
		/* It has left the cell before, between or after the slots. */
		for (i = count++; i && oae_sequence_is_after(names[i - 1], losses->remote); i--)
			names[i] = names[i - 1];
		names[i] = losses->remote;
	}
	for (i = 0; i < count; i++)
		oae_losses_add(losses, names[i]);
	return true;
}

/* A REMOTE is committed, so that a RESULT asks for that of no earlier one. It may be lost by now. */
static inline void oae_losses_request(struct oae_losses *losses, u32 sequence)
{
	if (losses->remote != sequence)
		losses->remote = 0;
}

/* The fate of a swap of this epoch that was exchanged. @delivered is the register of that name. */
static inline u8 oae_losses_fate(const struct oae_losses *losses, u32 sequence, u64 delivered)
{
	unsigned int i;

	if (losses->forgotten && !oae_sequence_is_after(sequence, losses->forgotten))
		return OAE_FATE_LOST;
	for (i = 0; i < losses->count; i++)
		if (losses->names[i] == sequence)
			return OAE_FATE_LOST;
	if (delivered != losses->before && oae_losses_is_present(losses, delivered) &&
	    !oae_sequence_is_after(sequence, oae_losses_sequence(delivered)))
		return OAE_FATE_DELIVERED;
	return OAE_FATE_PENDING;
}

/* The oldest name that was not fetched, or 0. */
static inline u32 oae_losses_next(const struct oae_losses *losses)
{
	return losses->unread ? losses->names[losses->count - losses->unread] : 0;
}

/* The oldest name was fetched, if it is still this one. */
static inline void oae_losses_fetched(struct oae_losses *losses, u32 sequence)
{
	if (losses->unread && oae_losses_next(losses) == sequence)
		losses->unread--;
}

#endif
