// SPDX-License-Identifier: GPL-2.0
/* The trace: what the kernel has done, whatever transport it uses. */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "oae_sched.h"

struct oae_sched_trace {
	u64 room;
	atomic64_t taken; /* records, those included for which there was no room */
	struct oae_sched_record record[];
};

struct oae_sched_trace *oae_sched_trace;

/* The one that is written, or that can be read. */
static struct oae_sched_trace *begun;
static DEFINE_MUTEX(lock);

struct oae_sched_record *oae_sched_trace_take(struct oae_sched_trace *trace)
{
	const u64 number = atomic64_fetch_inc(&trace->taken);

	return likely(number < trace->room) ? &trace->record[number] : NULL;
}

static void begin(struct oae_sched_record *record, u64 time, enum oae_sched_record_kind kind)
{
	memset(record, 0, sizeof(*record));
	record->time = time;
	record->kind = kind;
	record->cpu = smp_processor_id();
}

void oae_sched_trace_sent(struct oae_sched_record *record, u64 time,
			  const struct ghost_message *message, enum oae_sched_sending sending)
{
	begin(record, time, OAE_SCHED_SENT);
	record->state = sending;
	memcpy(record->message, message, sizeof(record->message));
}

void oae_sched_trace_claimed(struct oae_sched_record *record, u64 time,
			     const struct oae_sched_slot *decision)
{
	begin(record, time, OAE_SCHED_CLAIMED);
	record->end = ktime_get_mono_fast_ns();
	if (!decision)
		return;
	record->state = 1;
	record->gtid = decision->gtid;
	record->number = decision->number;
	record->newest = decision->newest;
	record->task_barrier = decision->task_barrier;
}

void oae_sched_trace_ended(struct oae_sched_record *record, u64 time,
			   const struct oae_sched_slot *decision, enum ghost_state state,
			   u64 cpu_sequence)
{
	begin(record, time, OAE_SCHED_ENDED);
	record->end = ktime_get_mono_fast_ns();
	record->state = state;
	record->gtid = decision->gtid;
	record->number = decision->number;
	record->cpu_sequence = cpu_sequence;
}

void oae_sched_trace_stopping(struct oae_sched_record *record, unsigned int cpu, u64 gtid)
{
	begin(record, ktime_get_mono_fast_ns(), OAE_SCHED_STOPPING);
	record->gtid = gtid;
	record->task_cpu = cpu;
}

void oae_sched_trace_given_up(struct oae_sched_record *record, enum oae_sched_sign sign, u64 seen)
{
	begin(record, ktime_get_mono_fast_ns(), OAE_SCHED_GIVEN_UP);
	record->state = sign;
	record->end = seen;
}

void oae_sched_trace_left(struct oae_sched_record *record, unsigned int cpu,
			  const struct oae_sched_left *left)
{
	begin(record, ktime_get_mono_fast_ns(), OAE_SCHED_LEFT);
	record->state = left->standing;
	record->gtid = left->decision.gtid;
	record->number = left->decision.number;
	record->newest = left->decision.newest;
	record->task_barrier = left->decision.task_barrier;
	record->task_cpu = cpu;
	record->undelivered = left->undelivered;
}

void oae_sched_trace_resumed(struct oae_sched_record *record, u64 time, u64 undelivered)
{
	begin(record, time, OAE_SCHED_RESUMED);
	record->end = ktime_get_mono_fast_ns();
	record->undelivered = undelivered;
}

/**
 * oae_sched_trace_start - begins a trace
 * @records: how many there is to be room for
 */
int oae_sched_trace_start(u64 records)
{
	int ret = 0;

	if (!records || records > OAE_SCHED_RECORDS_MAX)
		return -EINVAL;
	mutex_lock(&lock);
	if (begun) {
		ret = -EBUSY;
	} else {
		begun = __vmalloc(struct_size(begun, record, records), GFP_KERNEL | __GFP_NOWARN);
		if (!begun)
			ret = -ENOMEM;
	}
	if (!ret) {
		begun->room = records;
		atomic64_set(&begun->taken, 0);
		/* Those who see the trace see how much room it has. */
		smp_store_release(&oae_sched_trace, begun);
	}
	mutex_unlock(&lock);
	return ret;
}

/* Those who write a record have interrupts off, or are in a section of RCU. */
static void stop(void)
{
	WRITE_ONCE(oae_sched_trace, NULL);
	synchronize_rcu();
}

/**
 * oae_sched_trace_end - ends the trace, so that it can be read
 * @traced: is told how much there is
 */
int oae_sched_trace_end(struct oae_sched_traced *traced)
{
	int ret = 0;
	u64 taken;

	mutex_lock(&lock);
	if (begun) {
		stop();
		taken = atomic64_read(&begun->taken);
		traced->records = min(taken, begun->room);
		traced->overflow = taken - traced->records;
	} else {
		ret = -ENODATA;
	}
	mutex_unlock(&lock);
	return ret;
}

/**
 * oae_sched_trace_read - reads from a trace that has ended
 * @buffer: where to
 * @count: size of the buffer
 * @position: where the last read has ended
 *
 * Return: the number of bytes, which is 0 after the last one, or a negative errno.
 */
ssize_t oae_sched_trace_read(char __user *buffer, size_t count, loff_t *position)
{
	ssize_t ret = -ENODATA;
	u64 records;

	mutex_lock(&lock);
	if (begun && !oae_sched_trace) {
		records = min_t(u64, atomic64_read(&begun->taken), begun->room);
		ret = simple_read_from_buffer(buffer, count, position, begun->record,
					      records * sizeof(*begun->record));
	}
	mutex_unlock(&lock);
	return ret;
}

void oae_sched_trace_free(void)
{
	mutex_lock(&lock);
	if (begun)
		stop();
	vfree(begun);
	begun = NULL;
	mutex_unlock(&lock);
}
