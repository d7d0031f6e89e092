/* SPDX-License-Identifier: Apache-2.0 */
/* Translation tables of a 39-bit identity map with a 4 KiB granule (Arm DDI 0487, D8.3). */
#ifndef FIRMWARE_BASE_TRANSLATION_H
#define FIRMWARE_BASE_TRANSLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRANSLATION_ENTRIES 512
#define TRANSLATION_PAGE 0x1000ull

/* Indices in MAIR_EL1. */
#define TRANSLATION_DEVICE 0 /* nGnRE */
#define TRANSLATION_NORMAL 1 /* write-back, inner shareable */

enum translation_kind {
  TRANSLATION_KIND_DEVICE,    /* read, write */
  TRANSLATION_KIND_TEXT,      /* read, execute */
  TRANSLATION_KIND_CONSTANTS, /* read */
  TRANSLATION_KIND_DATA,      /* read, write */
};

/* New tables come from `pages`. The first page is the table of level 1. */
struct translation {
  uint64_t (*pages)[TRANSLATION_ENTRIES]; /* aligned to 4 KiB, zero */
  size_t count;
  size_t used;
};

void translation_init(struct translation* tables, uint64_t (*pages)[TRANSLATION_ENTRIES],
                      size_t count);

/*
 * Maps whole pages to themselves, in blocks as large as possible. Returns false if base or size is
 * not a multiple of 4 KiB, if the region is already mapped or beyond 39 bits, or if the pages run
 * out. A part of the region may then be mapped.
 */
bool translation_map(struct translation* tables, uint64_t base, uint64_t size,
                     enum translation_kind kind);

#ifdef __cplusplus
}
#endif

#endif
