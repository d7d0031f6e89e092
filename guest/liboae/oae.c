// SPDX-License-Identifier: Apache-2.0
#include "oae.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "mapping.h"
#include "measure.h"

struct oae_port {
  int fd;
  int times;                   /* the driver's file of times, or negative: not open yet */
  struct oae_mapping *mapping; /* NULL: the kernel makes the swaps */
};

/* The oldest version of the interface that this library can make do with. */
enum { oldest_version = 2 };

static int request(const struct oae_port *port, unsigned long code, void *argument) {
  return ioctl(port->fd, code, argument) < 0 ? -errno : 0;
}

int oae_port_path(unsigned int device, unsigned int port, char *path, size_t size) {
  int length = snprintf(path, size, "/dev/oae%up%u", device, port);
  return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* Version 1 numbered its requests otherwise, and named the sizes of its structures in them. */
static bool is_older(const struct oae_port *port) {
  char info[64];

  return request(port, _IOR(OAE_IOC_MAGIC, 0x00, char[64]), info) == 0;
}

int oae_port_open(const char *path, struct oae_port **port) {
  struct oae_port *opened = calloc(1, sizeof(*opened));
  struct oae_info info;
  int error;

  if (!opened) return -ENOMEM;
  opened->times = -1;
  opened->fd = open(path, O_RDWR | O_CLOEXEC);
  if (opened->fd < 0) {
    error = -errno;
    free(opened);
    return error;
  }
  error = oae_port_info(opened, &info);
  /* A driver of before these versions had other requests. */
  if (error == -ENOTTY && is_older(opened)) error = -EPROTO;
  if (!error && (info.oldest > OAE_INTERFACE_VERSION || info.version < oldest_version))
    error = -EPROTO;
  if (error) {
    oae_port_close(opened);
    return error;
  }
  *port = opened;
  return 0;
}

void oae_port_close(struct oae_port *port) {
  if (!port) return;
  oae_mapping_free(port->mapping);
  if (port->times >= 0) close(port->times);
  close(port->fd);
  free(port);
}

int oae_port_fd(const struct oae_port *port) { return port->fd; }

int oae_port_map(struct oae_port *port) {
  struct oae_info info;
  int error = oae_port_info(port, &info);

  if (error || port->mapping) return error;
  return oae_mapping_create(port->fd, info.features, &port->mapping);
}

void oae_port_unmap(struct oae_port *port) {
  oae_mapping_free(port->mapping);
  port->mapping = NULL;
}

int oae_port_info(struct oae_port *port, struct oae_info *info) {
  *info = (struct oae_info){.size = sizeof(*info)};
  return request(port, OAE_IOC_INFO, info);
}

int oae_port_words(struct oae_port *port, struct oae_words *words) {
  *words = (struct oae_words){.size = sizeof(*words)};
  return request(port, OAE_IOC_WORDS, words);
}

int oae_port_swap(struct oae_port *port, struct oae_swap *swap) {
  swap->size = sizeof(*swap);
  if (port->mapping) return oae_mapping_swap(port->mapping, swap);
  return request(port, OAE_IOC_SWAP, swap);
}

static int settle(struct oae_port *port, struct oae_swap *swap, unsigned int flags) {
  swap->size = sizeof(*swap);
  swap->flags = flags;
  if (port->mapping) return oae_mapping_settle(port->mapping, swap);
  return request(port, OAE_IOC_SETTLE, swap);
}

int oae_port_settle(struct oae_port *port, struct oae_swap *swap) { return settle(port, swap, 0); }

int oae_port_reverse(struct oae_port *port, struct oae_swap *swap) {
  return settle(port, swap, OAE_SETTLE_REVERSE);
}

int oae_port_fate(struct oae_port *port, const struct oae_swap *swap, uint64_t timeout_ns) {
  struct oae_fate fate = {.size = sizeof(fate),
                          .timeout_ns = timeout_ns,
                          .sequence = swap->sequence,
                          .epoch = swap->epoch};
  int error = request(port, OAE_IOC_FATE, &fate);

  return error ? error : fate.fate;
}

int oae_port_loss(struct oae_port *port, struct oae_fate *loss, uint64_t timeout_ns) {
  struct oae_fate fate = {
      .size = sizeof(fate), .flags = OAE_FATE_NEXT_LOSS, .timeout_ns = timeout_ns};
  int error = request(port, OAE_IOC_FATE, &fate);

  if (error) return error;
  if (fate.fate != OAE_FATE_LOST) return -EAGAIN;
  *loss = fate;
  return 0;
}

int oae_port_wait(struct oae_port *port, int timeout_ms) {
  struct pollfd file = {.fd = port->fd, .events = POLLIN};
  int ready = poll(&file, 1, timeout_ms);

  if (ready < 0) return -errno;
  if (!ready) return -ETIMEDOUT;
  return file.revents & POLLIN ? 0 : -ENODEV;
}

int oae_port_stats(struct oae_port *port, struct oae_stats *stats) {
  *stats = (struct oae_stats){.size = sizeof(*stats)};
  return request(port, OAE_IOC_STATS, stats);
}

int oae_port_firmware_stats(struct oae_port *port, struct oae_firmware_stats *stats) {
  *stats = (struct oae_firmware_stats){.size = sizeof(*stats)};
  return request(port, OAE_IOC_FIRMWARE_STATS, stats);
}

int oae_port_times(struct oae_port *port, struct oae_times *times) {
  if (port->mapping) {
    oae_mapping_times(port->mapping, times);
    return 0;
  }
  if (port->times < 0) port->times = oae_measure_open(port->fd);
  return port->times < 0 ? port->times : oae_measure_last_swap(port->times, times);
}

int oae_port_read_times(struct oae_port *port, uint64_t *samples, uint32_t count) {
  return oae_measure_reads(port->fd, samples, count);
}
