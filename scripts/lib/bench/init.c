// SPDX-License-Identifier: Apache-2.0
// First process of the guest in a benchmark: does what the kernel command line says and powers off. The benchmark takes
// the wall time between the lines that this prints.
//
//   bench.do=boot      nothing more: user space was reached
//   bench.do=read      32-bit reads of a device register
//     bench.device=VVVV:DDDD  vendor and device id (hexadecimal)
//     bench.offset=N          offset in BAR 0
//     bench.count=N           reads
//   bench.do=compute   sums over a page, takes simulated time and no other access
//     bench.count=N           rounds of 512 words
//   bench.do=sleep     does nothing
//     bench.count=N           seconds of simulated time
//
// The last two say how long they took, in simulated time.
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEVICES "/sys/bus/pci/devices"

static char command_line[4096];

static void leave(void) {
  fflush(stdout);
  sync();
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

static void give_up(const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  printf("bench: failed: ");
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
  leave();
}

// Value of NAME=VALUE on the kernel command line.
static const char *option(const char *name) {
  static char words[sizeof(command_line)];
  size_t length = strlen(name);

  strcpy(words, command_line);
  for (char *word = strtok(words, " \n"); word; word = strtok(NULL, " \n"))
    if (strncmp(word, name, length) == 0 && word[length] == '=') return word + length + 1;
  give_up("no %s= on the kernel command line", name);
  return NULL;
}

static void read_file(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY);
  ssize_t length = file < 0 ? -1 : read(file, text, size - 1);

  if (length < 0) give_up("%s cannot be read", path);
  text[length] = 0;
  close(file);
}

// Folder in sysfs of the first device with these ids.
static void find_device(unsigned vendor, unsigned device, char *path, size_t size) {
  DIR *devices = opendir(DEVICES);
  struct dirent *entry;

  while (devices && (entry = readdir(devices))) {
    char name[320], text[32];
    unsigned ids[2];

    if (entry->d_name[0] == '.') continue;
    for (int i = 0; i < 2; i++) {
      snprintf(name, sizeof(name), DEVICES "/%s/%s", entry->d_name, i ? "device" : "vendor");
      read_file(name, text, sizeof(text));
      ids[i] = strtoul(text, NULL, 16);
    }
    if (ids[0] == vendor && ids[1] == device) {
      snprintf(path, size, DEVICES "/%s", entry->d_name);
      closedir(devices);
      return;
    }
  }
  give_up("no device %04x:%04x", vendor, device);
}

static void write_word(const char *folder, const char *name, const char *word) {
  char path[320];
  int file;

  snprintf(path, sizeof(path), "%s/%s", folder, name);
  file = open(path, O_WRONLY);
  if (file < 0 || write(file, word, strlen(word)) < 0) give_up("%s cannot be written", path);
  close(file);
}

static void read_register(void) {
  unsigned vendor, device;
  char folder[288], path[320];
  unsigned long offset = strtoul(option("bench.offset"), NULL, 0), page = offset & ~4095UL;
  unsigned long count = strtoul(option("bench.count"), NULL, 0);
  volatile uint32_t *reg;
  uint32_t sum = 0;
  void *map;
  int file;

  if (sscanf(option("bench.device"), "%x:%x", &vendor, &device) != 2) give_up("bench.device is not VVVV:DDDD");
  find_device(vendor, device, folder, sizeof(folder));
  write_word(folder, "enable", "1");
  snprintf(path, sizeof(path), "%s/resource0", folder);
  file = open(path, O_RDWR | O_SYNC);
  map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, page);
  if (map == MAP_FAILED) give_up("%s cannot be mapped", path);
  reg = (volatile uint32_t *)((char *)map + (offset - page));

  printf("bench: begin\n");
  for (unsigned long i = 0; i < count; i++) sum += *reg;
  printf("bench: end\n");
  if (sum == (uint32_t)-count) give_up("the device answers all ones");
}

static uint64_t now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void compute(unsigned long count) {
  static volatile uint64_t page[512];

  for (unsigned long i = 0; i < count; i++)
    for (unsigned j = 1; j < 512; j++) page[j] += page[j - 1] ^ i;
}

static void take_time(void) {
  unsigned long count = strtoul(option("bench.count"), NULL, 0);
  uint64_t start;

  printf("bench: begin\n");
  start = now_ns();
  if (strcmp(option("bench.do"), "compute") == 0)
    compute(count);
  else
    sleep(count);
  printf("bench: took %llu ns\n", (unsigned long long)(now_ns() - start));
  printf("bench: end\n");
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  mkdir("/proc", 0755);
  mkdir("/sys", 0755);
  mount("proc", "/proc", "proc", 0, NULL);
  mount("sysfs", "/sys", "sysfs", 0, NULL);
  printf("bench: user space\n");
  read_file("/proc/cmdline", command_line, sizeof(command_line));
  if (strcmp(option("bench.do"), "read") == 0)
    read_register();
  else if (strcmp(option("bench.do"), "boot") != 0)
    take_time();
  printf("bench: done\n");
  leave();
}
