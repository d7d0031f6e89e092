// SPDX-License-Identifier: Apache-2.0
// A program for the guest: owners of ports that die, or that give the driver addresses which it
// cannot use. Argument: what to do, see main(). Prints what is not as it must be; its exit code is
// 1 then.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"
#include "guest/driver/oae_check.h"
#include "guest/driver/oae_crc.h"
#include "guest/liboae/oae.h"
#include "oae_registers.h"

enum { words = 4 };

static const char path[] = "/dev/oae0p1"; /* the port whose owners die */
static const char reset_file[] = "/sys/bus/pci/devices/0000:01:00.0/reset";
static const char state_file[] = "/sys/class/oae/oae0p1/statistics/state";

static uint64_t now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_ns(uint64_t ns) {
  uint64_t end = now_ns() + ns;

  while (now_ns() < end) continue;
}

static void write_text(const char* file, const char* text) {
  int opened = open(file, O_WRONLY);

  expect(file, write(opened, text, strlen(text)) == (ssize_t)strlen(text), true);
  close(opened);
}

/* The state of the port in the block, as sysfs shows it to everybody. */
static const char* hardware_state(void) {
  static char text[32];
  int file = open(state_file, O_RDONLY);
  ssize_t length = read(file, text, sizeof(text) - 1);

  close(file);
  text[length > 0 ? length : 0] = 0;
  text[strcspn(text, "\n")] = 0;
  return text;
}

static struct oae_port* open_port(unsigned int number) {
  struct oae_port* port = NULL;
  char name[32];

  oae_port_path(0, number, name, sizeof(name));
  expect(name, oae_port_open(name, &port), 0);
  if (!port) exit(1);
  return port;
}

/* Nobody has port 1 open: it is closed in the hardware, and all words are free for port 2. */
static void check_nothing_is_held(const char* when) {
  bool closed = !strcmp(hardware_state(), "closed");
  struct oae_port* other = open_port(2);

  if (!closed) {
    printf("%s: the port is %s\n", when, hardware_state());
    failed = true;
  }
  for (unsigned int word = 0; word < words; word++)
    expect(when, oae_port_fetch_add(other, word, 0, NULL), 0);
  oae_port_close(other);
}

static struct oae_swap a_swap(uint8_t verb) {
  struct oae_swap swap = {.size = sizeof(swap), .timeout_ns = 1000000000};
  const struct oae_step steps[] = {
      {.operation = OAE_STEP_ADD, .word = 0, .operand = 1},
      {.operation = OAE_STEP_WRITE, .word = 1, .operand = 2},
      {.operation = OAE_STEP_READ, .word = 2},
      {.operation = OAE_STEP_ADD, .word = 3, .operand = 4},
  };
  const struct oae_step exchange[] = {{.operation = OAE_STEP_COMPARE, .word = 0},
                                      {.operation = OAE_STEP_WRITE, .word = 0}};

  if (verb == OAE_SWAP_VERB_CAS) oae_swap_set_steps(&swap, exchange, 2);
  if (verb == OAE_SWAP_VERB_FETCH_ADD) oae_swap_set_steps(&swap, steps, 1);
  if (verb == OAE_SWAP_VERB_MULTI) oae_swap_set_steps(&swap, steps, 4);
  swap.verb = verb;
  return swap;
}

/* CAS has to hold, or it changes nothing and holds nothing. */
static void expect_current(struct oae_swap* swap) {
  struct oae_port* port = open_port(3);

  if (swap->verb == OAE_SWAP_VERB_CAS) {
    oae_port_fetch_add(port, 0, 0, (uint64_t*)&swap->offer[1]);
    swap->offer[2] = swap->offer[1] + 1;
  }
  oae_port_close(port);
}

static volatile uint64_t* map_page(int port, off_t offset) {
  volatile uint64_t* page =
      mmap(NULL, OAE_MAP_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, port, offset);

  expect("a mapping", page == MAP_FAILED, false);
  return page;
}

/* How many steps a swap in a mapped port has: it opens, maps, stores, reads, and confirms. */
enum { step_opened, step_begun = step_opened + 1, step_read = step_begun + 9, num_steps };

