// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "values.h"

static bool wrong(const char* format, ...) {
  va_list arguments;

  va_start(arguments, format);
  fputs("serve: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs("\nTry: serve --help\n", stderr);
  va_end(arguments);
  return false;
}

static const struct service* find_service(const char* name) {
  const struct service* const known[] = {&service_spinner, &service_rocksdb, &service_none};

  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
    if (strcmp(name, known[i]->name) == 0) return known[i];
  return NULL;
}

static bool read_kinds(const char* text, unsigned* kinds) {
  *kinds = 0;
  for (;;) {
    const size_t length = strcspn(text, ",");
    int kind = 0;
    while (kind < CHURN_KINDS &&
           (strlen(churn_names[kind]) != length || strncmp(text, churn_names[kind], length) != 0))
      kind++;
    if (kind == CHURN_KINDS) return false;
    *kinds |= 1u << kind;
    if (!text[length]) return true;
    text += length + 1;
  }
}

static bool number(const char* text, uint64_t min, uint64_t max, uint64_t* value) {
  if (value_number(text, max, value) && *value >= min) return true;
  return wrong("no number from %llu to %llu: %s", (unsigned long long)min, (unsigned long long)max,
               text);
}

static bool rate(const char* text, uint64_t min, uint64_t* value) {
  if (value_rate(text, RATE_MAX, value) && *value >= min) return true;
  return wrong("no rate from %llu to 100M a second, such as 20k: %s", (unsigned long long)min,
               text);
}

static bool time_of(const char* text, uint64_t* ns) {
  return value_time(text, ns) || wrong("no time up to 1000s, such as 15us: %s", text);
}

static bool cpus_of(const char* text, unsigned cpus, uint64_t* set) {
  return value_cpus(text, cpus, set) || wrong("no list of CPUs from 0 to %u: %s", cpus - 1, text);
}

uint64_t options_interval(uint64_t rate) {
  return (UINT64_C(1000000000000) + rate / 2) / rate;
}

/* Takes an option of one letter, of which the long form is another name. */
static bool take(int option, const char* text, unsigned cpus, struct options* options) {
  struct service_options* service = &options->service_options;
  uint64_t value;

  switch (option) {
    case 'r':
      if (!rate(text, 1, &value)) return false;
      options->load.interval_ps = options_interval(value);
      return true;
    case 'n':
      return number(text, 1, UINT32_MAX, &options->load.count);
    case 'm':
      return number(text, 0, UINT32_MAX, &options->load.warm_up);
    case 'x':
      return value_share(text, &options->load.long_share) ||
             wrong("no share from 0%% to 100%%, such as 0.5%%: %s", text);
    case 'L':
      if (!time_of(text, &value)) return false;
      options->load.limit_ps = value * 1000;
      return true;
    case 'a':
      return rate(text, 1, &options->saturation.low);
    case 'z':
      return rate(text, 1, &options->saturation.high);
    case 'i':
      return time_of(text, &options->saturation.time_ns);
    case 'S':
      return number(text, 0, UINT64_MAX, &options->load.seed);
    case 'q':
      if (!number(text, 2, 65536, &options->ring)) return false;
      return !(options->ring & (options->ring - 1)) || wrong("no power of two: %s", text);
    case 'f':
      options->device = text;
      return true;
    case 's':
      options->service = find_service(text);
      return options->service || wrong("no such service: %s", text);
    case 'g':
      return time_of(text, &service->get_ns);
    case 'e':
      return time_of(text, &service->exponential_ns);
    case 'l':
      return time_of(text, &service->range_ns);
    case 'd':
      service->database = text;
      return true;
    case 'k':
      return number(text, 1, 1000000, &service->keys);
    case 'K':
      return number(text, 1, 1000000, &service->range_keys);
    case 'w':
      if (!number(text, 0, WORKERS_MAX, &value)) return false;
      options->workers = value;
      return true;
    case 't':
      return time_of(text, &options->rest_ns);
    case 'D':
      return cpus_of(text, cpus, &options->dispatcher_cpus);
    case 'W':
      return cpus_of(text, cpus, &options->worker_cpus);
    case 'c':
      return rate(text, 0, &options->churn_rate);
    case 'C':
      return read_kinds(text, &options->churn_kinds) ||
             wrong("no list of die, affinity, class and nice: %s", text);
    case 'p':
      if (!number(text, 0, cpus - 1, &value)) return false;
      options->churn_cpu = (int)value;
      return true;
    case 'T':
      return time_of(text, &options->patience_ns);
    default:
      return false;
  }
}

/* Checks what depends on several options. */
static bool complete(const struct options* options) {
  const struct service_options* service = &options->service_options;
  const bool stored = options->command == COMMAND_FILL || options->service == &service_rocksdb;

  if (stored && !service->database)
    return wrong("--database names the folder of the database, and is needed");
  if (stored && service->range_keys > service->keys)
    return wrong("a RANGE cannot read more records (--range-keys) than there are (--keys)");
  if (options->worker_cpus & options->dispatcher_cpus)
    return wrong("a CPU of a dispatcher cannot run workers, too");
  if (options->workers &&
      options->workers < (unsigned)__builtin_popcountll(options->dispatcher_cpus))
    return wrong("each dispatcher needs a worker of its own");
  if (options->churn_rate && !options->workers) return wrong("--churn needs workers");
  if (options->command == COMMAND_SATURATE && !options->load.limit_ps)
    return wrong("saturation needs a --limit above 0");
  if (options->saturation.low > options->saturation.high)
    return wrong("--from cannot be above --to");
  if (!options->patience_ns) return wrong("--patience cannot be 0");
  return true;
}

bool options_read(int argc, char** argv, unsigned cpus, struct options* options) {
  static const struct option known[] = {{"rate", required_argument, NULL, 'r'},
                                        {"count", required_argument, NULL, 'n'},
                                        {"warm-up", required_argument, NULL, 'm'},
                                        {"ranges", required_argument, NULL, 'x'},
                                        {"limit", required_argument, NULL, 'L'},
                                        {"from", required_argument, NULL, 'a'},
                                        {"to", required_argument, NULL, 'z'},
                                        {"time", required_argument, NULL, 'i'},
                                        {"seed", required_argument, NULL, 'S'},
                                        {"ring", required_argument, NULL, 'q'},
                                        {"function", required_argument, NULL, 'f'},
                                        {"service", required_argument, NULL, 's'},
                                        {"get", required_argument, NULL, 'g'},
                                        {"exponential", required_argument, NULL, 'e'},
                                        {"range", required_argument, NULL, 'l'},
                                        {"database", required_argument, NULL, 'd'},
                                        {"keys", required_argument, NULL, 'k'},
                                        {"range-keys", required_argument, NULL, 'K'},
                                        {"workers", required_argument, NULL, 'w'},
                                        {"rest", required_argument, NULL, 't'},
                                        {"dispatcher-cpus", required_argument, NULL, 'D'},
                                        {"worker-cpus", required_argument, NULL, 'W'},
                                        {"churn", required_argument, NULL, 'c'},
                                        {"churn-kinds", required_argument, NULL, 'C'},
                                        {"churn-cpu", required_argument, NULL, 'p'},
                                        {"patience", required_argument, NULL, 'T'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  int option;

  *options = (struct options){
      .load = {.seed = 1, .interval_ps = 100000000, .count = 1000},
      .saturation = {.low = 50000, .high = 2000000, .time_ns = 10000000},
      .ring = 65536,
      .service = &service_spinner,
      .service_options = {.get_ns = 10000, .range_ns = 5000000, .keys = 10000, .range_keys = 1000},
      .workers = 8,
      .rest_ns = 15000,
      .dispatcher_cpus = UINT64_C(1) << (cpus - 1),
      .churn_kinds = CHURN_ALL,
      .churn_cpu = -1,
      .patience_ns = 1000000000};
  if (argc > 1 && (strcmp(argv[1], "fill") == 0 || strcmp(argv[1], "saturate") == 0)) {
    options->command = *argv[1] == 'f' ? COMMAND_FILL : COMMAND_SATURATE;
    if (options->command == COMMAND_SATURATE) {
      options->load.limit_ps = 200000000;
      options->load.warm_up = 500; /* Requests come while the dispatchers' threads begin. */
    }
    argv[1] = argv[0];
    argc--;
    argv++;
  }
  optind = 1;
  while ((option = getopt_long(argc, argv, "r:n:m:x:L:a:z:i:S:q:f:s:g:e:l:d:k:K:w:t:D:W:c:C:p:T:h",
                               known, NULL)) != -1) {
    if (option == 'h') {
      options->command = COMMAND_HELP;
      return true;
    }
    if (option == '?') {
      fputs("Try: serve --help\n", stderr);
      return false;
    }
    if (!take(option, optarg, cpus, options)) return false;
  }
  if (optind < argc) return wrong("no option: %s", argv[optind]);
  options->service_options.seed = options->load.seed;
  return complete(options);
}
