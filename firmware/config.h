/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are chosen when the firmware is built. */
#ifndef FIRMWARE_CONFIG_H
#define FIRMWARE_CONFIG_H

/* Microseconds between two signs of life. A shorter time reveals a dead firmware earlier and keeps
 * an idle machine busier. */
#ifndef FIRMWARE_TICK_US
#define FIRMWARE_TICK_US 1000
#endif

/* Words of the OAE block that each swap port has to itself: port n has those from n times this number
 * on. 0: all ports share all words. */
#ifndef FIRMWARE_WORDS_PER_PORT
#define FIRMWARE_WORDS_PER_PORT 0
#endif

/* Highest level that is logged: 0 error, 1 warning, 2 info, 3 debug. */
#ifndef FIRMWARE_LOG_LEVEL
#define FIRMWARE_LOG_LEVEL 2
#endif

/* The memory of each core's stacks, from low to high: an unmapped page, the stack, and the stack on
 * which faults are reported. */
#define FIRMWARE_GUARD_SIZE 0x1000
#define FIRMWARE_STACK_SIZE 0x4000
#define FIRMWARE_FAULT_STACK_SIZE 0x1000
#define FIRMWARE_CORE_STACKS_SIZE \
  (FIRMWARE_GUARD_SIZE + FIRMWARE_STACK_SIZE + FIRMWARE_FAULT_STACK_SIZE)

#endif
