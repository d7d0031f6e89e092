// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <iostream>
#include <string>

#include "guest/scheduling/trace/checker.h"
#include "guest/scheduling/trace/oracle.h"
#include "guest/scheduling/trace/trace.h"

namespace {

constexpr std::uint64_t limit_ns = 10'000'000;

const char help[] =
    "usage: scheduling-trace check|oracle|text FILE...\n"
    "\n"
    "Reads what `schedule --trace` has written.\n"
    "\n"
    "  check   says what is wrong with it, and what became of the decisions\n"
    "  oracle  the same, and compares them with those of an agent without latency\n"
    "  text    prints the records\n"
    "\n"
    "exit codes:\n"
    "  0  the traces are right\n"
    "  1  one is wrong, or cannot be read\n"
    "  2  mistake on the command line\n";

void print_accounts(const Trace& trace, const Accounts& accounts) {
  std::cout << "records " << trace.records.size() << '\n';
  for (unsigned i = 0; i < GHOST_OUTCOMES; ++i)
    if (accounts.ended[i])
      std::cout << "ended " << name_of_end(GHOST_COMPLETE + static_cast<int>(i)) << ' '
                << accounts.ended[i] << '\n';
  std::cout << "ran " << accounts.ran << "\ntaken_back " << accounts.taken_back << "\nwithdrawn "
            << accounts.withdrawn << "\nlost " << accounts.lost << "\nlooks " << accounts.looks
            << "\nlongest_wait " << accounts.longest_wait << '\n';
}

std::uint64_t percentile(const std::vector<std::uint64_t>& sorted, double part) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * part)];
}

void print_ages(const std::vector<std::uint64_t>& ages) {
  if (ages.empty()) return;
  std::cout << "age_p50 " << percentile(ages, 0.5) << "\nage_p99 " << percentile(ages, 0.99)
            << "\nage_max " << ages.back() << '\n';
  std::size_t counted = 0;
  for (std::uint64_t below = 1; counted < ages.size(); below *= 2) {
    const auto end =
        std::lower_bound(ages.begin() + static_cast<std::ptrdiff_t>(counted), ages.end(), below) -
        ages.begin();
    if (static_cast<std::size_t>(end) > counted)
      std::cout << "age_below " << below << ' ' << static_cast<std::size_t>(end) - counted << '\n';
    counted = static_cast<std::size_t>(end);
    if (below >> 63) break;
  }
}

void print_oracle(const Oracle& oracle) {
  std::uint64_t sum = 0, longest = 0;
  for (const Stale& stale : oracle.stale()) {
    sum += stale.waited;
    longest = std::max(longest, stale.waited);
  }
  std::cout << "right " << oracle.right() << "\nstale " << oracle.stale().size()
            << "\nstale_waited " << sum << "\nstale_waited_max " << longest
            << "\nidle_while_waiting " << oracle.idle_while_waiting() << '\n';
  print_ages(oracle.ages());
}

bool work(const std::string& command, const char* file) {
  Trace trace;
  const std::string unread = read_trace(file, trace);
  if (!unread.empty()) {
    std::cerr << file << ": " << unread << '\n';
    return false;
  }
  if (command == "text") {
    for (const auto& record : trace.records) std::cout << text_of(record) << '\n';
    return true;
  }
  const Checker checker(trace, limit_ns);
  for (const std::string& mistake : checker.mistakes())
    std::cerr << file << ": " << mistake << '\n';
  std::cout << "trace " << file << '\n';
  print_accounts(trace, checker.accounts());
  if (!checker.mistakes().empty()) return false;
  if (command == "oracle") print_oracle(Oracle(trace));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "--help" || command == "-h") {
    std::cout << help;
    return 0;
  }
  if (argc < 3 || (command != "check" && command != "oracle" && command != "text")) {
    std::cerr << help;
    return 2;
  }
  bool good = true;
  for (int i = 2; i < argc; ++i) good = work(command, argv[i]) && good;
  return good ? 0 : 1;
}
