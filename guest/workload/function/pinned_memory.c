// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "pinned_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char huge_pages[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";

/* Has the kernel keep one huge page more. */
static void reserve_huge_page(void) {
  FILE* file = fopen(huge_pages, "r+");
  unsigned long pages;

  if (!file) return;
  if (fscanf(file, "%lu", &pages) == 1) {
    rewind(file);
    fprintf(file, "%lu\n", pages + 1);
  }
  fclose(file);
}

static void* map(size_t size, int flags) {
  void* found = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | flags, -1, 0);

  return found == MAP_FAILED ? NULL : found;
}

void* pinned_memory(size_t size) {
  void* found;

  if (size > PINNED_MAX) {
    errno = EINVAL;
    return NULL;
  }
  if (size <= PINNED_PAGE) {
    found = map(PINNED_PAGE, MAP_LOCKED);
  } else {
    found = map(PINNED_MAX, MAP_HUGETLB | MAP_HUGE_2MB);
    if (!found) {
      reserve_huge_page();
      found = map(PINNED_MAX, MAP_HUGETLB | MAP_HUGE_2MB);
    }
  }
  /* A page that was only read may be one that all share. */
  if (found) memset(found, 0, size);
  return found;
}

uint64_t pinned_address(const volatile void* at) {
  const off_t entry_at = (off_t)((uintptr_t)at / PINNED_PAGE * sizeof(uint64_t));
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  uint64_t entry = 0;
  ssize_t count;

  if (file < 0) return 0;
  count = pread(file, &entry, sizeof(entry), entry_at);
  close(file);
  if (count == sizeof(entry) && entry >> 63 && (entry & ((UINT64_C(1) << 55) - 1)))
    return (entry & ((UINT64_C(1) << 55) - 1)) * PINNED_PAGE + (uintptr_t)at % PINNED_PAGE;
  if (count >= 0) errno = EPERM; /* the kernel shows no page numbers to others than root */
  return 0;
}
