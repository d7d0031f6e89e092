/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_MAILBOX_H
#define OAE_MAILBOX_H

#include "oae_device.h"

/*
 * Sends words 0 to 7 to the firmware and replaces them by its reply. -ETIMEDOUT: no reply;
 * -EPROTO: the reply is an error; -EIO: the device does not answer;
 * -ERESTARTSYS: a signal. The device is locked, and may be frozen meanwhile.
 */
int oae_mailbox_call(struct oae_device *oae, u64 *words);
void oae_mailbox_start(struct oae_device *oae);

#endif
