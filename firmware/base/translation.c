/* SPDX-License-Identifier: Apache-2.0 */
#include "base/translation.h"

#define ADDRESS_BITS 39
#define FIRST_LEVEL 1
#define LAST_LEVEL 3
#define ADDRESS_MASK 0x0000fffffffff000ull

/* In a descriptor bit 0 says that it is valid. Bit 1 says that it is a table, or at the last level
 * a page. */
#define VALID (1ull << 0)
#define TABLE_OR_PAGE (1ull << 1)
#define INDEX(attribute) ((uint64_t)(attribute) << 2)
#define READ_ONLY (1ull << 7)
#define INNER_SHAREABLE (3ull << 8)
#define ACCESSED (1ull << 10)
#define PRIVILEGED_NO_EXECUTE (1ull << 53)
#define NO_EXECUTE (1ull << 54)

static const uint64_t attributes[] = {
    [TRANSLATION_KIND_DEVICE] = INDEX(TRANSLATION_DEVICE) | PRIVILEGED_NO_EXECUTE | NO_EXECUTE,
    [TRANSLATION_KIND_TEXT] = INDEX(TRANSLATION_NORMAL) | INNER_SHAREABLE | READ_ONLY | NO_EXECUTE,
    [TRANSLATION_KIND_CONSTANTS] = INDEX(TRANSLATION_NORMAL) | INNER_SHAREABLE | READ_ONLY |
                                   PRIVILEGED_NO_EXECUTE | NO_EXECUTE,
    [TRANSLATION_KIND_DATA] =
        INDEX(TRANSLATION_NORMAL) | INNER_SHAREABLE | PRIVILEGED_NO_EXECUTE | NO_EXECUTE,
};

static unsigned shift_of(unsigned level) {
  return 12 + 9 * (LAST_LEVEL - level);
}

void translation_init(struct translation* tables, uint64_t (*pages)[TRANSLATION_ENTRIES],
                      size_t count) {
  *tables = (struct translation){pages, count, 1};
}

/* Returns the descriptor of `address` at `level`, or NULL. */
static uint64_t* find(struct translation* tables, uint64_t address, unsigned level) {
  uint64_t* table = tables->pages[0];

  for (unsigned at = FIRST_LEVEL;; at++) {
    uint64_t* entry = &table[address >> shift_of(at) & (TRANSLATION_ENTRIES - 1)];

    if (at == level) return entry;
    if (!*entry) {
      if (tables->used == tables->count) return NULL;
      *entry = (uintptr_t)tables->pages[tables->used++] | VALID | TABLE_OR_PAGE;
    } else if (!(*entry & TABLE_OR_PAGE)) {
      return NULL;
    }
    table = (uint64_t*)(uintptr_t)(*entry & ADDRESS_MASK);
  }
}

bool translation_map(struct translation* tables, uint64_t base, uint64_t size,
                     enum translation_kind kind) {
  const uint64_t limit = 1ull << ADDRESS_BITS;

  if ((base | size) % TRANSLATION_PAGE || base > limit || size > limit - base) return false;
  while (size) {
    unsigned level = FIRST_LEVEL;
    uint64_t* entry;

    while (base & ((1ull << shift_of(level)) - 1) || size < 1ull << shift_of(level)) level++;
    entry = find(tables, base, level);
    if (!entry || *entry) return false;
    *entry = base | attributes[kind] | ACCESSED | VALID | (level == LAST_LEVEL ? TABLE_OR_PAGE : 0);
    base += 1ull << shift_of(level);
    size -= 1ull << shift_of(level);
  }
  return true;
}
