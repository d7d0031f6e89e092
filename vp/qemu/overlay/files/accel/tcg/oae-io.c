/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which instructions access devices. If instructions are counted, such an
 * instruction has to be the last of its block. QEMU leaves a block in whose
 * middle it finds one, and translates it again, each time. Here the
 * instruction's address is remembered instead.
 *
 * The guest cannot see where blocks end, so one entry may replace another.
 */
#include "qemu/osdep.h"
#include "exec/vaddr.h"
#include "system/oae-vcpu.h"

#define ENTRIES 4096

static vaddr known[ENTRIES];

static vaddr *entry(vaddr pc)
{
    return &known[(pc ^ pc >> 12) % ENTRIES];
}

void oae_remember_io(vaddr pc)
{
    *entry(pc) = pc;
}

bool oae_does_io(vaddr pc)
{
    return *entry(pc) == pc;
}
