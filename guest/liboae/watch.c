// SPDX-License-Identifier: Apache-2.0
/* The counters of a port in sysfs: Documentation/ABI/testing/sysfs-class-oae beside the driver. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oae.h"

/* The text of an attribute, without the end of its line. */
static int read_attribute(unsigned int device, unsigned int port, const char *name, char *text,
                          size_t size) {
  char path[96];
  ssize_t length;
  int file, error;

  snprintf(path, sizeof(path), "/sys/class/oae/oae%up%u/statistics/%s", device, port, name);
  file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -errno;
  length = read(file, text, size - 1);
  error = length < 0 ? -errno : 0;
  close(file);
  if (error) return error;
  text[length] = 0;
  text[strcspn(text, "\n")] = 0;
  return 0;
}

static int read_state(unsigned int device, unsigned int port, uint8_t *state) {
  char text[32], *blank;
  int error = read_attribute(device, port, "state", text, sizeof(text));

  if (error) return error;
  if ((blank = strchr(text, '_'))) *blank = ' ';
  for (*state = 0; strcmp(oae_state_name(*state), text); ++*state)
    if (!strcmp(oae_state_name(*state), "unknown")) return -EPROTO;
  return 0;
}

int oae_port_watch(unsigned int device, unsigned int port, struct oae_stats *stats) {
  uint64_t epoch, offered, sequence, liveness, liveness_age;
  const struct {
    const char *name;
    uint64_t *value;
    bool later; /* an older driver does not have it */
  } counters[] = {
      {"epoch", &epoch, false},
      {"offered", &offered, false},
      {"sequence", &sequence, false},
      {"liveness", &liveness, false},
      {"liveness_age", &liveness_age, false},
      {"committed", (uint64_t *)&stats->committed, false},
      {"not_ready", (uint64_t *)&stats->not_ready, false},
      {"rejected", (uint64_t *)&stats->rejected, false},
      {"doubts", (uint64_t *)&stats->doubts, false},
      {"settled", (uint64_t *)&stats->settled, false},
      {"signals", (uint64_t *)&stats->signals, false},
      {"lost", (uint64_t *)&stats->lost, true},
      {"lost_remotes", (uint64_t *)&stats->lost_remotes, true},
  };
  uint8_t state;
  int error = read_state(device, port, &state);

  *stats = (struct oae_stats){.size = sizeof(*stats)};
  for (size_t i = 0; i < sizeof(counters) / sizeof(*counters) && !error; i++) {
    char text[32];

    error = read_attribute(device, port, counters[i].name, text, sizeof(text));
    if (error == -ENOENT && counters[i].later) {
      error = 0;
      continue;
    }
    if (!error) *counters[i].value = strtoull(text, NULL, 10);
  }
  if (error) return error;
  stats->state = state;
  stats->epoch = (uint8_t)epoch;
  stats->offered = (uint8_t)offered;
  stats->sequence = (uint32_t)sequence;
  stats->liveness = (uint32_t)liveness;
  stats->liveness_age = (uint32_t)liveness_age;
  return 0;
}
