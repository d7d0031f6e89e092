/* SPDX-License-Identifier: GPL-2.0 */
/* What a scheduler in BPF calls: kfuncs that hand messages to an agent and decisions to a CPU. */
#ifndef OAE_SCHED_H
#define OAE_SCHED_H

#include <linux/list.h>
#include <linux/module.h>
#include <linux/types.h>
#include <uapi/linux/oae_sched.h>

#include "ghost.h"

/* What was under way between a CPU and an agent that has been given up. */
struct oae_sched_left {
	u64 undelivered; /* messages and ends of decisions, at most; U64_MAX: unknown */
	enum oae_sched_standing standing; /* whether there is a decision that the CPU has not taken */
	struct oae_sched_slot decision; /* the one that stood; or only the number of the last one */
};

/*
 * The way to an agent. The first six functions are called with interrupts off, on the CPU that
 * they are about, and do not sleep. Those that are called while the transport has no agent do
 * nothing.
 */
struct oae_sched_transport {
	const char *name;
	struct module *owner;
	/* Sends a message from this CPU. Returns false if it is lost, which the agent learns. */
	bool (*send)(unsigned int cpu, const struct ghost_message *message, u64 time);
	/* Takes the decision for this CPU, if there is one. Nobody else gets it then. */
	bool (*claim)(unsigned int cpu, struct oae_sched_slot *decision);
	/* Reports the end of the decision that was taken. */
	void (*finish)(unsigned int cpu, enum ghost_state state, u64 time, u64 cpu_sequence);
	/* This CPU will soon look for a decision. */
	void (*prefetch)(unsigned int cpu);
	/* This CPU idles from now on, or no longer. */
	void (*idle)(unsigned int cpu, bool idle);
	/* The agent's sign of life, which changes while it works; 0 if there is none. On any CPU. */
	u64 (*liveness)(void);
	/*
	 * For agents that are not processes on this host. They sleep, and one caller at a time calls
	 * them. start() begins anew, with an agent that knows of no task; finish() ends its work and
	 * gets its counts, or an error and no counts; stop() always follows, and then no function is
	 * called until the next start().
	 */
	int (*start)(const struct oae_sched_start *start);
	int (*finish_work)(struct oae_sched_counts *counts);
	void (*stop)(void);
	/*
	 * Says by CPU what was under way to and from the agent that was started last, which is not
	 * used any more. This is called once before an agent is started again.
	 */
	void (*take_stock)(struct oae_sched_left *left);
	struct list_head list;
};

/* oae_sched_transport.c */
extern const struct oae_sched_transport *oae_sched_transport; /* under RCU; never NULL */
int oae_sched_register(struct oae_sched_transport *transport);
void oae_sched_unregister(struct oae_sched_transport *transport);
/* Makes a transport with an agent elsewhere the one in use, and starts its agent. */
int oae_sched_start(const struct oae_sched_start *start);
int oae_sched_finish_work(struct oae_sched_counts *counts);
/* Returns to memory. */
void oae_sched_stop(void);
/* Lets the agent begin anew, again and again until it answers. No lock of a runqueue may be held. */
void oae_sched_start_again(void);
/*
 * Says by what the way to the agent has failed. The scheduler does without the agent then, and has
 * it begin anew. Callable from anywhere, and as often as the sign is seen.
 */
void oae_sched_notice(enum oae_sched_sign sign);
void oae_sched_transport_exit(void);

/* oae_sched_memory.c: memory that an agent on this host shares with the kernel. */
extern const struct oae_sched_transport oae_sched_memory;
int oae_sched_memory_init(void);
void oae_sched_memory_exit(void);
void oae_sched_memory_empty(void);
void oae_sched_memory_info(struct oae_sched_info *info);
int oae_sched_memory_map(struct vm_area_struct *vma);

/* oae_sched_calls.c: the function of a device that its agent and this host share. */
int oae_sched_calls_init(void);
void oae_sched_calls_exit(void);

/* oae_sched_file.c: the character device. */
int oae_sched_file_init(void);
void oae_sched_file_exit(void);

/*
 * oae_sched_trace.c: the trace. Those who take a record have interrupts off, or are in a section of
 * RCU, until they have written it. Records are in the order in which they are taken, on whatever CPU.
 */
struct oae_sched_trace;
extern struct oae_sched_trace *oae_sched_trace; /* under RCU; NULL: nothing is traced */
struct oae_sched_record *oae_sched_trace_take(struct oae_sched_trace *trace);
void oae_sched_trace_sent(struct oae_sched_record *record, u64 time,
			  const struct ghost_message *message, enum oae_sched_sending sending);
void oae_sched_trace_claimed(struct oae_sched_record *record, u64 time,
			     const struct oae_sched_slot *decision);
void oae_sched_trace_ended(struct oae_sched_record *record, u64 time,
			   const struct oae_sched_slot *decision, enum ghost_state state,
			   u64 cpu_sequence);
void oae_sched_trace_stopping(struct oae_sched_record *record, unsigned int cpu, u64 gtid);
void oae_sched_trace_given_up(struct oae_sched_record *record, enum oae_sched_sign sign, u64 seen);
void oae_sched_trace_left(struct oae_sched_record *record, unsigned int cpu,
			  const struct oae_sched_left *left);
void oae_sched_trace_resumed(struct oae_sched_record *record, u64 time, u64 undelivered);
int oae_sched_trace_start(u64 records);
int oae_sched_trace_end(struct oae_sched_traced *traced);
ssize_t oae_sched_trace_read(char __user *buffer, size_t count, loff_t *position);
void oae_sched_trace_free(void);

/* The next record of the trace, or NULL. */
static inline struct oae_sched_record *oae_sched_trace_next(void)
{
	struct oae_sched_trace *trace = READ_ONCE(oae_sched_trace);

	return unlikely(trace) ? oae_sched_trace_take(trace) : NULL;
}

/*
 * oae_sched_kfuncs.c: what the scheduler calls, and then the functions by which it is called. The end
 * waits for CPUs that were told to look for a decision.
 */
int oae_sched_kfuncs_init(void);
void oae_sched_kfuncs_exit(void);
bool oae_sched_send(const struct ghost_message *message);
void oae_sched_withhold(const struct ghost_message *message);
const struct oae_sched_slot *oae_sched_claim(u32 cpu);
void oae_sched_finish(u32 cpu, s32 state, u64 cpu_sequence);
void oae_sched_prefetch(u32 cpu, u64 gtid);
void oae_sched_idle(u32 cpu, bool idle);
u64 oae_sched_liveness(void);
void oae_sched_give_up(u32 sign, u64 seen);
void oae_sched_restart(void);

/*
 * Tells the scheduler that its agent has begun anew, and how many messages the last one had not got.
 * A BPF program is attached to this function.
 */
void oae_sched_resume(u64 undelivered);

/* Tells the scheduler when and by what the way to the agent has failed. As above. */
void oae_sched_alarm(enum oae_sched_sign sign, u64 time);

/* Makes a CPU look at its slot. A BPF program that is attached to this function does so. */
void oae_sched_kick(u32 cpu, bool preempt);

#endif
