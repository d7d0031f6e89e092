// SPDX-License-Identifier: Apache-2.0
#include "vp/statistics/statistics.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace vp {

void Statistics::counter(const std::string& name, const std::uint64_t& value) {
  counter(name, [&value] { return value; });
}

void Statistics::counter(const std::string& name, std::function<std::uint64_t()> value) {
  if (!counters_.emplace(name, std::move(value)).second) {
    throw std::logic_error("two counters are named " + name);
  }
}

void Statistics::latency(const std::string& name, const Latency& latency) {
  if (!latencies_.emplace(name, &latency).second) {
    throw std::logic_error("two latencies are named " + name);
  }
}

nlohmann::json Statistics::json() const {
  nlohmann::json counters = nlohmann::json::object();
  for (const auto& [name, value] : counters_) counters[name] = value();
  nlohmann::json latencies = nlohmann::json::object();
  for (const auto& [name, latency] : latencies_) {
    const Latency::Summary summary = latency->summary();
    nlohmann::json& entry = latencies[name];
    entry["count"] = summary.count;
    if (summary.count == 0) continue;
    entry["min"] = summary.min;
    entry["median"] = summary.median;
    const auto percentile = [&](const char* key, Picoseconds value, std::uint64_t share) {
      if (summary.tells(share)) {
        entry[key] = value;
      } else {
        entry[key] = "too few";
      }
    };
    percentile("p99", summary.p99, 100);
    percentile("p99.5", summary.p99_5, 200);
    percentile("p99.9", summary.p99_9, 1000);
    entry["max"] = summary.max;
    if (summary.resolution > 1) entry["resolution"] = summary.resolution;
  }
  return {{"counters", std::move(counters)}, {"latencies_ps", std::move(latencies)}};
}

void Statistics::write(const std::string& path, const nlohmann::json& head) const {
  nlohmann::json all = head;
  all.update(json());
  errno = 0;
  std::ofstream file(path);
  file << all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.close();
  if (!file) {
    throw StatisticsError(
        fmt::format("cannot write the statistics to {}: {}", path, strerror(errno)));
  }
}

}  // namespace vp
