// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>
#include <linux/oae_sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "values.h"

const char options_help[] =
    "usage: schedule [OPTION]... COMMAND [ARGUMENT]...\n"
    "\n"
    "Runs a command whose threads are scheduled by an agent. The kernel tells the agent what the\n"
    "threads and the CPUs do, and the agent tells it which thread a CPU runs. Other processes are\n"
    "scheduled as ever, and come first. The agent is a thread of this program, which spins on a "
    "CPU\n"
    "of its own, or firmware.\n"
    "\n"
    "options:\n"
    "  -p, --policy POLICY    fifo-central  one queue (this is the default)\n"
    "                         fifo-per-cpu  a queue for each CPU, which a thread never leaves\n"
    "                         shinjuku      one queue, and a time slice\n"
    "                         vm            the thread that has run least, with long time slices\n"
    "  -s, --time-slice TIME  as 30us or 10ms (shinjuku: 30us, vm: 10ms)\n"
    "  -c, --cpus LIST        the CPUs that run the threads, as 1-3,5 (all but the agent's)\n"
    "  -t, --transport NAME   the agent is firmware, reached through this transport, whose module "
    "has\n"
    "                         to be loaded\n"
    "  -a, --agent-cpu N      the CPU of an agent on this host (0)\n"
    "  -P, --prestage[=SHARE] also choose the thread that follows, for a CPU that runs one; with "
    "a\n"
    "                         share as 25%, only that share of the threads that could follow\n"
    "  -T, --trace FILE       write what the kernel has done, for `scheduling-trace`\n"
    "  -R, --records N        room for so many records of the trace, of 72 bytes (100000)\n"
    "  -w, --watchdog TIME    how long a thread may wait for a decision, or off (20ms for "
    "firmware, "
    "off\n"
    "                         for an agent on this host). After that, threads take turns without "
    "the agent,\n"
    "                         until firmware has begun anew\n"
    "  -b, --watchdog-by WHAT waiting       a thread waits for longer (this is the default)\n"
    "                         liveness      the agent gives no sign of life for longer\n"
    "  -r, --rule RULE        until when a decision counts (port: owner, otherwise barrier)\n"
    "                         barrier       until another message about its thread is sent\n"
    "                         owner         for as long as its thread waits for a CPU\n"
    "  -h, --help             this text\n"
    "\n"
    "At the end, it prints how many messages the kernel has sent and the agent has received, how\n"
    "many decisions the agent has made, and how they ended. The module oae_sched has to be "
    "loaded.\n"
    "\n"
    "exit codes:\n"
    "  0 to 124  that of the command\n"
    "  125       the scheduler or the agent failed, or the two sides disagree\n"
    "  126       mistake on the command line\n"
    "  127       the command cannot be run\n"
    "  128 + N   signal N has ended the command\n"
    "\n"
    "example:\n"
    "  schedule --policy shinjuku --time-slice 50us --cpus 1-3 stress --cpu 8 --timeout 1\n";

static bool wrong(const char* format, ...) {
  va_list arguments;

  va_start(arguments, format);
  fputs("schedule: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs("\nTry: schedule --help\n", stderr);
  va_end(arguments);
  return false;
}

/* Reads a time above 0. */
static bool read_time(const char* text, uint64_t* ns) {
  return value_time(text, ns) && *ns > 0;
}

static bool read_policy(const char* text, enum policy_kind* kind) {
  static const char* const names[] = {[POLICY_FIFO_PER_CPU] = "fifo-per-cpu",
                                      [POLICY_FIFO_CENTRAL] = "fifo-central",
                                      [POLICY_SHINJUKU] = "shinjuku",
                                      [POLICY_VM] = "vm"};

  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    if (strcmp(text, names[i]) == 0) {
      *kind = i;
      return true;
    }
  }
  return false;
}

/* Reads whole percents. */
static bool read_percent(const char* text, unsigned* percent) {
  char digits[4] = "";
  const size_t length = strlen(text);
  uint64_t number;

  if (length < 2 || length > sizeof(digits) || text[length - 1] != '%') return false;
  memcpy(digits, text, length - 1);
  if (!value_number(digits, 100, &number)) return false;
  *percent = (unsigned)number;
  return true;
}

static bool read_sign(const char* text, uint32_t* sign) {
  const bool liveness = strcmp(text, "liveness") == 0;

  *sign = liveness ? WATCHDOG_BY_LIVENESS : WATCHDOG_BY_WAITING;
  return liveness || strcmp(text, "waiting") == 0;
}

static bool read_rule(const char* text, uint32_t* rule) {
  const bool owner = strcmp(text, "owner") == 0;

  *rule = owner ? RULE_OWNER : RULE_BARRIER;
  return owner || strcmp(text, "barrier") == 0;
}

/* A swap hands a decision out only if the agent has not taken it back, so that it needs no barrier.
 */
