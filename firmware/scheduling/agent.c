/* SPDX-License-Identifier: Apache-2.0 */
#include "agent.h"

#include <stddef.h>

#define CPU_BIT(n) (UINT64_C(1) << (n))

struct outcome {
  enum ghost_state state;
  uint64_t time;
};

bool agent_init(struct agent* agent, const struct agent_channel* channel,
                const struct policy_config* config) {
  char* bytes = (char*)agent;

  for (size_t i = 0; i < sizeof(*agent); i++) bytes[i] = 0;
  agent->channel = channel;
  return policy_init(&agent->policy, config);
}

static void receive(struct agent* agent, const struct ghost_message* message, uint64_t time) {
  const unsigned type = message->header.type;
  const unsigned index = ghost_type_index(type);
  enum policy_reception reception;

  reception = policy_receive(&agent->policy, message, message->header.length, time);
  agent->counts.receptions[reception]++;
  if (index < GHOST_TYPES) agent->counts.received[index]++;
  if (reception == POLICY_FULL) agent->counts.failed = 1;
  /* A decision without a kick may have been written after the CPU has looked for it. */
  if ((type == GHOST_AVAILABLE || type == GHOST_BUSY) && message->cpu.cpu < POLICY_CPUS)
    agent->kick |= agent->unkicked & CPU_BIT(message->cpu.cpu);
}

/* Reads all that has come. Returns whether there was a message. */
static bool receive_all(struct agent* agent) {
  const struct agent_channel* channel = agent->channel;
  struct ghost_message message;
  uint64_t time;
  bool any = false;

  for (uint64_t set = channel->pending(channel->context); set; set &= set - 1) {
    const unsigned cpu = __builtin_ctzll(set);
    while (channel->receive(channel->context, cpu, &message, &time)) {
      receive(agent, &message, time);
      any = true;
    }
    if (channel->lost(channel->context, cpu)) agent->counts.failed = 1;
  }
  return any;
}

/* Finds the decisions that have ended. */
static uint64_t find_ended(struct agent* agent, struct outcome* outcomes) {
  const struct agent_channel* channel = agent->channel;
  const uint64_t ended =
      agent->outstanding ? agent->outstanding & channel->ended(channel->context) : 0;

  for (uint64_t set = ended; set; set &= set - 1) {
    const unsigned cpu = __builtin_ctzll(set);
    channel->outcome(channel->context, cpu, &outcomes[cpu].state, &outcomes[cpu].time);
  }
  return ended;
}

static void end(struct agent* agent, unsigned cpu, const struct outcome* outcome) {
  const unsigned index = ghost_outcome_index(outcome->state);

  agent->outstanding &= ~CPU_BIT(cpu);
  agent->unkicked &= ~CPU_BIT(cpu);
  agent->kick &= ~CPU_BIT(cpu);
  if (index < GHOST_OUTCOMES) agent->counts.outcomes[index]++;
  if (policy_outcome(&agent->policy, cpu, agent->gtid[cpu], outcome->state, outcome->time) !=
      POLICY_USED)
    agent->counts.failed = 1;
}

static void carry_out(struct agent* agent, const struct decision* decision) {
  const struct agent_channel* channel = agent->channel;
  const uint64_t bit = CPU_BIT(decision->cpu);

  agent->counts.decisions[decision->kind]++;
  if (decision->kind == DECISION_WITHDRAW) {
    channel->withdraw(channel->context, decision->cpu);
    return;
  }
  if (!(agent->outstanding & bit)) {
    channel->decide(channel->context, decision);
    agent->counts.written++;
    agent->outstanding |= bit;
    agent->gtid[decision->cpu] = decision->gtid;
  }
  if (decision->kind == DECISION_PRESTAGE)
    agent->unkicked |= bit;
  else
    agent->kick |= bit;
  if (decision->kind == DECISION_PREEMPT) agent->preempt |= bit;
}

static void decide(struct agent* agent, uint64_t now) {
  struct decision decision;

  for (;;) {
    decision = policy_decide(&agent->policy, now);
    if (decision.kind == DECISION_NONE) return;
    carry_out(agent, &decision);
  }
}

/* One round of reading, deciding and kicking. Returns whether there was anything to read. */
static bool work(struct agent* agent, bool may_decide) {
  const struct agent_channel* channel = agent->channel;
  struct outcome outcomes[POLICY_CPUS];
  /* Before the messages: those that were sent before a decision ended are then used before it. */
  const uint64_t ended = find_ended(agent, outcomes);
  const bool any = receive_all(agent);
  uint64_t now;

  for (uint64_t set = ended; set; set &= set - 1)
    end(agent, __builtin_ctzll(set), &outcomes[__builtin_ctzll(set)]);
  now = channel->now(channel->context);
  if (may_decide && (any || ended || now >= policy_deadline(&agent->policy))) decide(agent, now);
  if (agent->kick) {
    if (!channel->kick(channel->context, agent->kick, agent->preempt & agent->kick))
      agent->counts.failed = 1;
    agent->unkicked &= ~agent->kick;
  }
  agent->kick = agent->preempt = 0;
  agent->counts.rounds++;
  return any || ended;
}

bool agent_work(struct agent* agent) {
  return work(agent, true);
}

bool agent_wind_up(struct agent* agent) {
  for (uint64_t set = agent->outstanding; set; set &= set - 1)
    agent->channel->withdraw(agent->channel->context, __builtin_ctzll(set));
  return work(agent, false);
}
