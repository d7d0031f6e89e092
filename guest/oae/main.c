// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "oae_registers.h"
#include "options.h"

enum { exit_good = 0, exit_failed = 1, exit_usage = 2, exit_not_ready = 3, exit_unequal = 4, exit_pending = 5, exit_lost = 6 };

static int failed(const char *what, int error) {
  fprintf(stderr, "oae: %s: %s\n", what, oae_error_text(error));
  return exit_failed;
}

/* Words that a port may use: "0 to 255". */
static void print_range(const struct oae_words *words) {
  if (words->count)
    printf("%" PRIu32 " to %" PRIu32, words->first, words->first + words->count - 1);
  else
    printf("none");
}

static int run_info(struct oae_port *port, const struct options *options) {
  struct oae_info info;
  struct oae_words words = {0};
  int error = oae_port_info(port, &info);

  /* An older driver does not know this request, and has no port whose words are limited. */
  if (!error) error = oae_port_words(port, &words);
  if (error == -ENOTTY) {
    words.count = (uint32_t)OAE_GET(info.features, OAE_HOST_FEATURES_WORDS);
    error = 0;
  }
  if (error) return failed("info", error);
  if (options->json) {
    printf("{\"pci_address\": \"%s\", \"port\": %" PRIu32 ", \"ports\": %" PRIu32
           ", \"block_version\": %" PRIu32 ", \"clock_khz\": %" PRIu32 ", \"features\": %" PRIu64
           ", \"first_word\": %" PRIu32 ", \"words\": %" PRIu32 ", \"vectors\": %" PRIu32
           ", \"interface\": %" PRIu32 "}\n",
           info.pci_address, info.port, info.ports, info.block_version, info.clock_khz,
           (uint64_t)info.features, words.first, words.count, info.vectors, info.version);
    return exit_good;
  }
  printf("device      %s\n", info.pci_address);
  printf("port        %" PRIu32 " of %" PRIu32 "\n", info.port, info.ports);
  printf("block       version %" PRIu32 ", %" PRIu32 ".%03" PRIu32 " MHz\n", info.block_version,
         info.clock_khz / 1000, info.clock_khz % 1000);
  printf("fates       %s\n", OAE_GET(info.features, OAE_HOST_FEATURES_FATES) ? "told" : "not told");
  printf("answers    %s%s\n", OAE_GET(info.features, OAE_HOST_FEATURES_PUSHED) ? " pushed" : "",
         OAE_GET(info.features, OAE_HOST_FEATURES_STREAMED) ? " streamed" : "");
  printf("verbs       0x%02x\n", (unsigned int)OAE_GET(info.features, OAE_HOST_FEATURES_VERBS));
  printf("words       ");
  print_range(&words);
  printf("\n");
  printf("vectors     %" PRIu32 "\n", info.vectors);
  printf("interface   %" PRIu32 "\n", info.version);
  return exit_good;
}

static void print_words(const char *name, const __u64 *words) {
  printf("%-6s", name);
  for (int i = 0; i < OAE_PAYLOAD_WORDS; i++) printf(" %016" PRIx64, (uint64_t)words[i]);
  printf("\n");
}

/* Makes a swap whose verb and offer are set, and settles it if it is in doubt. */
static int swap_settled(struct oae_port *port, const struct options *options,
                        struct oae_swap *swap) {
  int error;

  swap->form = options->form;
  swap->timeout_ns = options->timeout_ns;
  if (options->more) swap->flags = OAE_SWAP_FLAG_MORE;
  error = oae_port_swap(port, swap);
  if (error == -EIO)
    error = options->reverse ? oae_port_reverse(port, swap) : oae_port_settle(port, swap);
  return error;
}

static int exit_of(const struct oae_swap *swap) {
  switch (swap->status) {
    case OAE_SWAP_STATUS_OK:
      return exit_good;
    case OAE_SWAP_STATUS_NOT_READY:
    case OAE_SWAP_STATUS_BUSY:
      return exit_not_ready;
    default:
      return exit_failed;
  }
}

/* What became of a committed slot, or why that is not known. */
static const char *fate_text(int fate) { return fate < 0 ? oae_error_text(fate) : oae_fate_name((unsigned int)fate); }

static int exit_of_fate(int fate) {
  switch (fate) {
    case OAE_FATE_DELIVERED:
      return exit_good;
    case OAE_FATE_PENDING:
      return exit_pending;
    case OAE_FATE_LOST:
      return exit_lost;
    default:
      return exit_failed;
  }
}

