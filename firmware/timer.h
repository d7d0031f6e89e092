/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual generic timer of a core (Arm DDI 0487, D11). */
#ifndef FIRMWARE_TIMER_H
#define FIRMWARE_TIMER_H

#include <stdint.h>

/* Microseconds since the counter started. */
uint64_t timer_us(void);

/* Makes the timer interrupt every `us` microseconds from now on. */
void timer_start(uint64_t us);
/* Takes the interrupt's level away, and returns how many periods have passed since the last time.
 */
uint64_t timer_take(void);

#endif
