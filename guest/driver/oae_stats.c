// SPDX-License-Identifier: GPL-2.0
/* Counters of a port, for its owner, and in sysfs for everybody: Documentation/ABI/testing. */
#include "oae_stats.h"

#include <linux/device.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "oae_port.h"

/* A register that is never all ones unless the device does not answer. */
static int oae_read(const void __iomem *address, __u64 *value)
{
	*value = readq(address);
	return *value == ~0ULL ? -EIO : 0;
}

static int oae_port_count(struct oae_port *port, unsigned int reg, __u64 *value)
{
	return oae_read(port->oae->host + reg + port->index * OAE_HOST_PORT_CONTROL_STRIDE, value);
}

int oae_port_stats(struct oae_port *port, struct oae_stats *stats)
{
	__u64 state, liveness;
	int ret;

	ret = oae_port_enter(port);
	if (ret)
		return ret;
	ret = oae_port_count(port, OAE_HOST_PORT_STATE, &state) ?:
	      oae_port_count(port, OAE_HOST_PORT_COMMITTED, &stats->committed) ?:
	      oae_port_count(port, OAE_HOST_PORT_NOT_READY, &stats->not_ready) ?:
	      oae_port_count(port, OAE_HOST_PORT_REJECTED, &stats->rejected) ?:
	      oae_read(port->oae->host + OAE_HOST_LIVENESS, &liveness);
	stats->doubts = port->doubts;
	stats->settled = port->settled;
	oae_port_leave(port);
	if (ret)
		return ret;
	stats->state = OAE_GET(state, OAE_HOST_PORT_STATE_STATE);
	stats->epoch = OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH);
	stats->offered = OAE_GET(state, OAE_HOST_PORT_STATE_OFFERED);
	stats->sequence = OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE);
	stats->liveness = OAE_GET(liveness, OAE_HOST_LIVENESS_COUNT);
	stats->liveness_age = OAE_GET(liveness, OAE_HOST_LIVENESS_AGE);
	stats->signals = atomic64_read(&port->signals);
	stats->lost = READ_ONCE(port->losses.slots);
	stats->lost_remotes = READ_ONCE(port->losses.remotes);
	return 0;
}

static int oae_stats_of(struct device *dev, struct oae_stats *stats)
{
	return oae_port_stats(container_of(dev, struct oae_port, dev), stats);
}

#define OAE_COUNTER(name)							\
	static ssize_t name##_show(struct device *dev,				\
				   struct device_attribute *attr, char *text)	\
	{									\
		struct oae_stats stats;						\
		int ret = oae_stats_of(dev, &stats);				\
										\
		return ret ?: sysfs_emit(text, "%llu\n", (u64)stats.name);	\
	}									\
	static DEVICE_ATTR_RO(name)

OAE_COUNTER(epoch);
OAE_COUNTER(offered);
OAE_COUNTER(sequence);
OAE_COUNTER(committed);
OAE_COUNTER(not_ready);
OAE_COUNTER(rejected);
OAE_COUNTER(liveness);
OAE_COUNTER(liveness_age);
OAE_COUNTER(doubts);
OAE_COUNTER(settled);
OAE_COUNTER(signals);
OAE_COUNTER(lost);
OAE_COUNTER(lost_remotes);

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *text)
{
	static const char *const names[] = {
		[OAE_PORT_STATE_CLOSED] = "closed",
		[OAE_PORT_STATE_IDLE] = "idle",
		[OAE_PORT_STATE_TENTATIVE] = "tentative",
		[OAE_PORT_STATE_COMMITTED] = "committed",
		[OAE_PORT_STATE_REVERSED] = "reversed",
		[OAE_PORT_STATE_HISTORY_LOST] = "history_lost",
	};
	struct oae_stats stats;
	int ret = oae_stats_of(dev, &stats);

	if (ret)
		return ret;
	return sysfs_emit(text, "%s\n", stats.state < ARRAY_SIZE(names) ? names[stats.state] : "unknown");
}
static DEVICE_ATTR_RO(state);

static struct attribute *oae_statistics[] = {
	&dev_attr_state.attr,	  &dev_attr_epoch.attr,	       &dev_attr_offered.attr,
	&dev_attr_sequence.attr,  &dev_attr_committed.attr,    &dev_attr_not_ready.attr,
	&dev_attr_rejected.attr,  &dev_attr_liveness.attr,     &dev_attr_liveness_age.attr,
	&dev_attr_doubts.attr,	  &dev_attr_settled.attr,      &dev_attr_signals.attr,
	&dev_attr_lost.attr,	  &dev_attr_lost_remotes.attr, NULL,
};

static const struct attribute_group oae_statistics_group = {
	.name = "statistics",
	.attrs = oae_statistics,
};

const struct attribute_group *oae_port_groups[] = {
	&oae_statistics_group,
	NULL,
};
