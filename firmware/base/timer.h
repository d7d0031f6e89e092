/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual generic timer of a core (Arm DDI 0487, D11). */
#ifndef FIRMWARE_BASE_TIMER_H
#define FIRMWARE_BASE_TIMER_H

#include <stdint.h>

/* Microseconds and nanoseconds since the counter started. */
uint64_t timer_us(void);
uint64_t timer_ns(void);

/* Makes the timer interrupt every `us` microseconds. */
void timer_start(uint64_t us);
/* Sleeps for `us` microseconds, or until another interrupt. IRQs are masked. This core's timer must
 * be enabled in the GIC, and must not be in use. */
void timer_sleep(uint64_t us);
/* Makes the timer interrupt no more. */
void timer_stop(void);
/* Acknowledges the interrupt. Returns how many periods have passed since the last call. */
uint64_t timer_acknowledge(void);

#endif
