// SPDX-License-Identifier: Apache-2.0
// A plugin whose static constructor ends the process.
#include <cstdio>
#include <cstdlib>

namespace {

struct Crashes {
  Crashes() {
    std::fputs("the bulb bursts\n", stderr);
    std::abort();
  }
} const crashes;

}  // namespace
