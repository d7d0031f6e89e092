// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>
#include <verilated.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

/// Writes the coverage of the models of `context` to the folder OAE_VP_COVERAGE for
/// scripts/coverage. The owner of a verilated model must call this before it destroys the model.
/// Other builds do nothing here.
inline void write_coverage([[maybe_unused]] VerilatedContext& context) {
#if VM_COVERAGE
  static unsigned number = 0;
  const char* const folder = std::getenv("OAE_VP_COVERAGE");
  if (folder == nullptr) return;
  const std::string file =
      std::string(folder) + '/' + std::to_string(getpid()) + '-' + std::to_string(number++);
  context.coveragep()->write(file.c_str());
  std::rename(file.c_str(), (file + ".counts").c_str());  // It is complete.
#endif
}
