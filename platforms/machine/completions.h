// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/protocol/completion_queue.h"
#include "platforms/description/platform.h"

namespace platform {

/// The completions in the form that the model of a completer takes.
inline pcie::CompletionConfig completion_config(const Completions& completions,
                                                std::uint32_t seed) {
  return {completions.split, completions.spread, seed};
}

}  // namespace platform
