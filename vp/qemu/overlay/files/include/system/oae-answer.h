/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a vCPU that the caller runs, and the answers that it may repeat. A poll spends most of its
 * time here, so that all of it is inline, and nothing that it needs is far away.
 */
#ifndef SYSTEM_OAE_ANSWER_H
#define SYSTEM_OAE_ANSWER_H

#include "exec/hwaddr.h"
#include "hw/core/cpu.h"
#include "system/oae-embed.h"

/*
 * The places for answers that are remembered for a vCPU. A loop that polls reads one word of a
 * queue for each CPU of the other side, and these words are whole pages apart.
 */
#define OAE_ANSWER_BITS 8
#define OAE_ANSWERS (1 << OAE_ANSWER_BITS)

typedef struct OaeRemembered {
    uint64_t key; /* of address and size; 0: none */
    /* Whose time the latency is; 0 if that is no whole number, or depends on a clock. */
    uint16_t instructions;
    OaeAnswer answer;
} OaeRemembered;

/* CPUState::accel, which is NULL in a QEMU that is not embedded */
typedef struct AccelCPUState {
    CPUState *cpu;
    uint64_t executed; /* instructions of all runs before this one */
    uint32_t granted;  /* instructions that the run in progress may execute */
    int64_t stalled;   /* ps */
    int64_t until;     /* the limit of the run in progress */
    unsigned limit;    /* how that is meant, an OaeLimit */
    bool ended_early;
    bool paused; /* by PAUSE, in this run */
    uint64_t faulted;  /* instructions at the last exception */
    unsigned invalidated; /* how many blocks had been invalidated when its access began */
    OaeRemembered *remembered; /* OAE_ANSWERS */
} OaeVcpu;

static inline uint64_t oae_answer_key(hwaddr address, unsigned size)
{
    return address << 4 | size;
}

static inline OaeRemembered *oae_answer_place(OaeVcpu *v, uint64_t key)
{
    /* Multiplicative hashing (Knuth, TAOCP 3, 6.4): its high bits depend on all bits. */
    return &v->remembered[key * 0x9e3779b97f4a7c15ull >> (64 - OAE_ANSWER_BITS)];
}

/* The answer to a load at the end of a block that holds at present, if it may be given, or else NULL. */
static inline const OaeRemembered *oae_answer_for(CPUState *cpu, hwaddr address, unsigned size)
{
    uint64_t key = oae_answer_key(address, size);
    const OaeRemembered *r = oae_answer_place(cpu->accel, key);

    return r->key == key && *r->answer.version == r->answer.seen &&
           (cpu->accel->limit & OAE_LIMIT_ANSWERS) && cpu->neg.can_do_io ? r : NULL;
}

static inline void oae_count_answer(const OaeAnswer *a)
{
#pragma GCC unroll 4
    for (int i = 0; i < ARRAY_SIZE(a->counts); i++) {
        if (!a->counts[i].counter) {
            break;
        }
        *a->counts[i].counter += a->counts[i].amount;
    }
}

/* Lets the time of an answer pass if it is that of instructions that are left. */
static inline bool oae_pass_instructions(CPUState *cpu, const OaeRemembered *r)
{
    uint16_t n = r->instructions;

    if (!n || cpu->neg.icount_decr.u16.low <= n) {
        return false;
    }
    cpu->accel->stalled += r->answer.latency;
    cpu->accel->granted -= n;
    cpu->neg.icount_decr.u32 -= n;
    oae_count_answer(&r->answer);
    return true;
}

/* The same for any time that ends before the limit. */
bool oae_pass_time(CPUState *cpu, const OaeRemembered *r);

#endif
