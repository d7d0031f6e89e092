// SPDX-License-Identifier: Apache-2.0
// Damages recorded traces in all ways that the checker has to find. Prints what it has missed, and
// the ways for which no trace has a place.
#include <iostream>
#include <iterator>
#include <set>

#include "tests/guest/scheduling/trace_damage.h"

int main(int argc, char** argv) {
  std::set<std::string> unused;
  unsigned done = 0;
  bool missed = false, fallbacks = false;
  for (const TraceDamage& damage : trace_damages()) unused.insert(damage.name);
  for (int i = 1; i < argc; ++i) {
    Trace trace;
    const std::string unread = read_trace(argv[i], trace);
    if (!unread.empty()) {
      std::cout << argv[i] << ": " << unread << '\n';
      return 2;
    }
    fallbacks = fallbacks || trace.head.kernel.fallbacks;
    const DamageResult result = damage_everywhere(trace, 12, 10'000'000);
    for (const std::string& text : result.missed) std::cout << argv[i] << ": " << text << '\n';
    missed = missed || !result.missed.empty();
    done += result.done;
    const std::set<std::string> here(result.unused.begin(), result.unused.end());
    for (auto name = unused.begin(); name != unused.end();)
      name = here.count(*name) ? std::next(name) : unused.erase(name);
  }
  for (const TraceDamage& damage : trace_damages())
    if (unused.count(damage.name) && (fallbacks || !damage.of_fallbacks))
      std::cout << "not done: " << damage.name << '\n';
  std::cout << "damages " << done << '\n';
  return missed ? 1 : 0;
}
