/* SPDX-License-Identifier: Apache-2.0 */
/* Where start.S hands over to C. */
#ifndef FIRMWARE_START_H
#define FIRMWARE_START_H

/*
 * Each firmware defines it. Called once on every core, from 0 to BOARD_CORES_MAX - 1, at EL1 with
 * the core's own stack, the exception vectors in place, interrupts masked, MMU and caches off. Core
 * 0 has cleared .bss; others may arrive before that. A core that returns is parked.
 */
void core_main(unsigned core);

#endif
