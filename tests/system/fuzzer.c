// SPDX-License-Identifier: Apache-2.0
// A program for the guest: asks the driver for anything, from several threads that share their files and close them
// under one another. Arguments: seed, threads, calls of each. Reports how the calls ended, by errno value; its exit code
// is 1 if a structure at the edge of the memory is not handled as it must be.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/oae.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { page_size = 4096, num_files = 6, num_ports = 4, num_maps = 4, max_threads = 16 };

static const unsigned long requests[] = {
    OAE_IOC_INFO,           OAE_IOC_SWAP,  OAE_IOC_SETTLE, OAE_IOC_STATS,
    OAE_IOC_FIRMWARE_STATS, OAE_IOC_BEGIN, OAE_IOC_WORDS,  OAE_IOC_FATE,
};
enum { num_requests = sizeof(requests) / sizeof(*requests) };
static const uint32_t sizes[num_requests] = {
    sizeof(struct oae_info),  sizeof(struct oae_swap),           sizeof(struct oae_swap),
    sizeof(struct oae_stats), sizeof(struct oae_firmware_stats), sizeof(struct oae_epoch),
    sizeof(struct oae_words), sizeof(struct oae_fate),
};

static atomic_int files[num_files];
static unsigned long calls;
static bool failed;

struct thread {
  pthread_t id;
  uint64_t state;
  unsigned char *edge;      /* the end of the last page that there is */
  unsigned char *read_only; /* a page */
  void *maps[num_maps];     /* of a port, or NULL */
  unsigned long ends[256];  /* how many calls ended with this errno value, 0: well */
  unsigned long mapped, touched, caught;
};

static __thread sigjmp_buf back;

static void go_back(int signal) { siglongjmp(back, signal); }

static uint64_t chance(struct thread *thread) {
  thread->state ^= thread->state << 13;
  thread->state ^= thread->state >> 7;
  thread->state ^= thread->state << 17;
  return thread->state;
}

static unsigned int below(struct thread *thread, unsigned int end) {
  return (unsigned int)(chance(thread) >> 32) % end;
}

/* A number that somebody may have got wrong. */
static uint64_t odd_number(struct thread *thread) {
  static const uint64_t numbers[] = {
      0, 1, 2, 3, 5, 6, 0x7f, 0x80, 0xff, 0x100, 0xfff, 0x1000, 0x2000, 0x3000, 65536, 65537,
      INT32_MAX, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX,
  };
  if (below(thread, 4) == 0) return chance(thread);
  return numbers[below(thread, sizeof(numbers) / sizeof(*numbers))];
}

static unsigned long some_request(struct thread *thread) {
  unsigned long request = requests[below(thread, num_requests)];

  switch (below(thread, 8)) {
    case 0: /* another direction or size */
      return request ^ (chance(thread) & 0xffff0000);
    case 1: /* all numbers of the driver's letter */
      return _IOC(below(thread, 4), OAE_IOC_MAGIC, below(thread, 256), below(thread, 160));
    case 2:
      request = (unsigned long)chance(thread);
      return _IOC_TYPE(request) == 'X' ? 0 : request; /* not to freeze a file system */
    default:
      return request;
  }
}

/* Fills memory with a request that is nearly right, or with anything. */
static void fill(struct thread *thread, unsigned long request, void *memory) {
  struct oae_swap *swap = memory;
  struct oae_fate *fate = memory;
  uint32_t *head = memory;

  for (unsigned int i = 0; i < 20; i++) ((uint64_t *)memory)[i] = chance(thread);
  head[0] = (uint32_t)odd_number(thread);
  for (unsigned int i = 0; i < num_requests; i++)
    if (request == requests[i] && below(thread, 8)) head[0] = sizes[i] + 8 * !below(thread, 8);
  head[1] = below(thread, 8) ? below(thread, 2) : (uint32_t)odd_number(thread);
  if (head[1] == 1 && request != OAE_IOC_SWAP && request != OAE_IOC_SETTLE && request != OAE_IOC_FATE &&
      below(thread, 8))
    head[1] = 0;
  if (request == OAE_IOC_FATE) {
    fate->timeout_ns = below(thread, 2) ? 0 : odd_number(thread) % 100000; /* No port here is joined. */
    fate->sequence = below(thread, 4) ? 1 + below(thread, 16) : (uint32_t)odd_number(thread);
    if (below(thread, 8)) memset(fate->reserved, 0, sizeof(fate->reserved));
  }
  if (request == OAE_IOC_SWAP && below(thread, 4)) {
    swap->verb = below(thread, 8) ? 1 + (uint8_t)below(thread, 5) : (uint8_t)chance(thread);
    swap->form = below(thread, 8) ? (uint8_t)below(thread, 2) : (uint8_t)chance(thread);
    swap->timeout_ns = below(thread, 2) ? 0 : odd_number(thread) % 100000;
    if (below(thread, 2)) swap->offer[0] = odd_number(thread);
  }
}

