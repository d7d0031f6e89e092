#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the FITO diagnostic of scripts/study, by runs that are made up.

Usage: study_diagnostic_test.py [GROUP[.CASE]]...
"""

import unittest

import study_data  # noqa: F401

from study import diagnostic  # noqa: E402
from study.diagnostic import ABSENT, RELIED, UNUSED  # noqa: E402

CLOCKS, TIMEOUTS, LATEST, LOGS = "clocks for truth", "timeouts for safety", "latest wins or abort", "no step back without a log"

MEMORY = {"transport": "memory", "policy": "fifo-central", "time_slice": 0, "prestage": 0, "cpus": 1, "watchdog": 0}
QUEUE = {**MEMORY, "transport": "queue", "watchdog": 20_000_000, "completion_timeout": 50_000_000, "answer_timeout_ms": 1_000}
PORT = {**QUEUE, "transport": "port", "period_us": 4_000, "patience_us": 50, "tries": 3}
QUIET = {"decisions": 1_000, "withdrawn": 0, "unaccounted": 0, "lost": 0, "ran": 1_000, "taken_back": 0, "superseded": 0,
         "fallbacks": 0, "resumed": 0, "kicks": 600, "interrupts": 600, "completion_timeouts": 0, "freed prestaged": 0, "freed in_time": 400,
         "freed refused": 0, "decided RUN": 1_000, "decided PREEMPT": 0, "decided PRESTAGE": 0}  # fmt: skip


def diagnose(configuration, **figures):
    """Verdicts by criterion. Of names of figures, _ stands for a blank, and __ for _."""
    named = {name.replace("__", "~").replace("_", " ").replace("~", "_"): number for name, number in figures.items()}
    assert all(name in QUIET or name.startswith(("port ", "aborted ", "noticed ")) for name in named), named
    return {found.criterion: found for found in diagnostic.diagnose(configuration, {**QUIET, **named})}


def verdicts(configuration, **figures):
    found = diagnose(configuration, **figures)
    return [found[name].verdict for name in (CLOCKS, TIMEOUTS, LATEST, LOGS)]


def uses(verdict, word):
    """How often the mechanism or note has acted that has this word in its name."""
    (found,) = [each for each in (*verdict.evidence, *verdict.notes) if word in each.name]
    return found.uses


class Verdicts(unittest.TestCase):
    def test_a_quiet_run_has_what_is_configured(self):
        self.assertEqual(verdicts(MEMORY), [ABSENT, UNUSED, UNUSED, ABSENT])
        self.assertEqual(verdicts(QUEUE), [ABSENT, UNUSED, UNUSED, UNUSED])
        self.assertEqual(verdicts(PORT), [ABSENT, UNUSED, UNUSED, UNUSED])

    def test_each_criterion_is_judged_by_itself(self):
        for configuration in (MEMORY, QUEUE, PORT):
            with self.subTest(configuration["transport"]):
                quiet = verdicts(configuration)
                sliced = {**configuration, "policy": "shinjuku", "time_slice": 30_000}
                self.assertEqual(verdicts(sliced, decided_PREEMPT=5), [RELIED, *quiet[1:]])
                self.assertEqual(verdicts({**configuration, "watchdog": 1}, noticed_watchdog=1), [quiet[0], RELIED, *quiet[2:]])
                self.assertEqual(verdicts(configuration, aborted_TARGET__STALE=1), [*quiet[:2], RELIED, quiet[3]])
        self.assertEqual(verdicts(PORT, port_doubts=1), [ABSENT, UNUSED, UNUSED, RELIED])


class Clocks(unittest.TestCase):
    def test_time_slices_count_once_they_are_over(self):
        for policy in ("shinjuku", "vm"):
            sliced = {**PORT, "policy": policy, "time_slice": 30_000}
            found = diagnose(sliced, decided_PREEMPT=3)[CLOCKS]
            self.assertEqual(found.verdict, RELIED)
            self.assertEqual(uses(found, "time slices"), 3)
            self.assertEqual([each.setting for each in found.evidence if each.uses == 3], ["30,000 ns"])
        self.assertEqual(verdicts({**PORT, "policy": "shinjuku", "time_slice": 30_000})[0], UNUSED)
        # A preemption without a time slice would be none by the clock.
        self.assertEqual(verdicts(PORT, decided_PREEMPT=3)[0], ABSENT)

    def test_runtimes_order_tasks_under_vm(self):
        self.assertEqual(verdicts({**QUEUE, "policy": "vm", "time_slice": 10_000_000})[0], RELIED)

    def test_begins_are_compared_where_there_is_a_choice(self):
        prestaged = {**QUEUE, "prestage": 1, "cpus": 2}
        self.assertEqual(verdicts(prestaged, decided_PRESTAGE=4)[0], RELIED)
        self.assertEqual(verdicts(prestaged)[0], UNUSED)
        self.assertEqual(verdicts({**prestaged, "cpus": 1}, decided_PRESTAGE=4)[0], ABSENT)
        self.assertEqual(verdicts({**prestaged, "policy": "fifo-per-cpu"}, decided_PRESTAGE=4)[0], ABSENT)

    def test_barriers_are_told_but_do_not_count(self):
        found = diagnose(PORT, withdrawn=10)[CLOCKS]
        self.assertEqual((found.verdict, uses(found, "barriers"), found.evidence), (ABSENT, 990, []))


class Timeouts(unittest.TestCase):
    def test_each_timeout_of_a_port_counts_when_it_has_acted(self):
        for figures, word in ((dict(noticed_watchdog=1), "watchdog"), (dict(noticed_liveness=1), "watchdog"), (dict(completion__timeouts=2), "completion"),
                              (dict(port_kept=3), "patience"), (dict(noticed_silence=4), "silence")):  # fmt: skip
            with self.subTest(word):
                found = diagnose({**PORT, "silence_ms": 15}, **figures)[TIMEOUTS]
                self.assertEqual(found.verdict, RELIED)
                (acted,) = [each.name for each in found.evidence if each.uses]
                self.assertIn(word, acted)

    def test_a_timeout_that_is_off_is_absent(self):
        names = {each.name for each in diagnose({**PORT, "watchdog": 0, "period_us": 0, "patience_us": 0})[TIMEOUTS].evidence}
        self.assertFalse([name for name in names if "scheduler's" in name or "period" in name or "patience" in name], names)
        self.assertTrue(any("completion" in name for name in names), names)
        names = {each.name for each in diagnose(MEMORY)[TIMEOUTS].evidence}
        self.assertEqual(names, {"the watchdog of sched_ext"})
        self.assertFalse(any("period" in each.name for each in diagnose({**QUEUE, "period_us": 4_000})[TIMEOUTS].evidence))

    def test_a_period_counts_if_no_call_can_have_come(self):
        # 600 decisions were found by CPUs that had to be called.
        found = diagnose(PORT, kicks=650)[TIMEOUTS]
        self.assertEqual((found.verdict, uses(found, "for which no call"), uses(found, "nothing had been missed")), (UNUSED, 0, 50))
        found = diagnose(PORT, kicks=650, interrupts=598)[TIMEOUTS]
        self.assertEqual((found.verdict, uses(found, "for which no call"), uses(found, "nothing had been missed")), (RELIED, 2, 52))

    def test_not_ready_is_no_timeout(self):
        found = diagnose(PORT, port_swap__not__ready=7, port_send__not__ready=2)[TIMEOUTS]
        self.assertEqual((found.verdict, uses(found, "NOT_READY")), (UNUSED, 9))


class Latest(unittest.TestCase):
    def test_each_way_counts(self):
        for figures, number in ((dict(aborted_TARGET__STALE=2, aborted_CPU__UNAVAIL=1), 3), (dict(taken__back=4), 4),
                                (dict(withdrawn=5), 5), (dict(superseded=6), 6)):  # fmt: skip
            with self.subTest(figures):
                found = diagnose(QUEUE, **figures)[LATEST]
                self.assertEqual((found.verdict, sum(each.uses for each in found.evidence)), (RELIED, number))

    def test_a_decision_that_the_cpu_had_first_is_not_the_latest(self):
        found = diagnose(PORT, port_late=3)[LATEST]
        self.assertEqual((found.verdict, uses(found, "first wins")), (UNUSED, 3))

    def test_the_rule_is_told(self):
        for configuration, rule in (({**PORT, "rule": "owner"}, "owner"), (PORT, "barrier")):
            (acted,) = [each for each in diagnose(configuration, aborted_TARGET__STALE=1)[LATEST].evidence if each.uses]
            self.assertEqual(acted.setting, f"rule: {rule}")


class Logs(unittest.TestCase):
    def test_the_ring_is_a_log_of_withdrawals(self):
        self.assertEqual(verdicts(QUEUE, withdrawn=2)[3], RELIED)

    def test_an_offer_is_withdrawn_without_a_log(self):
        found = diagnose(PORT, withdrawn=2, port_revoked=2)[LOGS]
        self.assertEqual((found.verdict, uses(found, "without a log")), (UNUSED, 2))
        found = diagnose(MEMORY, withdrawn=2)[LOGS]
        self.assertEqual((found.verdict, uses(found, "without a log")), (ABSENT, 2))

    def test_the_journal_is_a_log_of_doubts(self):
        for figures in (dict(port_doubts=1), dict(port_reversed=1)):
            self.assertEqual(verdicts(PORT, **figures)[3], RELIED)


class Runs(unittest.TestCase):
    def test_each_run_is_looked_at_by_itself(self):
        # The one was called more often than it needed to be, which says nothing of the other.
        one, other = {**QUIET, "interrupts": 900}, {**QUIET, "interrupts": 598}
        found = diagnostic.diagnose(PORT, one, other)[1]
        self.assertEqual((found.verdict, uses(found, "for which no call")), (RELIED, 2))
        with self.assertRaises(diagnostic.BadConfiguration):
            diagnostic.diagnose(PORT, one, {**other, "lost": 1})

    def test_a_run_with_losses_is_not_scored(self):
        for figures in (dict(lost=1), dict(unaccounted=1)):
            with self.assertRaises(diagnostic.BadConfiguration):
                diagnose(PORT, **figures)
        with self.assertRaises(diagnostic.BadConfiguration):
            diagnose({**PORT, "transport": "post"})

    def test_figures_of_runs_are_added(self):
        self.assertEqual(diagnostic.together([{"a": 1, "b": 2}, {"a": 3}]), {"a": 4, "b": 2})


if __name__ == "__main__":
    unittest.main(verbosity=2)
