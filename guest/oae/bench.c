// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { patience = 100, pause_us = 1000 };

struct counts {
  uint64_t firmware, block;
};

static int read_counts(struct oae_port *port, struct counts *counts) {
  struct oae_firmware_stats firmware;
  struct oae_stats block;
  int error = oae_port_stats(port, &block);

  if (!error) error = oae_port_firmware_stats(port, &firmware);
  if (error) return error;
  counts->block = block.committed;
  counts->firmware = firmware.committed;
  return 0;
}

static uint64_t now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* One swap with its outcome, doubt included. */
static int swap_once(struct oae_port *port, struct oae_swap *swap) {
  int error = oae_port_swap(port, swap);

  for (int i = 0; error == -EIO && i < patience; i++) {
    usleep(pause_us);
    error = oae_port_settle(port, swap);
  }
  return error;
}

/* Only root may see what the driver measures, and only where debugfs is mounted. */
static bool is_hidden(int error) { return error == -ENOENT || error == -EACCES; }

static int run_swaps(struct oae_port *port, struct bench_plan plan, uint64_t *samples[4],
                     struct bench *bench) {
  for (uint32_t i = 0; i < plan.count; i++) {
    struct oae_swap swap = {
        .verb = OAE_SWAP_VERB_SWAP, .form = plan.form, .timeout_ns = plan.timeout_ns};
    struct oae_times times = {0};
    uint64_t called;
    int error;

    swap.offer[0] = i;
    if (plan.more && i + 1 < plan.count) swap.flags = OAE_SWAP_FLAG_MORE;
    called = now_ns();
    error = swap_once(port, &swap);
    called = now_ns() - called;
    if (error) return error;
    bench->doubts += swap.reads != 0;
    if (swap.tries) bench->retries += swap.tries - 1;
    if (swap.status != OAE_SWAP_STATUS_OK) {
      bench->not_ready++;
      continue;
    }
    if (bench->timed) error = oae_port_times(port, &times);
    if (is_hidden(error)) bench->timed = false;
    else if (error) return error;
    samples[0][bench->committed] = times.store_ns;
    samples[1][bench->committed] = times.read_ns;
    samples[2][bench->committed] = times.commit_ns;
    samples[3][bench->committed] = called;
    bench->committed++;
  }
  return 0;
}

/* The last confirmation is on its way while the host has committed already. */
static int await_counts(struct oae_port *port, const struct counts *before, struct bench *bench) {
  struct counts after;

  for (int i = 0; i < patience; i++) {
    int error = read_counts(port, &after);

    if (error) return error;
    bench->firmware_committed = after.firmware - before->firmware;
    bench->block_committed = after.block - before->block;
    if (bench->firmware_committed >= bench->committed &&
        bench->block_committed >= bench->committed)
      return 0;
    usleep(pause_us);
  }
  return 0;
}

int bench_run(struct oae_port *port, struct bench_plan plan, struct bench *bench) {
  const uint32_t count = plan.count;
  uint64_t *memory = calloc(count, 5 * sizeof(*memory));
  uint64_t *samples[4] = {memory, memory + count, memory + 2 * (size_t)count,
                          memory + 3 * (size_t)count};
  uint64_t *reads = memory + 4 * (size_t)count;
  struct counts before;
  int error;

  if (!memory) return -ENOMEM;
  *bench = (struct bench){
      .count = count, .form = plan.form, .mapped = plan.mapped, .timed = !plan.untimed};
  error = read_counts(port, &before);
  if (!error) error = run_swaps(port, plan, samples, bench);
  if (!error) error = await_counts(port, &before, bench);
  if (!error && bench->timed) error = oae_port_read_times(port, reads, count);
  if (is_hidden(error)) {
    bench->timed = false;
    error = 0;
  }
  if (!error) bench->call = latency_of(samples[3], bench->committed);
  if (!error && bench->timed) {
    bench->store = latency_of(samples[0], bench->committed);
    bench->read = latency_of(samples[1], bench->committed);
    bench->commit = latency_of(samples[2], bench->committed);
    bench->mmio_read = latency_of(reads, count);
  }
  free(memory);
  return error;
}

bool bench_agrees(const struct bench *bench) {
  return bench->committed == bench->count && bench->firmware_committed == bench->committed &&
         bench->block_committed == bench->committed;
}

static void print_latency(FILE *out, const char *name, const struct latency *latency) {
  fprintf(out, "  %-30s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", name, latency->min,
          latency->median, latency->p99, latency->max);
}

void bench_print(FILE *out, const struct bench *bench) {
  fprintf(out, "%" PRIu32 " swaps of 64 bytes, %s%s; simulated time in ns\n\n", bench->count,
          oae_form_name(bench->form), bench->mapped ? ", mapped" : "");
  fprintf(out, "  %-30s %8s %8s %8s %8s\n", "", "min", "median", "p99", "max");
  if (bench->timed) {
    print_latency(out, "swap, from the first store", &bench->store);
    print_latency(out, "swap, from the read's issue", &bench->read);
    print_latency(out, "swap, until found valid", &bench->commit);
  }
  print_latency(out, "swap, as its caller waits", &bench->call);
  if (bench->timed) print_latency(out, "8-byte read of the device", &bench->mmio_read);
  if (bench->mmio_read.median)
    fprintf(out, "\n  a swap costs %.3f reads (medians, from the read's issue)\n",
            (double)bench->read.median / (double)bench->mmio_read.median);
  fprintf(out,
          "\ncommitted %" PRIu64 " of %" PRIu32 ", not ready %" PRIu64 ", offered again %" PRIu64
          ", in doubt for a while %" PRIu64 "\n",
          bench->committed, bench->count, bench->not_ready, bench->retries, bench->doubts);
  fprintf(out, "the block has counted %" PRIu64 ", the firmware %" PRIu64 ": %s\n",
          bench->block_committed, bench->firmware_committed,
          bench_agrees(bench) ? "agree" : "DISAGREE");
}

static void print_json_latency(FILE *out, const char *name, const struct latency *latency) {
  fprintf(out,
          "\"%s\": {\"min\": %" PRIu64 ", \"median\": %" PRIu64 ", \"p99\": %" PRIu64
          ", \"max\": %" PRIu64 "}, ",
          name, latency->min, latency->median, latency->p99, latency->max);
}

void bench_print_json(FILE *out, const struct bench *bench) {
  fprintf(out,
          "{\"form\": \"%s\", \"mapped\": %s, \"count\": %" PRIu32 ", \"committed\": %" PRIu64 ", \"not_ready\": %" PRIu64
          ", \"retries\": %" PRIu64 ", \"doubts\": %" PRIu64 ", \"block_committed\": %" PRIu64
          ", \"firmware_committed\": %" PRIu64 ", ",
          oae_form_name(bench->form), bench->mapped ? "true" : "false", bench->count, bench->committed, bench->not_ready,
          bench->retries, bench->doubts, bench->block_committed, bench->firmware_committed);
  print_json_latency(out, "swap_from_store_ns", &bench->store);
  print_json_latency(out, "swap_from_read_ns", &bench->read);
  print_json_latency(out, "swap_until_valid_ns", &bench->commit);
  print_json_latency(out, "swap_call_ns", &bench->call);
  print_json_latency(out, "mmio_read_ns", &bench->mmio_read);
  fprintf(out, "\"agree\": %s}\n", bench_agrees(bench) ? "true" : "false");
}
