// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "vp/console/sink.h"

namespace vp {

/// Records each write separately, and supplies input.
struct NoteSink : Sink {
  std::vector<std::string>& writes;
  std::string input;

  explicit NoteSink(std::vector<std::string>& writes) : writes(writes) {}
  void write(std::string_view bytes) override { writes.emplace_back(bytes); }
  void read(std::string& bytes, std::size_t room) override {
    const std::size_t size = std::min(room, input.size());
    bytes += input.substr(0, size);
    input.erase(0, size);
  }
};

}  // namespace vp
