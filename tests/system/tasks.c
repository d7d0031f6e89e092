// SPDX-License-Identifier: Apache-2.0
/*
 * Loads for a scheduler. Each ends with 0 if its threads did what they had to, and prints how long
 * that took. With --stamps, threads of `ping` note when they are about to block and when they go
 * on, on the clock of the kernel's trace, and on which CPU: scheduling-trace switches reads that.
 *
 * With --warm-up, ROUNDS of `ping` begin when the program has run for that time, and what they take
 * is printed, too. Neither the start nor the end of the program is in it: what these cost depends
 * on the memory that the kernel happens to give them, and on what it puts off until a later tick.
 *
 * Threads that do nothing but wake each other fall into step with an agent that looks at memory in
 * turns of equal length, and then a few nanoseconds decide what each of thousands of switches
 * takes. With --vary, each turn computes for a pseudo-random time that SEED determines. The main
 * thread repeats the same computation afterwards and prints how long it took.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 256

static unsigned long rounds;
static atomic_int turn;
static atomic_ulong done;
static atomic_bool wrong;

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;

  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Two for each time that a thread waits, which can be more often than once in a round. */
struct stamp {
  uint64_t time;
  unsigned cpu;
  bool before;
};

static struct stamps {
  struct stamp* stamp;
  size_t count, room;
} stamps[2];

static bool make_room_for_stamps(void) {
  for (int i = 0; i < 2; i++) {
    stamps[i].room = 4 * rounds + 16;
    stamps[i].stamp = malloc(stamps[i].room * sizeof(struct stamp));
    if (!stamps[i].stamp) return false;
    /* So that no page is missing later. */
    memset(stamps[i].stamp, 1, stamps[i].room * sizeof(struct stamp));
  }
  return true;
}

static void note(int thread, bool before) {
  struct stamps* mine = &stamps[thread];
  struct stamp* stamp;

  if (!mine->room) return;
  if (mine->count == mine->room) {
    atomic_store(&wrong, true);
    return;
  }
  stamp = &mine->stamp[mine->count++];
  stamp->before = before;
  /* The clock is read next to the wait. */
  if (!before) stamp->time = clock_ns(CLOCK_MONOTONIC);
  stamp->cpu = sched_getcpu();
  if (before) stamp->time = clock_ns(CLOCK_MONOTONIC);
}

static bool write_stamps(const char* name) {
  FILE* file = fopen(name, "w");

  if (!file) return false;
  for (int i = 0; i < 2; i++)
    for (size_t n = 0; n < stamps[i].count; n++)
      fprintf(file, "%s %u %" PRIu64 "\n", stamps[i].stamp[n].before ? "before" : "after",
              stamps[i].stamp[n].cpu, stamps[i].stamp[n].time);
  return fclose(file) == 0;
}

static void futex(atomic_int* word, int operation, int value) {
  syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Uses `rounds` microseconds of CPU time. */
static void* spin(void* unused) {
  (void)unused;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < rounds * 1000) {
  }
  atomic_fetch_add(&done, 1);
  return NULL;
}

static void* yield(void* unused) {
  (void)unused;
  for (unsigned long i = 0; i < rounds; i++) {
    atomic_fetch_add(&done, 1);
    sched_yield();
  }
  return NULL;
}

static uint64_t began; /* the program */

static struct {
  bool on;
  uint64_t state;      /* of the generator */
  uint64_t first;      /* its state before the first turn that counted */
  unsigned long turns; /* which counted */
  uint64_t loops;      /* in these */
} vary;

/* Computes for 0 to 2,047 loops by a linear congruential generator modulo 2^64 (Knuth, TAOCP volume
 * 2, section 3.3.4), whose upper bits say how many. Threads have their turns one after the other.
 * It is not inlined, so that what is measured and what is repeated is the same code. */
__attribute__((noinline)) static void compute(bool counts) {
  unsigned long loops;

  if (counts && vary.turns++ == 0) vary.first = vary.state;
  vary.state = vary.state * 6364136223846793005 + 1442695040888963407;
  loops = vary.state >> 53;
  if (counts) vary.loops += loops;
  for (unsigned long i = 0; i < loops; i++) __asm__ volatile("");
}

/* Computes once more for all turns that counted, and returns how long that takes, ns. Nothing else
 * runs, but a tick may come: so the shortest of five times counts. Up to 1,600 rounds take less
 * than a tick of 4 ms at 2.5 GIPS. */
static uint64_t compute_again(void) {
  const unsigned long turns = vary.turns;
  const uint64_t loops = vary.loops;
  uint64_t shortest = UINT64_MAX;

  for (int i = 0; i < 5; i++) {
    const uint64_t before = clock_ns(CLOCK_MONOTONIC);
    uint64_t took;

    vary.state = vary.first;
    vary.loops = 0;
    for (unsigned long turn = 0; turn < turns; turn++) compute(true);
    took = clock_ns(CLOCK_MONOTONIC) - before;
    if (took < shortest) shortest = took;
    if (vary.loops != loops) atomic_store(&wrong, true);
  }
  return shortest;
}

