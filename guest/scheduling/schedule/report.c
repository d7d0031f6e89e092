// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

#include "ghost_names.h"

static const char* const decision_names[DECISION_KINDS] = {"NONE", "RUN", "PREEMPT", "PRESTAGE",
                                                           "WITHDRAW"};

static const char* const reception_names[RECEPTIONS] = {"used", "held", "superseded", "malformed",
                                                        "full"};

/* An agent that has begun anew has forgotten what it had counted, and has learned anew what it had
 * missed. */
static bool comparable(const struct counts* kernel) {
  return kernel->fallbacks == 0;
}

static bool disagree(const char* what, const char* name, uint64_t kernel, uint64_t agent) {
  fprintf(stderr, "schedule: %s %s: %" PRIu64 " in the kernel, but %" PRIu64 " at the agent\n",
          what, name, kernel, agent);
  return false;
}

static void print_ports(const struct port_counts* ports) {
  const struct {
    const char* name;
    uint64_t count;
  } counts[] = {{"swaps", ports->swaps},
                {"sends", ports->sends},
                {"taken", ports->taken},
                {"idle", ports->idle_taken},
                {"idle_missed", ports->idle_missed},
                {"revoked", ports->revoked},
                {"late", ports->late},
                {"reversed", ports->reversed},
                {"refused", ports->refused},
                {"carried", ports->carried},
                {"implied", ports->implied},
                {"swap_not_ready", ports->swap_not_ready},
                {"send_not_ready", ports->send_not_ready},
                {"doubts", ports->doubts},
                {"foreign", ports->foreign},
                {"kept", ports->kept}};

  for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
    if (counts[i].count) printf("port %s %" PRIu64 "\n", counts[i].name, counts[i].count);
}

static void print_time(const char* what, uint64_t time) {
  if (time) printf("%s at %" PRIu64 "\n", what, time);
}

static void print_fallback(const struct fallback* fallback) {
  const char* sign =
      fallback->sign < OAE_SCHED_SIGNS ? sched_sign_names[fallback->sign] : "unknown";

  printf("fault noticed by %s at %" PRIu64 "\n", sign, fallback->noticed);
  print_time("fallback", fallback->begun);
  printf("waited %" PRIu64 "\n", fallback->waited);
  print_time("resumed", fallback->resumed);
  print_time("decided", fallback->decided);
  if (fallback->resumed && fallback->undelivered != UINT64_MAX)
    printf("undelivered %" PRIu64 "\n", fallback->undelivered);
}

static void print_fallbacks(const struct counts* kernel) {
  if (!kernel->fallbacks) return;
  printf("fallbacks %" PRIu64 "\n", kernel->fallbacks);
  for (uint64_t i = 0; i < kernel->fallbacks; i++)
    if (i + FALLBACKS_TOLD >= kernel->fallbacks)
      print_fallback(&kernel->fallback[i % FALLBACKS_TOLD]);
  printf("messages lost %" PRIu64 "\n", kernel->lost);
}

bool report(const struct counts* kernel, const struct agent_counts* agent,
            const struct port_counts* ports) {
  bool good = true;

  for (int i = 0; i < GHOST_TYPES; i++) {
    if (kernel->sent[i] || agent->received[i])
      printf("message %s sent %" PRIu64 " received %" PRIu64 "\n", ghost_message_names[i],
             kernel->sent[i], agent->received[i]);
    if (comparable(kernel) && kernel->sent[i] != agent->received[i])
      good = disagree("messages", ghost_message_names[i], kernel->sent[i], agent->received[i]);
  }
  for (int i = 0; i < RECEPTIONS; i++)
    if (agent->receptions[i])
      printf("messages %s %" PRIu64 "\n", reception_names[i], agent->receptions[i]);
  for (int i = 1; i < DECISION_KINDS; i++)
    if (agent->decisions[i])
      printf("decision %s %" PRIu64 "\n", decision_names[i], agent->decisions[i]);
  printf("slots written %" PRIu64 "\n", agent->written);
  for (int i = 0; i < GHOST_OUTCOMES; i++) {
    /* The kernel never sees what the agent has withdrawn. */
    const bool withdrawn = i == (int)ghost_outcome_index(GHOST_ABORTED);
    if (agent->outcomes[i] || kernel->outcomes[i])
      printf("outcome %s %" PRIu64 "\n", ghost_outcome_names[i], agent->outcomes[i]);
    if (comparable(kernel) && !withdrawn && kernel->outcomes[i] != agent->outcomes[i])
      good = disagree("outcomes", ghost_outcome_names[i], kernel->outcomes[i], agent->outcomes[i]);
  }
  printf("kicks %" PRIu64 "\n", kernel->kicks);
  printf("rounds %" PRIu64 "\n", agent->rounds);
  print_ports(ports);
  print_fallbacks(kernel);
  if (comparable(kernel) && kernel->lost) {
    fprintf(stderr, "schedule: %" PRIu64 " messages were lost\n", kernel->lost);
    good = false;
  }
  if (kernel->errors) {
    fprintf(stderr, "schedule: %" PRIu64 " times the scheduler did not know a task\n",
            kernel->errors);
    good = false;
  }
  if (agent->failed) {
    fputs("schedule: the agent has lost messages, or could not kick a CPU\n", stderr);
    good = false;
  }
  if (kernel->reason[0]) {
    fprintf(stderr, "schedule: the kernel has ended the scheduler: %s\n", kernel->reason);
    good = false;
  }
  return good;
}
