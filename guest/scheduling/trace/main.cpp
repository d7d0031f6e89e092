// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
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

constexpr std::uint64_t ns_per_ms = 1'000'000;

struct Options {
  std::uint64_t wait = 10;  // ms
  const char* stamps_file = nullptr;
  Stamps stamps;
};

const char help[] =
    "usage: scheduling-trace check|oracle|account|switches|text [--wait MS] FILE...\n"
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
    "  --wait MS  It is a mistake if a task waits for longer while a CPU idles that it may use: 10 "
    "ms\n"
    "             unless said otherwise. An agent that is known to be slow needs more.\n"
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

bool work(const std::string& command, const char* file, const Options& options) {
  Trace trace;
  if (!read(file, trace)) return false;
  if (command == "text") {
    for (const auto& record : trace.records) std::cout << text_of(record) << '\n';
    return true;
  }
  const Checker checker(trace, options.wait * ns_per_ms);
  for (const std::string& mistake : checker.mistakes())
    std::cerr << file << ": " << mistake << '\n';
  const bool good = checker.mistakes().empty();
  std::cout << "trace " << file << '\n';
  if (command == "check" || command == "oracle") print_accounts(trace, checker.accounts());
  if (!good) return false;
  if (command == "oracle") print(figures_of(Oracle(trace)));
  if (command == "switches") print_switches(trace, options.stamps_file ? &options.stamps : nullptr);
  return command != "account" || print_account(file, trace, checker.accounts());
}

bool is_command(const std::string& word) {
  const char* const all[] = {"check", "oracle", "account", "switches", "text"};
  return std::find(std::begin(all), std::end(all), word) != std::end(all);
}

bool read_number(const char* text, std::uint64_t& number) {
  const char* const end = text + std::strlen(text);
  const auto [last, error] = std::from_chars(text, end, number);
  return error == std::errc{} && last == end && number <= UINT64_MAX / ns_per_ms;
}

/// Takes the options off the words that follow the command. Returns whether they are right.
bool take_options(const std::string& command, std::vector<const char*>& words, Options& options) {
  while (words.size() >= 2 && std::strncmp(words[0], "--", 2) == 0) {
    if (std::strcmp(words[0], "--wait") == 0) {
      if (!read_number(words[1], options.wait)) return false;
    } else if (std::strcmp(words[0], "--stamps") == 0 && command == "switches") {
      options.stamps_file = words[1];
    } else {
      return false;
    }
    words.erase(words.begin(), words.begin() + 2);
  }
  const bool some = !words.empty() && std::strncmp(words[0], "--", 2) != 0;
  return some && is_command(command) && !(options.stamps_file && words.size() > 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  std::vector<const char*> files(argv + std::min(argc, 2), argv + argc);
  Options options;
  if (command == "--help" || command == "-h") {
    std::cout << help;
    return 0;
  }
  if (!take_options(command, files, options)) {
    std::cerr << help;
    return 2;
  }
  if (options.stamps_file) {
    const std::string unread = options.stamps.read(options.stamps_file);
    if (!unread.empty()) {
      std::cerr << options.stamps_file << ": " << unread << '\n';
      return 1;
    }
  }
  bool good = true;
  for (const char* file : files) good = work(command, file, options) && good;
  return good ? 0 : 1;
}
