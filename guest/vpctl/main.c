// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel.h"
#include "names.h"

enum { exit_good = 0, exit_failed = 1, exit_usage = 2, exit_absent = 3 };

static const char help[] =
    "usage: vpctl exit CODE | export DEVICE[.NUMBER] NAME | hot_plug LINK ACTION |\n"
    "             inject DIRECTION ERROR [TLP [NUMBER]] | inject DEVICE FAULT... | mark NAME |\n"
    "             present | put FILE...\n"
    "\n"
    "Talks from inside the guest to the platform that simulates it.\n"
    "\n"
    "  exit CODE    ends the run with this code, 0 to 255\n"
    "  export DEVICE[.NUMBER] NAME\n"
    "               hands over what a disk holds, as an image of this relative name. NUMBER is that\n"
    "               of the namespace (1). What the guest has not written yet is missing: sync first.\n"
    "  hot_plug LINK remove|insert|button|open|close|power_fault\n"
    "               removes the card at the end of a PCIe link from its hot-plug slot, inserts it\n"
    "               again, presses the attention button, opens or closes the latch, or makes the\n"
    "               card's power fail\n"
    "  inject DIRECTION ERROR [TLP [NUMBER]]\n"
    "               makes an error happen on a PCIe link, at the receiver of DIRECTION, which is\n"
    "               LINK.down or LINK.up. The error happens at once, or to a TLP of the given type\n"
    "               (as the trace names it): to the next one, or to the NUMBERth from now on.\n"
    "               For lane_failure, TLP is the number of the lane.\n"
    "  inject DEVICE FAULT...\n"
    "               makes the device itself fail. The faults of an NVMe disk are\n"
    "               hold [NUMBER [COMMAND]]         does not answer the next commands\n"
    "               fail STATUS [NUMBER [COMMAND]]  ends the next commands with this status\n"
    "               refuse_abort [NUMBER]           aborts nothing, as often as that\n"
    "               stay_disabled [NUMBER]          does not become ready, as often as that\n"
    "               fatal                           sets CSTS.CFS at once\n"
    "               clear                           takes back what has not happened yet\n"
    "               COMMAND is io (all I/O commands), admin, or a name such as read or abort.\n"
    "               STATUS is a name such as write_fault, or type and code, such as 0x281.\n"
    "  mark NAME    reports that the guest has reached a point, which the platform may wait for.\n"
    "               Prints the command that the platform answers with, if there is one.\n"
    "  present      says by exit code 0 or 3 whether there is such a platform\n"
    "  put FILE...  hands over files of up to 64 MiB by their relative names\n"
    "\n"
    "exit codes: 0 done; 1 the platform has refused, or a file cannot be read; 2 mistake on the\n"
    "command line; 3 there is no such platform, or no right to its I/O ports (CAP_SYS_RAWIO)\n";

static uint32_t port_in(unsigned int offset) {
  return inl((unsigned short)(CHANNEL_BASE + offset));
}

static void port_out(unsigned int offset, uint32_t value) {
  outl(value, (unsigned short)(CHANNEL_BASE + offset));
}

static const struct channel ports = {port_in, port_out};

static int usage(const char *what, const char *text) {
  fprintf(stderr, "vpctl: %s: %s\nTry: vpctl --help\n", what, text);
  return exit_usage;
}

static int failed(const char *what, const char *why) {
  fprintf(stderr, "vpctl: %s: %s\n", what, why);
  return exit_failed;
}

static int answered(const char *what) {
  char answer[8192];

  if (!channel_answer(&ports, answer, sizeof(answer))) return failed(what, answer);
  return !*answer || puts(answer) >= 0 ? exit_good : failed(what, strerror(errno));
}

static int send_line(const char *command, const char *operand) {
  char line[256];
  struct message message;
  uint32_t length = (uint32_t)snprintf(line, sizeof(line), "%s %s\n", command, operand);

  message_open(&message, &ports, length);
  message_write(&message, line, length);
  return answered(command);
}

static int send_open_file(const char *path, int file) {
  char line[4096 + 64], bytes[16384];
  struct message message;
  struct stat status;
  uint32_t length, size;
  ssize_t count;

  if (fstat(file, &status) < 0) return failed(path, strerror(errno));
  if (!S_ISREG(status.st_mode)) return failed(path, "not a regular file");
  if (status.st_size > CHANNEL_LONGEST_FILE) return failed(path, "larger than 64 MiB");
  size = (uint32_t)status.st_size;
  length = (uint32_t)snprintf(line, sizeof(line), "put %s %u\n", path, size);
  message_open(&message, &ports, length + size);
  message_write(&message, line, length);
  /* A file that shrinks meanwhile ends in zeros, one that grows is cut. */
  while ((count = read(file, bytes, sizeof(bytes))) > 0)
    message_write(&message, bytes, (size_t)count);
  if (count < 0) return failed(path, strerror(errno)); /* the next message discards this one */
  message_close(&message);
  return answered(path);
}

static int send_file(const char *path) {
  int file, code;

  if (!is_file_name(path)) return usage("not a relative name without hidden parts", path);
  file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed(path, strerror(errno));
  code = send_open_file(path, file);
  close(file);
  return code;
}

static int send_files(char **paths) {
  int code = exit_good;

  for (; *paths; paths++) {
    int result = send_file(*paths);
    if (result != exit_good) code = result;
  }
  return code;
}

/* The platform knows what there is, and says so. */
static int send_words(const char *command, int count, char **words) {
  char what[200] = "";
  size_t length = 0;
  int i;

  for (i = 0; i < count; i++) {
    if (!is_mark_name(words[i]) || length + strlen(words[i]) + 2 > sizeof(what))
      return usage("not a word for the platform", words[i]);
    length += (size_t)snprintf(what + length, sizeof(what) - length, i ? " %s" : "%s", words[i]);
  }
  return send_line(command, what);
}

static int export_storage(char **words) {
  return is_file_name(words[1]) ? send_words("export", 2, words)
                                : usage("not a relative name without hidden parts", words[1]);
}

static int run(int argc, char **argv) {
  const char *command = argc >= 2 ? argv[1] : "";

  if (strcmp(command, "present") == 0 && argc == 2) return exit_good;
  if (strcmp(command, "put") == 0 && argc >= 3) return send_files(argv + 2);
  if (strcmp(command, "exit") == 0 && argc == 3)
    return is_exit_code(argv[2]) ? send_line("exit", argv[2])
                                 : usage("not an exit code (0 to 255)", argv[2]);
  if (strcmp(command, "export") == 0 && argc == 4) return export_storage(argv + 2);
  if ((strcmp(command, "inject") == 0 && argc >= 4 && argc <= 7) ||
      (strcmp(command, "hot_plug") == 0 && argc == 4))
    return send_words(command, argc - 2, argv + 2);
  if (strcmp(command, "mark") == 0 && argc == 3)
    return is_mark_name(argv[2]) ? send_line("mark", argv[2])
                                 : usage("not a mark (one word of up to 200 characters)", argv[2]);
  return usage("not a command with its operands", command);
}

int main(int argc, char **argv) {
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(help, stdout);
    return exit_good;
  }
  if (ioperm(CHANNEL_BASE, CHANNEL_SIZE, 1) < 0) {
    fprintf(stderr, "vpctl: I/O ports: %s\n", strerror(errno));
    return exit_absent;
  }
  if (!channel_present(&ports)) {
    fprintf(stderr, "vpctl: no platform to talk to\n");
    return exit_absent;
  }
  return run(argc, argv);
}
