/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR Apache-2.0 */
/*
 * Interface to a kernel that runs tasks as an agent decides: /dev/oae_sched.
 *
 * The file can be open once at a time; another open fails with EBUSY. The process that opens it is
 * the agent, or it starts one elsewhere with OAE_SCHED_IOC_START, which schedules until the file is
 * closed.
 *
 * A process that is the agent shares memory with the kernel. An open empties it. Mapped from offset
 * 0, it holds an area of struct oae_sched_info's @area_bytes for each CPU: a page with the CPU's
 * decision slot, a page with the indices of its message ring, and the ring. The first area also has
 * a word that the agent raises while it works.
 *
 * Messages and decisions are ghOSt's.
 */
#ifndef _UAPI_LINUX_OAE_SCHED_H
#define _UAPI_LINUX_OAE_SCHED_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* CPUs that an agent can schedule. */
#define OAE_SCHED_CPUS 64

/* Offsets in a CPU's area. */
#define OAE_SCHED_SLOT 0
#define OAE_SCHED_INDICES 4096
#define OAE_SCHED_LIVENESS 6144 /* in the area of CPU 0: the agent's sign of life, above 0 */
#define OAE_SCHED_RING 8192

/**
 * struct oae_sched_element - a message in a ring
 * @message: struct ghost_message, with zeros behind what its length counts
 * @time: of the event, on the clock CLOCK_MONOTONIC in ns
 */
struct oae_sched_element {
	__u64 message[7];
	__u64 time;
};

/**
 * struct oae_sched_indices - where the two sides of a ring are
 * @head: messages that the kernel has written; the next one is at @head modulo the ring's length
 * @lost: messages that the kernel could not write because the ring was full
 * @tail: messages that the agent has read
 */
struct oae_sched_indices {
	__u64 head;
	__u64 lost;
	__u64 reserved[6];
	__u64 tail;
	__u64 reserved_tail[7];
};

/**
 * struct oae_sched_slot - a decision: a transaction of ghOSt
 * @version: GHOST_VERSION
 * @cpu: the CPU that the slot belongs to
 * @state: enum ghost_state. The agent writes GHOST_READY last, and then leaves the slot alone until
 *         the state is GHOST_COMPLETE or another end. It may replace GHOST_READY by GHOST_ABORTED.
 * @agent_barrier: zero
 * @task_barrier: sequence of the last message about the task that the agent has seen
 * @run_flags: zero
 * @commit_flags: zero
 * @gtid: the task
 * @commit_time: when the decision ended, on the clock CLOCK_MONOTONIC in ns
 * @cpu_sequence: the CPU's, when the decision ended
 * @newest: time of the newest message that the decision rests on, as in the message's element
 * @number: of the decision among those for this CPU, from 1
 */
struct oae_sched_slot {
	__s32 version;
	__s32 cpu;
	__s32 state;
	__u32 agent_barrier;
	__u32 task_barrier;
	__u16 run_flags;
	__u16 commit_flags;
	__u64 gtid;
	__s64 commit_time;
	__u64 cpu_sequence;
	__u64 newest;
	__u64 number;
};

/**
 * struct oae_sched_info - the layout of the memory
 * @cpus: number of areas
 * @elements: length of a ring, a power of two
 * @area_bytes: size of an area
 * @reserved: zero
 */
struct oae_sched_info {
	__u32 cpus;
	__u32 elements;
	__u32 area_bytes;
	__u32 reserved;
};

/**
 * struct oae_sched_kick - CPUs that shall look at their slots
 * @cpus: bit n: CPU n
 * @preempt: those of them that shall leave the task that they run
 */
struct oae_sched_kick {
	__u64 cpus;
	__u64 preempt;
};

/**
 * struct oae_sched_start - where the agent runs, and how it schedules
 * @transport: name of the way to the agent, ending with a zero
 * @cpus: bit n: CPU n runs tasks of the agent
 * @time_slice: in ns; zero for policies without one
 * @policy: enum policy_kind
 * @prestage: the share of decisions for CPUs that run a task which is made, in percent
 */
struct oae_sched_start {
	char transport[16];
	__u64 cpus;
	__u64 time_slice;
	__u32 policy;
	__u32 prestage;
};

/**
 * struct oae_sched_counts - what an agent elsewhere has counted
 * @words: struct agent_counts, and zeros
 */
struct oae_sched_counts {
	__u64 words[64];
};

/* By what the kernel has noticed that its agent does not work. */
enum oae_sched_sign {
	OAE_SCHED_WATCHDOG, /* a task has waited for a decision for too long */
	OAE_SCHED_LIFELESS, /* the agent has given no sign of life for too long */
	OAE_SCHED_SILENCE,  /* the agent has offered nothing for too long, not even that there is no task */
	OAE_SCHED_DOUBT,    /* the device does not tell whether a swap has taken place */
	OAE_SCHED_ALL_ONES, /* nobody answers the read of a decision */
	OAE_SCHED_RESET,    /* the device is about to be reset, for instance after an error of its link */
	OAE_SCHED_REMOVAL,  /* the device is gone */
	OAE_SCHED_SIGNS,
};

