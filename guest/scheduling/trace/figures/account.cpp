// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/figures/account.h"

#include <algorithm>

#include "guest/scheduling/trace/figures/looks.h"
#include "guest/scheduling/trace/figures/spread.h"

namespace {

using Lines = std::vector<std::pair<std::string, std::uint64_t>>;

void add_decisions(Account& account, const Accounts& accounts) {
  Lines& lines = account.lines;
  account.decisions = accounts.decisions;
  account.ends = accounts.ran + accounts.taken_back + accounts.withdrawn + accounts.discarded;
  lines.insert(lines.end(), {{"decisions", account.decisions},
                             {"ran", accounts.ran},
                             {"taken_back", accounts.taken_back}});
  for (unsigned i = 0; i < GHOST_OUTCOMES; ++i) {
    if (i == ghost_outcome_index(GHOST_COMPLETE) || !accounts.ended[i]) continue;
    account.ends += accounts.ended[i];
    lines.emplace_back(std::string("aborted ") + name_of_end(GHOST_COMPLETE + static_cast<int>(i)),
                       accounts.ended[i]);
  }
  lines.emplace_back("withdrawn", accounts.withdrawn);
  lines.emplace_back("discarded", accounts.discarded);
  lines.emplace_back("unaccounted", account.decisions - account.ends);
}

void add_agent(Lines& lines, const Trace& trace) {
  const agent_counts& agent = trace.head.agent;
  lines.insert(lines.end(), {{"decided RUN", agent.decisions[DECISION_RUN]},
                             {"decided PREEMPT", agent.decisions[DECISION_PREEMPT]},
                             {"decided PRESTAGE", agent.decisions[DECISION_PRESTAGE]},
                             {"decided WITHDRAW", agent.decisions[DECISION_WITHDRAW]},
                             {"superseded", agent.receptions[POLICY_SUPERSEDED]},
                             {"rounds", agent.rounds},
                             {"kicks", trace.head.kernel.kicks},
                             {"fallbacks", trace.head.kernel.fallbacks}});
}

void add_fallbacks(Lines& lines, const Accounts& accounts) {
  lines.insert(lines.end(), {{"resumed", accounts.resumed},
                             {"undelivered", accounts.undelivered},
                             {"undelivered_unknown", accounts.unknown},
                             {"withheld", accounts.withheld},
                             {"turns", accounts.turns},
                             {"turns_ns", accounts.alone}});
}

void add_looks(Lines& lines, const Looks& looks) {
  const Looks::First& first = looks.first();
  lines.insert(lines.end(), {{"freed", first.all()},
                             {"freed prestaged", first.prestaged},
                             {"freed in_time", first.in_time},
                             {"freed refused", first.refused},
                             {"freed late", first.late},
                             {"freed nothing", first.nothing},
                             {"looks_in_vain", looks.in_vain()},
                             {"looks_missed", looks.missed()}});
}

void add_ports(Lines& lines, const port_counts& ports) {
  lines.insert(lines.end(), {{"port swaps", ports.swaps},
                             {"port sends", ports.sends},
                             {"port taken", ports.taken},
                             {"port idle", ports.idle_taken},
                             {"port idle_missed", ports.idle_missed},
                             {"port revoked", ports.revoked},
                             {"port late", ports.late},
                             {"port reversed", ports.reversed},
                             {"port refused", ports.refused},
                             {"port carried", ports.carried},
                             {"port implied", ports.implied},
                             {"port swap_not_ready", ports.swap_not_ready},
                             {"port send_not_ready", ports.send_not_ready},
                             {"port doubts", ports.doubts},
                             {"port foreign", ports.foreign},
                             {"port kept", ports.kept}});
}

void add_configuration(Lines& lines, const trace_file_head& head) {
  std::uint64_t cpus = 0;
  for (std::uint64_t set = head.cpus; set; set &= set - 1) ++cpus;
  lines.insert(lines.end(), {{"cpus", cpus},
                             {"time_slice", head.time_slice},
                             {"prestage", head.prestage},
                             {"rule", head.rule},
                             {"watchdog", head.patience},
                             {"watchdog_by", head.sign}});
}

std::uint64_t a_second(std::uint64_t count, std::uint64_t ns) {
  return ns ? rounded_mean(count * 1'000'000'000, ns) : 0;
}

void add_rates(Account& account, const Trace& trace) {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0, messages = 0;
  for (const oae_sched_record& record : trace.records) {
    if (record.kind != OAE_SCHED_SENT || is_withheld(record)) continue;
    begin = std::min<std::uint64_t>(begin, record.time);
    end = std::max<std::uint64_t>(end, record.time);
    ++messages;
  }
  const std::uint64_t ns = end > begin ? end - begin : 0;
  account.lines.insert(account.lines.end(),
                       {{"ns", ns},
                        {"messages", messages},
                        {"messages_a_second", a_second(messages, ns)},
                        {"decisions_a_second", a_second(account.decisions, ns)}});
}

void add_ages(Lines& lines, const std::vector<std::uint64_t>& ages) {
  if (ages.empty()) return;
  lines.insert(lines.end(), {{"age_p50", percentile(ages, 0.5)},
                             {"age_p99", percentile(ages, 0.99)},
                             {"age_max", ages.back()}});
  std::size_t counted = 0;
  for (std::uint64_t below = 1; counted < ages.size(); below *= 2) {
    const auto end = static_cast<std::size_t>(
        std::lower_bound(ages.begin() + static_cast<std::ptrdiff_t>(counted), ages.end(), below) -
        ages.begin());
    if (end > counted) lines.emplace_back("age_below " + std::to_string(below), end - counted);
    counted = end;
    if (below >> 63) break;
  }
}

}  // namespace

Account account_of(const Trace& trace, const Accounts& accounts, const Oracle& oracle) {
  Account account;
  add_configuration(account.lines, trace.head);
  add_decisions(account, accounts);
  account.lines.emplace_back("lost", accounts.lost);
  add_agent(account.lines, trace);
  add_fallbacks(account.lines, accounts);
  add_looks(account.lines, Looks(trace));
  if (has_ports(trace)) add_ports(account.lines, trace.head.ports);
  add_rates(account, trace);
  const Lines more = figures_of(oracle);
  account.lines.insert(account.lines.end(), more.begin(), more.end());
  return account;
}

Lines figures_of(const Oracle& oracle) {
  std::uint64_t sum = 0, longest = 0;
  for (const Stale& stale : oracle.stale()) {
    sum += stale.waited;
    longest = std::max(longest, stale.waited);
  }
  Lines lines{{"right", oracle.right()},
              {"stale", oracle.stale().size()},
              {"stale_waited", sum},
              {"stale_waited_max", longest},
              {"idle_while_waiting", oracle.idle_while_waiting()}};
  add_ages(lines, oracle.ages());
  return lines;
}
