// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <stdexcept>
#include <string_view>

namespace vp::log {

/// The name of a component or level does not exist. The text lists the names that do.
struct Mistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The logger of a component ("pcie", "oae"). The first call creates it with level `info`. It lives
/// as long as the process, so a model calls this once and keeps the reference.
///
/// Lines go to stderr, as `[   1.234567890123 s] pcie warning: text`, with the simulated time.
/// A message below the level costs one comparison. Costly arguments need a test:
///
///     if (log_.should_log(spdlog::level::debug)) log_.debug("sent {}", describe(packet));
spdlog::logger& get(std::string_view component);

/// Sets the level of one component, or if `component` is "all", of all present and future ones.
/// Levels: trace, debug, info, warning, error, critical, off. Throws Mistake; a component
/// exists if get() has been called for it.
void set_level(std::string_view component, std::string_view level);

/// Does the same for the text "COMPONENT=LEVEL", or "LEVEL" for all components. Throws Mistake.
void set_level(std::string_view assignment);

/// Sends the messages of all components to `sink`, or to stderr if it is nullptr.
void set_sink(spdlog::sink_ptr sink);

}  // namespace vp::log
