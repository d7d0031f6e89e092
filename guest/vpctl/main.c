// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel.h"
#include "names.h"

enum { exit_good = 0, exit_failed = 1, exit_usage = 2, exit_absent = 3 };

static const char help[] =
    "usage: vpctl exit CODE | mark NAME | put FILE... | present\n"
    "\n"
    "Talks from inside the guest to the platform that simulates it.\n"
    "\n"
    "  exit CODE    ends the run with this code, 0 to 255\n"
    "  mark NAME    says that a point has been reached, which the platform may wait for\n"
    "  put FILE...  hands over files; each keeps its relative name\n"
    "  present      whether there is such a platform: exit code 0 or 3\n"
    "\n"
    "exit codes: 0 done; 1 the platform refused, or a file cannot be read; 2 mistake on the command\n"
    "line; 3 there is no such platform, or no right to its I/O ports (CAP_SYS_RAWIO)\n";

static uint32_t port_in(unsigned int offset) {
  return inl((unsigned short)(CHANNEL_BASE + offset));
}

static void port_out(unsigned int offset, uint32_t value) {
  outl(value, (unsigned short)(CHANNEL_BASE + offset));
}

static const struct channel ports = {port_in, port_out};

static int answered(const char *what) {
  char answer[256];

  if (channel_answer(&ports, answer, sizeof(answer))) return exit_good;
  fprintf(stderr, "vpctl: %s: %s\n", what, answer);
  return exit_failed;
}

static int send_line(const char *line) {
  struct message message;

  message_open(&message, &ports, strlen(line));
  message_write(&message, line, strlen(line));
  return answered(line);
}

static int send_exit(const char *code) {
  char line[32];
  unsigned int value;

  if (!parse_exit_code(code, &value)) {
    fprintf(stderr, "vpctl: not an exit code (0 to 255): %s\n", code);
    return exit_usage;
  }
  snprintf(line, sizeof(line), "exit %u\n", value);
  return send_line(line);
}

static int send_mark(const char *name) {
  char line[256];

  if (!is_mark_name(name) || (size_t)snprintf(line, sizeof(line), "mark %s\n", name) >= sizeof(line)) {
    fprintf(stderr, "vpctl: not the name of a mark (a word of up to 200 characters): %s\n", name);
    return exit_usage;
  }
  return send_line(line);
}

static int send_open_file(const char *name, int file) {
  char line[4096 + 64], bytes[16384];
  struct message message;
  struct stat status;
  ssize_t count;

  if (fstat(file, &status) < 0) return -errno;
  if (!S_ISREG(status.st_mode)) return -EINVAL;
  snprintf(line, sizeof(line), "put %s %" PRIu64 "\n", name, (uint64_t)status.st_size);
  if (!message_open(&message, &ports, strlen(line) + (uint64_t)status.st_size)) return -EFBIG;
  message_write(&message, line, strlen(line));
  /* A file that shrinks meanwhile ends in zeros, one that grows is cut. */
  while ((count = read(file, bytes, sizeof(bytes))) > 0) message_write(&message, bytes, (size_t)count);
  message_close(&message);
  return count < 0 ? -errno : 0;
}

static int send_file(const char *name) {
  int file, error;

  if (!is_file_name(name)) {
    fprintf(stderr, "vpctl: not a relative name without '..': %s\n", name);
    return exit_usage;
  }
  file = open(name, O_RDONLY | O_CLOEXEC);
  error = file < 0 ? -errno : send_open_file(name, file);
  if (file >= 0) close(file);
  if (error) {
    fprintf(stderr, "vpctl: %s: %s\n", name, strerror(-error));
    return exit_failed;
  }
  return answered(name);
}

static int run(int argc, char **argv) {
  const char *command = argv[1];
  int code = exit_good;

  if (strcmp(command, "present") == 0 && argc == 2) return exit_good;
  if (strcmp(command, "exit") == 0 && argc == 3) return send_exit(argv[2]);
  if (strcmp(command, "mark") == 0 && argc == 3) return send_mark(argv[2]);
  if (strcmp(command, "put") == 0 && argc >= 3) {
    for (int i = 2; i < argc; i++) {
      int result = send_file(argv[i]);
      if (result != exit_good) code = result;
    }
    return code;
  }
  fputs(help, stderr);
  return exit_usage;
}

int main(int argc, char **argv) {
  if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(help, stdout);
    return exit_good;
  }
  if (argc < 2) {
    fputs(help, stderr);
    return exit_usage;
  }
  if (ioperm(CHANNEL_BASE, CHANNEL_SIZE, 1) < 0) {
    fprintf(stderr, "vpctl: I/O ports: %s\n", strerror(errno));
    return exit_absent;
  }
  if (!channel_present(&ports)) {
    if (strcmp(argv[1], "present") != 0) fprintf(stderr, "vpctl: no platform to talk to\n");
    return exit_absent;
  }
  return run(argc, argv);
}
