// SPDX-License-Identifier: Apache-2.0
/* The driver's files in debugfs: Documentation/ABI/testing/debugfs-oae beside the driver. */
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The name of the port that is open as @fd, as "oae0p0". */
static int port_name(int fd, char *name, size_t size) {
  char link[64], target[PATH_MAX];
  struct stat status;
  ssize_t length;

  if (fstat(fd, &status) < 0) return -errno;
  snprintf(link, sizeof(link), "/sys/dev/char/%u:%u", major(status.st_rdev),
           minor(status.st_rdev));
  length = readlink(link, target, sizeof(target) - 1);
  if (length < 0) return -errno;
  target[length] = 0;
  length = snprintf(name, size, "%s", strrchr(target, '/') + 1);
  return (size_t)length < size ? 0 : -ENAMETOOLONG;
}

static int open_file(int fd, const char *file) {
  char name[32], path[96];
  int error = port_name(fd, name, sizeof(name));

  if (error) return error;
  snprintf(path, sizeof(path), "/sys/kernel/debug/oae/%s/%s", name, file);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int oae_measure_open(int fd) { return open_file(fd, "last_swap"); }

int oae_measure_last_swap(int file, struct oae_times *times) {
  char text[128];
  ssize_t length = pread(file, text, sizeof(text) - 1, 0);

  if (length < 0) return -errno;
  text[length] = 0;
  return sscanf(text, "store_ns %" SCNu64 " read_ns %" SCNu64 " commit_ns %" SCNu64,
                &times->store_ns, &times->read_ns, &times->commit_ns) == 3
             ? 0
             : -EPROTO;
}

int oae_measure_reads(int fd, uint64_t *samples, uint32_t count) {
  int file = open_file(fd, "register_read"), error = 0;
  char text[32];

  if (file < 0) return file;
  for (uint32_t i = 0; i < count && !error; i++) {
    ssize_t length = read(file, text, sizeof(text) - 1);

    error = length < 0 ? -errno : 0;
    text[length < 0 ? 0 : length] = 0;
    samples[i] = strtoull(text, NULL, 10);
  }
  close(file);
  return error;
}
