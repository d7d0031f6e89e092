// SPDX-License-Identifier: Apache-2.0
// A program for the guest: maps a port into itself, and asks for what must be refused. Argument:
// what to do, see main(). Reports what is not as it must be; its exit code is 1 then.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "guest/driver/oae_crc.h"
#include "guest/liboae/oae.h"
#include "oae_registers.h"

static const char path[] = "/dev/oae0p1";
static const off_t pages[] = {OAE_MAP_PORT, OAE_MAP_STREAM, OAE_MAP_ANSWER};

static struct oae_swap a_swap(void) {
  return (struct oae_swap){.size = sizeof(struct oae_swap), .verb = OAE_SWAP_VERB_SWAP, .timeout_ns = 1000000000};
}

/* 0 or the errno value of a mapping, which is taken back. */
static int mapped(int port, off_t offset, size_t size, int protection, int flags) {
  void* page = mmap(NULL, size, protection, flags, port, offset);

  if (page == MAP_FAILED) return errno;
  munmap(page, size);
  return 0;
}

static void* map(int port, off_t offset) {
  void* page = mmap(NULL, OAE_MAP_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, port, offset);

  expect("a mapping", page == MAP_FAILED, false);
  return page;
}

/* The signal that ends a child which does this, or minus its exit code. */
static int child(int (*act)(int port, void* page), int port, void* page) {
  pid_t pid = fork();
  int status;

  if (!pid) _exit(act(port, page));
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static int touch(int port, void* page) {
  (void)port;
  return (int)(*(volatile uint64_t*)page & 1);
}

static sigjmp_buf back;

static void go_back(int signal) {
  siglongjmp(back, signal);
}

/* The signal that a store ends with, or 0. */
static int store(void* page) {
  int caught;

  signal(SIGSEGV, go_back);
  caught = sigsetjmp(back, 1);
  if (!caught) *(volatile uint64_t*)page = 0;
  signal(SIGSEGV, SIG_DFL);
  return caught;
}

/* In the child: it has the file, but the port is its parent's. */
static int map_too(int port, void* page) {
  struct oae_swap swap = a_swap();

  (void)page;
  for (size_t i = 0; i < 3; i++)
    expect("a child's mapping", mapped(port, pages[i], OAE_MAP_SIZE, PROT_READ, MAP_SHARED), EBUSY);
  expect("a child's swap", asked(port, OAE_IOC_SWAP, &swap), EBUSY);
  fflush(stdout);
  return failed;
}

static void refuse_places(int port) {
  static const off_t wrong[] = {OAE_MAP_ANSWER + OAE_MAP_SIZE, 0x10000, 0x7ffffffff000, -0x1000};
  const int both = PROT_READ | PROT_WRITE;

  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
    expect("no such page", mapped(port, wrong[i], OAE_MAP_SIZE, both, MAP_SHARED) != 0, true);
  expect("between pages", mapped(port, 0x800, OAE_MAP_SIZE, both, MAP_SHARED), EINVAL);
  for (size_t i = 0; i < 3; i++) {
    for (size_t size = 2; size <= 4; size++)
      expect("several pages", mapped(port, pages[i], size * OAE_MAP_SIZE, both, MAP_SHARED),
             EINVAL);
    expect("a private one", mapped(port, pages[i], OAE_MAP_SIZE, both, MAP_PRIVATE), EINVAL);
    expect("one to be executed",
           mapped(port, pages[i], OAE_MAP_SIZE, PROT_READ | PROT_EXEC, MAP_SHARED), EACCES);
    /* A part of a page is the page. */
    expect("a part of a page", mapped(port, pages[i], 64, both, MAP_SHARED), 0);
    expect("one to be read", mapped(port, pages[i], OAE_MAP_SIZE, PROT_READ, MAP_SHARED), 0);
  }
}

/* What the kernel does while the port is mapped. */
static void refuse_requests(int port, void* page) {
  struct oae_swap swap = a_swap();
  struct oae_firmware_stats firmware = {.size = sizeof(firmware)};
  struct oae_stats stats = {.size = sizeof(stats)};
  struct oae_info info = {.size = sizeof(info)}, *answer = (struct oae_info*)((char*)page + 0x800);
  struct oae_epoch epoch = {.size = sizeof(epoch)};
  int error;

  expect("a swap", asked(port, OAE_IOC_SWAP, &swap), EBUSY);
  expect("a settlement", asked(port, OAE_IOC_SETTLE, &swap), EBUSY);
  swap.flags = OAE_SETTLE_REVERSE;
  expect("a reversal", asked(port, OAE_IOC_SETTLE, &swap), EBUSY);
  expect("info", asked(port, OAE_IOC_INFO, &info), 0);
  expect("stats", asked(port, OAE_IOC_STATS, &stats), 0);
  expect("the firmware's stats", asked(port, OAE_IOC_FIRMWARE_STATS, &firmware), 0);
  expect("an epoch", asked(port, OAE_IOC_BEGIN, &epoch), 0);
  expect("it is the next", epoch.epoch, (uint8_t)(stats.epoch + 1));
  expect("its sequence", epoch.sequence, 0);
  expect("no address", asked(port, OAE_IOC_BEGIN, NULL), EFAULT);
  /* A request whose structure is in the device itself, where nothing is kept. */
  answer->size = sizeof(info);
  answer->flags = 0;
  error = asked(port, OAE_IOC_INFO, answer);
  expect("info in the page", error != 0, *(volatile __u32*)&answer->size != sizeof(info));
}

static void refuse_access(int port, void* page, off_t offset) {
  struct iovec remote = {.iov_base = page, .iov_len = 8}, local;
  uint64_t word;
  void *read_only = mmap(NULL, OAE_MAP_SIZE, PROT_READ, MAP_SHARED, port, offset), *moved;

  local = (struct iovec){.iov_base = &word, .iov_len = sizeof(word)};
  expect("to write what is to be read", store(read_only), SIGSEGV);
  munmap(read_only, OAE_MAP_SIZE);
  expect("to execute it", mprotect(page, OAE_MAP_SIZE, PROT_READ | PROT_EXEC), -1);
  expect("as a debugger reads", process_vm_readv(getpid(), &local, 1, &remote, 1, 0), -1);
  expect("to grow", mremap(page, OAE_MAP_SIZE, 2 * OAE_MAP_SIZE, MREMAP_MAYMOVE) == MAP_FAILED,
         true);
  expect("a twin", mremap(page, 0, OAE_MAP_SIZE, MREMAP_MAYMOVE) == MAP_FAILED, true);
  moved = mmap(NULL, OAE_MAP_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect("to move",
         mremap(page, OAE_MAP_SIZE, OAE_MAP_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == moved,
         true);
  touch(port, moved);
  expect("what a child has of it", child(touch, port, moved), SIGSEGV);
  expect("what a child may do", child(map_too, port, moved), 0);
  munmap(moved, OAE_MAP_SIZE);
}

static void refuse(void) {
  int port = open(path, O_RDWR), reader;
  struct oae_swap swap = a_swap();

  expect("an open", port >= 0, true);
  refuse_places(port);
  for (size_t i = 0; i < 3; i++) {
    void* page = map(port, pages[i]);

    refuse_requests(port, page);
    refuse_access(port, page, pages[i]);
    for (unsigned int j = 1; j <= 3; j++) {
      swap = a_swap();
      expect("a swap of the kernel behind it", asked(port, OAE_IOC_SWAP, &swap), 0);
      expect("its status", swap.status, OAE_SWAP_STATUS_OK);
      expect("its sequence", swap.sequence, j);
    }
  }
  close(port);
  reader = open(path, O_RDONLY);
  expect("to write what is open to be read",
         mapped(reader, OAE_MAP_ANSWER, OAE_MAP_SIZE, PROT_WRITE, MAP_SHARED), EACCES);
  close(reader);
}

/* Swaps once by the library, and checks the swap's sequence and the firmware's word. */
static void swap_once(struct oae_port* port, uint32_t sequence, uint8_t form, uint8_t flags) {
  struct oae_swap swap = a_swap();

  swap.form = form;
  swap.flags = flags;
  expect("swap", oae_port_swap(port, &swap), 0);
  expect("status", swap.status, OAE_SWAP_STATUS_OK);
  expect("sequence", swap.sequence, sequence);
  expect("the firmware's sequence", (long)swap.answer[1], sequence);
}

static uint64_t committed(struct oae_port* port) {
  struct oae_stats stats;

  expect("stats", oae_port_stats(port, &stats), 0);
  return stats.committed;
}

static struct oae_port* open_port(void) {
  struct oae_port* port = NULL;

  expect("open", oae_port_open(path, &port), 0);
  return port;
}

/* By turns: both forms, confirmed at once or by the next, mapped or through the kernel. */
static void take_turns(void) {
  struct oae_port* port = open_port();
  uint64_t before = committed(port);
  struct oae_swap swap = a_swap();

  for (unsigned int round = 0; round < 6; round++) {
    if (round % 2) expect("map", oae_port_map(port), 0);
    expect("nothing is in doubt", oae_port_settle(port, &swap), -ENODATA);
    for (uint32_t i = 1; i <= 20; i++)
      swap_once(port, i, i % 3 ? OAE_SWAP_FORM_STREAMED : OAE_SWAP_FORM_PUSHED,
                i % 4 ? OAE_SWAP_FLAG_MORE : 0);
    if (round % 2) {
      swap.verb = 99;
      expect("no verb", oae_port_swap(port, &swap), -EINVAL);
      swap = a_swap();
      swap.flags = 0x80000000;
      expect("a flag that is not known", oae_port_swap(port, &swap), -EINVAL);
      expect("map again", oae_port_map(port), 0);
      oae_port_unmap(port);
      oae_port_unmap(port);
      swap = a_swap();
    } else {
      struct oae_epoch epoch = {.size = sizeof(epoch)};

      expect("an epoch of the kernel's", asked(oae_port_fd(port), OAE_IOC_BEGIN, &epoch), 0);
    }
  }
  expect("committed", (long)(committed(port) - before), 6 * 20);
  oae_port_close(port);
}

/* Words left unconfirmed: the kernel confirms them when it is asked, or the next owner's open does.
 */
static void leave_unconfirmed(void) {
  struct oae_port* port = open_port();
  uint64_t before = committed(port);

  expect("map", oae_port_map(port), 0);
  for (uint8_t form = OAE_SWAP_FORM_PUSHED; form <= OAE_SWAP_FORM_STREAMED; form++) {
    swap_once(port, form + 1, form, OAE_SWAP_FLAG_MORE);
    usleep(10000);
    expect("confirmed by the kernel", (long)(committed(port) - before), form + 1);
  }
  oae_port_unmap(port);
  oae_port_close(port);
}

/* Is killed with a swap that the block has exchanged and nobody has confirmed. */
static void die(uint8_t form) {
  struct oae_port* port = open_port();

  expect("map", oae_port_map(port), 0);
  swap_once(port, 1, form, OAE_SWAP_FLAG_MORE);
  if (!failed) raise(SIGKILL);
}

/* A port's pages, and what is stored there by hand. */
struct pages {
  struct oae_port* port;
  volatile uint64_t *pushed, *streamed;
  uint8_t epoch;
};

static struct pages open_pages(void) {
  struct pages pages = {.port = open_port()};
  struct oae_epoch epoch = {.size = sizeof(epoch)};
  int file = oae_port_fd(pages.port);

  oae_crc_init();
  pages.pushed = map(file, OAE_MAP_PORT);
  pages.streamed = map(file, OAE_MAP_STREAM);
  expect("an epoch", asked(file, OAE_IOC_BEGIN, &epoch), 0);
  pages.epoch = epoch.epoch;
  return pages;
}

/* Stores the slices of a mask, and reads what slice 0 of the answer says. */
static uint64_t ask(struct pages* pages, uint8_t form, const __u64* slot, unsigned int slices) {
  volatile uint64_t* page = form == OAE_SWAP_FORM_PUSHED ? pages->pushed : pages->streamed;

  for (unsigned int i = 0; i < 8; i++)
    if (slices >> i & 1) page[i] = slot[i];
  __sync_synchronize();
  return form == OAE_SWAP_FORM_PUSHED ? page[OAE_PORT_PUSHED_ANSWER / 8] : page[0];
}

struct slot {
  const char* what;
  uint64_t header_flips, crc_flips; /* what is wrong with it */
  unsigned int slices;
};

static void make_slot(const struct pages* pages, const struct slot* how, __u64 slot[8]) {
  slot[0] = OAE_PUT(OAE_SLOT_HEADER_VERB, OAE_VERB_SWAP) |
            OAE_PUT(OAE_SLOT_HEADER_EPOCH, pages->epoch) | OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, 1);
  slot[0] ^= how->header_flips;
  for (unsigned int i = 1; i < 7; i++) slot[i] = i;
  slot[7] = oae_crc(slot) ^ how->crc_flips;
}

/* What is not an offer is answered, and changes nothing. */
static void offer_badly(uint8_t form) {
  struct slot hows[64 + 64 + 8] = {{"all slices but those of the CRC", 0, 0, 0x7f}};
  unsigned int count = 1;
  struct pages pages = open_pages();
  struct oae_firmware_stats firmware, firmware_before;
  struct oae_stats stats, before;
  __u64 slot[8], header;

  /* Each bit of the header but those of the attempt, with a CRC that holds: verb, epoch, status,
   * sequence. */
  for (unsigned int bit = 0; bit < 64; bit++)
    if (~(OAE_SLOT_HEADER_FLAGS_MASK | OAE_SLOT_HEADER_ATTEMPT_MASK) >> bit & 1)
      hows[count++] = (struct slot){"a bit of the header", UINT64_C(1) << bit, 0, 0xff};
  for (unsigned int bit = 0; bit < 64; bit += 7)
    hows[count++] = (struct slot){"a bit of the CRC", 0, UINT64_C(1) << bit, 0xff};
  for (unsigned int slice = 0; slice < 7; slice++)
    hows[count++] = (struct slot){"a slice is missing", 0, 0, 0xff & ~(1u << slice)};
  expect("stats", oae_port_stats(pages.port, &before), 0);
  expect("firmware stats", oae_port_firmware_stats(pages.port, &firmware_before), 0);
  for (unsigned int i = 0; i < count; i++) {
    make_slot(&pages, &hows[i], slot);
    /* Another verb is a verb: of words that are nobody's, which does no harm, or none. */
    if (OAE_GET(slot[0], OAE_SLOT_HEADER_VERB) == OAE_VERB_SEND ||
        OAE_GET(slot[0], OAE_SLOT_HEADER_VERB) == OAE_VERB_FETCH_ADD)
      continue;
    header = ask(&pages, form, slot, hows[i].slices);
    if (header == UINT64_MAX || OAE_GET(header, OAE_SLOT_HEADER_STATUS) == OAE_STATUS_OK) {
      printf("%u: ", i);
      expect(hows[i].what, (long)header, 0);
    }
  }
  expect("stats", oae_port_stats(pages.port, &stats), 0);
  expect("firmware stats", oae_port_firmware_stats(pages.port, &firmware), 0);
  expect("committed", (long)(stats.committed - before.committed), 0);
  expect("exchanged", (long)(firmware.exchanged - firmware_before.exchanged), 0);
  expect("the sequence", stats.sequence, 0);
  expect("some are rejected", stats.rejected > before.rejected, true);
  /* The port is as it was. */
  make_slot(&pages, &(struct slot){.slices = 0xff}, slot);
  slot[0] |= OAE_PUT(OAE_SLOT_HEADER_ATTEMPT, 1);
  slot[7] = oae_crc(slot);
  header = ask(&pages, form, slot, 0xff);
  expect("an offer", (long)OAE_GET(header, OAE_SLOT_HEADER_STATUS), OAE_STATUS_OK);
  expect("its sequence", (long)OAE_GET(header, OAE_SLOT_HEADER_SEQUENCE), 1);
  oae_port_close(pages.port);
}

/* Offers, reads, and is killed before it looks at the answer. */
static void die_in_doubt(void) {
  struct pages pages = open_pages();
  __u64 slot[8];

  make_slot(&pages, &(struct slot){.slices = 0xff}, slot);
  ask(&pages, OAE_SWAP_FORM_PUSHED, slot, 0xff);
  if (!failed) raise(SIGKILL);
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";

  if (!strcmp(what, "refuse"))
    refuse();
  else if (!strcmp(what, "turns"))
    take_turns();
  else if (!strcmp(what, "unconfirmed"))
    leave_unconfirmed();
  else if (!strcmp(what, "die_pushed"))
    die(OAE_SWAP_FORM_PUSHED);
  else if (!strcmp(what, "die_streamed"))
    die(OAE_SWAP_FORM_STREAMED);
  else if (!strcmp(what, "die_in_doubt"))
    die_in_doubt();
  else if (!strcmp(what, "bad_pushed"))
    offer_badly(OAE_SWAP_FORM_PUSHED);
  else if (!strcmp(what, "bad_streamed"))
    offer_badly(OAE_SWAP_FORM_STREAMED);
  else
    return 2;
  if (!failed) printf("all is as it must be\n");
  return failed;
}
