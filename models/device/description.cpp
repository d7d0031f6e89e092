// SPDX-License-Identifier: Apache-2.0
#include "models/device/description.h"

namespace device {

using namespace vp::config;

const Struct<Completions>& completion_keys() {
  static const Struct<Completions> keys({
      {"split", &Completions::split, boolean(),
       "Whether each completion ends at the next read completion boundary, 64 bytes at a root "
       "complex and 128 at an endpoint, instead of as late as the payload permits"},
      // Far below the shortest completion timeout.
      {"spread", &Completions::spread, duration(0, 10'000'000),
       "Each completion is late by a random time of at most this, so that reads are answered in "
       "any "
       "order and mixed with each other; with 0 they are answered in order"},
  });
  return keys;
}

const Struct<Fault>& fault_keys() {
  static const Struct<Fault> keys({
      {"at", &Fault::at, duration(0, 1'000'000'000'000'000'000),
       "Simulated time at which the fault is asked for"},
      {"inject", &Fault::inject, string(200),
       "The fault, in the words that follow the device's name in `vpctl inject`", required},
  });
  return keys;
}

Type<ConsoleKind> console_kinds() {
  return choice<ConsoleKind>(
      {{"terminal", ConsoleKind::terminal}, {"pty", ConsoleKind::pty}, {"off", ConsoleKind::off}});
}

}  // namespace device
