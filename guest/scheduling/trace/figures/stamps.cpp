// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/figures/stamps.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

bool Stamps::earlier(const Stamp& one, const Stamp& other) {
  return one.time < other.time;
}

std::string Stamps::read(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) return std::strerror(errno);
  std::string line;
  for (unsigned number = 1; std::getline(stream, line); ++number) {
    std::istringstream words(line);
    std::string kind, more;
    std::uint64_t cpu = 0, time = 0;
    if (!(words >> kind >> cpu >> time) || words >> more || cpu >= POLICY_CPUS ||
        (kind != "before" && kind != "after"))
      return "line " + std::to_string(number) + " is no stamp";
    stamps_[cpu].push_back({time, kind == "before"});
  }
  for (auto& stamps : stamps_) std::stable_sort(stamps.begin(), stamps.end(), earlier);
  return "";
}

std::optional<std::uint64_t> Stamps::last_before(unsigned cpu, std::uint64_t from,
                                                 std::uint64_t to) const {
  const auto& stamps = stamps_[cpu];
  auto next = std::upper_bound(stamps.begin(), stamps.end(), Stamp{to, false}, earlier);
  if (next == stamps.begin()) return std::nullopt;
  --next;
  return next->before && next->time >= from ? std::optional<std::uint64_t>(next->time)
                                            : std::nullopt;
}

std::optional<std::uint64_t> Stamps::first_after(unsigned cpu, std::uint64_t from,
                                                 std::uint64_t to) const {
  const auto& stamps = stamps_[cpu];
  const auto first = std::lower_bound(stamps.begin(), stamps.end(), Stamp{from, false}, earlier);
  if (first == stamps.end() || first->before || first->time > to) return std::nullopt;
  return first->time;
}