/* Does a swap by hand, and is killed after so many of its steps. */
static void die_mapped(struct oae_swap swap, uint8_t form, unsigned int steps) {
  struct oae_port* opened = open_port(1);
  int port = oae_port_fd(opened);
  volatile uint64_t *page, *confirm;
  struct oae_epoch epoch = {.size = sizeof(epoch)};
  __u64 slot[8];

  if (steps == step_opened) raise(SIGKILL);
  confirm = map_page(port, OAE_MAP_PORT);
  page = form == OAE_SWAP_FORM_PUSHED ? confirm : map_page(port, OAE_MAP_STREAM);
  expect("an epoch", asked(port, OAE_IOC_BEGIN, &epoch), 0);
  slot[0] = OAE_PUT(OAE_SLOT_HEADER_VERB, swap.verb) | OAE_PUT(OAE_SLOT_HEADER_EPOCH, epoch.epoch) |
            OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, 1);
  memcpy(&slot[1], swap.offer, sizeof(swap.offer));
  oae_crc_init();
  slot[7] = oae_crc(slot);
  for (unsigned int i = 0; i < 8 && steps > step_begun + i; i++) page[i] = slot[i];
  __sync_synchronize();
  if (steps >= step_read) (void)page[form == OAE_SWAP_FORM_PUSHED ? OAE_PORT_PUSHED_ANSWER / 8 : 0];
  if (steps > step_read)
    confirm[OAE_PORT_CONFIRM / 8] =
        oae_checked(OAE_PORT_CONFIRM, OAE_PUT(OAE_PORT_CONFIRM_EPOCH, epoch.epoch) |
                                          OAE_PUT(OAE_PORT_CONFIRM_SEQUENCE, 1));
  raise(SIGKILL);
}

static void await(pid_t child) {
  int status;

  expect("a child", waitpid(child, &status, 0), child);
  expect("is killed", WIFSIGNALED(status) ? WTERMSIG(status) : -status, SIGKILL);
}

/* Owners of a mapped port die at each step of each verb, in both forms. */
static void die_at_each_step(void) {
  for (uint8_t verb = OAE_SWAP_VERB_SWAP; verb <= OAE_SWAP_VERB_SEND; verb++)
    for (uint8_t form = OAE_SWAP_FORM_PUSHED; form <= OAE_SWAP_FORM_STREAMED; form++)
      for (unsigned int steps = 0; steps <= num_steps; steps++) {
        struct oae_swap swap = a_swap(verb);
        char when[64];
        pid_t child;

        expect_current(&swap);
        child = fork();
        if (!child) die_mapped(swap, form, steps);
        await(child);
        snprintf(when, sizeof(when), "verb %u, form %u, step %u", verb, form, steps);
        check_nothing_is_held(when);
      }
}

/* Swaps without end, through the kernel or in a mapped port. */
static void swap_on(bool mapped) {
  struct oae_port* port = open_port(1);

  if (mapped) expect("map", oae_port_map(port), 0);
  for (unsigned int i = 0;; i++) {
    struct oae_swap swap = a_swap((uint8_t)(OAE_SWAP_VERB_SWAP + i % 5));

    swap.form = (uint8_t)(i / 5 % 2);
    if (i % 3) swap.flags = OAE_SWAP_FLAG_MORE;
    if (swap.verb == OAE_SWAP_VERB_SWAP) swap.timeout_ns = 10000;
    oae_port_swap(port, &swap);
  }
}

/* Owners that swap on are killed at moments of their own, 731 ns apart from one to the next. */
static void die_at_any_time(void) {
  for (unsigned int i = 0; i < 80; i++) {
    pid_t child = fork();
    char when[64];

    if (!child) swap_on(i % 2);
    usleep(2000);
    wait_ns(i * 731);
    kill(child, SIGKILL);
    await(child);
    snprintf(when, sizeof(when), "killed at moment %u", i);
    check_nothing_is_held(when);
  }
}

/* Owners are killed while the device is being reset. */
static void die_in_resets(void) {
  enum { moments = 16 };
  uint64_t begin = now_ns(), length;

  write_text(reset_file, "1");
  length = now_ns() - begin;
  for (unsigned int i = 0; i <= moments; i++) {
    struct oae_swap swap = a_swap(OAE_SWAP_VERB_FETCH_ADD);
    pid_t owner = fork(), resetter;
    char when[64];
    int status;

    if (!owner) {
      if (i % 2) swap_on(i % 4 == 1);
      /* Waits with a swap that it does not confirm. */
      die_mapped(swap, OAE_SWAP_FORM_PUSHED, i % 4 ? step_read : step_opened);
    }
    if (i % 2 == 0) await(owner);
    usleep(2000);
    begin = now_ns();
    resetter = fork();
    if (!resetter) {
      write_text(reset_file, "1");
      _exit(failed);
    }
    wait_ns(i * length / moments);
    if (i % 2) {
      kill(owner, SIGKILL);
      await(owner);
    }
    waitpid(resetter, &status, 0);
    snprintf(when, sizeof(when), "killed %u/%u into a reset", i, moments);
    check_nothing_is_held(when);
  }
}

