// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "usage: oae COMMAND [OPTION]...\n"
    "\n"
    "Swaps 64-byte slots with the firmware of an IPU over PCIe. A swap either commits on both sides\n"
    "or takes place on neither.\n"
    "\n"
    "commands:\n"
    "  info                what the device is, and where\n"
    "  swap [WORD]...      one swap; up to 6 words of 64 bits (decimal or 0x...) are its payload\n"
    "  send [WORD]...      sends that payload to the firmware, which gets it exactly once\n"
    "  cas N EXPECTED VALUE  writes word N of the block if it is as expected\n"
    "  add N VALUE         adds to word N\n"
    "  multi STEP...       up to 4 steps on words, all or none: read:N, write:N=VALUE, add:N=VALUE,\n"
    "                      compare:N=VALUE; none is done if a comparison does not hold\n"
    "  bench               many swaps: their latencies, beside those of plain reads of the device,\n"
    "                      and whether the firmware has counted as many\n"
    "  stat                counters of the block, the driver and the firmware\n"
    "\n"
    "options:\n"
    "  -d, --device N      device /dev/oae<N>p... (0)\n"
    "  -p, --port N        its swap port (0)\n"
    "  -c, --count N       bench: how many swaps, and how many reads; 1 to 65536 (100)\n"
    "  -t, --timeout TIME  how long to wait for the firmware, as 50us, 10ms or 1s; 0s: not at all (1s)\n"
    "  -f, --form FORM     how the answer comes: pushed, into memory; or streamed, in the answer to a\n"
    "                      load of 64 bytes (pushed)\n"
    "  -r, --reverse       settle a swap as reversed if its answer stays in doubt\n"
    "  -M, --mapped        map the port into the process, and swap without the kernel\n"
    "  -m, --more          confirm a swap with the next one instead of at once\n"
    "  -R, --remote        cas, add, multi: with the words of the cell at the other end of the port, if the\n"
    "                      firmware has joined it with one there; --timeout limits the wait for the result\n"
    "  -D, --until-delivered  swap, send: wait until the host at the other end of a joined port has used the\n"
    "                      slot up by a committed swap of its own, and say so; --timeout limits this wait, too\n"
    "  -u, --untimed       bench: do not ask the driver for times between swaps, which takes longer\n"
    "                      than a swap\n"
    "  -j, --json          print JSON\n"
    "  -h, --help          this text\n"
    "\n"
    "All times are the guest's, so simulated time.\n"
    "\n"
    "exit codes:\n"
    "  0  it went well: the swaps are committed, and both sides agree on how many\n"
    "  1  the device failed, or the two sides disagree\n"
    "  2  mistake on the command line\n"
    "  3  not committed, since the firmware was not ready or another swap holds a word\n"
    "  4  cas, multi: a comparison did not hold\n"
    "  5  --remote: the steps take effect, and their result has not come in time\n"
    "     --until-delivered: the slot is still pending, on its way or because the other host makes no swap\n"
    "  6  lost, because the other cell has lost its power, for example: nobody knows whether the steps took\n"
    "     effect or the other host has had the slot, and they are not sent again\n"
    "\n"
    "examples:\n"
    "  oae swap 1 2 0xfeed\n"
    "  oae multi compare:0=0 write:0=1 add:1=-5 add:2=5\n"
    "  oae add --remote --port 4 --timeout 1ms 7 1\n"
    "  oae send --until-delivered --port 4 --timeout 10s 0xfeed\n"
    "  oae bench --count 1000 --form streamed --mapped --port 3 --json\n";

static bool parse_number(const char *text, uint64_t max, uint64_t *value) {
  char *end;

  /* strtoull() would take a sign and leading space. */
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  *value = strtoull(text, &end, 0);
  return !errno && !*end && *value <= max;
}

static bool parse_time(const char *text, uint64_t *ns) {
  static const struct {
    const char *unit;
    uint64_t ns;
  } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
  char number[32];
  size_t digits = strspn(text, "0123456789");

  if (digits >= sizeof(number)) return false;
  memcpy(number, text, digits);
  number[digits] = 0;
  for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
    if (strcmp(text + digits, units[i].unit) == 0) {
      if (!parse_number(number, INT64_MAX / units[i].ns, ns)) return false;
      *ns *= units[i].ns;
      return true;
    }
  }
  return false;
}

