// SPDX-License-Identifier: Apache-2.0
#include "vp/log/log.h"

#include <fmt/format.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>

#include <array>
#include <map>
#include <memory>
#include <string>

#include "vp/time/time.h"

namespace vp::log {
namespace {

using spdlog::level::level_enum;

struct Level {
  std::string_view name;
  level_enum value;
};

constexpr std::array<Level, 7> levels{{{"trace", level_enum::trace},
                                       {"debug", level_enum::debug},
                                       {"info", level_enum::info},
                                       {"warning", level_enum::warn},
                                       {"error", level_enum::err},
                                       {"critical", level_enum::critical},
                                       {"off", level_enum::off}}};

std::string_view name_of(level_enum value) {
  for (const Level& level : levels) {
    if (level.value == value) return level.name;
  }
  return "";
}

level_enum level_of(std::string_view name) {
  for (const Level& level : levels) {
    if (level.name == name) return level.value;
  }
  std::string names;
  for (const Level& level : levels) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", level.name);
  }
  throw Mistake(fmt::format("unknown log level \"{}\"; levels are: {}", name, names));
}

class Formatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    const Picoseconds time = now();
    fmt::format_to(fmt::appender(line), "[{:4}.{:012} s] {} ", time / s, time % s,
                   std::string_view(message.logger_name.data(), message.logger_name.size()));
    message.color_range_start = line.size();
    fmt::format_to(fmt::appender(line), "{}", name_of(message.level));
    message.color_range_end = line.size();
    fmt::format_to(fmt::appender(line), ": {}\n",
                   std::string_view(message.payload.data(), message.payload.size()));
  }

  std::unique_ptr<formatter> clone() const override { return std::make_unique<Formatter>(); }
};

struct Registry {
  std::map<std::string, std::unique_ptr<spdlog::logger>, std::less<>> loggers;
  level_enum level = level_enum::info;
  spdlog::sink_ptr sink;
};

spdlog::sink_ptr standard_error() {
  auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_st>();
  sink->set_formatter(std::make_unique<Formatter>());
  return sink;
}

// This object is never destroyed, since models log until the process ends.
Registry& registry() {
  static Registry& registry = *[] {
    auto* made = new Registry;
    made->sink = standard_error();
    return made;
  }();
  return registry;
}

}  // namespace

spdlog::logger& get(std::string_view component) {
  Registry& all = registry();
  const auto found = all.loggers.find(component);
  if (found != all.loggers.end()) return *found->second;
  auto logger = std::make_unique<spdlog::logger>(std::string(component), all.sink);
  logger->set_level(all.level);
  logger->flush_on(level_enum::trace);
  return *all.loggers.emplace(component, std::move(logger)).first->second;
}

void set_level(std::string_view component, std::string_view level) {
  Registry& all = registry();
  const level_enum value = level_of(level);
  if (component == "all") {
    all.level = value;
    for (auto& [name, logger] : all.loggers) logger->set_level(value);
    return;
  }
  const auto found = all.loggers.find(component);
  if (found == all.loggers.end()) {
    std::string names = "all";
    for (const auto& [name, logger] : all.loggers) names += ", " + name;
    throw Mistake(
        fmt::format("unknown log component \"{}\"; components are: {}", component, names));
  }
  found->second->set_level(value);
}

void set_level(std::string_view assignment) {
  const std::size_t sign = assignment.find('=');
  if (sign == std::string_view::npos) return set_level("all", assignment);
  set_level(assignment.substr(0, sign), assignment.substr(sign + 1));
}

void set_sink(spdlog::sink_ptr sink) {
  Registry& all = registry();
  if (sink) {
    sink->set_formatter(std::make_unique<Formatter>());
    all.sink = std::move(sink);
  } else {
    all.sink = standard_error();
  }
  for (auto& [name, logger] : all.loggers) logger->sinks() = {all.sink};
}

}  // namespace vp::log
