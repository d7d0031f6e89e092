// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace vp {

/// The trace file cannot be created.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The run's trace: one JSON object in each line, in the order in which models write them.
///
/// It contains only simulated facts, so that equal inputs give equal files: no wall clock, no host
/// name and no path. A line costs its formatting and a copy; the file is written in large pieces.
///
///     if (trace.on()) trace.write("{{\"t\":{},\"link\":\"{}\"}}", vp::now(), name);
class Trace {
 public:
  /// Creates a trace that is off.
  Trace() = default;
  ~Trace() { close(); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Creates or truncates the file. Its first line is `head`, an object with the versions and the
  /// hashes of all inputs. Throws TraceError.
  void open(const std::string& path, const nlohmann::json& head);

  /// Continues in another file, which begins with the line `head` and all other lines so far. This
  /// is for a process that has been forked: the parent's file remains as it is, and the parent must
  /// not write to it meanwhile. Throws TraceError. Does nothing while the trace is off.
  void continue_in(const std::string& path, const nlohmann::json& head);

  bool on() const { return on_; }

  /// Appends one line, which is given without a line feed. Does nothing while the trace is off.
  template <typename... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    if (!on_) return;
    fmt::format_to(fmt::appender(lines_), format, std::forward<Args>(args)...);
    lines_.push_back('\n');
    if (lines_.size() >= piece) flush();
  }

  /// Writes all lines to the file. If that fails, for example since the disk is full, it is logged
  /// once and ends the trace but not the run: see failed().
  void flush();

  /// Flushes and closes the file. The trace may be opened again.
  void close();

  /// Whether lines were lost since open(), so that the trace is incomplete.
  bool failed() const { return failed_; }

 private:
  static constexpr std::size_t piece = 64 * 1024;

  int create(const std::string& path) const;
  void copy(int from, std::uint64_t begin, std::uint64_t end);
  void fail(const char* what, int error);

  bool on_ = false;
  bool failed_ = false;
  int file_ = -1;
  std::string path_;
  std::size_t head_size_ = 0;  // size of the first line
  std::uint64_t written_ = 0;  // size of the file
  fmt::memory_buffer lines_;
};

}  // namespace vp