static uint32_t usual_rule(const char* transport) {
  return transport && strcmp(transport, "port") == 0 ? RULE_OWNER : RULE_BARRIER;
}

/* Checks what depends on several options. */
static bool complete(struct options* options, unsigned cpus) {
  struct policy_config* policy = &options->policy;
  const uint64_t agent = options->transport ? 0 : UINT64_C(1) << options->agent_cpu;
  const bool sliced = policy->kind == POLICY_SHINJUKU || policy->kind == POLICY_VM;

  if (agent && cpus < 2)
    return wrong("the agent needs a CPU of its own, and this machine has one CPU");
  if (policy->time_slice && !sliced) return wrong("this policy has no time slice");
  if (!policy->time_slice) policy->time_slice = policy->kind == POLICY_VM ? 10000000 : 30000;
  if (!policy->cpus)
    policy->cpus = (cpus == 64 ? ~UINT64_C(0) : (UINT64_C(1) << cpus) - 1) & ~agent;
  if (policy->cpus & agent)
    return wrong("the agent's CPU, %u, cannot run the threads, too", options->agent_cpu);
  if (!*options->command) return wrong("a command is needed");
  return true;
}

bool options_read(int argc, char** argv, unsigned cpus, struct options* options) {
  static const struct option known[] = {{"policy", required_argument, NULL, 'p'},
                                        {"time-slice", required_argument, NULL, 's'},
                                        {"cpus", required_argument, NULL, 'c'},
                                        {"agent-cpu", required_argument, NULL, 'a'},
                                        {"transport", required_argument, NULL, 't'},
                                        {"prestage", optional_argument, NULL, 'P'},
                                        {"trace", required_argument, NULL, 'T'},
                                        {"records", required_argument, NULL, 'R'},
                                        {"watchdog", required_argument, NULL, 'w'},
                                        {"watchdog-by", required_argument, NULL, 'b'},
                                        {"rule", required_argument, NULL, 'r'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  bool agent_cpu = false, records = false, watchdog = false, rule = false;
  int option;

  *options = (struct options){.policy.kind = POLICY_FIFO_CENTRAL, .records = 100000};
  /* The options of the command are its own. */
  while ((option = getopt_long(argc, argv, "+p:s:c:a:t:P::T:R:hw:b:r:", known, NULL)) != -1) {
    const char* text = optarg;
    uint64_t number;
    switch (option) {
      case 'p':
        if (!read_policy(text, &options->policy.kind)) return wrong("no such policy: %s", text);
        break;
      case 's':
        if (!read_time(text, &options->policy.time_slice))
          return wrong("no time above 0, such as 30us: %s", text);
        break;
      case 'c':
        if (!value_cpus(text, cpus, &options->policy.cpus))
          return wrong("no list of CPUs from 0 to %u: %s", cpus - 1, text);
        break;
      case 'a':
        if (!value_number(text, cpus - 1, &number))
          return wrong("no CPU from 0 to %u: %s", cpus - 1, text);
        options->agent_cpu = number;
        agent_cpu = true;
        break;
      case 't':
        if (!*text || strlen(text) > 15) return wrong("no name of 1 to 15 letters: %s", text);
        options->transport = text;
        break;
      case 'P':
        options->policy.prestage_percent = 100;
        if (text && !read_percent(text, &options->policy.prestage_percent))
          return wrong("no share from 0%% to 100%%, such as 25%%: %s", text);
        break;
      case 'T':
        options->trace = text;
        break;
      case 'R':
        if (!value_number(text, OAE_SCHED_RECORDS_MAX, &options->records) || !options->records)
          return wrong("no number from 1 to %d: %s", OAE_SCHED_RECORDS_MAX, text);
        records = true;
        break;
      case 'w':
        watchdog = true;
        if (strcmp(text, "off") != 0 && !read_time(text, &options->settings.patience))
          return wrong("no time above 0, such as 20ms, and not \"off\": %s", text);
        break;
      case 'b':
        if (!read_sign(text, &options->settings.watchdog))
          return wrong("neither waiting nor liveness: %s", text);
        break;
      case 'r':
        if (!read_rule(text, &options->settings.rule)) return wrong("no such rule: %s", text);
        rule = true;
        break;
      case 'h':
        options->help = true;
        return true;
      default:
        fputs("Try: schedule --help\n", stderr);
        return false;
    }
  }
  if (options->transport && agent_cpu)
    return wrong("--agent-cpu is for an agent on this host, and --transport for one elsewhere");
  if (records && !options->trace) return wrong("--records is for --trace");
  if (!watchdog && options->transport) options->settings.patience = 20000000;
  if (options->settings.watchdog == WATCHDOG_BY_LIVENESS && !options->settings.patience)
    return wrong("--watchdog-by liveness needs the time of a --watchdog, such as 20ms");
  if (!rule) options->settings.rule = usual_rule(options->transport);
  options->command = argv + optind;
  return complete(options, cpus);
}
