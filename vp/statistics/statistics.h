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

/// A statistics file that cannot be written.
struct StatisticsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The counters and latencies of a run, by name ("host.link.down.tlps"). Models own them and
/// register them at construction; they are read only when the run ends.
class Statistics {
 public:
  /// Registers what must live as long as this object; a name taken is std::logic_error.
  void counter(const std::string& name, const std::uint64_t& value);
  /// One that is asked for.
  void counter(const std::string& name, std::function<std::uint64_t()> value);
  void latency(const std::string& name, const Latency& latency);

  /// {"counters": {NAME: value}, "latencies_ps": {NAME: {"count", "min", "median", "p99", "max"}}},
  /// sorted by name. A latency without samples has only its count; one whose median and p99 are
  /// rounded down also has "resolution".
  nlohmann::json json() const;

  /// Writes json() and the members of the object `head` to a file. Throws StatisticsError.
  void write(const std::string& path, const nlohmann::json& head) const;

 private:
  std::map<std::string, std::function<std::uint64_t()>> counters_;
  std::map<std::string, const Latency*> latencies_;
};

}  // namespace vp
