/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which instructions access devices. With an instruction counter such an access
 * must be the last of its block; one that is met in the middle is left by a
 * long jump and translated again, each time. It is remembered instead.
 *
 * Where blocks end is of no effect on what the guest sees, so one entry may
 * push out another.
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
