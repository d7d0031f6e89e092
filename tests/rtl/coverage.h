// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>
#include <verilated.h>

#include <cstdlib>
#include <string>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

/// To be called by whatever holds a verilated model, before it goes: where scripts/coverage wants
/// them (a folder, OAE_VP_COVERAGE), the counts of what the models of `context` have reached.
/// Nothing in any other build.
inline void write_coverage([[maybe_unused]] VerilatedContext& context) {
#if VM_COVERAGE
  static unsigned number = 0;
  const char* const folder = std::getenv("OAE_VP_COVERAGE");
  if (folder == nullptr) return;
  const std::string file = std::to_string(getpid()) + '-' + std::to_string(number++);
  context.coveragep()->write((std::string(folder) + '/' + file).c_str());
#endif
}
