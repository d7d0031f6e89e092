/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later */
/*
 * QEMU as a model in somebody else's simulation: the C interface of the library.
 *
 * The library has no thread and no main loop. The caller runs each vCPU in a
 * coroutine of its own, all of them on one thread, and decides how far; a
 * callback may switch coroutines, so that a vCPU that waits inside an access
 * does not stop its siblings. The caller holds QEMU's big lock whenever it is
 * not inside vcpu_run(): create() returns with it held.
 *
 * Times are picoseconds of simulated time. A vCPU's local time is the time of
 * n instructions at its rate, floor(n * 10^12 / ips), plus its stalls.
 */
#ifndef SYSTEM_OAE_EMBED_H
#define SYSTEM_OAE_EMBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OAE_QEMU_API_VERSION 9

/* Why vcpu_run() returned. */
enum OaeRun {
    OAE_RUN_LIMIT,   /* local time has reached the limit, see vcpu_run() */
    OAE_RUN_EXIT,    /* left early: interrupted */
    OAE_RUN_YIELDED, /* PAUSE, YIELD or WFE was executed, whether at the limit or before */
    OAE_RUN_HALTED,  /* sleeps until wake() is called for it */
    OAE_RUN_STOPPED, /* the machine is stopped (GDB, shutdown, reset) */
    OAE_RUN_BUSY,    /* can run only when no vCPU is inside an access */
};

/* What the guest or GDB asked for; bits of service()'s result. */
enum OaeRequest {
    OAE_REQUEST_SHUTDOWN = 1, /* power off, or a panic notifier */
    OAE_REQUEST_RESET = 2,    /* the machine has been reset */
    OAE_REQUEST_STOPPED = 4,  /* GDB holds the machine */
};

enum OaeSpace { OAE_SPACE_MEMORY, OAE_SPACE_IO };

/* Memory type of an access, as x86 encodes it (Intel SDM volume 3, table 12-2). */
enum OaeMemoryType {
    OAE_MEMORY_UC = 0, /* uncacheable; all there is on other processors */
    OAE_MEMORY_WC = 1, /* write-combining */
    OAE_MEMORY_WT = 4, /* write-through */
    OAE_MEMORY_WP = 5, /* write-protected */
    OAE_MEMORY_WB = 6, /* write-back */
};

/* How a limit is meant; bits. */
enum OaeLimit {
    OAE_LIMIT_EXACT = 1,   /* the run ends there, not a little before */
    OAE_LIMIT_ANSWERS = 2, /* until there, answers may be given again */
    OAE_LIMIT_SHARED = 4,  /* siblings execute too: order() is called */
};

/*
 * The answer to a load, which may be given again without a callback as long as
 * `*version` is `seen`. A load at time t ends at t + latency or, if its target
 * has a clock, at
 *     (floor((t + before) / period) + edges) * period + after
 * where the sum without `after` must be before the limit, as t must be else.
 */
typedef struct OaeAnswer {
    uint64_t address; /* physical */
    unsigned size;    /* bytes, 1 to 8 */
    uint64_t value;
    const uint64_t *version;
    uint64_t seen;
    int64_t latency;                        /* ps */
    int64_t before, period, edges, after;   /* period 0: no clock */
    /* Grow by these when it is given. */
    struct {
        uint64_t *counter; /* NULL ends the list */
        uint64_t amount;
    } counts[4];
} OaeAnswer;

/* What an instruction asks of a line of device memory, besides an access. */
enum OaeLineOperation {
    OAE_LINE_FLUSH,    /* clflush, clflushopt */
    OAE_LINE_PREFETCH, /* prefetch */
    OAE_LINE_STREAM,   /* movntdqa: the loads that follow at once are streaming */
};

/* Before what a vCPU calls order(). */
enum OaeOrder {
    OAE_ORDER_CLOCK,  /* it looks at a clock or reads a system register */
    OAE_ORDER_ACCESS, /* it may act on a sibling: accesses a device, interrupts */
};

