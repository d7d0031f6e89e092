// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

#include <string.h>

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

/* Whether the text begins with the word, which is then removed. */
static bool removed(char *text, const char *word) {
  size_t length = strlen(word);

  if (strncmp(text, word, length) != 0) return false;
  memmove(text, text + length, strlen(text + length) + 1);
  return true;
}

bool channel_answer(const struct channel *channel, char *text, size_t size) {
  uint32_t left = channel->in(CHANNEL_STATUS) & ~CHANNEL_PRESENT;
  size_t length = 0;

  while (left) {
    uint32_t word = channel->in(CHANNEL_DATA);
    for (int i = 0; i < 4 && left; i++, left--, word >>= 8)
      if (length + 1 < size) text[length++] = (char)word;
  }
  text[length] = 0;
  text[strcspn(text, "\n")] = 0;
  if (removed(text, "error ")) return false;
  removed(text, "ok ");
  return true;
}
