// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vp/config/source.h"

namespace vp::config {

/// One mistake of whoever wrote a file or an option.
struct Problem {
  Origin origin;
  std::string found;     ///< what is wrong, with what was found
  std::string accepted;  ///< what would be accepted, or empty
  std::string remedy;    ///< what to do about it, or empty

  /// The problem with the line it is in and a mark under the place.
  std::string text() const;
};

/// Collects problems so that all of them can be told at once. Keeps the first `limit`, and counts
/// the others.
class Report {
 public:
  static constexpr std::size_t limit = 100;

  void add(Problem problem);
  void add(const Report& other);
  /// Counts problems that are not kept.
  void omit(std::size_t count) { beyond_ += count; }

  bool empty() const { return problems_.empty(); }
  std::size_t count() const { return problems_.size() + beyond_; }
  const std::vector<Problem>& problems() const { return problems_; }
  /// All problems, files before arguments and each in the order of its lines, and their number.
  std::string text() const;
  /// Throws Mistakes if there is a problem.
  void check() const;

 private:
  std::vector<Problem> problems_;
  std::size_t beyond_ = 0;
};

/// Input that cannot be used. what() is Report::text().
class Mistakes : public std::runtime_error {
 public:
  explicit Mistakes(Report report)
      : std::runtime_error(report.text()), report_(std::move(report)) {}
  const Report& report() const { return report_; }

 private:
  Report report_;
};

/// Throws Mistakes with this one problem.
[[noreturn]] void fail(Problem problem);

/// `text` in back quotes as it may be shown on a terminal: control characters escaped, cut to 60
/// characters.
std::string shown(std::string_view text);

/// `a, b or c`.
std::string alternatives(const std::vector<std::string>& names);

/// The name that was most likely meant by `text`, or empty if none is near: at most a third of the
/// letters are wrong, missing, extra or swapped with their neighbour. Case does not count.
std::string nearest(std::string_view text, const std::vector<std::string>& names);

}  // namespace vp::config
