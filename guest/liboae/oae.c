// SPDX-License-Identifier: Apache-2.0
#include "oae.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "mapping.h"

struct oae_port {
  int fd;
  struct oae_mapping *mapping; /* NULL: swaps are the kernel's */
};

static int request(const struct oae_port *port, unsigned long code, void *argument) {
  return ioctl(port->fd, code, argument) < 0 ? -errno : 0;
}

int oae_port_path(unsigned int device, unsigned int port, char *path, size_t size) {
  int length = snprintf(path, size, "/dev/oae%up%u", device, port);
  return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int oae_port_open(const char *path, struct oae_port **port) {
  struct oae_port *opened = calloc(1, sizeof(*opened));
  struct oae_info info;
  int error;

  if (!opened) return -ENOMEM;
  opened->fd = open(path, O_RDWR | O_CLOEXEC);
  if (opened->fd < 0) {
    error = -errno;
    free(opened);
    return error;
  }
  error = oae_port_info(opened, &info);
  if (!error && info.abi != OAE_ABI_VERSION) error = -EPROTO;
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
  return request(port, OAE_IOC_INFO, info);
}

int oae_port_swap(struct oae_port *port, struct oae_swap *swap) {
  if (port->mapping) return oae_mapping_swap(port->mapping, swap);
  return request(port, OAE_IOC_SWAP, swap);
}

int oae_port_settle(struct oae_port *port, struct oae_swap *swap) {
  if (port->mapping) return oae_mapping_settle(port->mapping, swap);
  return request(port, OAE_IOC_SETTLE, swap);
}

int oae_port_reverse(struct oae_port *port, struct oae_swap *swap) {
  if (port->mapping) return oae_mapping_reverse(port->mapping, swap);
  return request(port, OAE_IOC_REVERSE, swap);
}

int oae_port_wait(struct oae_port *port, int timeout_ms) {
  struct pollfd file = {.fd = port->fd, .events = POLLIN};
  int ready = poll(&file, 1, timeout_ms);

  if (ready < 0) return -errno;
  if (!ready) return -ETIMEDOUT;
  return file.revents & POLLIN ? 0 : -ENODEV;
}

int oae_port_stats(struct oae_port *port, struct oae_stats *stats) {
  return request(port, OAE_IOC_STATS, stats);
}

int oae_port_firmware_stats(struct oae_port *port, struct oae_firmware_stats *stats) {
  return request(port, OAE_IOC_FIRMWARE_STATS, stats);
}

int oae_port_read_bench(struct oae_port *port, uint64_t *samples, uint32_t count) {
  struct oae_read_bench bench = {.samples = (uintptr_t)samples, .count = count, .reserved = 0};
  return request(port, OAE_IOC_READ_BENCH, &bench);
}
