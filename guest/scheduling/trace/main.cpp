// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "guest/scheduling/trace/checker.h"
#include "guest/scheduling/trace/figures/account.h"
#include "guest/scheduling/trace/figures/switches.h"
#include "guest/scheduling/trace/oracle.h"
#include "guest/scheduling/trace/trace.h"

namespace {

constexpr std::uint64_t limit_ns = 10'000'000;

const char help[] =
    "usage: scheduling-trace check|oracle|account|switches|text FILE...\n"
    "       scheduling-trace switches --stamps STAMPS FILE\n"
    "\n"
    "Reads what `schedule --trace` has written.\n"
    "\n"
    "  check     says what is wrong with it, and what became of the decisions\n"
    "  oracle    the same, and compares them with those of an agent without latency\n"
    "  account   what became of each decision, and which interactions were wasted\n"
    "  switches  the parts of context switches; STAMPS has been written by `tasks --stamps`\n"
    "  text      prints the records\n"
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
            << accounts.withdrawn << "\ndiscarded " << accounts.discarded << "\nundelivered "
            << accounts.undelivered << "\nwithheld " << accounts.withheld << "\nturns "
            << accounts.turns << "\nlost " << accounts.lost << "\nlooks " << accounts.looks
            << "\nlongest_wait " << accounts.longest_wait << '\n';
}

void print(const std::vector<std::pair<std::string, std::uint64_t>>& lines) {
  for (const auto& [name, number] : lines) std::cout << name << ' ' << number << '\n';
}

bool print_account(const char* file, const Trace& trace, const Accounts& accounts) {
  const Account account = account_of(trace, accounts, Oracle(trace));
  print(account.lines);
  if (account.decisions == account.ends) return true;
  std::cerr << file << ": of " << account.decisions << " decisions, " << account.ends
            << " have ended\n";
  return false;
}

void print_switches(const Trace& trace, const Stamps* stamps) {
  const Switches switches(trace, stamps);
  for (const SwitchKind& kind : switches.kinds()) {
    std::cout << kind.name << " switches " << kind.count << '\n';
    for (const SwitchPart& part : kind.parts)
      std::cout << kind.name << ' ' << part.name << " count " << part.spread.count << " mean "
                << part.mean << " p50 " << part.spread.p50 << " p99 " << part.spread.p99 << " min "
                << part.spread.min << " max " << part.spread.max << '\n';
  }
  std::cout << "resumed " << switches.resumed() << "\ndisturbed " << switches.disturbed()
            << "\nawaited " << switches.awaited() << "\nturns " << switches.turns() << '\n';
}

/// Reads a trace, and says what is wrong with it.
bool read(const char* file, Trace& trace) {
  const std::string unread = read_trace(file, trace);
  if (!unread.empty()) std::cerr << file << ": " << unread << '\n';
  return unread.empty();
}

bool work(const std::string& command, const char* file, const Stamps* stamps) {
  Trace trace;
  if (!read(file, trace)) return false;
  if (command == "text") {
    for (const auto& record : trace.records) std::cout << text_of(record) << '\n';
    return true;
  }
  const Checker checker(trace, limit_ns);
  for (const std::string& mistake : checker.mistakes())
    std::cerr << file << ": " << mistake << '\n';
  const bool good = checker.mistakes().empty();
  std::cout << "trace " << file << '\n';
  if (command == "check" || command == "oracle") print_accounts(trace, checker.accounts());
  if (!good) return false;
  if (command == "oracle") print(figures_of(Oracle(trace)));
  if (command == "switches") print_switches(trace, stamps);
  return command != "account" || print_account(file, trace, checker.accounts());
}

bool is_command(const std::string& word) {
  const char* const all[] = {"check", "oracle", "account", "switches", "text"};
  return std::find(std::begin(all), std::end(all), word) != std::end(all);
}

/// Takes `--stamps FILE` off the words of `switches`. Returns what is wrong, or an empty text.
std::string take_stamps(std::vector<const char*>& files, Stamps& stamps, bool& there) {
  if (files.empty() || std::strcmp(files[0], "--stamps") != 0) return "";
  if (files.size() < 2) return "--stamps needs a file";
  const std::string unread = stamps.read(files[1]);
  const std::string file = files[1];
  files.erase(files.begin(), files.begin() + 2);
  there = true;
  return unread.empty() ? "" : file + ": " + unread;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  std::vector<const char*> files(argv + std::min(argc, 2), argv + argc);
  Stamps stamps;
  bool stamped = false;
  if (command == "--help" || command == "-h") {
    std::cout << help;
    return 0;
  }
  if (command == "switches") {
    const std::string wrong = take_stamps(files, stamps, stamped);
    if (!wrong.empty()) {
      std::cerr << wrong << '\n';
      return 1;
    }
  }
  if (files.empty() || !is_command(command) || (stamped && files.size() > 1)) {
    std::cerr << help;
    return 2;
  }
  bool good = true;
  for (const char* file : files) good = work(command, file, stamped ? &stamps : nullptr) && good;
  return good ? 0 : 1;
}