static int run_swap(struct oae_port *port, const struct options *options) {
  struct oae_swap swap = {.verb = OAE_SWAP_VERB_SWAP};
  struct oae_times times = {0};
  bool awaited;
  int error, fate = 0;

  if (options->command == COMMAND_SEND) swap.verb = OAE_SWAP_VERB_SEND;
  memcpy(swap.offer, options->payload, sizeof(swap.offer));
  error = swap_settled(port, options, &swap);
  if (error) return failed(oae_verb_name(swap.verb), error);
  /* Only root can see what a swap takes, and only where debugfs is mounted. */
  oae_port_times(port, &times);
  awaited = options->until_delivered && swap.status == OAE_SWAP_STATUS_OK;
  if (awaited) fate = oae_port_fate(port, &swap, options->timeout_ns);
  if (options->json) {
    printf("{\"verb\": \"%s\", \"status\": \"%s\", \"form\": \"%s\", \"epoch\": %u, \"sequence\": %" PRIu32
           ", \"from_store_ns\": %" PRIu64 ", \"from_read_ns\": %" PRIu64 ", \"tries\": %" PRIu32
           ", \"answer\": [",
           oae_verb_name(swap.verb), oae_status_name(swap.status), oae_form_name(swap.form),
           swap.epoch, swap.sequence, times.store_ns, times.read_ns, swap.tries);
    for (int i = 0; i < OAE_PAYLOAD_WORDS; i++)
      printf("%s\"0x%016" PRIx64 "\"", i ? ", " : "", (uint64_t)swap.answer[i]);
    printf("]");
    if (awaited) printf(", \"fate\": \"%s\"", fate_text(fate));
    printf("}\n");
  } else {
    printf("%s, %s, epoch %u, sequence %" PRIu32 ", %" PRIu64 " ns from the first store, %" PRIu64
           " ns from the read\n",
           oae_status_name(swap.status), oae_form_name(swap.form), swap.epoch, swap.sequence,
           times.store_ns, times.read_ns);
    print_words("offer", swap.offer);
    if (swap.verb == OAE_SWAP_VERB_SWAP) print_words("answer", swap.answer);
    if (awaited) printf("fate   %s\n", fate_text(fate));
  }
  return awaited ? exit_of_fate(fate) : exit_of(&swap);
}

/* Why no step was done, and what can be done about it. */
static void print_refusal(struct oae_port *port, const struct options *options,
                          const struct oae_swap *swap, int error) {
  struct oae_words words;

  if (swap->verb == OAE_SWAP_VERB_RESULT && error == -EAGAIN) {
    printf("the result has not come in time; the steps take effect when the link is up\n");
  } else if (swap->verb == OAE_SWAP_VERB_RESULT && error == -EINVAL) {
    printf("bad verb: port %u of the other cell may not use the word, or there is no such step\n",
           options->port);
  } else if (swap->verb == OAE_SWAP_VERB_RESULT && error == -EBUSY) {
    printf("busy: a swap in the other cell holds the word\n");
  } else if (options->remote && swap->status == OAE_SWAP_STATUS_BAD_VERB) {
    printf("bad verb: the firmware has not joined port %u with a port of another cell\n", options->port);
  } else if (swap->status == OAE_SWAP_STATUS_BAD_VERB && !oae_port_words(port, &words)) {
    printf("bad verb: the words that the firmware has given port %u: ", options->port);
    print_range(&words);
    printf("\n");
  } else {
    printf("%s\n", oae_status_name(swap->status));
  }
}

/* The status of the steps, which may be those of another cell. */
static const char *status_of_steps(const struct oae_swap *swap, int done) {
  if (swap->verb == OAE_SWAP_VERB_RESULT && done == -EBUSY)
    return oae_status_name(OAE_SWAP_STATUS_BUSY);
  if (swap->verb == OAE_SWAP_VERB_RESULT && done == -EINVAL)
    return oae_status_name(OAE_SWAP_STATUS_BAD_VERB);
  return oae_status_name(swap->status);
}

static int run_steps(struct oae_port *port, const struct options *options) {
  struct oae_step steps[OAE_STEPS_MAX];
  struct oae_swap swap = {};
  int error, done;

  memcpy(steps, options->steps, sizeof(steps));
  if (options->remote)
    error = oae_swap_set_remote_steps(&swap, steps, options->num_steps);
  else
    error = oae_swap_set_steps(&swap, steps, options->num_steps);
  if (!error) error = swap_settled(port, options, &swap);
  if (!error && options->remote && swap.status == OAE_SWAP_STATUS_OK) {
    swap = (struct oae_swap){.verb = OAE_SWAP_VERB_RESULT};
    error = swap_settled(port, options, &swap);
  }
  if (error) {
    failed(oae_verb_name(swap.verb), error);
    return error == -EREMOTEIO ? exit_lost : exit_failed;
  }
  if (swap.verb == OAE_SWAP_VERB_RESULT)
    done = oae_swap_get_result(&swap, steps, options->num_steps);
  else
    done = oae_swap_get_steps(&swap, steps, options->num_steps);
  if (options->json) {
    printf("{\"verb\": \"%s\", \"status\": \"%s\", \"done\": %s, \"found\": [",
           oae_verb_name(swap.verb), status_of_steps(&swap, done), done == 1 ? "true" : "false");
    for (unsigned int i = 0; i < options->num_steps; i++)
      printf("%s%" PRIu64, i ? ", " : "", steps[i].found);
    printf("]}\n");
  } else if (done < 0) {
    print_refusal(port, options, &swap, done);
  } else {
    printf("%s\n", done ? "done" : "not done, since a comparison does not hold");
    for (unsigned int i = 0; i < options->num_steps; i++)
      printf("word %u was %" PRIu64 "\n", steps[i].word, steps[i].found);
  }
  if (swap.verb == OAE_SWAP_VERB_RESULT) {
    if (done == -EAGAIN) return exit_pending;
    if (done == -EBUSY) return exit_not_ready;
    if (done < 0) return exit_failed;
  }
  return done == 0 ? exit_unequal : exit_of(&swap);
}