/* Closes a port in the middle of a reset: the hardware must be closed once the reset is over. */
static void close_frozen(void) {
  struct oae_port* port = open_port(1);
  pid_t resetter = fork();
  int status;

  if (!resetter) {
    close(oae_port_fd(port)); /* or the port would be open for as long as this process lives */
    write_text(reset_file, "1");
    _exit(failed);
  }
  usleep(20000);
  expect("the device is frozen", oae_port_info(port, &(struct oae_info){0}), -EIO);
  oae_port_close(port);
  waitpid(resetter, &status, 0);
  expect("the reset", status, 0);
  expect("closed in the hardware", strcmp(hardware_state(), "closed"), 0);
}

/* The link loses the next write to the device. */
static void lose_a_write(void) {
  expect("vpctl", system("vpctl inject host_ipu.down malformed_tlp MWr 1"), 0);
}

/*
 * A swap of the kernel's that stays in doubt, since its answer is lost, and then the owner's death.
 * The owner may have asked for its reversal, and the demands for that may be lost, too.
 */
static void die_in_doubt(uint8_t verb, bool reverse, bool lose_demands) {
  struct oae_swap swap = a_swap(verb);
  struct oae_port* port = open_port(1);

  expect("doubt", oae_port_swap(port, &swap), -EIO);
  if (lose_demands) lose_a_write();
  if (reverse) expect("in doubt as before", oae_port_reverse(port, &swap), -EIO);
  if (lose_demands) lose_a_write();
  if (!failed) raise(SIGKILL);
}

/* Nothing has been added to the first word. */
static void expect_nothing_added(void) {
  struct oae_port* port = open_port(2);
  uint64_t value = 1;

  expect("FETCH_ADD", oae_port_fetch_add(port, 0, 0, &value), 0);
  expect("the word", (long)value, 0);
  oae_port_close(port);
}

/* An outcome stays until its owner has it. The caller has the first swap's answer lost. */
static void keep_outcomes(void) {
  struct oae_swap swap = a_swap(OAE_SWAP_VERB_FETCH_ADD), *read_only;
  struct oae_port* port = open_port(1);
  int file = oae_port_fd(port);

  expect("doubt", oae_port_swap(port, &swap), -EIO);
  expect("a settlement to nowhere", asked(file, OAE_IOC_SETTLE, NULL), EFAULT);
  read_only = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  read_only->size = sizeof(*read_only);
  mprotect(read_only, 4096, PROT_READ);
  expect("a settlement that cannot be written", asked(file, OAE_IOC_SETTLE, read_only), EFAULT);
  expect("another swap", oae_port_swap(port, &swap), -EIO);
  memset(&swap, 0xff, sizeof(swap));
  expect("the settlement", oae_port_settle(port, &swap), 0);
  expect("its status", swap.status, OAE_SWAP_STATUS_OK);
  expect("its verb", swap.verb, OAE_SWAP_VERB_FETCH_ADD);
  expect("its sequence", swap.sequence, 1);
  expect("no other", oae_port_settle(port, &swap), -ENODATA);

  mprotect(read_only, 4096, PROT_READ | PROT_WRITE);
  *read_only = a_swap(OAE_SWAP_VERB_FETCH_ADD);
  mprotect(read_only, 4096, PROT_READ);
  expect("a swap whose outcome cannot be written", asked(file, OAE_IOC_SWAP, read_only), EFAULT);
  swap = a_swap(OAE_SWAP_VERB_FETCH_ADD);
  expect("the next one", oae_port_swap(port, &swap), -EIO);
  expect("its outcome", oae_port_settle(port, &swap), 0);
  expect("its status", swap.status, OAE_SWAP_STATUS_OK);
  expect("its sequence", swap.sequence, 2);
  swap = a_swap(OAE_SWAP_VERB_FETCH_ADD);
  expect("the next one", oae_port_swap(port, &swap), 0);
  expect("its sequence", swap.sequence, 3);
  expect("what it finds", (long)swap.answer[1], 2);
  oae_port_close(port);
}

