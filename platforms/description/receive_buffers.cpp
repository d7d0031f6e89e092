// SPDX-License-Identifier: Apache-2.0
#include "platforms/description/receive_buffers.h"

namespace platform {
namespace {

constexpr const char* by_link = "link";
constexpr const char* infinite = "infinite";

// What a real port advertises if its link has at most that many lanes.
struct RealPort {
  const char* name;
  unsigned lanes;
  unsigned posted_headers, posted_data, non_posted_headers, non_posted_data;
  unsigned scale;
};

// Intel: Xeon C5500/C3500 datasheet 323103-001, table 76; Stratix 10 H-tile user guide 683111,
// table 51; Agilex 7 R-tile user guide 683501, table 52.
constexpr RealPort real_ports[] = {
    {"xeon_c5500", 4, 16, 80, 18, 4, 1},
    {"xeon_c5500", 8, 32, 160, 36, 4, 1},
    {"xeon_c5500", 16, 64, 320, 72, 4, 1},
    {"stratix_10_h_tile", 16, 127, 750, 115, 230, 1},
    {"agilex_r_tile", 16, 784, 1456, 784, 392, 16},
};

}  // namespace

std::vector<std::string> receive_buffers() {
  std::vector<std::string> names = {by_link, infinite};
  for (const RealPort& port : real_ports) {
    if (names.back() != port.name) names.emplace_back(port.name);
  }
  return names;
}

bool credits_given(const Credits& credits) {
  return credits.posted_headers != 0 || credits.posted_data != 0 ||
         credits.non_posted_headers != 0 || credits.non_posted_data != 0 ||
         credits.completion_headers != 0 || credits.completion_data != 0;
}

bool sized_by_link(const Credits& credits) {
  return !credits_given(credits) && credits.buffer == by_link;
}

Credits advertised(const Credits& credits, unsigned lanes) {
  if (credits_given(credits)) return credits;
  for (const RealPort& port : real_ports) {
    if (credits.buffer != port.name || lanes > port.lanes) continue;
    Credits found = credits;
    found.posted_headers = port.posted_headers;
    found.posted_data = port.posted_data;
    found.non_posted_headers = port.non_posted_headers;
    found.non_posted_data = port.non_posted_data;
    found.scale = port.scale;
    return found;
  }
  return credits;
}

}  // namespace platform
