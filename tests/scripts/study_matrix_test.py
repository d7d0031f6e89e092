#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what scripts/study runs: variants, matrix, the guest's command, and what is read from its output.

Usage: study_matrix_test.py [GROUP[.CASE]]...
"""

import dataclasses
import fcntl
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import study_data

from study import document, matrix, rows, variants  # noqa: E402
from study.loads import LOADS  # noqa: E402
from study.loads.load import ROUNDS_OF_A_TICK, BadResult, Files, shift  # noqa: E402
from study.loads.ping import PING  # noqa: E402
from study.loads.serve import REQUESTS, SATURATION, cpus_of  # noqa: E402

STATS = {
    "counters": {"ipu.endpoint.pf0.bar_reads": 1, "ipu.endpoint.pf0.bar_writes": 2, "ipu.endpoint.pf0.interrupts": 0,
                 "ipu.endpoint.pf1.bar_reads": 1, "ipu.endpoint.pf1.bar_writes": 3, "ipu.endpoint.pf1.interrupts": 1,
                 "host_ipu.down.wire_bytes": 7, "host_ipu.up.wire_bytes": 8, "ipu.queue_memory.line_fills": 3},
    "latencies_ps": {"host.root_complex.read_latency": {"median": 750_500}},
}  # fmt: skip
OUTPUT = """switches 220 in 1000000 ns
computed 220 times in 200000 ns
ping 260 done in 1800000 ns
message BLOCKED sent 110 received 111
message WAKEUP sent 120 received 120
messages used 230
decision RUN 30
decision PRESTAGE 70
slots written 100
outcome COMPLETE 99
outcome TARGET_STALE 1
kicks 31
rounds 5000
"""


SERVED = """requests get 950 range 50
lost get 3 range 0
answers get 947 range 50
rate 99000
churn die 4 affinity 3 class 2 nice 1 missed 5 rate 9900
"""
LATENCY = {"count": 900, "median": 12_500, "p99": 30_000, "p99.5": "too few", "p99.9": "too few"}


def run_of(variant, load="ping", **more):
    return matrix.Run(**{"load": load, "variant": variant, "factor": "", "level": 0.0, "seed": 0, "size": (10, 110), **more})


class Left(Files):
    """What a run has left, without files."""

    def __init__(self, text, stats):
        super().__init__(None, stats)
        object.__setattr__(self, "said", text)

    def text(self, name="out"):
        return self.said


class Matrix(unittest.TestCase):
    def test_the_ladder_goes_from_none_to_all_by_one(self):
        on = [sum(part.endswith("=1") for part in variant.modules[1][1]) + ("--prestage" in variant.schedule)
              for variant in variants.LADDER]  # fmt: skip
        self.assertEqual(on, list(range(len(variants.OPTIMISATIONS) + 1)))
        self.assertEqual([variants.LADDER[0].name, variants.LADDER[-1].name], ["wave-none", "wave-all"])

    def test_each_optimisation_is_removed_singly(self):
        every = variants.LADDER[-1]
        for name, variant in variants.WITHOUT.items():
            if name == "prestage":
                self.assertEqual((variant.modules, variant.schedule), (every.modules, every.schedule[:-1]))
            else:
                self.assertEqual(variant.schedule, every.schedule)
                self.assertEqual(set(variant.modules[1][1]) ^ set(every.modules[1][1]), {f"{name}=0", f"{name}=1"})

    def test_crossed_variants_differ_by_what_their_names_say(self):
        of = {each.name: each for each in (variants.LADDER[-1], variants.PORTS[-1])}
        for variant in variants.CROSSED:
            base = next(each for name, each in of.items() if variant.name.startswith(name))
            options = variant.schedule[len(base.schedule):]
            parameters = variant.modules[-1][1][len(base.modules[-1][1]):]
            self.assertEqual((variant.modules[:-1], variant.platform), (base.modules[:-1], base.platform))
            said = [*options[1::2], *(part.removeprefix("decisions_").removesuffix("=1") for part in parameters)]
            self.assertEqual(variant.name, "-".join([base.name, *said]))
        self.assertEqual([variants.VARIANTS[each.name] for each in variants.CROSSED], variants.CROSSED)

    def test_each_row_has_a_variant_and_each_variant_a_row(self):
        wanted = [*rows.BASELINES, *rows.STEPS, *rows.REMOVED, *rows.OTHERS]
        self.assertEqual({name for _, name in wanted}, set(variants.VARIANTS))

    def test_one_factor_at_a_time(self):
        for extent in matrix.EXTENTS:
            runs = matrix.runs(extent)
            self.assertEqual(len(runs), len(set(runs)))
            self.assertLessEqual(len(runs), 1500)
            for run in runs:
                if run.factor:
                    self.assertNotEqual(run.level, matrix.FACTORS[run.factor].central)
                    central = dataclasses.replace(run, factor="", level=0.0)
                    self.assertNotEqual((run.values(), LOADS[run.load].command(run)),
                                        (central.values(), LOADS[run.load].command(central)))
                else:
                    self.assertEqual(run.values(), tuple(sorted((*LOADS[run.load].platform, *variants.VARIANTS[run.variant].platform))))

    def test_all_runs_have_what_the_user_sets(self):
        for run in matrix.runs("quick", ("hosts[0].vcpus=5", "simulation.max_quantum=10us")):
            self.assertEqual([value for value in run.values() if "vcpus" in value or "quantum" in value],
                             ["hosts[0].vcpus=5", "simulation.max_quantum=10us"])

    def test_an_agent_on_the_host_has_a_cpu_of_its_own(self):
        for extent in matrix.EXTENTS:
            for run in matrix.runs(extent):
                agent = re.search(r"--agent-cpu (\d+)", LOADS[run.load].command(run))
                cpus = re.search(r"--cpus (\d+)(?:-(\d+))?", LOADS[run.load].command(run))
                if agent:
                    used = range(int(cpus[1]), int(cpus[2] or cpus[1]) + 1)
                    self.assertNotIn(int(agent[1]), used, run)

    def test_of_two_values_of_a_key_the_factor_s_counts(self):
        self.assertEqual(run_of("floor", factor="rings", level=8).values(), ("hosts[0].vcpus=8",))
        values = ("hosts[0].vcpus=4", "simulation.spin_slice={}ns")
        self.assertEqual(run_of("host").values(), tuple(value.format(20) for value in values))
        self.assertEqual(run_of("host", factor="spin-slice", level=10).values(), tuple(value.format(10) for value in values))


class Guest(unittest.TestCase):
    def test_commands(self):
        command = PING.command(run_of("wave-none", seed=2))
        self.assertIn("insmod /share/oae_sched_queue.ko agent_cached=0 write_combining=0 write_through=0 prefetch_dec", command)
        load = "for i in $(seq {}); do :; done; tasks --warm-up 10 --vary {} ping 2 110' > /share/out 2> /share/err"
        self.assertIn(f" && schedule --policy fifo-central --cpus 1 --transport queue sh -c '{load.format(472, 2)}", command)
        self.assertNotIn("--prestage", command)
        self.assertIn("--prestage", PING.command(run_of("wave-all")))
        self.assertEqual(PING.command(run_of("floor")), f"PATH=/share:$PATH && taskset 2 sh -c '{load.format(0, 0)}")
        self.assertNotIn("queue", PING.command(run_of("host-prestage")))

    def test_loads_begin_all_over_the_tick(self):
        for seeds in (2, 3, 5, 10):
            began = sorted(int(re.search(r"\d+", shift(seed))[0]) for seed in range(seeds))
            gaps = [after - before for before, after in zip(began, [*began[1:], began[0] + ROUNDS_OF_A_TICK])]
            self.assertLess(max(gaps), 2 * ROUNDS_OF_A_TICK / seeds)
            self.assertGreater(min(gaps), ROUNDS_OF_A_TICK / seeds / 3)

    def test_the_warm_up_does_not_count(self):
        found = PING.result(run_of("wave-all"), Left(OUTPUT, STATS))
        self.assertEqual((found["switches"], found["ns"], found["all_switches"]), (220, 800_000, 260))

    def test_counts(self):
        found = PING.result(run_of("wave-all"), Left(OUTPUT + "fallbacks 2\n", STATS))
        self.assertEqual(found["messages"], 230)
        self.assertEqual(found["decisions"], {"RUN": 30, "PRESTAGE": 70})
        self.assertEqual(found["outcomes"], {"COMPLETE": 99, "TARGET_STALE": 1})
        self.assertEqual((found["kicks"], found["fallbacks"], found["read_ns"]), (31, 2, 750.5))
        self.assertEqual(found["device"], {"reads": 2, "writes": 5, "interrupts": 1, "bytes_down": 7, "bytes_up": 8,
                                           "line_fills": 3})  # fmt: skip
        self.assertEqual(PING.result(run_of("wave-all"), Left(OUTPUT, STATS))["fallbacks"], 0)
        self.assertNotIn("messages", PING.result(run_of("floor"), Left(OUTPUT, STATS)))

    def test_output_that_is_not_complete_is_no_result(self):
        first, computed, second, *others = OUTPUT.splitlines(keepends=True)
        rest = "".join(others)
        wrong = {"": "not said", first + rest: "not said", first + second + rest: "not said",
                 second + computed + first + rest: "not said",
                 first.replace("220", "219") + computed.replace("220", "219") + second + rest: "counted",
                 first + computed.replace("220", "219") + second + rest: "computed 219 times",
                 first + computed + second.replace("260", "219") + rest: "more switches",
                 first.replace("1000000", "200000") + computed + second + rest: "no time",
                 first + computed + second: "nothing"}  # fmt: skip
        for output, why in wrong.items():
            with self.subTest(output), self.assertRaisesRegex(BadResult, why):
                PING.result(run_of("wave-all"), Left(output, STATS))

    def test_an_agent_that_has_refused_messages_has_no_result_unless_it_has_begun_anew(self):
        refused = OUTPUT + "messages malformed 1\n"
        with self.assertRaisesRegex(BadResult, "refused"):
            PING.result(run_of("wave-all"), Left(refused, STATS))
        self.assertEqual(PING.result(run_of("wave-all"), Left(refused + "fallbacks 1\n", STATS))["fallbacks"], 1)


class Serving(unittest.TestCase):
    def test_cpus_of_workers(self):
        self.assertEqual([cpus_of(count) for count in (1, 2, 12, 13)], ["1", "1-2", "1-12", "0-12"])

    def test_commands(self):
        run = run_of("wave-all", "saturation", seed=3, size=(5_000, 500))
        options = "--seed 4 --workers 72 --worker-cpus 1-12 --dispatcher-cpus 13-15 --time 5000us --warm-up 500"
        self.assertIn(f"schedule --policy fifo-central --cpus 1-12 --transport queue --prestage serve saturate {options} >",
                      SATURATION.command(run))
        self.assertIn(f"$PATH && serve saturate {options} >", SATURATION.command(dataclasses.replace(run, variant="floor")))
        run = run_of("floor", "requests", factor="churn", level=10_000, size=(100, 900))
        self.assertIn("--churn 10000 --rate 100000 --warm-up 100 --count 1000 >", REQUESTS.command(run))
        run = run_of("host", "requests", factor="rate", level=400_000)
        self.assertIn("--rate 400000 ", REQUESTS.command(run))
        run = run_of("host", "saturation", factor="workers", level=2)
        self.assertIn("--cpus 1-2 --agent-cpu 0 serve saturate --seed 1 --workers 12 --worker-cpus 1-2 ", SATURATION.command(run))

    def test_saturation(self):
        text = "trial 100 late 0 of 30\ntrial 200 late 4 of 30\nsaturation 100\n"
        run = run_of("floor", "saturation")
        self.assertEqual(SATURATION.result(run, Left(text, STATS)), {"rate": 100, "trials": [[100, 0, 30], [200, 4, 30]]})
        self.assertEqual(SATURATION.result(run, Left("trial 50 late 9 of 30\nsaturation 0\n", STATS))["rate"], 0)
        for wrong, why in (("trial 100 late 0 of 30\n", "no rate"), (text.replace("saturation 100", "saturation 50"), "no trial")):
            with self.assertRaisesRegex(BadResult, why):
                SATURATION.result(run, Left(wrong, STATS))

    def test_requests(self):
        stats = {**STATS, "latencies_ps": {**STATS["latencies_ps"], "ipu.load.short": LATENCY}}
        found = REQUESTS.result(run_of("floor", "requests"), Left(SERVED, stats))
        self.assertEqual(found["latency_ns"], {"median": 12.5, "p99": 30.0})
        self.assertEqual(found["churn"], {"die": 4, "affinity": 3, "class": 2, "nice": 1, "missed": 5, "rate": 9900})
        self.assertEqual((found["answers"], found["measured"]), ({"get": 947, "range": 50}, 900))
        for wrong, why in ((SERVED.replace("get 947", "get 946"), "neither lost nor answered"), ("", "how many requests")):
            with self.assertRaisesRegex(BadResult, why):
                REQUESTS.result(run_of("floor", "requests"), Left(wrong, stats))


class Options(unittest.TestCase):
    def study(self, *options):
        return subprocess.run([str(study_data.SCRIPTS / "study"), *options], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "OAE_VP_BUILD": "/nonexistent"})  # fmt: skip

    def test_help_says_what_the_options_do(self):
        run = self.study("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for word in ("wave ", "--quick", "--smallest", "--json FILE", "--html FILE", "--from FILE", "--jobs N", "--only LOADS",
                     "--variants V", "--again"):
            self.assertRegex(run.stdout, rf"(?m)^  {word}")

    def test_mistakes_start_nothing(self):
        wrong = {(): "no study was named; there are: wave", ("tide",): "no study 'tide'; there are: wave", ("--what",): "--what",
                 ("wave", "wave"): "one study at a time", ("wave", "--json"): "--json needs a value",
                 ("wave", "--json", "/nonexistent/x"): "there is no folder", ("wave", "--html=/tmp"): "there is no folder",
                 ("wave", "--from", "/nonexistent/x"): "there is no file", ("wave", "--jobs", "0"): "--jobs needs a number",
                 ("wave", "--jobs=x"): "--jobs needs a number", ("wave", "--set", "quantum"): "--set needs KEY=VALUE",
                 ("wave", "--only"): "--only needs a value", ("wave", "--from", "/dev/null"): "no file of a study"}  # fmt: skip
        for options, why in wrong.items():
            with self.subTest(options):
                run = self.study(*options)
                self.assertEqual((run.returncode, run.stdout), (2, ""), run)
                self.assertIn(why, run.stderr)

    def test_a_second_study_in_a_build_is_refused_and_forgets_nothing(self):
        with tempfile.TemporaryDirectory() as build:
            lock = os.open(build, os.O_RDONLY)
            self.addCleanup(os.close, lock)
            kept = pathlib.Path(build, "study", "runs")
            kept.mkdir(parents=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
            run = subprocess.run([str(study_data.SCRIPTS / "study"), "wave", "--again"], capture_output=True, text=True,
                                 timeout=60, env={**os.environ, "OAE_VP_BUILD": build})  # fmt: skip
            self.assertEqual((run.returncode, run.stdout), (1, ""), run)
            self.assertIn(f"scripts/study: another study is at work in {build}. Wait for it", run.stderr)
            self.assertTrue(kept.exists())

    def test_a_file_that_is_none_of_a_study_is_refused(self):
        good = study_data.document(study_data.run("floor", 0, study_data.result(2_000, agent=False)))
        document.check(good)
        wrong = [{**good, "format": 1}, {**good, "extent": "half"}]
        wrong += [{**good, "runs": [{**good["runs"][0], **change}]} for change in (
            {"variant": "x"}, {"load": "x"}, {"result": {"ns": 0, "switches": 1}}, {"factor": "link", "level": 1.0})]  # fmt: skip
        for each in wrong:
            with self.assertRaises((document.BadDocument, BadResult)):
                document.check(each)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            for text in ("", "[]", "{}", '{"format": 2, "extent": "quick", "runs": [{}]}'):
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                run = self.study("wave", "--from", file.name)
                self.assertEqual(run.returncode, 2, run)
                self.assertIn("it is no file of a study", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