/* Of `ping` with a warm-up: thread 0 reads the clock at its first turn after the warm-up, and again
 * when `rounds` more have passed. In between lie two switches for each of them. */
static struct {
  uint64_t warm_up;     /* ns */
  atomic_ulong made;    /* rounds in all; ULONG_MAX while that is not known yet */
  uint64_t from, until; /* what counts */
} counted;

static void count_rounds(unsigned long round) {
  const unsigned long made = atomic_load(&counted.made);

  if (made == ULONG_MAX) {
    counted.from = clock_ns(CLOCK_MONOTONIC);
    if (counted.from - began >= counted.warm_up) atomic_store(&counted.made, round + rounds + 1);
  } else if (round == made - 1) {
    counted.until = clock_ns(CLOCK_MONOTONIC);
  }
}

/* Threads 0 and 1 wake each other in turn. */
static void* ping(void* argument) {
  const int me = (int)(intptr_t)argument;

  for (unsigned long i = 0; i < atomic_load(&counted.made); i++) {
    while (atomic_load(&turn) != me) {
      note(me, true);
      futex(&turn, FUTEX_WAIT, !me);
      note(me, false);
    }
    if (counted.warm_up && me == 0) count_rounds(i);
    if (vary.on) compute(atomic_load(&counted.made) != ULONG_MAX && !counted.until);
    atomic_fetch_add(&done, 1);
    atomic_store(&turn, !me);
    futex(&turn, FUTEX_WAKE, 1);
  }
  return NULL;
}

/* Of a mixed load: pairs of threads that wake each other in turn come first, and then those that
 * spin for `rounds` microseconds of CPU time. The pairs end when the last of these has. */
static struct {
  unsigned long pairs;
  atomic_ulong spinning;
  struct pair {
    atomic_int turn; /* 0 or 1; 2: the other one has ended */
    atomic_ulong turns;
  } pair[THREADS_MAX / 4];
  struct gap {
    uint64_t longest; /* time in which the thread has not gone on, ns */
    uint64_t until;
  } gap[THREADS_MAX];
} mixed;

static void went_on(struct gap* gap, uint64_t* last) {
  const uint64_t now = clock_ns(CLOCK_MONOTONIC);

  if (now - *last > gap->longest) *gap = (struct gap){now - *last, now};
  *last = now;
}

static void mixed_ping(struct pair* pair, int me, struct gap* gap) {
  uint64_t last = clock_ns(CLOCK_MONOTONIC);

  while (atomic_load(&mixed.spinning)) {
    if (atomic_load(&pair->turn) == me) {
      went_on(gap, &last);
      atomic_fetch_add(&pair->turns, 1);
      atomic_store(&pair->turn, !me);
      futex(&pair->turn, FUTEX_WAKE, 1);
    } else {
      futex(&pair->turn, FUTEX_WAIT, !me);
    }
  }
  atomic_store(&pair->turn, 2);
  futex(&pair->turn, FUTEX_WAKE, 1);
}

static void mixed_spin(struct gap* gap) {
  uint64_t last = clock_ns(CLOCK_MONOTONIC);

  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < rounds * 1000) went_on(gap, &last);
  atomic_fetch_sub(&mixed.spinning, 1);
}

static void* mix(void* argument) {
  const unsigned long me = (unsigned long)(intptr_t)argument;

  if (me < 2 * mixed.pairs)
    mixed_ping(&mixed.pair[me / 2], (int)(me % 2), &mixed.gap[me]);
  else
    mixed_spin(&mixed.gap[me]);
  atomic_fetch_add(&done, 1);
  return NULL;
}

static void mix_begin(unsigned long threads) {
  mixed.pairs = threads / 4;
  mixed.spinning = threads - 2 * mixed.pairs;
}

static void mix_report(unsigned long threads) {
  struct gap longest = {0};
  unsigned long turns = 0;

  for (unsigned long i = 0; i < threads; i++)
    if (mixed.gap[i].longest > longest.longest) longest = mixed.gap[i];
  for (unsigned long i = 0; i < mixed.pairs; i++) {
    turns += mixed.pair[i].turns;
    if (!mixed.pair[i].turns) atomic_store(&wrong, true);
  }
  printf("turns %lu\nlongest gap %" PRIu64 " until %" PRIu64 "\n", turns, longest.longest,
         longest.until);
}

/* Threads compute until `rounds` microseconds have passed since the program began, and count units
 * of equal work. The least time of a unit is that of one which nothing has interrupted. */
enum { unit_loops = 10000 };

static struct work {
  unsigned long units;
  uint64_t shortest; /* ns */
} work[THREADS_MAX];

static void* share(void* argument) {
  struct work* mine = &work[(intptr_t)argument];
  uint64_t last = clock_ns(CLOCK_MONOTONIC);

  mine->shortest = UINT64_MAX;
  while (last - began < rounds * 1000) {
    const uint64_t before = last;
    for (int i = 0; i < unit_loops; i++) __asm__ volatile("");
    last = clock_ns(CLOCK_MONOTONIC);
    if (last - before < mine->shortest) mine->shortest = last - before;
    mine->units++;
  }
  atomic_fetch_add(&done, 1);
  return NULL;
}

