// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <stdexcept>
#include <string_view>

namespace vp::log {

/// A component or a level that does not exist; the text says which do.
struct Mistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The logger of a component ("pcie", "oae"), made at the first call with level `info`. It lives as
/// long as the process: a model asks once and keeps the reference.
///
/// Lines go to stderr, as `[   1.234567890123 s] pcie warning: text`, with the simulated time.
/// A call below the level costs one comparison, unless its arguments are costly to make:
///
///     if (log_.should_log(spdlog::level::debug)) log_.debug("sent {}", describe(packet));
spdlog::logger& get(std::string_view component);

/// Sets the level of one component, or of all (also those that come later) if `component` is
/// "all". Levels: trace, debug, info, warning, error, critical, off. Throws Mistake; a component
/// exists if get() has been called for it.
void set_level(std::string_view component, std::string_view level);

/// The same from the text "COMPONENT=LEVEL", or "LEVEL" for all components. Throws Mistake.
void set_level(std::string_view assignment);

/// Sends the lines of all components to `sink` instead; nullptr is stderr again.
void set_sink(spdlog::sink_ptr sink);

}  // namespace vp::log
