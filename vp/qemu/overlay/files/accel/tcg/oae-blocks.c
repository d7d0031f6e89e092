/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of code that were found last. vCPUs that take turns end and begin
 * most of them in the middle of a block. So each turn needs two blocks that the
 * jump cache does not keep, since it has one for each address: the rest of a
 * block, and the first instructions of another.
 *
 * What is remembered is only what a lookup would find. Memory keeps its place in
 * the host's for as long as the machine exists. A block that is invalid has other
 * flags, and after a flush there is no block from before.
 */
#include "qemu/osdep.h"
#include "exec/translation-block.h"
#include "hw/core/cpu.h"
#include "system/oae-vcpu.h"
#include "tb-context.h"

#define ENTRIES 2048

static struct {
    const void *code; /* NULL: none */
    TranslationBlock *tb;
    unsigned flushes;
} found[ENTRIES];

static unsigned place_of(const void *code, uint32_t cflags)
{
    /* The parts of a block that begin at one address differ in their number of instructions. */
    return ((uintptr_t)code ^ (cflags & CF_COUNT_MASK) << 5) % ENTRIES;
}

TranslationBlock *oae_found_block(const void *code, vaddr pc, uint64_t cs_base,
                                  uint32_t flags, uint32_t cflags)
{
    unsigned place = place_of(code, cflags);
    TranslationBlock *tb = found[place].tb;

    if (found[place].code != code ||
        found[place].flushes != tb_ctx.tb_flush_count ||
        tb_cflags(tb) != cflags || tb->flags != flags || tb->cs_base != cs_base ||
        (!(cflags & CF_PCREL) && tb->pc != pc)) {
        return NULL;
    }
    return tb;
}

void oae_remember_block(const void *code, TranslationBlock *tb)
{
    unsigned place = place_of(code, tb_cflags(tb));

    /* A lookup of a block on two pages looks at both. */
    if (tb->page_addr[1] == -1) {
        found[place].code = code;
        found[place].tb = tb;
        found[place].flushes = tb_ctx.tb_flush_count;
    }
}