static bool parse_command(const char *text, enum command *command) {
  static const char *const names[] = {
      [COMMAND_HELP] = "help",   [COMMAND_INFO] = "info", [COMMAND_SWAP] = "swap",
      [COMMAND_SEND] = "send",   [COMMAND_CAS] = "cas",   [COMMAND_ADD] = "add",
      [COMMAND_MULTI] = "multi", [COMMAND_BENCH] = "bench", [COMMAND_STAT] = "stat",
  };

  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    if (strcmp(text, names[i]) == 0) {
      *command = (enum command)i;
      return true;
    }
  }
  return false;
}

static bool parse_form(const char *text, uint8_t *form) {
  for (uint8_t i = OAE_SWAP_FORM_PUSHED; i <= OAE_SWAP_FORM_STREAMED; i++) {
    if (strcmp(text, oae_form_name(i)) == 0) {
      *form = i;
      return true;
    }
  }
  return false;
}

static bool mistaken(char mistake[128], const char *what, const char *text) {
  snprintf(mistake, 128, "%.53s: %.72s", what, text);
  return false;
}

/* What is written, added or compared with may be negative: two's complement. */
static bool parse_value(const char *text, uint64_t *value) {
  bool negative = *text == '-';

  if (!parse_number(text + negative, negative ? (uint64_t)1 << 63 : UINT64_MAX, value)) return false;
  if (negative) *value = 0 - *value;
  return true;
}

static bool parse_word(const char *text, struct oae_step *step) {
  uint64_t word;

  if (!parse_number(text, 4095, &word)) return false;
  step->word = (unsigned int)word;
  return true;
}

/* NAME:WORD or NAME:WORD=VALUE */
static bool parse_step(const char *text, struct oae_step *step) {
  static const char *const names[] = {
      [OAE_STEP_READ] = "read",
      [OAE_STEP_WRITE] = "write",
      [OAE_STEP_ADD] = "add",
      [OAE_STEP_COMPARE] = "compare",
  };
  char word[8];
  const char *colon = strchr(text, ':');
  const char *equals = strchr(text, '=');
  size_t length;

  if (!colon) return false;
  for (uint8_t i = OAE_STEP_READ; i <= OAE_STEP_COMPARE; i++)
    if (strlen(names[i]) == (size_t)(colon - text) && !strncmp(text, names[i], strlen(names[i])))
      step->operation = i;
  if (!step->operation || (step->operation == OAE_STEP_READ) != !equals) return false;
  length = equals ? (size_t)(equals - colon - 1) : strlen(colon + 1);
  if (length >= sizeof(word)) return false;
  memcpy(word, colon + 1, length);
  word[length] = 0;
  return parse_word(word, step) && (!equals || parse_value(equals + 1, &step->operand));
}

static bool parse_payload(int count, char **words, struct options *options, char mistake[128]) {
  for (int i = 0; i < count; i++) {
    if (i == OAE_PAYLOAD_WORDS) return mistaken(mistake, "a payload has 6 words", words[i]);
    if (!parse_number(words[i], UINT64_MAX, &options->payload[i]))
      return mistaken(mistake, "not a word of 64 bits", words[i]);
  }
  return true;
}

static bool parse_steps(int count, char **texts, struct options *options, char mistake[128]) {
  if (!count) return mistaken(mistake, "a step is needed", "read:N, write:N=V, add:N=V, compare:N=V");
  for (int i = 0; i < count; i++) {
    if (i == OAE_STEPS_MAX) return mistaken(mistake, "more than 4 steps", texts[i]);
    if (!parse_step(texts[i], &options->steps[i]))
      return mistaken(mistake, "not a step (read:N, write:N=V, add:N=V, compare:N=V)", texts[i]);
  }
  options->num_steps = (unsigned int)count;
  return true;
}

