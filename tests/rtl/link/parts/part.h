// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "tests/rtl/context.h"
#include "tests/rtl/coverage.h"

namespace window {

/// A part of an end on its own, for what two ends cannot be brought to, or show only by chance. The
/// tests play the other parts.
template <typename Top>
class Part : public testing::Test {
 protected:
  ~Part() override {
    write_coverage(context_);
    top_.final();
    Verilated::threadContextp(&context_);
  }

  rtl::Context context_;
  Top top_{&context_};
};

}  // namespace window
