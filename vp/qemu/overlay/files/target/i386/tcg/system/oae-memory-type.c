/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory types of device memory, and what instructions ask of its lines. */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "cpu.h"
#include "accel/tcg/internal-target.h"
#include "exec/cputlb.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "system/oae-vcpu.h"
#include "tcg/oae-memory-type.h"

#define MTRR_ENABLE (1 << 11)
#define MTRR_FIXED_ENABLE (1 << 10)
#define MTRR_VALID (1 << 11)
#define PAT_UC_MINUS 7

/* Intel SDM volume 3, figure 12-7: the fixed ranges' registers, a type in each byte. */
static unsigned fixed_type(CPUX86State *env, hwaddr addr)
{
    unsigned n = addr < 0x80000 ? addr >> 16
               : addr < 0xc0000 ? 8 + ((addr - 0x80000) >> 14)
                                : 24 + ((addr - 0xc0000) >> 12);

    return extract64(env->mtrr_fixed[n / 8], n % 8 * 8, 8);
}

/* 12.11.4.1: overlapping ranges; what is undefined is uncacheable. */
static unsigned mtrr_type(CPUX86State *env, hwaddr addr)
{
    unsigned type = env->mtrr_deftype & 0xff;
    bool found = false;

    if (!(env->mtrr_deftype & MTRR_ENABLE)) {
        return OAE_MEMORY_UC;
    }
    if (addr < 0x100000 && (env->mtrr_deftype & MTRR_FIXED_ENABLE)) {
        return fixed_type(env, addr);
    }
    for (int i = 0; i < MSR_MTRRcap_VCNT; i++) {
        uint64_t base = env->mtrr_var[i].base, mask = env->mtrr_var[i].mask;
        unsigned one = base & 0xff;

        if (!(mask & MTRR_VALID) || ((addr ^ base) & mask & TARGET_PAGE_MASK)) {
            continue;
        }
        if (!found || one == type) {
            type = one;
        } else if ((one == OAE_MEMORY_WT && type == OAE_MEMORY_WB)
                   || (one == OAE_MEMORY_WB && type == OAE_MEMORY_WT)) {
            type = OAE_MEMORY_WT;
        } else {
            return OAE_MEMORY_UC;
        }
        found = true;
    }
    return type;
}

/* Table 12-7, effective types by PAT and MTRR; what is undefined is uncacheable. */
static unsigned effective_type(unsigned pat, unsigned mtrr)
{
    switch (pat) {
    case OAE_MEMORY_WC:
        return OAE_MEMORY_WC;
    case PAT_UC_MINUS:
        return mtrr == OAE_MEMORY_WC || mtrr == OAE_MEMORY_WP ? OAE_MEMORY_WC : OAE_MEMORY_UC;
    case OAE_MEMORY_WB:
        return mtrr;
    case OAE_MEMORY_WT:
        return mtrr == OAE_MEMORY_WT || mtrr == OAE_MEMORY_WB ? OAE_MEMORY_WT : OAE_MEMORY_UC;
    case OAE_MEMORY_WP:
        return mtrr == OAE_MEMORY_WP || mtrr == OAE_MEMORY_WB ? OAE_MEMORY_WP : OAE_MEMORY_UC;
    default:
        return OAE_MEMORY_UC;
    }
}

unsigned oae_memory_type(CPUX86State *env, hwaddr addr, int pat_entry)
{
    unsigned mtrr, pat;

    if (!oae_is_region(addr) || (env->cr[0] & CR0_CD_MASK)) {
        return OAE_MEMORY_UC;
    }
    mtrr = mtrr_type(env, addr);
    pat = pat_entry == OAE_NO_PAT ? OAE_MEMORY_WB : extract64(env->pat, 8 * pat_entry, 3);
    return effective_type(pat, mtrr);
}

bool oae_types_msr(uint32_t msr)
{
    return msr == MSR_PAT || msr == MSR_MTRRdefType
        || (msr >= MSR_MTRRphysBase(0) && msr <= MSR_MTRRphysMask(MSR_MTRRcap_VCNT - 1))
        || (msr >= MSR_MTRRfix64K_00000 && msr <= MSR_MTRRfix4K_F8000);
}

void helper_oae_drain(CPUX86State *env)
{
    oae_drain(env_cpu(env));
}

/* It never faults: CLFLUSH does nothing where no memory is mapped. */
void helper_oae_line(CPUX86State *env, target_ulong addr, uint32_t mmu_idx,
                     uint32_t operation, uint32_t size)
{
    CPUState *cpu = env_cpu(env);
    CPUTLBEntryFull *full;
    void *host;
    hwaddr physical;
    unsigned type;
    int flags = probe_access_full_mmu(env, addr, 0, MMU_DATA_LOAD, mmu_idx, &host, &full);

    if ((flags & TLB_INVALID_MASK) || !(flags & TLB_MMIO)
        || full->attrs.memory_type == OAE_MEMORY_UC || (addr & (size - 1))) {
        return;
    }
    /* Only the last instruction of a block knows its exact time. */
    if (!cpu->neg.can_do_io) {
        cpu_io_recompile(cpu, GETPC());
    }
    physical = full->phys_addr | (addr & ~TARGET_PAGE_MASK);
    type = full->attrs.memory_type;
    oae_line(cpu, operation, type, physical, size);
}