/* Each of the four answers of a begin is lost once. */
static void begin_in_vain(void) {
  struct oae_port* port = open_port(1);
  int file = oae_port_fd(port);

  for (int answer = 1; answer <= 4; answer++) {
    struct oae_swap swap = a_swap(OAE_SWAP_VERB_FETCH_ADD);
    struct oae_epoch epoch = {.size = sizeof(epoch)};
    char command[64];
    unsigned int before;

    expect("a swap", oae_port_swap(port, &swap), 0);
    before = swap.epoch;
    snprintf(command, sizeof(command), "vpctl inject host_ipu.up completion_timeout CplD %d",
             answer);
    expect("an injection", system(command), 0);
    expect("a begin", asked(file, OAE_IOC_BEGIN, &epoch), EIO);
    swap = a_swap(OAE_SWAP_VERB_FETCH_ADD);
    expect("the next swap", oae_port_swap(port, &swap), 0);
    expect("its status", swap.status, OAE_SWAP_STATUS_OK);
    expect("its sequence", swap.sequence, 1);
    expect("its epoch is another one", swap.epoch != before, true);
    expect("a begin", asked(file, OAE_IOC_BEGIN, &epoch), 0);
  }
  oae_port_close(port);
}

/* A file that is open for reading changes nothing. */
static void read_only(void) {
  struct oae_swap swap = a_swap(OAE_SWAP_VERB_FETCH_ADD);
  struct oae_epoch epoch = {.size = sizeof(epoch)};
  struct oae_stats stats = {.size = sizeof(stats)};
  int file = open(path, O_RDONLY);

  expect("an open", file >= 0, true);
  expect("a swap", asked(file, OAE_IOC_SWAP, &swap), EBADF);
  expect("a settlement", asked(file, OAE_IOC_SETTLE, &swap), EBADF);
  expect("an epoch", asked(file, OAE_IOC_BEGIN, &epoch), EBADF);
  expect("stats", asked(file, OAE_IOC_STATS, &stats), 0);
  expect("a mapping",
         mmap(NULL, OAE_MAP_SIZE, PROT_READ, MAP_SHARED, file, OAE_MAP_PORT) == MAP_FAILED, true);
  close(file);
}

/* A file that is left after an unbinding maps nothing. */
static void map_unbound(void) {
  int file = open(path, O_RDWR);

  write_text("/sys/bus/pci/drivers/oae/unbind", "0000:01:00.0");
  for (off_t offset = OAE_MAP_PORT; offset <= OAE_MAP_ANSWER; offset += OAE_MAP_SIZE) {
    errno = 0;
    expect("a mapping", mmap(NULL, OAE_MAP_SIZE, PROT_READ, MAP_SHARED, file, offset) == MAP_FAILED,
           true);
    expect("its error", errno, ENODEV);
  }
  close(file);
}

/* A poll goes on through a reset, and sees the firmware's next offer. The caller has started it
 * with offers. */
static void poll_on(void) {
  struct oae_port* port = open_port(1);
  struct pollfd file = {.fd = oae_port_fd(port), .events = 0};
  pid_t resetter = fork();

  if (!resetter) {
    write_text(reset_file, "1");
    _exit(failed);
  }
  usleep(20000);
  expect("the device is frozen", oae_port_info(port, &(struct oae_info){0}), -EIO);
  expect("a poll of a frozen device", poll(&file, 1, 0), 0);
  expect("its events", file.revents, 0);
  file.events = POLLIN;
  expect("a poll", poll(&file, 1, 10000), 1);
  expect("its events", file.revents, POLLIN);
  waitpid(resetter, NULL, 0);
  oae_port_close(port);
}

static void ignore(int signal) {
  (void)signal;
}

/* A signal in a wait: the request goes on if the handler says so, else it ends. The firmware must
 * offer nothing. */
static void interrupt(void) {
  struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
  const struct itimerval timer = {.it_value = {.tv_usec = 20000}}, none = {0};
  struct oae_port* port = open_port(1);
  struct oae_swap swap = a_swap(OAE_SWAP_VERB_SWAP);

  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  swap.timeout_ns = 50000000;
  expect("a request that is restarted", oae_port_swap(port, &swap), 0);
  expect("its status", swap.status, OAE_SWAP_STATUS_NOT_READY);
  action.sa_flags = 0;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  swap = a_swap(OAE_SWAP_VERB_SWAP);
  expect("a request that is not", oae_port_swap(port, &swap), -EINTR);
  setitimer(ITIMER_REAL, &none, NULL);
  oae_port_close(port);
}

/* A reset settles what is in doubt, and that is counted. The caller has the answer lost. */
static void count_settled(void) {
  struct oae_swap swap = a_swap(OAE_SWAP_VERB_FETCH_ADD);
  struct oae_port* port = open_port(1);
  struct oae_stats stats;

  expect("doubt", oae_port_swap(port, &swap), -EIO);
  write_text(reset_file, "1");
  expect("stats", oae_port_stats(port, &stats), 0);
  expect("doubts", (long)stats.doubts, 1);
  expect("settled", (long)stats.settled, 1);
  expect("the settlement", oae_port_settle(port, &swap), 0);
  expect("its status", swap.status, OAE_SWAP_STATUS_OK);
  oae_port_close(port);
}

