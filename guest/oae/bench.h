/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_OAE_BENCH_H
#define GUEST_OAE_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "guest/liboae/oae.h"
#include "latency.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a benchmark does. */
struct bench_plan {
  uint32_t count;      /* swaps */
  uint64_t timeout_ns; /* of each */
  uint8_t form;        /* OAE_SWAP_FORM_* */
  bool more;           /* each swap but the last is confirmed by the next one */
  bool mapped;         /* the port is mapped; the result says so */
  bool untimed;        /* the driver is not asked for times between the swaps */
};

/* What a benchmark has found. Times are in ns. */
struct bench {
  uint32_t count;               /* swaps asked for */
  uint8_t form;                 /* in which form */
  bool mapped;                  /* without the kernel */
  bool timed;                   /* the driver's times are known; if not, only call is known */
  uint64_t committed;           /* ... that the host has committed */
  uint64_t not_ready;           /* ... that had no offer of the firmware in time */
  uint64_t retries;             /* offers made again while waiting for the firmware */
  uint64_t doubts;              /* answers that were asked for again */
  uint64_t firmware_committed;  /* what the firmware has counted meanwhile */
  uint64_t block_committed;     /* what the block has counted meanwhile */
  struct latency store;         /* of the committed: first store to answer */
  struct latency read;          /* of the committed: issue of the read to answer */
  struct latency commit;        /* of the committed: first store to answer found valid */
  struct latency call;          /* of the committed: what the caller waits for, doubt included */
  struct latency mmio_read;     /* 8-byte reads of the device */
};

/* Runs a benchmark. Returns 0 or a negative errno value. */
int bench_run(struct oae_port *port, struct bench_plan plan, struct bench *bench);

/* Whether all swaps were committed, and block and firmware have counted the same number. */
bool bench_agrees(const struct bench *bench);

void bench_print(FILE *out, const struct bench *bench);
void bench_print_json(FILE *out, const struct bench *bench);

#ifdef __cplusplus
}
#endif

#endif
