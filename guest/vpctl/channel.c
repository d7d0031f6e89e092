// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

bool channel_present(const struct channel *channel) {
  uint32_t status = channel->in(CHANNEL_STATUS);
  return status != UINT32_MAX && (status & CHANNEL_PRESENT);
}

void message_open(struct message *message, const struct channel *channel, uint32_t length) {
  *message = (struct message){.channel = channel, .left = length};
  channel->out(CHANNEL_LENGTH, length);
}

static void put(struct message *message, uint8_t byte) {
  message->word |= (uint32_t)byte << 8 * message->in_word++;
  message->left--;
  if (message->in_word == 4 || !message->left) {
    message->channel->out(CHANNEL_DATA, message->word);
    message->word = 0;
    message->in_word = 0;
  }
}

void message_write(struct message *message, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  for (; count && message->left; count--) put(message, *next++);
}

void message_close(struct message *message) {
  while (message->left) put(message, 0);
}

size_t channel_read(const struct channel *channel, void *bytes, size_t size) {
  size_t available = channel->in(CHANNEL_STATUS) & ~CHANNEL_PRESENT;
  uint8_t *next = bytes;
  uint32_t word = 0;

  /* A word cannot be put back. */
  if (size < available) available = size & ~(size_t)3;
  for (size_t i = 0; i < available; i++) {
    if (i % 4 == 0) word = channel->in(CHANNEL_DATA);
    next[i] = (uint8_t)(word >> 8 * (i % 4));
  }
  return available;
}
