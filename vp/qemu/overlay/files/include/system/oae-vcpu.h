/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the embedding share inside QEMU. */
#ifndef SYSTEM_OAE_VCPU_H
#define SYSTEM_OAE_VCPU_H

#include "exec/hwaddr.h"
#include "exec/vaddr.h"
#include "hw/core/cpu.h"
#include "hw/irq.h"
#include "system/accel-ops.h"
#include "system/oae-embed.h"

/* Whether this QEMU is embedded; false in the ordinary executables. */
extern bool oae_embedded;
/* Whether a debugger may look at the vCPUs of an embedded QEMU. */
extern bool oae_debuggable;
extern OaeCallbacks oae_callbacks;
/* system/cpus.c: whether the big lock is held, which is no mutex in an embedded QEMU */
extern bool oae_bql_locked;

/* accel/tcg/oae-vcpu.c: vCPUs and their time */
void oae_vcpu_init(uint64_t ips);
void oae_accel_ops_init(AccelOpsClass *ops);
void oae_timers_changed(void);
int oae_vcpu_count(void);
enum OaeRun oae_vcpu_run(int cpu, int64_t now, int64_t until, unsigned limit, int64_t *local_time);
int64_t oae_vcpu_local_time(int cpu);
void oae_vcpu_stall(int cpu, int64_t span);
void oae_vcpu_set_limit(int cpu, int64_t until, unsigned limit);
void oae_vcpu_remember(int cpu, const OaeAnswer *answer);
uint64_t oae_vcpu_instructions(int cpu);
void oae_vcpu_set_holding(int cpu, bool holding);
/* Whether `cpu` holds data of a region. */
bool oae_holds(CPUState *cpu);
int64_t oae_next_deadline(void);
/* Whether main_loop_should_exit() has anything to do. */
bool oae_requests_pending(void);
/* Bracket a callback that may switch coroutines; begin returns the vCPU's index or -1. */
int oae_access_begin(void);
void oae_access_end(int cpu);

/* Whether the run ends here, before a block for which what is left of the limit is too short. */
bool oae_ends_early(CPUState *cpu);
/* Counts an exception as an instruction if there was none since the last: time goes on. */
void oae_exception_taken(CPUState *cpu);
/* Lets the time pass that an x86 vCPU spends in a PAUSE. */
void oae_pause_taken(CPUState *cpu);

/*
 * What a PAUSE takes beyond the time of an instruction, in picoseconds: about 140 cycles of a server
 * processor at 3.5 GHz (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Pause
 * Latency in Skylake Client Microarchitecture").
 */
#define OAE_PAUSE_PS 40000

/*
 * accel/tcg/oae-io.c: the addresses of instructions that have accessed a device. They get blocks
 * of their own, so that they need not be translated again in the middle of a block.
 */
void oae_remember_io(vaddr pc);
bool oae_does_io(vaddr pc);

/*
 * accel/tcg/oae-blocks.c: the blocks that were found last. Returns the block that a lookup would find
 * for code at this place in the host's memory, or NULL if that is not known.
 */
struct TranslationBlock *oae_found_block(const void *code, vaddr pc, uint64_t cs_base,
                                         uint32_t flags, uint32_t cflags);
/* Remembers what a lookup has found. */
void oae_remember_block(const void *code, struct TranslationBlock *tb);
/*
 * Where the code at `pc` is in the host's memory if the TLB has its page, so that looking it up
 * changes nothing, or else NULL.
 */
const void *oae_code_at(CPUState *cpu, vaddr pc);

/* Of the vCPU that executes: what it holds is written out; it acts on a line. */
void oae_drain(CPUState *cpu);
void oae_line(CPUState *cpu, enum OaeLineOperation operation,
              enum OaeMemoryType type, hwaddr address, unsigned size);

/*
 * Called before a vCPU that executes acts on its siblings or looks at a clock: those that execute
 * too catch up. oae_order_access() is for an access to `mr`.
 */
void oae_order(CPUState *cpu, enum OaeOrder order);
void oae_order_access(const MemoryRegion *mr);

/* A vCPU's time in nanoseconds, for the window in which the use of its TLB is measured. */
int64_t oae_tlb_clock(CPUState *cpu);

/* Translated code, in MiB: a size that does not follow the host's memory. */
#define OAE_CODE_BUFFER_MIB 512

/* Whether the translator runs: it reads code, and must not be left in mid-work. */
bool oae_translating(void);
/* Puts a flush of translated code off until no vCPU is inside an access; false if none is. */
bool oae_put_off_tb_flush(void);

/* chardev/oae-console.c */
size_t oae_console_input(int index, const uint8_t *data, size_t size);

/* Whether a physical address is in a region of memory that the caller mapped. */
bool oae_is_region(hwaddr address);

/* A machine offers its interrupt inputs to set_line(). */
void oae_offer_lines(qemu_irq *lines, int count);
/* A machine tells where its PCI Express windows are. */
struct GPEXConfig;
void oae_offer_pcie_windows(const struct GPEXConfig *windows);

#endif