static int run_bench(struct oae_port *port, const struct options *options) {
  struct bench bench;
  const struct bench_plan plan = {.count = options->count,
                                  .timeout_ns = options->timeout_ns,
                                  .form = options->form,
                                  .more = options->more,
                                  .mapped = options->mapped,
                                  .untimed = options->untimed};
  int error = bench_run(port, plan, &bench);

  if (error) return failed("bench", error);
  if (options->json)
    bench_print_json(stdout, &bench);
  else
    bench_print(stdout, &bench);
  return bench_agrees(&bench) ? exit_good : exit_failed;
}

struct counter {
  const char *name;
  uint64_t value;
};

static void print_counters(const struct counter *counters, size_t count, bool json) {
  for (size_t i = 0; i < count; i++)
    printf(json ? ", \"%s\": %" PRIu64 : "%-20s %" PRIu64 "\n", counters[i].name,
           counters[i].value);
}

/* The firmware's counters too, unless that is null. */
static void print_stat(const struct oae_stats *stats, const struct oae_firmware_stats *firmware,
                       bool json) {
  const struct counter counters[] = {
      {"block.epoch", stats->epoch},
      {"block.sequence", stats->sequence},
      {"block.offered", stats->offered},
      {"block.committed", stats->committed},
      {"block.not_ready", stats->not_ready},
      {"block.rejected", stats->rejected},
      {"block.liveness", stats->liveness},
      {"block.liveness_age", stats->liveness_age},
      {"driver.doubts", stats->doubts},
      {"driver.settled", stats->settled},
      {"driver.signals", stats->signals},
      {"driver.lost", stats->lost},
      {"driver.lost_remotes", stats->lost_remotes},
  };

  printf(json ? "{\"block.state\": \"%s\"" : "block.state          %s\n",
         oae_state_name(stats->state));
  print_counters(counters, sizeof(counters) / sizeof(*counters), json);
  if (firmware) {
    const struct counter theirs[] = {
        {"firmware.exchanged", firmware->exchanged},
        {"firmware.committed", firmware->committed},
        {"firmware.reversed", firmware->reversed},
        {"firmware.bad_offers", firmware->bad_offers},
        {"firmware.liveness", firmware->liveness},
        {"firmware.polls", firmware->mode},
    };

    print_counters(theirs, sizeof(theirs) / sizeof(*theirs), json);
  }
  if (json) printf("}\n");
}

static int run_stat(struct oae_port *port, const struct options *options) {
  struct oae_firmware_stats firmware;
  struct oae_stats stats;
  int error = oae_port_stats(port, &stats);

  if (!error) error = oae_port_firmware_stats(port, &firmware);
  if (error) return failed("stat", error);
  print_stat(&stats, &firmware, options->json);
  return exit_good;
}

/* Somebody else has the port open: sysfs shows its counters, but for the firmware's. */
static int run_watch(const struct options *options) {
  struct oae_stats stats;
  int error = oae_port_watch(options->device, options->port, &stats);

  if (error) return failed("stat", error);
  print_stat(&stats, NULL, options->json);
  return exit_good;
}

static int run(const struct options *options) {
  static int (*const runs[])(struct oae_port *, const struct options *) = {
      [COMMAND_INFO] = run_info,
      [COMMAND_SWAP] = run_swap,
      [COMMAND_SEND] = run_swap,
      [COMMAND_CAS] = run_steps,
      [COMMAND_ADD] = run_steps,
      [COMMAND_MULTI] = run_steps,
      [COMMAND_BENCH] = run_bench,
      [COMMAND_STAT] = run_stat,
  };
  struct oae_port *port;
  char path[64];
  int error, code;

  error = oae_port_path(options->device, options->port, path, sizeof(path));
  if (!error) error = oae_port_open(path, &port);
  if (error == -EBUSY && options->command == COMMAND_STAT) return run_watch(options);
  if (error) return failed(path, error);
  if (options->mapped) error = oae_port_map(port);
  code = error ? failed("mapping", error) : runs[options->command](port, options);
  oae_port_close(port);
  return code;
}

int main(int argc, char **argv) {
  struct options options;
  char mistake[128];
  int code;

  if (!options_parse(argc, argv, &options, mistake)) {
    fprintf(stderr, "oae: %s\nTry: oae --help\n", mistake);
    return exit_usage;
  }
  if (options.command == COMMAND_HELP) {
    fputs(options_help, stdout);
    code = exit_good;
  } else {
    code = run(&options);
  }
  /* Output that is lost is a failure. */
  if (fflush(stdout) || ferror(stdout)) return failed("standard output", -errno);
  return code;
}
