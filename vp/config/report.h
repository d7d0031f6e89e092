// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vp/config/source.h"

namespace vp::config {

/// One mistake in a file or in an option.
struct Problem {
  Origin origin;
  std::string found;     ///< what is wrong, and what was found
  std::string accepted;  ///< what would be accepted, or empty
  std::string remedy;    ///< what to do about it, or empty

  /// Returns the text of the problem, with its line and a mark under the place.
  std::string text() const;
};

/// Collects problems, so that all of them can be reported at once. Keeps the first `limit` of them
/// and counts the others.
class Report {
 public:
  static constexpr std::size_t limit = 100;

  void add(Problem problem);
  void add(const Report& other);
  /// Counts problems without keeping them.
  void omit(std::size_t count) { beyond_ += count; }

  bool empty() const { return problems_.empty(); }
  std::size_t count() const { return problems_.size() + beyond_; }
  const std::vector<Problem>& problems() const { return problems_; }
  /// Returns the text of all problems and their number. Files come before arguments, and the
  /// problems of each are in the order of its lines.
  std::string text() const;
  /// Throws Mistakes if there is a problem.
  void check() const;

 private:
  std::vector<Problem> problems_;
  std::size_t beyond_ = 0;
};

/// Thrown for input that cannot be used. what() is Report::text().
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

/// Returns `text` in back quotes for a terminal: control characters are escaped, and it is cut to
/// 60 characters.
std::string shown(std::string_view text);

/// `a, b or c`.
std::string alternatives(const std::vector<std::string>& names);

/// Returns the name that `text` most likely means, or an empty string if none is near. In a near
/// name at most a third of the letters are wrong, missing, extra or swapped with their neighbour.
/// Case does not count.
std::string nearest(std::string_view text, const std::vector<std::string>& names);

}  // namespace vp::config
