/* SPDX-License-Identifier: Apache-2.0 */
/* The function that start.S calls. */
#ifndef FIRMWARE_BASE_START_H
#define FIRMWARE_BASE_START_H

/*
 * Each firmware defines this function. It is called once on every core, from 0 to OAE_IPU_CORES -
 * 1, at EL1, with the core's own stack and the exception vectors in place, interrupts masked, and
 * MMU and caches off. Core 0 has cleared .bss before; other cores may arrive earlier. A core that
 * returns is parked.
 */
void core_main(unsigned core);

#endif