/* Where the structure of a request is, which there may be none of. */
static void *some_address(struct thread *thread, unsigned long request) {
  static const uintptr_t nowhere[] = {0, 1, 0x7fffffffeff8, 0x7ffffffff000, 0x800000000000,
                                      0xffff800000000000, 0xffff888000001000, 0xffffffff81000000,
                                      UINTPTR_MAX - 63, UINTPTR_MAX};
  unsigned char *memory = thread->edge - 160;
  void *map = thread->maps[below(thread, num_maps)];

  fill(thread, request, memory);
  switch (below(thread, 10)) {
    case 0:
      return (void *)nowhere[below(thread, sizeof(nowhere) / sizeof(*nowhere))];
    case 1: /* over the edge, or not yet */
      return thread->edge - below(thread, 200);
    case 2:
      return thread->read_only + below(thread, page_size);
    case 3: /* the device itself */
      return map ? (unsigned char *)map + (below(thread, page_size) & ~7u) : memory;
    default:
      return memory;
  }
}

static void end(struct thread *thread, long result) {
  thread->ends[result < 0 ? errno & 255 : 0]++;
}

static void map(struct thread *thread, int file) {
  void **slot = &thread->maps[below(thread, num_maps)];
  size_t size = below(thread, 4) ? page_size : odd_number(thread) & 0xffffff;
  off_t offset = below(thread, 4) ? (off_t)below(thread, 4) * page_size : (off_t)odd_number(thread);
  int protection = below(thread, 4) ? PROT_READ | PROT_WRITE : (int)below(thread, 8);
  int flags = below(thread, 4) ? MAP_SHARED : (int)below(thread, 4);
  void *at;

  if (*slot) munmap(*slot, page_size);
  *slot = NULL;
  at = mmap(NULL, size, protection, flags, file, offset);
  end(thread, at == MAP_FAILED ? -1 : 0);
  if (at == MAP_FAILED) return;
  thread->mapped++;
  /* What was let in beyond a page was let in by mistake, or is not of a port. */
  if (size > page_size) munmap(at, size);
  else *slot = at;
}

static void touch(struct thread *thread) {
  void **slot = &thread->maps[below(thread, num_maps)];
  volatile uint64_t *page = *slot;
  void *moved;

  if (!page) return;
  switch (below(thread, 8)) {
    case 0:
      end(thread, madvise(*slot, page_size, (int)below(thread, 26)));
      return;
    case 1:
      end(thread, mprotect(*slot, page_size, (int)below(thread, 8)));
      return;
    case 2:
      moved = mremap(*slot, page_size, below(thread, 3) * page_size, MREMAP_MAYMOVE);
      end(thread, moved == MAP_FAILED ? -1 : 0);
      if (moved != MAP_FAILED) *slot = moved;
      return;
    case 3:
      end(thread, msync(*slot, page_size, MS_SYNC));
      return;
    default:
      if (sigsetjmp(back, 1)) {
        thread->caught++;
        return;
      }
      thread->touched++;
      page += below(thread, 16);
      if (below(thread, 2)) *page = odd_number(thread);
      else (void)*page;
  }
}

static int open_port(struct thread *thread) {
  char path[32];

  snprintf(path, sizeof(path), "/dev/oae0p%u", below(thread, num_ports));
  return open(path, (below(thread, 4) ? O_RDWR : (int)below(thread, 3)) |
                        (below(thread, 4) ? 0 : O_NONBLOCK));
}

/* Another file takes the place of one that others may be using. */
static void replace(struct thread *thread, unsigned int which) {
  int file = atomic_exchange(&files[which], -1);

  if (file >= 0) end(thread, close(file));
  file = open_port(thread);
  end(thread, file);
  if (file >= 0) {
    file = atomic_exchange(&files[which], file);
    if (file >= 0) close(file);
  }
}

