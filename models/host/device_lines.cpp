// SPDX-License-Identifier: Apache-2.0
#include "models/host/device_lines.h"

#include <algorithm>

namespace host {

DeviceLines::Line* DeviceLines::held(std::uint64_t address) {
  for (Line& line : lines_) {
    if (line.used != 0 && line.address == line_of(address)) return &line;
  }
  return nullptr;
}

LineData* DeviceLines::find(std::uint64_t address) {
  Line* line = held(address);
  if (line == nullptr) return nullptr;
  line->used = ++uses_;
  return &line->data;
}

void DeviceLines::insert(std::uint64_t address, const LineData& data) {
  Line& line = *std::min_element(lines_.begin(), lines_.end(),
                                 [](const Line& a, const Line& b) { return a.used < b.used; });
  line.address = line_of(address);
  line.used = ++uses_;
  line.data = data;
}

void DeviceLines::drop(std::uint64_t address) {
  if (Line* line = held(address)) line->used = 0;
}

void DeviceLines::clear() {
  for (Line& line : lines_) line.used = 0;
}

}  // namespace host
