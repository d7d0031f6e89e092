/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks that a policy knows, found by their gtid, and queues of them. */
#ifndef SCHEDULING_TASK_TABLE_H
#define SCHEDULING_TASK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TASKS_MAX 1024
#define TASK_NONE 0xffff
#define CPU_NONE 0xff

enum task_state {
  TASK_FREE, /* this entry is not used */
  TASK_BLOCKED,
  TASK_QUEUED,
  TASK_CHOSEN, /* a decision for it has no outcome yet */
  TASK_RUNNING,
  TASK_ASIDE, /* a decision for it was refused, and a message says why */
};

struct task {
  uint64_t gtid;
  uint64_t cpus;    /* bit n: it may run on CPU n */
  uint64_t refused; /* of these, CPUs that have refused it since it was last heard of */
  uint64_t runtime; /* as last reported, ns */
  uint64_t age;     /* VM: its place in the queue, ns */
  uint64_t since;   /* RUNNING: when it began, ns */
  uint32_t barrier; /* sequence of the last message about it */
  uint16_t next;    /* in its queue, or among the free entries */
  uint16_t previous;
  uint16_t chained; /* the next of the same hash */
  uint8_t state;    /* enum task_state */
  uint8_t cpu;      /* RUNNING or CHOSEN: where */
  uint8_t home;     /* FIFO per CPU: its queue */
  uint8_t last;     /* the CPU on which it ran last, or CPU_NONE */
};

struct task_queue {
  uint16_t first;
  uint16_t last;
};

struct task_table {
  unsigned count;
  uint16_t free;
  uint16_t chain[TASKS_MAX]; /* by hash of the gtid */
  struct task task[TASKS_MAX];
};

void task_table_init(struct task_table* table);

/* The task's index, or TASK_NONE. */
uint16_t task_table_find(const struct task_table* table, uint64_t gtid);

/* Adds a task that is not in the table. Returns TASK_NONE if the table is full. */
uint16_t task_table_add(struct task_table* table, uint64_t gtid);

/* Removes a task, which is in no queue. */
void task_table_remove(struct task_table* table, uint16_t task);

void task_queue_init(struct task_queue* queue);

/* Puts a task before `next`, or at the back if `next` is TASK_NONE. */
void task_queue_insert(struct task_table* table, struct task_queue* queue, uint16_t task,
                       uint16_t next);

void task_queue_remove(struct task_table* table, struct task_queue* queue, uint16_t task);

#ifdef __cplusplus
}
#endif

#endif
