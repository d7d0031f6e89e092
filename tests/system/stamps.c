// SPDX-License-Identifier: Apache-2.0
// Threads, one pinned to each processor, show each other the time stamp counter through memory.
//
//   stamps ROUNDS   each thread, that often: reads the latest stamp that any thread has left, then
//                   its own counter, and leaves that; then a token goes round the threads that often.
//                   Prints how many stamps were lower than one that had been seen.
//   stamps          keeps all processors busy until it is killed.
#define _GNU_SOURCE // sched_setaffinity
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <x86intrin.h>

static int threads;
static unsigned long rounds;
static atomic_int ready;
static _Atomic uint64_t latest;
static _Atomic unsigned long token;
static atomic_ulong looks, backwards;

static uint64_t stamp(void)
{
	_mm_lfence();
	return __rdtsc();
}

static void compare(uint64_t seen, uint64_t own)
{
	looks++;
	backwards += own < seen;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set)) {
		perror("sched_setaffinity");
		exit(2);
	}
}

static void race(void)
{
	for (unsigned long i = 0; i < rounds; i++) {
		uint64_t seen = latest, own = stamp();

		compare(seen, own);
		while (seen < own && !atomic_compare_exchange_weak(&latest, &seen, own)) {
		}
	}
}

static void pass(int index)
{
	for (unsigned long turn = index; turn < rounds * threads; turn += threads) {
		uint64_t seen, own;

		while (token != turn)
			_mm_pause();
		seen = latest;
		own = stamp();
		compare(seen, own);
		latest = own;
		token = turn + 1;
	}
}

static void *run(void *argument)
{
	int index = (int)(intptr_t)argument;

	pin(index);
	ready++;
	while (ready < threads)
		_mm_pause();
	if (!rounds)
		for (;;)
			atomic_fetch_add(&looks, 1);
	race();
	pass(index);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[64];

	threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
	rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i))
			return 2;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("threads %d\nlooks %lu\nbackwards %lu\n", threads, looks, backwards);
	return 0;
}
