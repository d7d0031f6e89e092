/* SPDX-License-Identifier: Apache-2.0 */
/* GICv3 with one security state (Arm IHI 0069), for one core. */
#ifndef FIRMWARE_GIC_H
#define FIRMWARE_GIC_H

#include <stdbool.h>
#include <stdint.h>

/* Ids from here on are special: nothing was acknowledged. */
#define GIC_SPECIAL 1020

/* Sets up the distributor, this core's redistributor and its interface, with everything disabled.
 * False if the redistributor is not found. */
bool gic_init(void);
/* Lets a level-sensitive interrupt through to this core. */
void gic_enable(unsigned id);

/*
 * An interrupt is acknowledged and dropped by its handler, and deactivated once its cause is gone:
 * in between it does not signal again, while others do.
 */
unsigned gic_acknowledge(void);
void gic_drop(unsigned id);
void gic_deactivate(unsigned id);

#endif
