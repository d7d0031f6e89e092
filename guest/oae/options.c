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
    "  bench               many swaps: their latencies, beside those of plain reads of the device,\n"
    "                      and whether the firmware has counted as many\n"
    "  stat                counters of the block, the driver and the firmware\n"
    "\n"
    "options:\n"
    "  -d, --device N      device /dev/oae<N>p... (0)\n"
    "  -p, --port N        its swap port (0)\n"
    "  -c, --count N       bench: how many swaps, and how many reads; 1 to 65536 (100)\n"
    "  -t, --timeout TIME  swap, bench: how long to wait for an offer of the firmware, as 50us, 10ms\n"
    "                      or 1s; 0s: not at all (1s)\n"
    "  -f, --form FORM     swap, bench: how the answer comes: pushed, into memory; or streamed, in the\n"
    "                      answer to a load of 64 bytes (pushed)\n"
    "  -r, --reverse       swap: settle it as reversed if its answer stays in doubt\n"
    "  -m, --more          confirm a swap with the next one instead of at once\n"
    "  -j, --json          print JSON\n"
    "  -h, --help          this text\n"
    "\n"
    "All times are the guest's, so simulated time.\n"
    "\n"
    "exit codes:\n"
    "  0  it went well: the swaps are committed, and both sides agree on how many\n"
    "  1  the device failed, or the two sides disagree\n"
    "  2  mistake on the command line\n"
    "  3  swap: not committed, since the firmware was not ready\n"
    "\n"
    "examples:\n"
    "  oae swap 1 2 0xfeed\n"
    "  oae bench --count 1000 --form streamed --port 3 --json\n";

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
      [COMMAND_HELP] = "help", [COMMAND_INFO] = "info",   [COMMAND_SWAP] = "swap",
      [COMMAND_BENCH] = "bench", [COMMAND_STAT] = "stat",
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
  snprintf(mistake, 128, "%s: %.80s", what, text);
  return false;
}

/* What stands beside the options: the command, then the words of a payload. */
static bool parse_operands(int count, char **operands, struct options *options, char mistake[128]) {
  if (options->command == COMMAND_HELP) return true;
  if (!count) return mistaken(mistake, "a command is needed", "info, swap, bench or stat");
  if (!parse_command(operands[0], &options->command))
    return mistaken(mistake, "no such command", operands[0]);
  if (count > 1 && options->command != COMMAND_SWAP)
    return mistaken(mistake, "what is this?", operands[1]);
  for (int i = 1; i < count; i++) {
    if (i > OAE_PAYLOAD_WORDS) return mistaken(mistake, "a payload has 6 words", operands[i]);
    if (!parse_number(operands[i], UINT64_MAX, &options->payload[i - 1]))
      return mistaken(mistake, "not a word of 64 bits", operands[i]);
  }
  return true;
}

bool options_parse(int argc, char **argv, struct options *options, char mistake[128]) {
  static const struct option names[] = {
      {"device", required_argument, NULL, 'd'},  {"port", required_argument, NULL, 'p'},
      {"count", required_argument, NULL, 'c'},   {"timeout", required_argument, NULL, 't'},
      {"form", required_argument, NULL, 'f'},    {"more", no_argument, NULL, 'm'},
      {"reverse", no_argument, NULL, 'r'},
      {"json", no_argument, NULL, 'j'},          {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  uint64_t value;
  bool help = false;
  int option;

  *options = (struct options){.command = COMMAND_INFO, .count = 100, .timeout_ns = 1000000000};
  optind = 0; /* starts anew */
  while ((option = getopt_long(argc, argv, ":d:p:c:t:f:mrjh", names, NULL)) != -1) {
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
        if (!parse_number(optarg, OAE_READ_BENCH_MAX, &value) || !value)
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
      case 'r':
        options->reverse = true;
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