/* A word of the block and `values` values; the last step has the last of them. */
static bool parse_fixed(int count, char **texts, int values, struct options *options,
                        char mistake[128]) {
  struct oae_step *steps = options->steps;

  if (count != 1 + values)
    return mistaken(mistake, "needs", values == 2 ? "N EXPECTED VALUE" : "N VALUE");
  for (int i = 0; i < values; i++) {
    if (!parse_word(texts[0], &steps[i])) return mistaken(mistake, "not a word (0 to 4095)", texts[0]);
    if (!parse_value(texts[1 + i], &steps[i].operand))
      return mistaken(mistake, "not a value of 64 bits", texts[1 + i]);
  }
  options->num_steps = (unsigned int)values;
  steps[0].operation = values == 2 ? OAE_STEP_COMPARE : OAE_STEP_ADD;
  if (values == 2) steps[1].operation = OAE_STEP_WRITE;
  return true;
}

/* What stands beside the options: the command, then what it is about. */
static bool parse_operands(int count, char **operands, struct options *options, char mistake[128]) {
  if (options->command == COMMAND_HELP) return true;
  if (!count)
    return mistaken(mistake, "a command is needed", "info, swap, send, cas, add, multi, bench or stat");
  if (!parse_command(operands[0], &options->command))
    return mistaken(mistake, "no such command", operands[0]);
  switch (options->command) {
    case COMMAND_SWAP:
    case COMMAND_SEND:
      return parse_payload(count - 1, operands + 1, options, mistake);
    case COMMAND_CAS:
      return parse_fixed(count - 1, operands + 1, 2, options, mistake);
    case COMMAND_ADD:
      return parse_fixed(count - 1, operands + 1, 1, options, mistake);
    case COMMAND_MULTI:
      return parse_steps(count - 1, operands + 1, options, mistake);
    default:
      return count == 1 || mistaken(mistake, "what is this?", operands[1]);
  }
}

bool options_parse(int argc, char **argv, struct options *options, char mistake[128]) {
  static const struct option names[] = {
      {"device", required_argument, NULL, 'd'},  {"port", required_argument, NULL, 'p'},
      {"count", required_argument, NULL, 'c'},   {"timeout", required_argument, NULL, 't'},
      {"form", required_argument, NULL, 'f'},    {"more", no_argument, NULL, 'm'},
      {"reverse", no_argument, NULL, 'r'},       {"mapped", no_argument, NULL, 'M'},
      {"remote", no_argument, NULL, 'R'},        {"untimed", no_argument, NULL, 'u'},
      {"until-delivered", no_argument, NULL, 'D'},
      {"json", no_argument, NULL, 'j'},          {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  uint64_t value;
  bool help = false;
  int option;

  *options = (struct options){.command = COMMAND_INFO, .count = 100, .timeout_ns = 1000000000};
  optind = 0; /* starts anew */
  while ((option = getopt_long(argc, argv, ":d:p:c:t:f:mMrRDujh", names, NULL)) != -1) {
    switch (option) {
      case 'd':
        if (!parse_number(optarg, UINT_MAX, &value))
          return mistaken(mistake, "not the number of a device", optarg);
        options->device = (unsigned int)value;
        break;
      case 'p':
        if (!parse_number(optarg, 63, &value))
          return mistaken(mistake, "not a port (0 to 63)", optarg);
        options->port = (unsigned int)value;
        break;
      case 'c':
        if (!parse_number(optarg, options_count_max, &value) || !value)
          return mistaken(mistake, "not a count (1 to 65536)", optarg);
        options->count = (uint32_t)value;
        break;
      case 't':
        if (!parse_time(optarg, &options->timeout_ns))
          return mistaken(mistake, "not a time with its unit (ns, us, ms, s)", optarg);
        break;
      case 'f':
        if (!parse_form(optarg, &options->form))
          return mistaken(mistake, "not a form (pushed, streamed)", optarg);
        break;
      case 'm':
        options->more = true;
        break;
      case 'M':
        options->mapped = true;
        break;
      case 'r':
        options->reverse = true;
        break;
      case 'R':
        options->remote = true;
        break;
      case 'D':
        options->until_delivered = true;
        break;
      case 'u':
        options->untimed = true;
        break;
      case 'j':
        options->json = true;
        break;
      case 'h':
        help = true;
        break;
      case ':':
        return mistaken(mistake, "needs a value", argv[optind - 1]);
      default:
        return mistaken(mistake, "no such option", argv[optind - 1]);
    }
  }
  if (help) options->command = COMMAND_HELP;
  return parse_operands(argc - optind, argv + optind, options, mistake);
}
