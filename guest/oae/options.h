/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_OAE_OPTIONS_H
#define GUEST_OAE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/liboae/oae.h"

#ifdef __cplusplus
extern "C" {
#endif

enum command {
  COMMAND_HELP,
  COMMAND_INFO,
  COMMAND_SWAP,
  COMMAND_SEND,
  COMMAND_CAS,
  COMMAND_ADD,
  COMMAND_MULTI,
  COMMAND_BENCH,
  COMMAND_STAT
};

/* The most swaps of a bench. */
enum { options_count_max = 65536 };

struct options {
  enum command command;
  unsigned int device;
  unsigned int port;
  uint32_t count;
  uint64_t timeout_ns;
  uint8_t form; /* OAE_SWAP_FORM_* */
  bool json;
  bool more;
  bool mapped;
  bool reverse;
  bool untimed;
  bool until_delivered; /* swap, send: wait until the host at the other end of the port has used the slot up */
  bool remote; /* cas, add, multi: with the words of the cell at the other end of the port */
  uint64_t payload[OAE_PAYLOAD_WORDS]; /* swap, send */
  struct oae_step steps[OAE_STEPS_MAX]; /* cas, add, multi */
  unsigned int num_steps;
};

/* What a command line asks for. False: it is wrong, and `mistake` says how. */
bool options_parse(int argc, char **argv, struct options *options, char mistake[128]);

extern const char options_help[];

#ifdef __cplusplus
}
#endif

#endif
