// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "load_function.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oae_memory_map.h"
#include "oae_registers.h"

/* A platform file may give it another id; then its folder has to be named. */
enum { vendor_id = 0xf0ae, device_id = 0x0ae4 };

static const char all_functions[] = "/sys/bus/pci/devices";

static unsigned read_id(const char* folder, const char* name) {
  char path[512];
  unsigned id = 0;
  FILE* file;

  snprintf(path, sizeof(path), "%s/%s", folder, name);
  file = fopen(path, "r");
  if (!file) return 0;
  if (fscanf(file, "%x", &id) != 1) id = 0;
  fclose(file);
  return id;
}

bool load_function_find(char* folder, size_t size) {
  struct dirent** names;
  const int count = scandir(all_functions, &names, NULL, alphasort);
  bool found = false;

  for (int i = 0; i < count; i++) {
    if (!found && names[i]->d_name[0] != '.') {
      snprintf(folder, size, "%s/%s", all_functions, names[i]->d_name);
      found = read_id(folder, "vendor") == vendor_id && read_id(folder, "device") == device_id;
    }
    free(names[i]);
  }
  if (count >= 0) free(names);
  return found;
}

static int write_file(const char* path, const void* bytes, size_t count, off_t at) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  int error = 0;

  if (file < 0) return -errno;
  errno = EIO;
  if (pwrite(file, bytes, count, at) != (ssize_t)count) error = -errno;
  close(file);
  return error;
}

int load_function_open(struct load_function* function, const char* folder) {
  const uint16_t command = 1 << 2 | 1 << 1; /* Bus Master, memory */
  char path[512];
  void* registers;
  int error, file;

  snprintf(path, sizeof(path), "%s/enable", folder);
  error = write_file(path, "1", 1, 0);
  if (error) return error;
  snprintf(path, sizeof(path), "%s/config", folder);
  error = write_file(path, &command, sizeof(command), 4);
  if (error) return error;
  snprintf(path, sizeof(path), "%s/resource%d", folder, OAE_LOAD_BAR);
  file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return -errno;
  registers = mmap(NULL, OAE_LOAD_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  error = -errno;
  close(file);
  if (registers == MAP_FAILED) return error;
  function->registers = registers;
  return 0;
}

uint64_t load_function_start(const struct load_function* function, const struct load* load,
                             uint64_t ring, uint64_t entries) {
  /* It may still run if another program was killed. */
  load_function_put(function, OAE_LOAD_CONTROL, 0);
  load_function_put(function, OAE_LOAD_SEED, load->seed);
  load_function_put(function, OAE_LOAD_INTERVAL, load->interval_ps);
  load_function_put(function, OAE_LOAD_COUNT, load->count);
  load_function_put(function, OAE_LOAD_WARM_UP, load->warm_up);
  load_function_put(function, OAE_LOAD_LONG_SHARE, load->long_share);
  load_function_put(function, OAE_LOAD_LIMIT, load->limit_ps);
  load_function_put(function, OAE_LOAD_RING, ring);
  load_function_put(function, OAE_LOAD_RING_SIZE, entries);
  load_function_put(function, OAE_LOAD_CONTROL, OAE_LOAD_CONTROL_RUN_MASK);
  if (load_function_get(function, OAE_LOAD_STATUS) & OAE_LOAD_STATUS_INVALID_MASK) return 0;
  return load_function_get(function, OAE_LOAD_FIRST);
}
