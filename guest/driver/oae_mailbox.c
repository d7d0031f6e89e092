// SPDX-License-Identifier: GPL-2.0
#include "oae_mailbox.h"

#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/string.h>

static unsigned int mailbox_timeout_ms = 1000;
module_param(mailbox_timeout_ms, uint, 0644);
MODULE_PARM_DESC(mailbox_timeout_ms, "How long the firmware may take to reply, in ms (1000)");

void oae_mailbox_start(struct oae_device *oae)
{
	oae->mailbox.synchronised = false;
	writeq(OAE_PUT(OAE_MAILBOX_VECTOR_VECTOR, OAE_VECTOR_MAILBOX) |
		       OAE_MAILBOX_VECTOR_ENABLE_MASK,
	       oae->mailbox.base + OAE_MAILBOX_VECTOR);
}

/* Waits until the status masked by @mask is @value. */
static int oae_mailbox_wait(struct oae_device *oae, u64 mask, u64 value, unsigned long deadline)
{
	struct oae_mailbox *mailbox = &oae->mailbox;

	for (;;) {
		u64 status = readq(mailbox->base + OAE_MAILBOX_STATUS);
		unsigned long now = jiffies;
		long left;

		if (!oae_is_live(oae) || status == ~0ULL)
			return -EIO;
		if ((status & mask) == value)
			return 0;
		if (time_after_eq(now, deadline))
			return -ETIMEDOUT;
		left = wait_for_completion_interruptible_timeout(&mailbox->replied, deadline - now);
		if (left < 0)
			return -ERESTARTSYS;
	}
}

/* One request and the reply that follows it. The mailbox is locked. */
static int oae_mailbox_exchange(struct oae_device *oae, u64 *words, unsigned long deadline)
{
	struct oae_mailbox *mailbox = &oae->mailbox;
	unsigned int i;
	int ret;

	/* A request that was given up must have its reply before the next. */
	ret = oae_mailbox_wait(oae, OAE_MAILBOX_STATUS_REQUESTED_MASK, 0, deadline);
	if (ret)
		return ret;
	for (i = 0; i < OAE_MAILBOX_REQUEST_COUNT; i++)
		writeq(words[i], mailbox->base + OAE_MAILBOX_REQUEST_AT(i));
	reinit_completion(&mailbox->replied);
	writeq(OAE_MAILBOX_DOORBELL_RING_MASK, mailbox->base + OAE_MAILBOX_DOORBELL);
	ret = oae_mailbox_wait(oae,
			       OAE_MAILBOX_STATUS_REQUESTED_MASK | OAE_MAILBOX_STATUS_REPLIED_MASK,
			       OAE_MAILBOX_STATUS_REPLIED_MASK, deadline);
	if (ret)
		return ret;
	for (i = 0; i < OAE_MAILBOX_REPLY_COUNT; i++)
		words[i] = readq(mailbox->base + OAE_MAILBOX_REPLY_AT(i));
	return 0;
}

/*
 * A reset clears the mailbox, but firmware that was at work on a request then replies all the same.
 * An echo of what was never said before shows that this has passed.
 */
static int oae_mailbox_synchronise(struct oae_device *oae, unsigned long deadline)
{
	struct oae_mailbox *mailbox = &oae->mailbox;
	u64 words[OAE_MAILBOX_REQUEST_COUNT];
	int ret;

	while (!mailbox->synchronised) {
		memset(words, 0, sizeof(words));
		words[0] = OAE_MAILBOX_COMMAND_ECHO;
		words[1] = ++mailbox->echoes;
		words[2] = ~words[1];
		ret = oae_mailbox_exchange(oae, words, deadline);
		if (ret)
			return ret;
		mailbox->synchronised = words[0] == OAE_MAILBOX_RESULT_OK &&
					words[1] == mailbox->echoes && words[2] == ~words[1];
		if (!mailbox->synchronised && time_after_eq(jiffies, deadline))
			return -ETIMEDOUT;
	}
	return 0;
}

int oae_mailbox_call(struct oae_device *oae, u64 *words)
{
	struct oae_mailbox *mailbox = &oae->mailbox;
	unsigned long deadline = jiffies + msecs_to_jiffies(READ_ONCE(mailbox_timeout_ms));
	int ret;

	if (mutex_lock_interruptible(&mailbox->lock))
		return -ERESTARTSYS;
	ret = oae_mailbox_synchronise(oae, deadline);
	if (!ret)
		ret = oae_mailbox_exchange(oae, words, deadline);
	if (!ret && words[0] != OAE_MAILBOX_RESULT_OK)
		ret = -EPROTO;
	mutex_unlock(&mailbox->lock);
	return ret;
}
