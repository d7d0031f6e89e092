// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/children_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace platform {
namespace {

using vp::ExitCode;
using Seconds = std::chrono::duration<double>;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr ExitCode from_good_to_worst[] = {
    ExitCode::success, ExitCode::failed,      ExitCode::limit,          ExitCode::interrupted,
    ExitCode::halted,  ExitCode::guest_panic, ExitCode::firmware_fault, ExitCode::broken_promise};

std::size_t badness(ExitCode code) {
  const auto* found = std::find(std::begin(from_good_to_worst), std::end(from_good_to_worst), code);
  return static_cast<std::size_t>(found - std::begin(from_good_to_worst));
}

ExitCode exit_code_of(const vp::Ending& ending) {
  return ending.signal != 0 ? ExitCode::broken_promise : static_cast<ExitCode>(ending.exit_code);
}

double simulated_seconds(const vp::ChildResult& result) {
  return static_cast<double>(result.note.time) / static_cast<double>(vp::s);
}

}  // namespace

std::string describe(const vp::Ending& ending, int guest_code) {
  if (ending.signal != 0) {
    const char* name = ::sigabbrev_np(ending.signal);
    return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", ending.signal);
  }
  return guest_code == 0 ? std::to_string(ending.exit_code)
                         : fmt::format("{} (guest {})", ending.exit_code, guest_code);
}

ChildrenSummary::ChildrenSummary(const std::vector<std::string>& commands, std::FILE* out)
    : commands_(commands), out_(out) {
  fmt::print(out_, "{:>5}  {:13}  {:>12}  {:>8}  {}\n", "child", "exit code", "simulated", "wall",
             "command");
}

void ChildrenSummary::add(const vp::ChildResult& result) {
  results_.emplace(result.number, result);
  const ExitCode code = exit_code_of(result.ending);
  if (code == ExitCode::success) ++good_;
  if (badness(code) > badness(exit_code_)) exit_code_ = code;
  for (auto next = results_.find(printed_); next != results_.end(); ++next) {
    if (next->first != printed_) break;
    print(next->second);
    ++printed_;
  }
}

void ChildrenSummary::print(const vp::ChildResult& result) {
  fmt::print(out_, "{:>5}  {:13}  {:>10.6f} s  {:>6.2f} s  {}\n", result.number + 1,
             describe(result.ending, result.note.guest_code), simulated_seconds(result),
             Seconds(result.wall_time).count(), commands_[result.number]);
  std::fflush(out_);
}

bool ChildrenSummary::finish(const std::filesystem::path& file,
                             const std::filesystem::path& outputs) {
  // The children that come after one that was never run.
  for (auto left = results_.lower_bound(printed_); left != results_.end(); ++left)
    print(left->second);
  std::vector<double> forks;
  nlohmann::json children = nlohmann::json::array();
  for (const auto& [number, result] : results_) {
    forks.push_back(Milliseconds(result.fork_time).count());
    nlohmann::json child = {
        {"number", number + 1},        {"command", commands_[number]},
        {"exit_code", nullptr},        {"guest_code", result.note.guest_code},
        {"time_ps", result.note.time}, {"wall_s", Seconds(result.wall_time).count()},
        {"fork_ms", forks.back()}};
    child[result.ending.signal != 0 ? "signal" : "exit_code"] =
        result.ending.signal != 0 ? result.ending.signal : result.ending.exit_code;
    children.push_back(std::move(child));
  }
  std::sort(forks.begin(), forks.end());
  fmt::print(out_, "{} of {} children ended well", good_, commands_.size());
  if (results_.size() < commands_.size())
    fmt::print(out_, ", {} were not run", commands_.size() - results_.size());
  if (!forks.empty())
    fmt::print(out_, "; forked in {:.1f} ms (median; {:.1f} at most)", forks[forks.size() / 2],
               forks.back());
  fmt::print(out_, "; output in {}\n", outputs.string());
  std::fflush(out_);

  const Seconds wall = std::chrono::steady_clock::now() - begin_;
  const nlohmann::json summary = {{"wall_s", wall.count()}, {"children", children}};
  std::ofstream json(file);
  json << summary.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  return json.flush().good();
}

}  // namespace platform
