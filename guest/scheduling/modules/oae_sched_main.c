// SPDX-License-Identifier: GPL-2.0
/* The module oae_sched: its beginning and its end. */
#include <linux/cpumask.h>
#include <linux/module.h>

#include "oae_sched.h"

static int __init oae_sched_init(void)
{
	int ret;

	BUILD_BUG_ON(sizeof(struct oae_sched_slot) != 64);
	BUILD_BUG_ON(sizeof(struct oae_sched_element) != 64);
	BUILD_BUG_ON(sizeof(struct oae_sched_counts) != 512);
	BUILD_BUG_ON(sizeof(struct oae_sched_record) != 72);
	BUILD_BUG_ON(sizeof(struct ghost_message) != sizeof_field(struct oae_sched_element, message));
	if (nr_cpu_ids > OAE_SCHED_CPUS) {
		pr_err("oae_sched: %u CPUs are more than the %u that an agent can schedule\n",
		       nr_cpu_ids, OAE_SCHED_CPUS);
		return -E2BIG;
	}
	ret = oae_sched_kfuncs_init();
	if (ret)
		return ret;
	ret = oae_sched_memory_init();
	if (ret)
		return ret;
	ret = oae_sched_calls_init();
	if (ret)
		goto free_memory;
	ret = oae_sched_file_init();
	if (ret)
		goto end_calls;
	return 0;
end_calls:
	oae_sched_calls_exit();
free_memory:
	oae_sched_memory_exit();
	return ret;
}
module_init(oae_sched_init);

static void __exit oae_sched_exit(void)
{
	oae_sched_file_exit();
	oae_sched_calls_exit();
	oae_sched_transport_exit();
	oae_sched_kfuncs_exit();
	oae_sched_memory_exit();
}
module_exit(oae_sched_exit);

MODULE_DESCRIPTION("Ways between a sched_ext scheduler and its scheduling agent");
MODULE_LICENSE("GPL");