/* The answer buffer's page stays the process's own in a reset; an unbinding takes it. */
static void keep_the_answer_buffer(void) {
  struct oae_port* port = open_port(1);
  int file = oae_port_fd(port);
  volatile struct oae_answer_buffer* buffer = (void*)map_page(file, OAE_MAP_ANSWER);
  struct oae_epoch epoch = {.size = sizeof(epoch)};
  pid_t resetter;

  expect("an epoch", asked(file, OAE_IOC_BEGIN, &epoch), 0);
  expect("the generation", (long)buffer->generation, (long)epoch.generation);
  buffer->slot[7] = 4711;
  resetter = fork();
  if (!resetter) {
    write_text(reset_file, "1");
    _exit(failed);
  }
  usleep(20000);
  expect("the generation in a reset", (long)buffer->generation, -1);
  expect("what was stored", (long)buffer->slot[7], 4711);
  waitpid(resetter, NULL, 0);
  expect("the generation behind it", (long)buffer->generation, (long)epoch.generation + 1);
  expect("what was stored", (long)buffer->slot[7], 4711);
  write_text("/sys/bus/pci/drivers/oae/unbind", "0000:01:00.0");
  expect("the generation for good", (long)buffer->generation, -1);
  expect("what was stored is gone", (long)buffer->slot[7], -1);
  buffer->slot[7] = 1;
  oae_port_close(port);
}

/* After an unbinding, the pages of a mapping are ordinary memory, also when the device has been
 * bound again: nothing that is stored there reaches the device. */
static void keep_away(void) {
  struct oae_port* port = open_port(1);
  int file = oae_port_fd(port);
  volatile uint64_t* pages[] = {map_page(file, OAE_MAP_PORT), map_page(file, OAE_MAP_STREAM)};
  struct oae_epoch epoch = {.size = sizeof(epoch)};

  expect("an epoch", asked(file, OAE_IOC_BEGIN, &epoch), 0);
  for (int i = 0; i < 2; i++) pages[i][1] = 1;
  write_text("/sys/bus/pci/drivers/oae/unbind", "0000:01:00.0");
  for (int i = 0; i < 2; i++) {
    expect("what a page begins with", (long)pages[i][1 + i], -1);
    pages[i][1 + i] = 4711;
    expect("what was stored", (long)pages[i][1 + i], 4711);
  }
  write_text("/sys/bus/pci/drivers/oae/bind", "0000:01:00.0");
  for (int i = 0; i < 2; i++) {
    expect("what was stored before", (long)pages[i][1 + i], 4711);
    pages[i][1 + i] = 4712;
    expect("what is stored then", (long)pages[i][1 + i], 4712);
  }
  oae_port_close(port);
}

/* Runs a command, and prints how long it takes in us. */
static int measure(char** command) {
  uint64_t begin = now_ns();
  pid_t child = fork();
  int status;

  if (!child) {
    execvp(command[0], command);
    _exit(127);
  }
  waitpid(child, &status, 0);
  printf("%llu\n", (unsigned long long)(now_ns() - begin) / 1000);
  return status != 0;
}

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    void (*act)(void);
  } acts[] = {
      {"steps", die_at_each_step},
      {"times", die_at_any_time},
      {"resets", die_in_resets},
      {"close_frozen", close_frozen},
      {"outcomes", keep_outcomes},
      {"begins", begin_in_vain},
      {"read_only", read_only},
      {"map_unbound", map_unbound},
      {"poll", poll_on},
      {"interrupt", interrupt},
      {"count_settled", count_settled},
      {"buffer", keep_the_answer_buffer},
      {"nothing_added", expect_nothing_added},
      {"pages", keep_away},
  };
  const char* what = count > 1 ? arguments[1] : "";

  setvbuf(stdout, NULL, _IONBF, 0);
  if (!strcmp(what, "measure") && count > 2) return measure(arguments + 2);
  if (!strcmp(what, "die_in_doubt") && count > 2)
    die_in_doubt((uint8_t)atoi(arguments[2]), count > 3, count > 4);
  else if (!strcmp(what, "check"))
    check_nothing_is_held(count > 2 ? arguments[2] : "");
  else {
    size_t i = 0;

    while (i < sizeof(acts) / sizeof(*acts) && strcmp(what, acts[i].name)) i++;
    if (i == sizeof(acts) / sizeof(*acts)) return 2;
    acts[i].act();
  }
  if (!failed) printf("all is as it must be\n");
  return failed;
}