static void share_report(unsigned long threads) {
  struct work least = work[0];
  unsigned long most = 0, all = 0;

  for (unsigned long i = 0; i < threads; i++) {
    if (work[i].units < least.units) least.units = work[i].units;
    if (work[i].units > most) most = work[i].units;
    if (work[i].shortest < least.shortest) least.shortest = work[i].shortest;
    all += work[i].units;
  }
  printf("units %lu least %lu most %lu each %" PRIu64 " ns\n", all, least.units, most,
         least.shortest);
}

/* Goes from one CPU of the process to the next, and runs there at once. */
static void* move(void* argument) {
  const int first = (int)(intptr_t)argument;
  cpu_set_t all, one;
  int cpu = first;

  sched_getaffinity(0, sizeof(all), &all);
  for (unsigned long i = 0; i < rounds; i++) {
    do cpu = (cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(cpu, &all));
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) || sched_getcpu() != cpu)
      atomic_store(&wrong, true);
    atomic_fetch_add(&done, 1);
  }
  return NULL;
}

/* Changes its own nice value. */
static void* renice(void* unused) {
  (void)unused;
  for (unsigned long i = 0; i < rounds; i++) {
    if (setpriority(PRIO_PROCESS, gettid(), i % 20)) atomic_store(&wrong, true);
    atomic_fetch_add(&done, 1);
  }
  return NULL;
}

static void* count(void* unused) {
  (void)unused;
  atomic_fetch_add(&done, 1);
  return NULL;
}

/* Starts a thread after another, and waits for each. */
static void* start_others(void* unused) {
  pthread_t thread;

  (void)unused;
  for (unsigned long i = 0; i < rounds; i++) {
    if (pthread_create(&thread, NULL, count, NULL) || pthread_join(thread, NULL))
      atomic_store(&wrong, true);
  }
  return NULL;
}

static const struct load {
  const char* name;
  void* (*thread)(void*);
  bool once; /* each thread counts once, not in every round */
} loads[] = {{"spin", spin, true},  {"yield", yield, false},   {"ping", ping, false},
             {"move", move, false}, {"renice", renice, false}, {"start", start_others, false},
             {"mixed", mix, true},  {"share", share, true}};

int main(int argc, char** argv) {
  const struct load* load = NULL;
  const char* file = NULL;
  bool only_ping = false;
  pthread_t threads[THREADS_MAX];
  unsigned long count;

  began = clock_ns(CLOCK_MONOTONIC);
  if (argc > 2 && strcmp(argv[1], "--stamps") == 0) {
    file = argv[2];
    only_ping = true;
    argc -= 2;
    argv += 2;
  } else if (argc > 2 && strcmp(argv[1], "--warm-up") == 0) {
    counted.warm_up = strtoull(argv[2], NULL, 10) * 1000;
    only_ping = true;
    argc -= 2;
    argv += 2;
    if (argc > 2 && strcmp(argv[1], "--vary") == 0) {
      vary.on = true;
      vary.state = strtoull(argv[2], NULL, 10);
      argc -= 2;
      argv += 2;
    }
  }
  count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  for (size_t i = 0; argc == 4 && i < sizeof(loads) / sizeof(*loads); i++)
    if (strcmp(argv[1], loads[i].name) == 0) load = &loads[i];
  if (!load || !count || count > THREADS_MAX ||
      (only_ping && (load->thread != ping || count != 2))) {
    fputs(
        "usage: tasks spin|yield|ping|move|renice|start|mixed|share THREADS ROUNDS\n"
        "       tasks --stamps FILE ping 2 ROUNDS\n"
        "       tasks --warm-up MICROSECONDS [--vary SEED] ping 2 ROUNDS\n",
        stderr);
    return 2;
  }
  rounds = strtoul(argv[3], NULL, 10);
  atomic_store(&counted.made, counted.warm_up ? ULONG_MAX : rounds);
  if (file && !make_room_for_stamps()) return 1;
  if (load->thread == mix) mix_begin(count);
  for (unsigned long i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, load->thread, (void*)(intptr_t)i)) return 1;
  for (unsigned long i = 0; i < count; i++) pthread_join(threads[i], NULL);
  if (load->thread == mix) mix_report(count);
  if (load->thread == share) share_report(count);
  if (counted.warm_up)
    printf("switches %lu in %" PRIu64 " ns\n", 2 * rounds, counted.until - counted.from);
  if (vary.on) {
    printf("computed %lu times ", vary.turns);
    printf("in %" PRIu64 " ns\n", compute_again());
  }
  printf("%s %lu done in %" PRIu64 " ns\n", load->name, atomic_load(&done),
         clock_ns(CLOCK_MONOTONIC) - began);
  if (file && !write_stamps(file)) {
    perror(file);
    return 1;
  }
  return wrong || done != (load->once ? count : count * counted.made);
}
