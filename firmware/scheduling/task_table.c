/* SPDX-License-Identifier: Apache-2.0 */
#include "task_table.h"

static uint16_t* chain_of(struct task_table* table, uint64_t gtid) {
  /* Fibonacci hashing: the upper bits of the product depend on all bits of the gtid. */
  return &table->chain[(gtid * 0x9e3779b97f4a7c15) >> 54];
}

void task_table_init(struct task_table* table) {
  table->count = 0;
  table->free = 0;
  for (unsigned i = 0; i < TASKS_MAX; i++) {
    table->chain[i] = TASK_NONE;
    table->task[i].state = TASK_FREE;
    table->task[i].next = i + 1 < TASKS_MAX ? i + 1 : TASK_NONE;
  }
}

uint16_t task_table_find(const struct task_table* table, uint64_t gtid) {
  uint16_t task = *chain_of((struct task_table*)table, gtid);

  while (task != TASK_NONE && table->task[task].gtid != gtid) task = table->task[task].chained;
  return task;
}

uint16_t task_table_add(struct task_table* table, uint64_t gtid) {
  uint16_t* chain = chain_of(table, gtid);
  uint16_t task = table->free;

  if (task == TASK_NONE) return TASK_NONE;
  table->free = table->task[task].next;
  table->count++;
  table->task[task] = (struct task){
      .gtid = gtid,
      .next = TASK_NONE,
      .previous = TASK_NONE,
      .chained = *chain,
      .state = TASK_BLOCKED,
      .last = CPU_NONE,
  };
  *chain = task;
  return task;
}

void task_table_remove(struct task_table* table, uint16_t task) {
  uint16_t* link = chain_of(table, table->task[task].gtid);

  while (*link != task) link = &table->task[*link].chained;
  *link = table->task[task].chained;
  table->task[task].state = TASK_FREE;
  table->task[task].next = table->free;
  table->free = task;
  table->count--;
}

void task_queue_init(struct task_queue* queue) {
  queue->first = queue->last = TASK_NONE;
}

void task_queue_insert(struct task_table* table, struct task_queue* queue, uint16_t task,
                       uint16_t next) {
  uint16_t previous = next == TASK_NONE ? queue->last : table->task[next].previous;

  table->task[task].next = next;
  table->task[task].previous = previous;
  *(next == TASK_NONE ? &queue->last : &table->task[next].previous) = task;
  *(previous == TASK_NONE ? &queue->first : &table->task[previous].next) = task;
}

void task_queue_remove(struct task_table* table, struct task_queue* queue, uint16_t task) {
  uint16_t next = table->task[task].next;
  uint16_t previous = table->task[task].previous;

  *(next == TASK_NONE ? &queue->last : &table->task[next].previous) = previous;
  *(previous == TASK_NONE ? &queue->first : &table->task[previous].next) = next;
}
