/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_VPCTL_CHANNEL_H
#define GUEST_VPCTL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The platform's control port: 32-bit registers in x86 I/O space. README.md has the protocol. */
enum {
  CHANNEL_BASE = 0xe00,
  CHANNEL_DATA = 0x0,   /* rw: the next 4 bytes of the message, or of the answer */
  CHANNEL_STATUS = 0x4, /* ro: CHANNEL_PRESENT, and how many bytes of the answer are left */
  CHANNEL_LENGTH = 0x8, /* wo: opens a message of so many bytes */
  CHANNEL_SIZE = 0xc,
  CHANNEL_LONGEST_FILE = 64 * 1024 * 1024,
};

#define CHANNEL_PRESENT UINT32_C(0x80000000)

/* How registers are reached. */
struct channel {
  uint32_t (*in)(unsigned int offset);
  void (*out)(unsigned int offset, uint32_t value);
};

/* Whether there is a platform; absent hardware reads all ones. */
bool channel_present(const struct channel *channel);

/* A message is opened with its length; its bytes follow in pieces of any size. */
struct message {
  const struct channel *channel;
  uint32_t left; /* bytes still to come */
  uint32_t word; /* bytes that do not yet fill a word, from bit 0 */
  unsigned int in_word;
};

void message_open(struct message *message, const struct channel *channel, uint32_t length);

/* What exceeds the length is dropped. */
void message_write(struct message *message, const void *bytes, size_t count);

/* Fills up with zeros what has not been written. */
void message_close(struct message *message);

/*
 * The answer to the last message, without its newline and cut to `size`: what the platform has to
 * say, mostly nothing. False: it has refused, and `text` says why.
 */
bool channel_answer(const struct channel *channel, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
