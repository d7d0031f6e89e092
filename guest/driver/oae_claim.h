/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_CLAIM_H
#define OAE_CLAIM_H

struct oae_port;

/*
 * What happens to the claim of a port, if there is one. The port is locked, but not for
 * oae_claim_retire().
 */

/* The device is frozen: no swap is at work any more afterwards, and none begins. */
void oae_claim_freeze(struct oae_port *port);
/* The device is live. Swaps begin again if the port has a new epoch. */
void oae_claim_thaw(struct oae_port *port);
/* The device is gone, and the port knows all that it will ever know. */
void oae_claim_retire(struct oae_port *port);

/* Handles the port's interrupt. */
void oae_claim_signal(struct oae_port *port);

#endif
