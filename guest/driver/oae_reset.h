/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_RESET_H
#define OAE_RESET_H

#include "oae_device.h"

/* Lets no request begin, and waits until no request and no interrupt handler is at work. */
void oae_freeze(struct oae_device *oae, enum oae_state state);
/*
 * Brings the hardware back to where it was before a reset. Ports that are open begin anew, and those
 * that are not are closed. An answer that is lost on the way is no reason to give the device up.
 */
int oae_thaw(struct oae_device *oae);
/* Stops what reaches into the host's memory; the device is frozen. */
void oae_stop(struct oae_device *oae, bool for_good);
/* Whether the function answers as the same block as before. */
bool oae_answers(struct oae_device *oae);

#endif