/* What a record of the trace is about. */
enum oae_sched_record_kind {
	OAE_SCHED_SENT,     /* a message, by the CPU that sends it */
	OAE_SCHED_CLAIMED,  /* a CPU looks for its decision */
	OAE_SCHED_ENDED,    /* the decision that it found last has ended */
	OAE_SCHED_STOPPING, /* a task leaves its CPU */
	OAE_SCHED_GIVEN_UP, /* the agent does not work: tasks take turns without it from now on */
	OAE_SCHED_LEFT,     /* what was under way between a CPU and that agent */
	OAE_SCHED_RESUMED,  /* the agent has begun anew, and learns of all tasks */
};

/* What became of a message. */
enum oae_sched_sending {
	OAE_SCHED_ON_ITS_WAY,
	OAE_SCHED_LOST,     /* there was no room for it, or no way */
	OAE_SCHED_WITHHELD, /* there was no agent to send it to */
};

/* What is known of a decision that no CPU had claimed when the agent was given up. */
enum oae_sched_standing {
	OAE_SCHED_NONE_STOOD,
	OAE_SCHED_ONE_STOOD,
	OAE_SCHED_UNKNOWN,
};

/**
 * struct oae_sched_record - what the kernel has done
 * @time: when it began, on the clock CLOCK_MONOTONIC in ns: of ENDED, the time that is reported to
 *        the agent; of SENT, the time of the message
 * @kind: enum oae_sched_record_kind
 * @cpu: the CPU that did it
 * @state: ENDED: enum ghost_state; SENT: enum oae_sched_sending; CLAIMED: 1 if there is a
 *         decision; GIVEN_UP: enum oae_sched_sign; LEFT: enum oae_sched_standing; otherwise 0
 * @message: SENT: struct ghost_message, with zeros behind what its length counts
 * @gtid: the task; of CLAIMED without a decision, all that follows but @end is zero. Of LEFT, it is
 *        that of the decision that stood, or zero
 * @end: when it was over: of CLAIMED, the decision was there; of ENDED, the end was reported; of
 *       RESUMED, the agent had been told of all tasks. Of GIVEN_UP, when the sign was seen
 * @number: the decision's, as in its slot; of LEFT, that of the last one that is known
 * @newest: CLAIMED, LEFT: the decision's, as in its slot
 * @cpu_sequence: ENDED: as in the slot
 * @task_barrier: CLAIMED, LEFT: the decision's, as in its slot
 * @task_cpu: STOPPING: the CPU that the task leaves; LEFT: the CPU
 * @undelivered: LEFT, RESUMED: how many messages and ends of decisions the last agent had not got,
 *               at most, of this CPU and of all CPUs; ~0: unknown
 *
 * What a kind does not have is zero.
 */
struct oae_sched_record {
	__u64 time;
	__u16 kind;
	__u16 cpu;
	__s32 state;
	union {
		__u64 message[7];
		struct {
			__u64 gtid;
			__u64 end;
			__u64 number;
			__u64 newest;
			__u64 cpu_sequence;
			__u32 task_barrier;
			__u32 task_cpu;
			__u64 undelivered;
		};
	};
};

/* The greatest room for a trace. */
#define OAE_SCHED_RECORDS_MAX (1 << 24)

/**
 * struct oae_sched_traced - how much there is in the trace
 * @records: that can be read
 * @overflow: records for which there was no room; unless this is 0, the trace is worth nothing
 */
struct oae_sched_traced {
	__u64 records;
	__u64 overflow;
};

#define OAE_SCHED_IOC_INFO _IOR('O', 0x40, struct oae_sched_info)
/* Fails with EINVAL if there is no such CPU. */
#define OAE_SCHED_IOC_KICK _IOW('O', 0x41, struct oae_sched_kick)
/*
 * Starts an agent elsewhere. Fails with ENODEV if there is no such way to one, EINVAL if the agent
 * cannot schedule like this, ETIMEDOUT if it does not answer, and EBUSY if this file has started
 * one.
 */
#define OAE_SCHED_IOC_START _IOW('O', 0x42, struct oae_sched_start)
/*
 * Lets the agent end its work, and waits for its counts. Nothing may be scheduled any more. Fails
 * with ENODEV if this file has started none, and with ETIMEDOUT if the agent does not answer.
 */
#define OAE_SCHED_IOC_FINISH _IOR('O', 0x43, struct oae_sched_counts)
/*
 * Begins a trace with room for this number of records. Fails with EINVAL if that is 0 or above
 * OAE_SCHED_RECORDS_MAX, ENOMEM if there is no memory for them, and EBUSY if this file has begun
 * one.
 */
#define OAE_SCHED_IOC_TRACE _IOW('O', 0x44, __u64)
/*
 * Ends the trace, whose records can then be read from the file, in the order in which they began.
 * Fails with ENODATA if there is none.
 */
#define OAE_SCHED_IOC_TRACED _IOR('O', 0x45, struct oae_sched_traced)

#endif
