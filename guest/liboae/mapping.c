// SPDX-License-Identifier: Apache-2.0
/* Swaps of a mapped port: this process runs the driver's own exchange. */
#define _GNU_SOURCE /* ppoll() */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "guest/driver/oae_crc.h"
#include "guest/driver/oae_swap.h"

enum {
  settle_reads = 3, /* how often an answer in doubt is asked for again */
  second = 1000000000,
  look_ns = 10000000, /* how often a wait for a result looks whether that is lost */
};

static const uint64_t absent = ~(uint64_t)0; /* the generation while the pages are away */

struct oae_mapping {
  int fd;
  uint64_t features;
  pthread_mutex_t lock; /* what follows */
  struct oae_exchange exchange;
  struct oae_answer_buffer *buffer;
  uint64_t began; /* the generation of the epoch */
  uint32_t remote; /* the sequence of the last REMOTE of the epoch that is committed, or 0 */
  struct oae_durations times;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t generation(const struct oae_mapping *mapping) {
  return READ_ONCE(mapping->buffer->generation);
}

static int map_page(int fd, off_t offset, void *page) {
  void *at = mmap(NULL, OAE_MAP_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

  if (at == MAP_FAILED) return -errno;
  *(void **)page = at;
  return 0;
}

static void unmap_page(void *page) {
  if (page) munmap(page, OAE_MAP_SIZE);
}

static int begin(struct oae_mapping *mapping) {
  struct oae_epoch epoch = {.size = sizeof(epoch)};

  if (ioctl(mapping->fd, OAE_IOC_BEGIN, &epoch) < 0) return -errno;
  oae_exchange_begin(&mapping->exchange, epoch.epoch, epoch.sequence);
  mapping->began = epoch.generation;
  mapping->remote = 0;
  mapping->exchange.present = epoch.generation;
  return 0;
}

/*
 * The reason why there is no answer: the kernel's error for this device, or -EIO while the kernel does
 * not know of one yet.
 */
static int failure(const struct oae_mapping *mapping) {
  struct oae_info info = {.size = sizeof(info)};

  return ioctl(mapping->fd, OAE_IOC_INFO, &info) < 0 ? -errno : -EIO;
}

int oae_mapping_create(int fd, uint64_t features, struct oae_mapping **mapping) {
  struct oae_mapping *made = calloc(1, sizeof(*made));
  int error;

  if (!made) return -ENOMEM;
  pthread_once(&once, oae_crc_init);
  made->fd = fd;
  made->features = features;
  pthread_mutex_init(&made->lock, NULL);
  error = map_page(fd, OAE_MAP_PORT, &made->exchange.page);
  if (!error) error = map_page(fd, OAE_MAP_ANSWER, &made->buffer);
  if (!error) error = map_page(fd, OAE_MAP_STREAM, &made->exchange.stream);
  /* A device need not have streamed answers. */
  if (error == -EOPNOTSUPP && made->buffer) error = 0;
  if (!error) {
    made->exchange.buffer = made->buffer->slot;
    made->exchange.generation = &made->buffer->generation;
    error = begin(made);
  }
  if (error) {
    oae_mapping_free(made);
    return error;
  }
  *mapping = made;
  return 0;
}

void oae_mapping_free(struct oae_mapping *mapping) {
  if (!mapping) return;
  unmap_page(mapping->exchange.page);
  unmap_page(mapping->exchange.stream);
  unmap_page(mapping->buffer);
  pthread_mutex_destroy(&mapping->lock);
  free(mapping);
}

/* Remembers the swap if it was a REMOTE. */
static void note_remote(struct oae_mapping *mapping, enum oae_outcome outcome) {
  if (outcome == OAE_COMMITTED && mapping->exchange.verb == OAE_SWAP_VERB_REMOTE)
    mapping->remote = mapping->exchange.sequence;
}

/* Whether the last REMOTE is lost, as far as the device and the driver tell. */
static bool remote_is_lost(const struct oae_mapping *mapping) {
  struct oae_fate fate = {.size = sizeof(fate),
                          .sequence = mapping->remote,
                          .epoch = mapping->exchange.epoch};

  return OAE_GET(mapping->features, OAE_HOST_FEATURES_FATES) && mapping->remote &&
         ioctl(mapping->fd, OAE_IOC_FATE, &fate) == 0 && fate.fate == OAE_FATE_LOST;
}

/*
 * Makes one try. 1: nothing was exchanged, and the caller may wait for an offer of the firmware, or for
 * a result.
 */
static int try_swap(struct oae_mapping *mapping, struct oae_swap *swap) {
  struct oae_exchange *exchange = &mapping->exchange;
  struct oae_answer answer;
  enum oae_outcome outcome;
  int error = 0;

  if (exchange->doubt) return failure(mapping);
  if (generation(mapping) != mapping->began) error = begin(mapping);
  if (error) return error;
  outcome = oae_exchange_swap(exchange, swap->form, swap->verb, (u8)swap->flags,
                              (const u64 *)swap->offer, settle_reads, &answer);
  WRITE_ONCE(mapping->buffer->confirmation, exchange->confirmation);
  if (outcome == OAE_IN_DOUBT) return failure(mapping);
  note_remote(mapping, outcome);
  swap->tries++;
  mapping->times = oae_swap_durations(&answer);
  oae_swap_fill(swap, &answer);
  if (outcome != OAE_NOT_TAKEN || swap->status != OAE_SWAP_STATUS_NOT_READY) return 0;
  return swap->verb == OAE_SWAP_VERB_RESULT && remote_is_lost(mapping) ? -EREMOTEIO : 1;
}

/*
 * Waits until an offer of the firmware (POLLIN) or a result (POLLPRI) stands (0) or the deadline has
 * passed (-ETIME). Returns 0 earlier if the result may be lost, since only this process knows which one it is.
 */
static int wait_for(struct oae_mapping *mapping, short what, uint64_t deadline) {
  struct pollfd file = {.fd = mapping->fd, .events = what};
  uint64_t now = ktime_get_ns();
  struct timespec left;
  bool looks = what == POLLPRI && OAE_GET(mapping->features, OAE_HOST_FEATURES_FATES);
  int ready;

  if (now >= deadline || fcntl(mapping->fd, F_GETFL) & O_NONBLOCK) return -ETIME;
  looks = looks && deadline - now > look_ns;
  if (looks) deadline = now + look_ns;
  left.tv_sec = (time_t)((deadline - now) / second);
  left.tv_nsec = (long)((deadline - now) % second);
  ready = ppoll(&file, 1, &left, NULL);
  if (ready < 0) return -errno;
  if (!ready) return looks ? 0 : -ETIME;
  return file.revents & what ? 0 : failure(mapping);
}

int oae_mapping_swap(struct oae_mapping *mapping, struct oae_swap *swap) {
  int result = oae_swap_check(swap, &mapping->exchange, mapping->features);
  uint64_t deadline = 0;

  if (result) return result;
  swap->tries = 0;
  swap->reads = 0;
  if (swap->timeout_ns)
    deadline =
        ktime_get_ns() + (swap->timeout_ns < INT64_MAX / 2 ? swap->timeout_ns : INT64_MAX / 2);
  do {
    pthread_mutex_lock(&mapping->lock);
    result = try_swap(mapping, swap);
    pthread_mutex_unlock(&mapping->lock);
    if (result == 1) {
      result = wait_for(mapping, swap->verb == OAE_SWAP_VERB_RESULT ? POLLPRI : POLLIN,
                        deadline);
      if (!result) result = 1;
    }
  } while (result == 1);
  return result == -ETIME ? 0 : result;
}

static int settle(struct oae_mapping *mapping, struct oae_swap *swap) {
  struct oae_exchange *exchange = &mapping->exchange;
  struct oae_answer answer;
  enum oae_outcome outcome;

  if (swap->flags & ~(unsigned int)OAE_SETTLE_REVERSE) return -EINVAL;
  if (!exchange->doubt) return -ENODATA;
  /* Pages of a later generation still answer for this epoch until another one begins. */
  exchange->present = generation(mapping);
  if (exchange->present == absent) return failure(mapping);
  if (swap->flags & OAE_SETTLE_REVERSE) oae_exchange_reverse(exchange);
  oae_swap_recall(swap, exchange);
  outcome = oae_exchange_settle(exchange, settle_reads, &answer);
  if (outcome == OAE_IN_DOUBT) return failure(mapping);
  note_remote(mapping, outcome);
  WRITE_ONCE(mapping->buffer->confirmation, exchange->confirmation);
  mapping->times = oae_swap_durations(&answer);
  oae_swap_fill(swap, &answer);
  return 0;
}

int oae_mapping_settle(struct oae_mapping *mapping, struct oae_swap *swap) {
  int result;

  pthread_mutex_lock(&mapping->lock);
  result = settle(mapping, swap);
  pthread_mutex_unlock(&mapping->lock);
  return result;
}

void oae_mapping_times(struct oae_mapping *mapping, struct oae_times *times) {
  pthread_mutex_lock(&mapping->lock);
  times->store_ns = mapping->times.store_ns;
  times->read_ns = mapping->times.read_ns;
  times->commit_ns = mapping->times.commit_ns;
  pthread_mutex_unlock(&mapping->lock);
}