static void call(struct thread *thread) {
  unsigned int which = below(thread, num_files);
  int file = atomic_load(&files[which]);
  struct pollfd ready = {.fd = file, .events = (short)chance(thread)};
  unsigned long request;

  switch (below(thread, 32)) {
    case 0:
      replace(thread, which);
      break;
    case 1:
      end(thread, read(file, thread->edge - 64, below(thread, 128)));
      break;
    case 2:
      end(thread, write(file, thread->edge - 64, below(thread, 128)));
      break;
    case 3:
      end(thread, poll(&ready, 1, 0));
      break;
    case 4:
      end(thread, lseek(file, (off_t)odd_number(thread), (int)below(thread, 6)));
      break;
    case 5:
    case 6:
      map(thread, file);
      break;
    case 7:
    case 8:
    case 9:
      touch(thread);
      break;
    default:
      request = some_request(thread);
      end(thread, ioctl(file, request, some_address(thread, request)));
  }
}

/* Three pages: to be written, to be read, none. */
static void prepare(struct thread *thread, uint64_t seed) {
  unsigned char *pages = mmap(NULL, 4 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (pages == MAP_FAILED) exit(2);
  thread->state = seed * 0x9e3779b97f4a7c15 | 1;
  thread->read_only = pages;
  mprotect(pages, page_size, PROT_READ);
  thread->edge = pages + 3 * page_size;
  munmap(thread->edge, page_size);
}

static void *run(void *argument) {
  struct thread *thread = argument;

  for (unsigned long i = 0; i < calls; i++) call(thread);
  for (unsigned int i = 0; i < num_maps; i++)
    if (thread->maps[i]) munmap(thread->maps[i], page_size);
  return NULL;
}

/* A structure that just fits before the edge is taken, and one that does not is not; nothing beside it is written. */
static void try_edges(struct thread *thread) {
  int port = open("/dev/oae0p0", O_RDWR);

  if (port < 0) exit(2);
  for (unsigned int i = 0; i < num_requests; i++) {
    size_t size = sizes[i];

    for (size_t room = 0; room <= size + 1; room++) {
      unsigned char *at = thread->edge - room;
      bool faults;

      memset(thread->edge - 256, 0, 256);
      if (room >= sizeof(uint32_t)) *(uint32_t *)at = (uint32_t)size;
      if (requests[i] == OAE_IOC_SWAP && room >= size) ((struct oae_swap *)at)->verb = OAE_SWAP_VERB_SWAP;
      faults = ioctl(port, requests[i], at) < 0 && errno == EFAULT;
      if (faults != (room < size)) {
        printf("request %u at %zu bytes before the edge: %s\n", i, room, faults ? "faults" : "does not");
        failed = true;
      }
      for (unsigned char *byte = thread->edge - 256; byte < at; byte++) failed |= *byte != 0;
    }
  }
  close(port);
}

int main(int count, char **arguments) {
  static struct thread threads[max_threads];
  unsigned long seed = count > 1 ? strtoul(arguments[1], NULL, 0) : 1;
  unsigned int number = count > 2 ? (unsigned int)atoi(arguments[2]) : 1;
  unsigned long ends[256] = {0}, all = 0, mapped = 0, touched = 0, caught = 0;

  calls = count > 3 ? strtoul(arguments[3], NULL, 0) : 1000;
  if (!number || number > max_threads) return 2;
  signal(SIGSEGV, go_back);
  signal(SIGBUS, go_back);
  for (unsigned int i = 0; i < num_files; i++) atomic_store(&files[i], -1);
  for (unsigned int i = 0; i < number; i++) prepare(&threads[i], seed * max_threads + i + 1);
  try_edges(&threads[0]);
  for (unsigned int i = 0; i < number; i++) pthread_create(&threads[i].id, NULL, run, &threads[i]);
  for (unsigned int i = 0; i < number; i++) {
    pthread_join(threads[i].id, NULL);
    for (unsigned int j = 0; j < 256; j++) ends[j] += threads[i].ends[j];
    mapped += threads[i].mapped;
    touched += threads[i].touched;
    caught += threads[i].caught;
  }
  for (unsigned int i = 0; i < 256; i++) {
    if (ends[i]) printf("%s %lu\n", i ? strerrorname_np((int)i) : "good", ends[i]);
    all += ends[i];
  }
  printf("calls %lu\nmapped %lu\ntouched %lu\ncaught %lu\n", all, mapped, touched, caught);
  return failed;
}
