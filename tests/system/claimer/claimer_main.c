// SPDX-License-Identifier: GPL-2.0
/*
 * Claims ports of the OAE driver for a test. Files in debugfs, in the folder claimer:
 *
 *   command  is written; a write fails with the error of what it asks for:
 *     claim PORT FORM        claims a port of device @device (a parameter)
 *     release PORT
 *     set_cpu PORT CPU       who gets the port's interrupt
 *     swap PORT VERB WORD    makes one swap, with interrupts off
 *     settle PORT
 *     arm PORT
 *     start ROUNDS PORT      so many rounds on each CPU: two swaps on the port of the same number,
 *                            and a message by the given port
 *     wait                   until these are made
 *     stop                   makes no more of them
 *   answer   the answer of the last swap or settlement
 *   counts   what has happened on each port that was claimed
 *   contexts in which context how many rounds were made
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "claimer.h"

static unsigned int device;
module_param(device, uint, 0644);
MODULE_PARM_DESC(device, "number of the device whose ports are claimed");

struct claimer_port claimer_ports[CLAIMER_PORTS];

static DEFINE_MUTEX(lock); /* one command at a time */
static struct oae_claim_answer answer;
static struct dentry *folder;

static void count_frozen(void *context)
{
	struct claimer_port *port = context;

	atomic64_inc(&port->counts.frozen);
}

static void count_begun(void *context)
{
	struct claimer_port *port = context;

	atomic64_inc(&port->counts.begun);
	/* What was armed is void. */
	oae_claim_arm(port->claim);
	/* The interrupt comes meanwhile, and must not be lost. */
	usleep_range(1000, 2000);
}

static void count_gone(void *context)
{
	struct claimer_port *port = context;

	atomic64_inc(&port->counts.gone);
	complete(&port->offered);
}

static void count_offered(void *context)
{
	struct claimer_port *port = context;

	atomic64_inc(&port->counts.offered);
	if (port->cpu >= 0 && port->cpu != raw_smp_processor_id())
		atomic64_inc(&port->counts.elsewhere);
	complete(&port->offered);
}

static const struct oae_client client = {
	.frozen = count_frozen,
	.begun = count_begun,
	.gone = count_gone,
	.offered = count_offered,
};

static int claim(unsigned int number, unsigned int form)
{
	struct claimer_port *port = &claimer_ports[number];
	struct oae_claim *claimed;

	if (port->claim)
		return -EINVAL;
	*port = (struct claimer_port){ .cpu = -1 };
	init_completion(&port->offered);
	claimed = oae_claim_port(device, number, form, &client, port);
	if (IS_ERR(claimed))
		return PTR_ERR(claimed);
	port->claim = claimed;
	return 0;
}

static int release(struct claimer_port *port)
{
	oae_claim_release(port->claim);
	port->claim = NULL;
	return 0;
}

static int set_cpu(struct claimer_port *port, unsigned int cpu)
{
	int ret = oae_claim_set_cpu(port->claim, cpu);

	if (!ret)
		port->cpu = cpu;
	return ret;
}

static int make_swap(struct claimer_port *port, u8 verb, u64 word)
{
	const u64 payload[OAE_PAYLOAD_WORDS] = { word };
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	ret = oae_claim_swap(port->claim, verb, payload, &answer);
	local_irq_restore(flags);
	return ret;
}

static int settle(struct claimer_port *port)
{
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	ret = oae_claim_settle(port->claim, &answer);
	local_irq_restore(flags);
	return ret;
}

static int obey_for(struct claimer_port *port, const char *text)
{
	unsigned int number, what;
	u64 word;

	if (!port->claim)
		return -EINVAL;
	if (!strncmp(text, "release ", 8))
		return release(port);
	if (!strncmp(text, "settle ", 7))
		return settle(port);
	if (!strncmp(text, "arm ", 4))
		return oae_claim_arm(port->claim);
	if (sscanf(text, "set_cpu %u %u", &number, &what) == 2)
		return set_cpu(port, what);
	if (sscanf(text, "swap %u %u %llu", &number, &what, &word) == 3)
		return make_swap(port, what, word);
	return -EINVAL;
}

static int obey(const char *text)
{
	unsigned int number, what;
	u64 rounds;

	if (sscanf(text, "start %llu %u", &rounds, &number) == 2)
		return number < CLAIMER_PORTS ? claimer_load_start(rounds, number) : -EINVAL;
	if (!strcmp(text, "wait") || !strcmp(text, "stop")) {
		claimer_load_stop(!strcmp(text, "stop"));
		return 0;
	}
	if (sscanf(text, "%*s %u", &number) != 1 || number >= CLAIMER_PORTS)
		return -EINVAL;
	if (sscanf(text, "claim %u %u", &number, &what) == 2)
		return claim(number, what);
	return obey_for(&claimer_ports[number], text);
}

static ssize_t command_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	char text[64] = "";
	int ret;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	mutex_lock(&lock);
	ret = obey(strim(text));
	mutex_unlock(&lock);
	return ret ?: size;
}

static const struct file_operations command_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = command_write,
};

static int answer_show(struct seq_file *file, void *unused)
{
	unsigned int i;

	mutex_lock(&lock);
	seq_printf(file, "status %u\nverb %u\nsequence %u\nreads %u\n", answer.status, answer.verb,
		   answer.sequence, answer.reads);
	for (i = 0; i < OAE_PAYLOAD_WORDS; i++)
		seq_printf(file, "word%u %llu\n", i, answer.payload[i]);
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(answer);

#define SHOW(name) seq_printf(file, " " #name "=%lld", atomic64_read(&counts->name))

static void show_counts(struct seq_file *file, const struct claimer_counts *counts)
{
	SHOW(committed);
	SHOW(not_ready);
	SHOW(busy);
	SHOW(doubts);
	SHOW(other);
	SHOW(frozen_swaps);
	SHOW(gone_swaps);
	SHOW(refused_swaps);
	SHOW(failed);
	SHOW(wrong);
	SHOW(stuck);
	SHOW(frozen);
	SHOW(begun);
	SHOW(gone);
	SHOW(offered);
	SHOW(elsewhere);
}

static int counts_show(struct seq_file *file, void *unused)
{
	unsigned int number;

	for (number = 0; number < CLAIMER_PORTS; number++) {
		if (!claimer_ports[number].claim)
			continue;
		seq_printf(file, "port=%u", number);
		show_counts(file, &claimer_ports[number].counts);
		seq_puts(file, "\n");
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int contexts_show(struct seq_file *file, void *unused)
{
	enum claimer_context context;

	for (context = 0; context < CLAIMER_CONTEXTS; context++)
		seq_printf(file, "%llu\n", claimer_load_made(context));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(contexts);

static int __init claimer_init(void)
{
	int ret = claimer_load_init();

	if (ret)
		return ret;
	folder = debugfs_create_dir("claimer", NULL);
	debugfs_create_file("command", 0200, folder, NULL, &command_operations);
	debugfs_create_file("answer", 0400, folder, NULL, &answer_fops);
	debugfs_create_file("counts", 0400, folder, NULL, &counts_fops);
	debugfs_create_file("contexts", 0400, folder, NULL, &contexts_fops);
	return 0;
}
module_init(claimer_init);

static void __exit claimer_exit(void)
{
	unsigned int number;

	debugfs_remove(folder);
	claimer_load_exit();
	for (number = 0; number < CLAIMER_PORTS; number++)
		if (claimer_ports[number].claim)
			release(&claimer_ports[number]);
}
module_exit(claimer_exit);

MODULE_DESCRIPTION("Test: a module that claims swap ports");
MODULE_LICENSE("GPL");
