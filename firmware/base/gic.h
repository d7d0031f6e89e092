/* SPDX-License-Identifier: Apache-2.0 */
/* GICv3 with one security state (Arm IHI 0069). */
#ifndef FIRMWARE_BASE_GIC_H
#define FIRMWARE_BASE_GIC_H

#include <stdbool.h>
#include <stdint.h>

/* Ids from this one on are special: no interrupt was acknowledged. */
#define GIC_SPECIAL 1020

/* Sets up the distributor, this core's redistributor and its interface, with everything disabled.
 * Returns false if the redistributor is not found. */
bool gic_init(void);
/* Sets up this core's redistributor and its interface after another core's gic_init(). */
bool gic_join(void);
/* Enables a level-sensitive interrupt for this core. */
void gic_enable(unsigned id);

/* Makes a software-generated interrupt (id 0 to 15) pending for a core that has joined. */
void gic_signal(unsigned core, unsigned id);

/*
 * The handler acknowledges an interrupt and drops its priority. The interrupt is deactivated when
 * its cause is gone. In between it does not signal again, but others do.
 */
unsigned gic_acknowledge(void);
void gic_drop(unsigned id);
void gic_deactivate(unsigned id);

#endif
