// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "vp/statistics/latency.h"

namespace vp {

/// The statistics file is not writable.
struct StatisticsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The counters and latencies of a run by name, for example "host.link.down.tlps". Models own them
/// and register them at construction. They are read only when the run ends.
class Statistics {
 public:
  /// Registers a counter, which must live as long as this object. Throws std::logic_error if the
  /// name is taken.
  void counter(const std::string& name, const std::uint64_t& value);
  /// Registers a counter whose value is computed on demand.
  void counter(const std::string& name, std::function<std::uint64_t()> value);
  void latency(const std::string& name, const Latency& latency);

  /// {"counters": {NAME: value}, "latencies_ps": {NAME: {"count", "min", "median", "p99", "p99.5",
  /// "p99.9", "max"}}}, sorted by name. A latency without samples has only "count". A percentile
  /// beyond which fewer than 30 samples lie is "too few". A latency whose median and percentiles
  /// are rounded down also has "resolution".
  nlohmann::json json() const;

  /// Writes a file with json() and the members of the object `head`. Throws StatisticsError.
  void write(const std::string& path, const nlohmann::json& head) const;

 private:
  std::map<std::string, std::function<std::uint64_t()>> counters_;
  std::map<std::string, const Latency*> latencies_;
};

}  // namespace vp
