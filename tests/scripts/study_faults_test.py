#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what scripts/study makes of agents that fail: what their guests do, what is read from their output, and the table.

Usage: study_faults_test.py [GROUP[.CASE]]...
"""

import unittest

import in_folder
import study_data
from study_data import ACCOUNT, PARAMETERS, STATS, lines_of

from study import matrix  # noqa: E402
from study.chapters import faults as chapter  # noqa: E402
from study.loads import LOADS, faults, traces  # noqa: E402
from study.loads.load import BadResult, Files  # noqa: E402

BEGAN = 5_000_000
OUTPUT = f"""turns 900
longest gap 24000000 until {BEGAN + 30_000_000}
mixed 8 done in 70000000 ns
fault noticed by watchdog at {BEGAN + 21_000_000}
fallback at {BEGAN + 21_500_000}
waited 20500000
resumed at {BEGAN + 29_000_000}
decided at {BEGAN + 30_000_000}
undelivered 16
"""
FIRST = {"sign": "watchdog", "noticed": 21_000_000, "fallback": 21_500_000, "waited": 20_500_000, "resumed": 29_000_000,
         "decided": 30_000_000, "undelivered": 16}  # fmt: skip


def run_of(load, variant, seed=0):
    return matrix.Run(load, variant, "", 0.0, seed, ())


def found(*fallbacks, gap=24_000_000, ended=None, traced=True):
    result = {"longest_gap": gap, "turns": 900, "lost": 0, "fallbacks": list(fallbacks), "ended": ended}
    if not traced:
        return result
    figures = {**ACCOUNT, "fallbacks": len(fallbacks), "interrupts": 6, "completion_timeouts": 2}
    for each in fallbacks:
        figures[f"noticed {each['sign']}"] = figures.get(f"noticed {each['sign']}", 0) + 1
    configuration = {"cpus": 1, "time_slice": 30_000, "prestage": 1, "watchdog": 20_000_000, "rule": "owner", "transport": "port",
                     "watchdog_by": "waiting", "policy": "shinjuku", "completion_timeout": 50_000_000, "period_us": 4_000,
                     "answer_timeout_ms": 1_000}  # fmt: skip
    return {**result, "account": figures, "configuration": configuration}


def account(fallbacks, unaccounted=0):
    return "trace trace\n" + lines_of({**ACCOUNT, "unaccounted": unaccounted, "fallbacks": fallbacks})


class Guest(unittest.TestCase):
    def command(self, load, variant, seed=0):
        return LOADS[load].command(run_of(load, variant, seed))

    def test_the_way_to_the_agent_is_that_of_the_variant(self):
        wanted = {faults.HOST: "--agent-cpu 0", faults.QUEUES: "--transport queue", faults.SWAP_PORTS: "--transport port"}
        for variant, words in wanted.items():
            words = f"schedule --policy shinjuku --cpus 1-2 {words} --prestage --watchdog 20ms "
            self.assertIn(words, self.command("fault-stopped-100ms" if variant == faults.HOST else "fault-hang", variant))
        self.assertIn("insmod /share/oae_sched_queue.ko agent_cached=1 write_comb", self.command("fault-hang", faults.QUEUES))

    def test_orders_are_words_for_the_firmware(self):
        pause = self.command("fault-pause-10ms", faults.QUEUES)
        self.assertIn("tasks mixed 8 22000 > /share/out 2> /share/said & } && agent=$!; ", pause)
        self.assertIn(f"{{ fault order $device/resource2 3840 {1 << 56 | 10_000}; }} >", pause)
        self.assertIn(f"3840 {2 << 56}; ", self.command("fault-hang", faults.SWAP_PORTS))
        self.assertIn(f"3840 {3 << 56}; ", self.command("fault-crash", faults.SWAP_PORTS))

    def test_the_fault_comes_later_by_the_seed(self):
        for seed, loops in enumerate((0, 1236, 472)):
            command = self.command("fault-hang", faults.QUEUES, seed)
            self.assertLess(command.index(f"for i in $(seq {loops}); do :; done"), command.index("fault order"))

    def test_a_trace_is_taken_unless_what_writes_it_is_killed(self):
        for each in faults.ALL:
            for variant in each.variants:
                self.assertEqual("--trace" in self.command(each.name, variant), each.name != "fault-killed")

    def test_machines(self):
        machines = {run.values() for run in matrix.runs("whole") if run.load.startswith("fault-")}
        pulled, cut = ("hosts[0].vcpus=3", faults.HOT_PLUG), ("hosts[0].vcpus=3", faults.CONTAINMENT)
        self.assertEqual(machines, {pulled, cut, (*pulled, "simulation.spin_slice=20ns")})  # the last one if the agent spins
        self.assertEqual({LOADS[run.load].firmware for run in matrix.runs("whole")}, {None, "tests/firmware/faulty_agent.elf"})

    def test_each_fault_is_run_with_each_of_its_variants(self):
        wanted = {(each.name, variant) for each in faults.ALL for variant in each.variants}
        for extent, seeds in (("whole", 2), ("quick", 1)):
            runs = [run for run in matrix.runs(extent) if run.load.startswith("fault-")]
            self.assertEqual({(run.load, run.variant) for run in runs}, wanted)
            self.assertEqual(len(runs), seeds * len(wanted))


class Reading(in_folder.InFolder):
    def setUp(self):
        super().setUp()
        program = self.folder / traces.PROGRAM
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/sh\necho "$@" >> calls\ncat account\ntest ! -e wrong || { cat wrong >&2; exit 1; }\n')
        program.chmod(0o755)
        self.say(out=OUTPUT, began=f"fault began at {BEGAN}\n", code="0\n", said="", trace="", account=account(1),
                 parameters=PARAMETERS)

    def say(self, **files):
        for name, text in files.items():
            (self.folder / name).write_text(text)

    def result(self, load="fault-hang", variant=faults.SWAP_PORTS):
        return LOADS[load].result(run_of(load, variant), Files(self.folder, STATS, self.folder))

    def test_times_count_from_the_fault(self):
        self.assertEqual(self.result(), found(FIRST))

    def test_what_is_not_said_is_not_known(self):
        lines = [line for line in OUTPUT.splitlines(keepends=True) if line.split()[0] not in ("resumed", "decided", "undelivered")]
        self.say(out="".join(lines), code="125\n")
        (first,) = self.result("fault-pulled")["fallbacks"]
        self.assertEqual(first, {**FIRST, "resumed": None, "decided": None, "undelivered": None})

    def test_several_times(self):
        self.say(out=OUTPUT + f"fault noticed by silence at {BEGAN + 50_000_000}\nfallback at {BEGAN + 50_000_001}\nwaited 1\n",
                 account=account(2))
        first, second = self.result()["fallbacks"]
        self.assertEqual((first, second["sign"], second["fallback"]), (FIRST, "silence", 50_000_001))

    def test_an_agent_that_was_killed(self):
        began = f"fault began at {BEGAN}\nscheduler ended at {BEGAN + 500}\n"
        self.say(out=OUTPUT[: OUTPUT.index("fault")], code="137\n", began=began)
        self.assertEqual(self.result("fault-killed", faults.HOST), found(ended=500, traced=False))
        self.assertFalse((self.folder / "calls").exists())

    def test_the_trace_says_what_became_of_each_decision(self):
        self.say(out=OUTPUT[: OUTPUT.index("fault")], account=account(0))
        self.assertEqual(self.result("fault-pause-10ms"), found())
        self.assertEqual((self.folder / "calls").read_text(), f"account --wait {faults.PATIENCE_MS} trace\n")
        for wrong in (account(1), account(0, unaccounted=1)):
            self.say(account=wrong)
            with self.assertRaisesRegex(BadResult, "the trace does not say what became of each decision"):
                self.result("fault-pause-10ms")
        self.say(wrong="a task ran twice", account=account(0))
        with self.assertRaisesRegex(BadResult, "a task ran twice"):
            self.result("fault-pause-10ms")

    def test_output_that_is_not_complete_is_no_result(self):
        wrong = [({"began": ""}, "threads are done"), ({"code": "1\n", "said": "schedule: lost"}, "ended with 1: schedule: lost"),
                 ({"out": OUTPUT.replace("mixed 8", "mixed 7")}, "not all of 8 threads"),
                 ({"out": OUTPUT.replace("longest gap", "gap")}, "threads are done"),
                 ({"out": OUTPUT.replace("turns 900", "turns 0")}, "no thread has gone on"),
                 ({"out": OUTPUT.replace("by watchdog", "by accident")}, "no sign"),
                 ({"out": OUTPUT.replace(f"at {BEGAN + 29_000_000}", f"at {BEGAN}")}, "ended before it began")]  # fmt: skip
        for files, why in wrong:
            with self.subTest(files), self.assertRaisesRegex(BadResult, why):
                self.setUp()
                self.say(**files)
                self.result()


class Tables(unittest.TestCase):
    def rows(self, *runs):
        (table,) = chapter.tables(study_data.document(*runs))
        return dict(table.rows)

    def test_a_row(self):
        row = self.rows(study_data.run(faults.SWAP_PORTS, 0, found(FIRST), load="fault-hang"))
        self.assertEqual(row, {"swap ports: hangs": ["watchdog", "21,000.0", "21,500.0", "30,000.0",
                                                     "16", "24,000", "1"]})  # fmt: skip

    def test_ranges_of_what_is_known_and_the_longest_gap_of_all(self):
        later = {**FIRST, "sign": "silence", "noticed": 16_000_000, "decided": None, "undelivered": None}
        runs = [study_data.run(faults.QUEUES, seed, each, load="fault-hang")
                for seed, each in enumerate((found(FIRST), found(later, gap=26_000_000), found(FIRST)))]  # fmt: skip
        texts = self.rows(*runs)["queues: hangs"]
        self.assertEqual((texts[0], texts[4:]), ("watchdog 2, silence 1", ["16", "26,000", "3"]))
        self.assertEqual((texts[1], texts[3]), ("16,000.0 to 21,000.0", "30,000.0"))

    def test_what_was_not_noticed_has_no_times(self):
        (row,) = self.rows(study_data.run(faults.QUEUES, 0, found(), load="fault-pause-10ms")).values()
        self.assertEqual(row, ["not noticed", "-", "-", "-", "-", "24,000", "1"])

    def test_without_an_agent_on_the_host_there_is_no_scheduler(self):
        (row,) = self.rows(study_data.run(faults.HOST, 0, found(ended=500_000), load="fault-killed")).values()
        self.assertEqual(row[:4], ["the agent's end", "500.0", "500.0", "-"])

    def test_the_agent_that_decides_last_counts(self):
        row = self.rows(study_data.run(faults.QUEUES, 0, found({**FIRST, "decided": None}, FIRST), load="fault-cut"))
        self.assertEqual(row["queues: link cut, and back"][3], "30,000.0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
