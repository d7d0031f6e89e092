#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what scripts/study makes of other services and policies: what their guests do, what is read of that, and the tables.

Usage: study_services_test.py [GROUP[.CASE]]...
"""

import re
import unittest
import xml.etree.ElementTree

import study_data
from study_data import DEVICE, document, run

from study import matrix  # noqa: E402
from study.chapters import services as chapter  # noqa: E402
from study.loads import LOADS, services  # noqa: E402
from study.loads.load import BadResult, Files  # noqa: E402
from study.loads.vm import VM  # noqa: E402

COUNTERS = {"host_ipu.down.wire_bytes": 0, "host_ipu.up.wire_bytes": 0, "ipu.queue_memory.line_fills": 0,
            **{f"ipu.endpoint.pf{function}.{name}": 1 for function in (0, 1)
               for name in ("bar_reads", "bar_writes", "interrupts")}}  # fmt: skip
READ = {"host.root_complex.read_latency": {"median": 750_000}}
SERVED = "requests get 95 range 5\nlost get 0 range 0\nanswers get 95 range 5\n"
AGENT = "message WAKEUP sent 9 received 9\ndecision PREEMPT 7\noutcome COMPLETE 9\nkicks 5\n"
SHARED = "units 9000 least 1200 most 1400 each 8000 ns\nshare 7 done in 25000000 ns\n"


def run_of(load, variant="wave-all", size=(10_000, 50_000), **more):
    return matrix.Run(**{"load": load, "variant": variant, "factor": "", "level": 0.0, "seed": 0, "size": size, **more})


class Left(Files):
    """What a run has left, without files."""

    def __init__(self, text, latencies=()):
        super().__init__(None, {"counters": COUNTERS, "latencies_ps": {**READ, **dict(latencies)}})
        object.__setattr__(self, "said", text)

    def text(self, name="out"):
        return self.said


def command(load, **more):
    return LOADS[load].command(run_of(load, **more))


class Guests(unittest.TestCase):
    def test_the_database_is_filled_before_machines_are_forked(self):
        for load in (services.SATURATION_ROCKSDB, services.REQUESTS_ROCKSDB):
            fill = re.search(r"(?m)^/share/serve fill --database (\S+)$", load.boot())
            self.assertLess(fill.end(), load.boot().index("vpctl mark"))
            self.assertIn(f" --service rocksdb --database {fill[1]} ", command(load.name))
        self.assertNotIn("fill", LOADS["saturation"].boot())

    def test_policies(self):
        for load, words in {"saturation": "fifo-central", "requests-rocksdb": "fifo-central", "saturation-per-cpu": "fifo-per-cpu",
                            "requests-per-cpu": "fifo-per-cpu", "saturation-mixed": "shinjuku", "mixed-fifo": "fifo-central",
                            "mixed-shinjuku": "shinjuku", "vm": "vm"}.items():  # fmt: skip
            self.assertIn(f"schedule --policy {words} --cpus ", command(load))
        for load, time_slice in (("saturation-mixed", "30us"), ("mixed-shinjuku", "30us"), ("mixed-shinjuku-5us", "5us")):
            self.assertIn(f" --time-slice {time_slice} serve ", command(load))
        self.assertNotIn("--time-slice", command("mixed-fifo") + command("vm"))
        self.assertNotIn("schedule", command("mixed-shinjuku", variant="floor"))

    def test_mixed_requests_come_for_a_given_time(self):
        self.assertIn("hosts[0].vcpus=8", run_of("mixed-fifo").values())
        words = "serve --seed 1 --workers 11 --worker-cpus 1-6 --dispatcher-cpus 7 --ranges 0.5% --range 5ms"
        self.assertIn(f"{words} --rate 100000 --warm-up 1000 --count 6000 >", command("mixed-fifo"))
        faster = command("mixed-fifo", factor="mixed-rate", level=125_000)
        self.assertIn(f"{words} --rate 125000 --warm-up 1250 --count 7500 >", faster)
        self.assertIn("--workers 200 ", command("mixed-shinjuku"))

    def test_virtual_cpus_have_the_agents_cpu_if_that_is_elsewhere(self):
        self.assertIn("schedule --policy vm --cpus 1-3 --transport queue --prestage tasks share 7 100000 >",
                      command("vm", size=(100_000,)))  # fmt: skip
        self.assertIn("--cpus 0-3 ", command("vm", factor="tasks-cpus", level=4))
        self.assertIn("taskset e tasks share 7 ", command("vm", variant="floor"))
        self.assertIn("taskset f tasks share 7 ", command("vm", variant="floor", factor="tasks-cpus", level=4))


class Results(unittest.TestCase):
    def test_ranges_have_latencies_of_their_own(self):
        short, long = ({"count": 95, "median": median, "p99": "too few", "p99.5": "too few", "p99.9": "too few"}
                       for median in (17_000_000, 5_200_000_000))  # fmt: skip
        left = Left(SERVED + AGENT, {"ipu.load.short": short, "ipu.load.long": long})
        found = LOADS["mixed-fifo"].result(run_of("mixed-fifo"), left)
        self.assertEqual((found["latency_ns"], found["range_ns"]), ({"median": 17_000.0}, {"median": 5_200_000.0}))

    def test_work_of_virtual_cpus(self):
        found = VM.result(run_of("vm"), Left(SHARED + AGENT))
        self.assertEqual({name: found[name] for name in ("units", "least", "most", "unit_ns", "ns", "cpus")},
                         {"units": 9_000, "least": 1_200, "most": 1_400, "unit_ns": 8_000, "ns": 25_000_000, "cpus": 3})  # fmt: skip
        for wrong, why in ((SHARED.replace("units 9000", "units 9999"), "more than there was time for"), ("", "not said"),
                           (SHARED.replace("least 1200", "least 0"), "done nothing"),
                           (SHARED.replace("least 1200", "least 1500"), "done nothing"),
                           (SHARED.replace("share 7", "share 6"), "not said")):  # fmt: skip
            with self.subTest(wrong), self.assertRaisesRegex(BadResult, why):
                VM.result(run_of("vm"), Left(wrong + AGENT))
        four = run_of("vm", factor="tasks-cpus", level=4)
        self.assertEqual(VM.result(four, Left(SHARED.replace("units 9000", "units 9999") + AGENT))["cpus"], 4)


def answers(median, p99, **more):
    return {"requests": {"get": 90, "range": 10}, "lost": {"get": 0, "range": 0}, "answers": {"get": 90, "range": 10},
            "measured": 90, "latency_ns": {"median": median, "p99": p99}, "device": DEVICE, "read_ns": 750.0, **more}  # fmt: skip


def cells(table):
    return {title: dict(zip(table.columns, texts)) for title, texts in table.rows}


MIXED = document(
    *(run("wave-all", 0, answers(17_000.0, p99, range_ns={"median": 5_250_000.0}, decisions={"PREEMPT": preempted}), load=load)
      for load, p99, preempted in (("mixed-fifo", 3_116_000.0, 0), ("mixed-shinjuku", 77_700.0, 45))),
    *(run("wave-all", 0, answers(18_000.0, p99, range_ns={"median": 5_000_000.0}), "mixed-rate", 50_000, load=load)
      for load, p99 in (("mixed-fifo", 200_000.0), ("mixed-shinjuku", 26_000.0))),
    extent="whole")  # fmt: skip


class Tables(unittest.TestCase):
    def test_services_and_policies_stand_beside_each_other(self):
        rates = {"saturation": 669_000, "saturation-rocksdb": 660_000, "saturation-per-cpu": 656_000, "saturation-mixed": 131_000}
        runs = [run("wave-all", 0, {"rate": rate, "trials": [[rate, 0, 9]]}, load=load) for load, rate in rates.items()]
        made = document(*runs, run("host", 0, {"rate": 1, "trials": [[1, 0, 9]]}, load="saturation"))
        (row,) = chapter.saturation_table(made).rows
        self.assertEqual(row[1], ["669.0 (one run)", "660.0 (one run)", "656.0 (one run)", "131.0 (one run)"])

    def test_a_get_of_rocksdb_takes_less_by_what_its_answers_take_less(self):
        made = document(run("floor", 0, answers(12_900.0, 13_000.0), load="requests"),
                        run("floor", 0, answers(6_400.0, 7_000.0), load="requests-rocksdb"))  # fmt: skip
        table = chapter.latency_table(made)
        self.assertEqual(cells(table)["floor: the fair class, no agent"]["RocksDB, p99"], "7.0 (one run)")
        self.assertIn("a GET of RocksDB takes 3.5 us", table.notes[0])

    def test_gets_among_ranges(self):
        found = cells(chapter.mixed_table(MIXED))
        title = "Shinjuku, 30 us: + prestage: all optimisations"
        self.assertEqual(found[title]["p99"], "77.7 (one run)")
        self.assertEqual(found[title]["RANGE, median, ms"], "5.25 (one run)")
        self.assertEqual(found[title]["preemptions of a request"], "0.45 (one run)")
        self.assertEqual(found["FIFO: + prestage: all optimisations"]["p99"], "3,116.0 (one run)")

    def test_virtual_cpus(self):
        result = {"units": 9_000, "least": 1_200, "most": 1_350, "unit_ns": 8_000, "ns": 25_000_000, "cpus": 3}
        made = document(run("wave-all", 0, result, load="vm"))
        (row,) = chapter.vm_table(chapter.Samples(made, "vm")).rows
        self.assertEqual(row[1], [f"{each} (one run)" for each in ("2.8800", "4.00", "93.3", "105.0")] + ["1 of 1"])

    def test_a_plot_has_a_line_for_each_policy(self):
        (plot,) = chapter.plots(MIXED)
        root = xml.etree.ElementTree.fromstring(plot)
        marks = [mark for mark in root.iter() if mark.get("class") == "point"]
        points = [(float(mark.get("data-x")), float(mark.get("data-value"))) for mark in marks]
        self.assertEqual(points, [(50_000, 200), (100_000, 3_116), (50_000, 26), (100_000, 77.7)])
        text = "".join(root.itertext())
        self.assertTrue("FIFO" in text and "Shinjuku, 30 us" in text and "Shinjuku, 5 us" not in text, text)

    def test_without_such_runs_there_are_no_tables(self):
        made = document(run("floor", 0, answers(12_900.0, 13_000.0), load="requests"), extent="whole")
        self.assertEqual((chapter.tables(made), chapter.plots(made)), ([], []))
        self.assertIn(chapter.mixed_table(MIXED).title, [table.title for table in chapter.tables(MIXED)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
