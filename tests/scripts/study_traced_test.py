#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what scripts/study makes of traced runs: what their guests do, how their files are read, and the tables.

Usage: study_traced_test.py [GROUP[.CASE]]...
"""

import unittest

import in_folder
import study_data
from study_data import ACCOUNT, MEANS, PARAMETERS, lines_of, switches

from study import diagnostic  # noqa: E402
from study.chapters import fito, published, traced  # noqa: E402
from study.loads import traces  # noqa: E402
from study.loads.load import BadResult, Files  # noqa: E402
from study.loads.traced import ALL, MOVE, PING  # noqa: E402
from study.matrix import Run  # noqa: E402

QUEUES, PORTS = "wave-all", "ports-prestage"


def account(**figures):
    """Figures of a run; in the names of those given here, __ stands for a blank."""
    return {**ACCOUNT, **{name.replace("__", " "): number for name, number in figures.items()}}


def result(means=None, **figures):
    means = means or MEANS
    parts = {name: {"count": 300, "mean": mean, "p50": mean, "p99": 2 * mean, "min": mean, "max": 2 * mean}
             for name, mean in means.items()}  # fmt: skip
    configuration = {"transport": "port", "policy": "fifo-central", "period_us": 4_000, "completion_timeout": 1,
                     **{name: ACCOUNT[name] for name in ("cpus", "time_slice", "prestage", "watchdog")}}  # fmt: skip
    figures = {"interrupts": 600, "completion_timeouts": 0, **account(**figures)}
    return {"fallbacks": 0, "account": figures, "switches": {"stamped": parts}, "configuration": configuration}


def cells(table):
    return {title: dict(zip(table.columns, texts)) for title, texts in table.rows}


class Traces(in_folder.InFolder):
    """The files of a run, and in the place of scheduling-trace a program that prints two of them."""

    def setUp(self):
        super().setUp()
        program = self.folder / traces.PROGRAM
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/sh\necho "$@" >> calls\ntest ! -e wrong || { cat wrong >&2; exit 1; }\n'
                           'echo trace trace\ncat said."$1"\n')  # fmt: skip
        program.chmod(0o755)
        self.say("said.account", lines_of(ACCOUNT))
        self.say("said.switches", switches(7))
        self.say("parameters", PARAMETERS)
        self.say("stamps", "")
        self.say("out", "")

    def say(self, name, text):
        (self.folder / name).write_text(text)

    def files(self):
        return Files(self.folder, study_data.STATS, self.folder)


class Reading(Traces):
    def test_what_the_trace_and_the_machine_say(self):
        self.say("out", "fault noticed by silence at 7\nfault noticed by doubt at 8\nfault noticed by silence at 9\n")
        self.assertEqual(traces.figures(self.files()), {**ACCOUNT, "noticed silence": 2, "noticed doubt": 1, "interrupts": 6,
                                                        "completion_timeouts": 2})  # fmt: skip
        self.assertEqual((self.folder / "calls").read_text(), "account trace\n")

    def test_switches(self):
        found = traces.switches_of(self.files())
        self.assertEqual(found["stamped"]["claim"], {"count": 7, "mean": 750, "p50": 8, "p99": 9, "min": 7, "max": 10})
        self.assertEqual(list(found["stamped"]), list(MEANS))
        (self.folder / "stamps").unlink()
        traces.switches_of(self.files())
        self.assertEqual((self.folder / "calls").read_text().splitlines(), ["switches --stamps stamps trace", "switches trace"])

    def test_parameters(self):
        self.assertEqual(traces.parameters(PARAMETERS), {"oae_sched.answer_timeout_ms": "1000", "oae_sched_port.period_us": "4000",
                                                         "oae_sched_port.streamed": "Y"})  # fmt: skip

    def test_a_wrong_trace_is_told(self):
        self.say("wrong", "trace: record 3: it makes no sense\n")
        for read in (traces.figures, traces.switches_of):
            with self.assertRaisesRegex(BadResult, "^trace: record 3: it makes no sense$"):
                read(self.files())
        (self.folder / traces.PROGRAM).unlink()
        with self.assertRaises(BadResult):
            traces.figures(self.files())


class Loads(Traces):
    def result(self, load=PING, variant=PORTS, output="message WAKEUP sent 9 received 9\n"):
        self.say("out", output)
        return load.result(Run(load.name, variant, "", 0.0, 0, (100,)), self.files())

    def test_what_the_guest_does(self):
        command = PING.command(Run(PING.name, PORTS, "", 0.0, 2, (100,)))
        steps = command.split(" && ")
        self.assertEqual(steps[0], "PATH=/share:$PATH")
        self.assertEqual(steps[-3], "for i in $(seq 472); do :; done")
        self.assertEqual(steps[-2], "schedule --policy fifo-central --cpus 1 --transport port --prestage --trace /share/trace "
                                    "tasks --stamps /share/stamps ping 2 100 > /share/out 2> /share/err")  # fmt: skip
        self.assertEqual(steps[-1], "grep -H '' /sys/module/oae_sched*/parameters/* > /share/parameters")
        self.assertNotIn("stamps", MOVE.command(Run(MOVE.name, PORTS, "", 0.0, 2, (100,))))
        self.assertEqual(len({load.command(Run(load.name, QUEUES, "", 0.0, 0, (100,))) for load in ALL}), len(ALL))

    def test_the_configuration_is_that_of_the_run(self):
        found = self.result()["configuration"]
        self.assertEqual(found, {"transport": "port", "policy": "fifo-central", "cpus": 1, "time_slice": 30_000, "prestage": 1,
                                 "watchdog": 20_000_000, "rule": "owner", "watchdog_by": "waiting",
                                 "completion_timeout": 50_000_000, "period_us": 4_000, "answer_timeout_ms": 1_000})  # fmt: skip
        self.assertEqual(self.result(MOVE, QUEUES)["configuration"]["transport"], "queue")
        self.assertEqual(self.result(MOVE, "host")["configuration"]["transport"], "memory")

    def test_the_machine_counts_interrupts_and_timeouts_of_the_host(self):
        found = self.result()["account"]
        self.assertEqual((found["interrupts"], found["completion_timeouts"]), (6, 2))

    def test_a_run_that_fell_back_has_a_trace(self):
        fell_back = "message WAKEUP sent 9 received 9\nfallbacks 1\n"
        self.say("said.account", lines_of(account(fallbacks=1, lost=2)))
        self.say("said.switches", switches(0))
        found = self.result(output=fell_back)
        self.assertEqual((found["fallbacks"], found["account"]["lost"]), (1, 2))
        for figures in (account(fallbacks=1, unaccounted=1), account(fallbacks=2)):
            self.say("said.account", lines_of(figures))
            with self.assertRaises(BadResult):
                self.result(output=fell_back)

    def test_results_that_cannot_be_are_refused(self):
        for file, text in (("said.account", lines_of(account(unaccounted=1))), ("said.account", lines_of(account(lost=1))),
                           ("said.switches", switches(0))):  # fmt: skip
            with self.subTest(text):
                before = (self.folder / file).read_text()
                self.say(file, text)
                with self.assertRaises(BadResult):
                    self.result()
                self.say(file, before)
        self.say("said.switches", "resumed 3\n")
        with self.assertRaises(KeyError):
            self.result()
        self.result(MOVE)


class Tables(unittest.TestCase):
    def test_means_of_parts_add_up_over_runs(self):
        results = [result({**MEANS, "claim": 750 + run % 2, "report": 20 + run % 2, "until_user": 500 + run,
                           "whole": 2_270 + 2 * (run % 2) + run}) for run in range(3)]  # fmt: skip
        row = cells(traced.switches_table([("a", results)], ""))["a"]
        parts = [int(row[title].replace(",", "")) for name, title in traced.PARTS.items() if name != "whole"]
        self.assertEqual(int(row["whole"].replace(",", "")), sum(parts))
        self.assertEqual(sum(parts), 2_272)  # 2,271 2/3
        self.assertEqual((row["switches"], row["whole, p99"]), ("900", "4,546"))

    def test_ages(self):
        variants = [("a", [result(), result(age_p50=2_000, age_max=9_000)])]
        variants.append(("b", [result(**{"age_below__4096": 5, "age_below__8192": 1})]))
        self.assertEqual(cells(traced.ages_table(variants, ""))["a"], {"p50": "1,500", "p99": "3,000", "max": "9,000"})
        found = traced.ages_histogram(variants, "")
        self.assertEqual(found.columns, ["< 1,024", "< 4,096", "< 8,192"])
        self.assertEqual(found.rows, [("a", ["1,200", "740", "-"]), ("b", ["600", "5", "1"])])

    def test_decisions_add_up(self):
        ((title, texts),) = traced.table_of("", traced.DECISIONS, [("a", [result(), result()])], []).rows
        self.assertEqual((title, texts), ("a", ["2,000", "1,800", "20", "120", "60", "0", "0"]))
        made, *others = [int(text.replace(",", "")) for text in texts[:6]]
        self.assertEqual(made, sum(others))

    def test_stale_decisions_and_what_was_wasted(self):
        ((_, texts),) = traced.table_of("", traced.STALE, [("a", [result(), result(stale=0, right=910)])], []).rows
        self.assertEqual(texts, ["1,820", "10", "0.55", "10,000", "14,000"])
        found = result(port__swap_not_ready=3, port__send_not_ready=4, port__late=5, port__idle_missed=6)
        ((_, texts),) = traced.table_of("", traced.WASTED, [("a", [found])], []).rows
        self.assertEqual(texts, ["800", "50.0", "25.0", "2.5", "12.5", "10.0", "190", "110", "7", "6", "5"])

    def test_the_whole_is_compared_with_what_is_published(self):
        runs = [study_data.run(variant, 0, result({**MEANS, "whole": whole}), load=PING.name)
                for variant, whole in ((published.NONE, 13_000), (published.ALL, 3_500))]  # fmt: skip
        found = dict(published.tables(study_data.document(*runs))[0].rows)
        self.assertEqual(found["from instruction to instruction, no optimisation"][1:3], ["13,000.0 (one run) ns", "0.98"])
        self.assertEqual(found["from instruction to instruction, all optimisations"][2], "0.88 to 1.06")

    def test_each_load_has_its_tables(self):
        runs = ((PORTS, 0, result()), (PORTS, 1, result()), (QUEUES, 0, {"fallbacks": 1}))
        made = study_data.document(*(study_data.run(*each, load=MOVE.name) for each in runs))
        found = [table for table in traced.tables(made) if table.rows]
        self.assertTrue(found)
        for table in found:
            self.assertIn(MOVE.title, table.title)
            self.assertEqual([title for title, _ in table.rows], ["swap ports, prestage"])
            self.assertTrue(table.text())


class Fito(unittest.TestCase):
    def test_verdicts_and_evidence_of_all_variants_are_side_by_side(self):
        evidence = [diagnostic.Evidence("the watchdog", "20 ms", 2)], [diagnostic.Evidence("a period", "4 ms", 7)]
        one = [diagnostic.Verdict(each.name, diagnostic.RELIED, *evidence) for each in diagnostic.CRITERIA]
        other = [diagnostic.Verdict(each.name, diagnostic.UNUSED, [], []) for each in diagnostic.CRITERIA]
        variants = [("a", one), ("b", other)]
        self.assertEqual(fito.verdict_table(variants, "").rows, [("a", ["relied on"] * 4), ("b", ["configured, not used"] * 4)])
        self.assertEqual(fito.evidence_table(variants, "").rows[:3],
                         [("clocks for truth", ["", ""]), ("  the watchdog", ["2", "-"]), ("  not counted: a period", ["7", "-"])])

    def test_runs_of_a_variant_count_together(self):
        ((title, verdicts),) = fito.verdicts_of([("a", [result(), result(noticed__watchdog=1)])])
        self.assertEqual((title, verdicts[1].verdict), ("a", diagnostic.RELIED))

    def test_traced_runs_of_all_faults_count_together(self):
        runs = [study_data.run(QUEUES, seed, result(fallbacks=1, noticed__watchdog=1, lost=3), load=load)
                for load in ("fault-hang", "fault-crash") for seed in (0, 1)]  # fmt: skip
        runs.append(study_data.run(QUEUES, 0, {"fallbacks": []}, load="fault-killed"))
        ((title, verdicts),) = fito.verdicts_of(fito.of_faults(study_data.document(*runs)))
        (uses,) = [each.uses for each in verdicts[1].evidence if each.name == "the scheduler's watchdog"]
        self.assertEqual((title, verdicts[1].verdict, uses), ("queues", diagnostic.RELIED, 4))


if __name__ == "__main__":
    unittest.main(verbosity=2)
