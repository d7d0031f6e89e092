// SPDX-License-Identifier: Apache-2.0
#include "vp/config/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

namespace vp::config {

namespace {

/// How many columns of a source line are shown before and after a place.
constexpr std::size_t shown_before = 60, shown_after = 40;

/// Returns the line of the problem and a caret under its column.
std::string excerpt(const Origin& origin) {
  if (!origin.source || origin.line == 0) return {};
  const std::size_t column = origin.column - 1;
  const std::size_t begin = column > shown_before ? column - shown_before : 0;
  std::string line;
  std::size_t at = 0;  // column of the next character
  for (const char c : origin.source->line(origin.line)) {
    const bool continues = (c & 0xc0) == 0x80;
    if (!continues && at == column + shown_after) break;
    if (!continues) ++at;
    if (at <= begin) continue;
    line += c == '\t' ? ' ' : std::iscntrl(static_cast<unsigned char>(c)) ? '?' : c;
  }
  const std::string margin =
      origin.source->is_argument ? "    " : fmt::format("{:>6} | ", origin.line);
  const std::string dots = begin > 0 ? "..." : "";
  return fmt::format("{}{}{}\n{:>{}}\n", margin, dots, line, '^',
                     margin.size() + dots.size() + column - begin + 1);
}

/// Returns the least number of letters to change, add, drop or swap with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::string Problem::text() const {
  std::string result = fmt::format("{}: {}\n{}", origin.text(), found, excerpt(origin));
  if (!accepted.empty()) result += fmt::format("    accepted: {}\n", accepted);
  if (!remedy.empty()) result += fmt::format("    remedy: {}\n", remedy);
  return result;
}

void Report::add(Problem problem) {
  if (problems_.size() < limit)
    problems_.push_back(std::move(problem));
  else
    ++beyond_;
}

void Report::add(const Report& other) {
  for (const Problem& problem : other.problems_) add(problem);
  beyond_ += other.beyond_;
}

std::string Report::text() const {
  // Sources are in the order of their first problem, files before arguments.
  std::map<const Source*, std::size_t> order;
  for (const Problem& problem : problems_) order.emplace(problem.origin.source.get(), order.size());
  const auto rank = [&](const Problem& problem) {
    const Source* source = problem.origin.source.get();
    return std::make_tuple(source != nullptr && source->is_argument, order.at(source),
                           problem.origin.line, problem.origin.column);
  };
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Problem& a, const Problem& b) { return rank(a) < rank(b); });
  std::string result;
  for (const Problem& problem : sorted) result += problem.text();
  if (beyond_ > 0) result += fmt::format("... and {} more\n", beyond_);
  result += fmt::format("{} mistake{}, nothing was started\n", count(), count() == 1 ? "" : "s");
  return result;
}

void Report::check() const {
  if (!empty()) throw Mistakes(*this);
}

void fail(Problem problem) {
  Report report;
  report.add(std::move(problem));
  throw Mistakes(std::move(report));
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "`";
  std::size_t shown = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80 && shown++ == longest) return result + "...`";
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + "`";
}

std::string alternatives(const std::vector<std::string>& names) {
  std::string result;
  for (std::size_t i = 0; i < names.size(); ++i)
    result += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return result;
}

std::string nearest(std::string_view text, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;  // limits the work for a file full of long words
  if (text.empty() || text.size() > longest) return {};
  const std::string word = lower(text);
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::size_t d = distance(word, lower(name));
    // A word in which every letter is wrong is not similar.
    if (d < best_distance && d < std::max(word.size(), name.size())) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace vp::config
