/* SPDX-License-Identifier: Apache-2.0 */
/* Where the devices of the IPU are. Each address may be given to the compiler for another board. */
#ifndef FIRMWARE_BOARD_H
#define FIRMWARE_BOARD_H

#ifndef BOARD_GICD
#define BOARD_GICD 0x08000000 /* GICv3 distributor, 64 KiB */
#endif
#ifndef BOARD_GICR
#define BOARD_GICR 0x080a0000 /* GICv3 redistributors, 128 KiB a core */
#endif
#ifndef BOARD_CONSOLE
#define BOARD_CONSOLE 0x09000000 /* PL011 */
#endif
#ifndef BOARD_MAILBOX
#define BOARD_MAILBOX 0x0a000000
#endif
#ifndef BOARD_DMA
#define BOARD_DMA 0x0b000000
#endif
#ifndef BOARD_OAE
#define BOARD_OAE 0x0c000000
#endif
#ifndef BOARD_SYSTEM
#define BOARD_SYSTEM 0x0d000000
#endif
#ifndef BOARD_LINK
#define BOARD_LINK 0x0e000000 /* OAE link 0, 64 KiB each */
#endif
#define BOARD_LINK_AT(n) (BOARD_LINK + (n) * 0x10000)

#define BOARD_CORES_MAX 24
#define BOARD_LINKS_MAX 4

/* Interrupt ids of the GIC: PPIs from 16, SPIs from 32. */
#define BOARD_IRQ_VIRTUAL_TIMER 27
#define BOARD_IRQ_CONSOLE (32 + 1)
#define BOARD_IRQ_MAILBOX (32 + 2)
#define BOARD_IRQ_DMA (32 + 3)
#define BOARD_IRQ_OAE (32 + 4)
#define BOARD_IRQ_LINK(n) (32 + 5 + (n))

#endif
