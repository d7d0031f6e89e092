// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <cstdint>
#include <string>
#include <utility>

#include "models/axi/pins.h"

namespace axi {

/// Counts and logs what goes wrong at the pins. The first one of each kind is a warning, and later
/// ones have the level `debug`.
class Faults {
 public:
  /// `name` is that of the bridge.
  Faults(spdlog::logger& log, std::string name) : log_(log), name_(std::move(name)) {}

  /// The block breaks a rule of AXI.
  void violation(const char* text) {
    log_.log(level(violations_++), "{}: the block breaks a rule of AXI: {}", name_, text);
  }
  /// The block asks for something that its surroundings do not have.
  void unsupported(const char* text) {
    log_.log(level(unsupported_++), "{}: answered SLVERR: {}", name_, text);
  }
  /// The block answers a write of the host with an error, of which the host does not hear.
  void register_write(std::uint64_t address, unsigned response) {
    log_.log(level(register_writes_++), "{}: the block answers {} to a write at {:#x} of BAR 0",
             name_, response == decerr ? "DECERR" : "SLVERR", address);
  }

  const std::uint64_t& violations() const { return violations_; }
  const std::uint64_t& unsupported_count() const { return unsupported_; }
  const std::uint64_t& register_writes() const { return register_writes_; }

 private:
  static spdlog::level::level_enum level(std::uint64_t before) {
    return before == 0 ? spdlog::level::warn : spdlog::level::debug;
  }

  spdlog::logger& log_;
  const std::string name_;
  std::uint64_t violations_ = 0;
  std::uint64_t unsupported_ = 0;
  std::uint64_t register_writes_ = 0;
};

}  // namespace axi