typedef struct OaeCallbacks {
    void *opaque;
    /* The simulation's time. */
    int64_t (*now)(void *opaque);
    /*
     * A vCPU (or, with cpu == -1, GDB or a device of QEMU) accesses a mapped
     * region. Little-endian, 1 to 8 bytes. False: bus error. Instructions are
     * never read from a region; that is a bus error.
     */
    bool (*read)(void *opaque, int region, int cpu, enum OaeMemoryType type,
                 uint64_t offset, unsigned size, uint64_t *value);
    bool (*write)(void *opaque, int region, int cpu, enum OaeMemoryType type,
                  uint64_t offset, unsigned size, uint64_t value);
    /*
     * An instruction of a vCPU acts on the line of `address`, which is in a
     * region and not uncacheable; of `size` bytes if it is a load.
     */
    void (*line)(void *opaque, int cpu, enum OaeLineOperation operation,
                 enum OaeMemoryType type, uint64_t address, unsigned size);
    /* A vCPU that holds data (vcpu_set_holding) has to write it out. */
    void (*drain)(void *opaque, int cpu);
    /*
     * vCPU `cpu` is about to do what siblings must not see before its time, or
     * what must not show a time that is earlier than one they have been shown.
     * Accesses to regions call read() or write() only.
     */
    void (*order)(void *opaque, int cpu, enum OaeOrder order);
    /* vCPU `cpu` has work to do at `when`: it must be run if it slept. */
    void (*wake)(void *opaque, int cpu, int64_t when);
    /* The next deadline may have become earlier. */
    void (*timers_changed)(void *opaque);
    /* Guest output on console `index`. */
    void (*console_output)(void *opaque, int index, const uint8_t *data,
                           size_t size);
    /* Console `index` can take input again. */
    void (*console_ready)(void *opaque, int index);
} OaeCallbacks;

typedef struct OaeQemuApi {
    uint32_t version;

    /*
     * Starts QEMU with the command line of a system emulator. Mistakes in it
     * end the process, as they do in QEMU: the caller checks what users give.
     * `debuggable` says whether a debugger may attach (-gdb).
     */
    void (*create)(int argc, char **argv, const OaeCallbacks *callbacks,
                   uint64_t ips, bool debuggable);

    int (*vcpu_count)(void);
    /*
     * Runs a vCPU until its local time is `until` or the least later or, unless
     * OAE_LIMIT_EXACT is in `limit`, a little less after at least one
     * instruction, which is cheaper. A vCPU that is behind `now` has slept until
     * then. Leaves its local time in `*local_time`.
     */
    enum OaeRun (*vcpu_run)(int cpu, int64_t now, int64_t until, unsigned limit,
                            int64_t *local_time);
    int64_t (*vcpu_local_time)(int cpu);
    /* Moves a vCPU's local time on without instructions. */
    void (*vcpu_stall)(int cpu, int64_t span);
    /* From inside an access: replaces the limit of the run in progress. */
    void (*vcpu_set_limit)(int cpu, int64_t until, unsigned limit);
    /* From inside a load: its answer, for OAE_LIMIT_ANSWERS. */
    void (*vcpu_remember)(int cpu, const OaeAnswer *answer);
    uint64_t (*vcpu_instructions)(int cpu);
    /*
     * From inside an access: whether the vCPU now holds data on its way to or
     * from a region. While it does, what orders memory calls drain() first:
     * fences, locks, serialising instructions, interrupts, uncached accesses,
     * I/O and halting.
     */
    void (*vcpu_set_holding)(int cpu, bool holding);

    /* Next deadline of QEMU's timers, INT64_MAX if there is none. */
    int64_t (*next_deadline)(void);
    void (*run_timers)(void);

    /*
     * Acts on requests of guest and GDB and polls file descriptors if `io`.
     * Only while no vCPU is inside an access.
     */
    unsigned (*service)(bool io);
    /*
     * Resets the machine. One whose power can be lost (the IPU's) has then
     * empty memory, but for its image. Only while no vCPU is inside an access.
     */
    void (*reset)(void);

    void (*map_region)(int region, enum OaeSpace space, uint64_t base,
                       uint64_t size, int priority);
    void (*set_line)(int line, bool level);
    /* Physical memory as the bus sees it. False: no such memory. */
    bool (*read_memory)(uint64_t address, void *data, uint64_t size);
    bool (*write_memory)(uint64_t address, const void *data, uint64_t size);
    /* RAM at `address`, and how many bytes follow; NULL if it is none. */
    void *(*ram_pointer)(uint64_t address, uint64_t *size);
    /* Where the machine has its PCI Express windows; false if it has none. */
    bool (*pcie_windows)(uint64_t *ecam, uint64_t *ecam_size, uint64_t *mmio32,
                         uint64_t *mmio32_size, uint64_t *mmio64,
                         uint64_t *mmio64_size);
    /* Gives input to a console; returns how many bytes it took. */
    size_t (*console_input)(int index, const uint8_t *data, size_t size);
} OaeQemuApi;

/* The one symbol that the library exports. */
const OaeQemuApi *oae_qemu_api(void);

#ifdef __cplusplus
}
#endif

#endif
