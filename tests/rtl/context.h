// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verilated.h>

namespace rtl {

/// The context of a verilated model that has no threads of its own
struct Context : VerilatedContext {
  Context() { threads(1); }
};

}  // namespace rtl
