/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What programs of the guest hold against what must be. */
#ifndef TESTS_SYSTEM_EXPECT_H
#define TESTS_SYSTEM_EXPECT_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>

/* Something was not as it must be. */
static bool failed;

static inline void expect(const char* what, long value, long expected) {
  if (value == expected) return;
  printf("%s: %ld, must be %ld\n", what, value, expected);
  failed = true;
}

/* 0, or the errno value that a request fails with. */
static inline int asked(int port, unsigned long request, void* argument) {
  return ioctl(port, request, argument) < 0 ? errno : 0;
}

#endif
