// SPDX-License-Identifier: Apache-2.0
// A program for the guest: asks the driver for something whose answer goes to a page that nobody ever serves
// (userfaultfd), and stays in that request until it is killed. Arguments: the port's file, the request. Creates the file
// /tmp/stalled once it hangs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/oae.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { page_size = 4096 };

static void check(const char* what, int good) {
  if (good) return;
  perror(what);
  exit(1);
}

/* A page that may be read, but whose first write waits for a server that never serves it. */
static void* stalling_page(int* faults) {
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP};
  struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_WP};
  struct uffdio_writeprotect protection = {.mode = UFFDIO_WRITEPROTECT_MODE_WP};
  void* page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  check("mmap", page != MAP_FAILED);
  memset(page, 0, page_size);
  *faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  check("userfaultfd", *faults >= 0);
  check("its interface", ioctl(*faults, UFFDIO_API, &api) == 0);
  range.range = protection.range =
      (struct uffdio_range){.start = (unsigned long)page, .len = page_size};
  check("its range", ioctl(*faults, UFFDIO_REGISTER, &range) == 0);
  return page;
}

static void protect(int faults, void* page) {
  struct uffdio_writeprotect protection = {
      .range = {.start = (unsigned long)page, .len = page_size},
      .mode = UFFDIO_WRITEPROTECT_MODE_WP,
  };

  check("write protection", ioctl(faults, UFFDIO_WRITEPROTECT, &protection) == 0);
}

static void* wait_for_fault(void* argument) {
  struct uffd_msg message;

  check("a fault", read(*(int*)argument, &message, sizeof(message)) == sizeof(message));
  close(open("/tmp/stalled", O_CREAT | O_WRONLY, 0600));
  return NULL;
}

static const struct {
  const char* name;
  unsigned long code;
  __u32 size;
} requests[] = {
    {"info", OAE_IOC_INFO, sizeof(struct oae_info)},
    {"swap", OAE_IOC_SWAP, sizeof(struct oae_swap)},
    {"stats", OAE_IOC_STATS, sizeof(struct oae_stats)},
    {"firmware_stats", OAE_IOC_FIRMWARE_STATS, sizeof(struct oae_firmware_stats)},
    {"begin", OAE_IOC_BEGIN, sizeof(struct oae_epoch)},
    {"words", OAE_IOC_WORDS, sizeof(struct oae_words)},
    {"settle", OAE_IOC_SETTLE, sizeof(struct oae_swap)},
};

int main(int count, char** arguments) {
  struct oae_swap swap = {
      .size = sizeof(swap), .verb = OAE_SWAP_VERB_SWAP, .timeout_ns = 1000000000};
  unsigned long code = 0;
  int port, faults;
  __u32 size = 0;
  pthread_t thread;
  void* page;

  if (count != 3) return 2;
  for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
    if (!strcmp(arguments[2], requests[i].name)) {
      code = requests[i].code;
      size = requests[i].size;
    }
  port = open(arguments[1], O_RDWR);
  check(arguments[1], port >= 0);
  page = stalling_page(&faults);
  /* Something to settle: the caller has injected a loss, so that this swap stays in doubt. */
  if (code == OAE_IOC_SETTLE) check("a doubt", ioctl(port, OAE_IOC_SWAP, &swap) < 0);
  *(struct oae_swap*)page = (struct oae_swap){.timeout_ns = 1000000000};
  if (code == OAE_IOC_SWAP) ((struct oae_swap*)page)->verb = OAE_SWAP_VERB_SWAP;
  *(__u32*)page = size;
  protect(faults, page);
  check("pthread_create", pthread_create(&thread, NULL, wait_for_fault, &faults) == 0);
  ioctl(port, code, page);
  fprintf(stderr, "%s returned\n", arguments[2]);
  return 1;
}
