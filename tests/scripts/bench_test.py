#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the library of scripts/bench, without a benchmark.

Usage: bench_test.py [GROUP[.CASE]]...
"""

import re
import subprocess
import sys
import unittest

from in_folder import InFolder, SCRIPTS, output_of

sys.path.insert(0, str(SCRIPTS / "lib"))
from bench import benchmarks, machines, result as results  # noqa: E402

SMAPS = """\
55d0c0000000-55d0c0200000 rw-p 00000000 00:00 0                          [heap]
Rss:                2048 kB
7f0000000000-7f0020000000 rw-p 00000000 00:00 0
Size:             524288 kB
Rss:                1000 kB
Pss_Dirty:          9000 kB
7f0020000000-7f0020001000 ---p 00000000 00:00 0
Rss:                4000 kB
7f0030000000-7f0038000000 r-xp 00000000 08:01 1234                       /usr/lib/of-128-MiB
Rss:               50000 kB
7f0040000000-7f0048000000 rw-p 00000000 00:00 0
Rss:                 500 kB
7f0050000000-7f0051000000 rw-p 00000000 00:00 0
Rss:               16384 kB
"""


class Bench(InFolder):
    def result(self, value, baseline, goal=None):
        return results.Result(value, baseline, "u", "v", "of it", goal)

    def test_a_goal_is_met_on_its_edge(self):
        self.assertIsNone(self.result(1, 1).met)
        at_least, at_most = results.at_least, results.at_most
        for limit, of in ((2, results.RATIO), (5, results.EXCESS), (10, results.VALUE)):
            for value, goal, met in ((9, at_least, False), (10, at_least, True), (10, at_most, True), (11, at_most, False)):
                self.assertIs(self.result(value, 5, goal(limit, of)).met, met, (value, of))
        self.assertEqual(self.result(10, 4).ratio, 2.5)

    def test_rows_of_the_table(self):
        for result, row in (
            (self.result(10, 4), ["name", "10 u", "4 v of it", "2.5"]),
            (self.result(1, 8, results.at_least(0.15)), ["name", "1 u", "8 v of it", "0.125", "at least 0.15", "NOT MET"]),
            (
                self.result(300, 90, results.at_most(210, results.EXCESS)),
                ["name", "300 u", "90 v of it", "210", "at most 210 u more", "met"],
            ),
            (
                self.result(2e6, 5, results.at_least(1e6, results.VALUE)),
                ["name", "2,000,000 u", "5 v of it", "2,000,000", "at least 1,000,000 u", "met"],
            ),
        ):
            self.assertEqual(re.split(r"  +", results.line("name", result)), row)

    def test_every_benchmark_is_in_the_help(self):
        code, text = output_of(SCRIPTS / "bench", "--help")
        self.assertEqual(code, 0)
        for name, of in benchmarks.BENCHMARKS.items():
            self.assertRegex(text, rf"\n  {name} ")
            self.assertTrue(of.__doc__)

    def test_touched_pages_are_those_of_the_guests_memories(self):
        memories = [512 << 20, 128 << 20]
        self.assertAlmostEqual(benchmarks.touched(SMAPS, memories), 1500 * 1024 / 1e6)
        self.assertAlmostEqual(benchmarks.touched(SMAPS, memories[:1]), 1000 * 1024 / 1e6)
        for more in (64 << 20, 512 << 20):
            self.assertRaises(machines.Failure, benchmarks.touched, SMAPS, memories + [more])

    def test_memories_of_the_guests(self):
        text = "hosts:\n  - memory: 512MiB\n  - memory: 1GiB\nipus:\n  - dram: 128MiB\n"
        file = self.write("platform.yaml", text)
        self.assertEqual(machines.memories_of(file), [512 << 20, 1 << 30, 128 << 20])
        file = self.write("platform.yaml", "hosts:\n  - memory: 1GiB\nipus:\n  - sram: 4MiB\n")
        self.assertRaises(machines.Failure, machines.memories_of, file)

    def run_shell(self, text, lines):
        return machines.run_machine(["bash", "-c", text], lines, self.folder / "log")

    def test_times_of_lines(self):
        run = self.run_shell("echo noise; echo '[1.2] one'; sleep 0.2; echo one; printf 'two\\r\\n'", ["one", "two"])
        self.assertGreater(run.between("one", "two"), 0.19)
        self.assertLess(run.at["two"], 5)
        self.assertGreater(run.memory_mb, 0.5)
        self.assertIn("noise", (self.folder / "log").read_text())

    def test_machine_that_does_not_do_its_work(self):
        for text, word in (
            ("echo one; exit 3", "exit code 3"),
            ("echo two", "['one']"),
            ("echo bench: failed: no device; echo one; sleep 20", "no device"),
        ):
            with self.assertRaisesRegex(machines.Failure, re.escape(word)):
                self.run_shell(text, ["one"])

    def test_machine_that_does_not_end(self):
        limit, machines.SECONDS_AT_MOST = machines.SECONDS_AT_MOST, 0.3
        try:
            with self.assertRaisesRegex(machines.Failure, "did not end within 0.3 s"):
                self.run_shell("echo one; exec sleep 20", ["one"])
        finally:
            machines.SECONDS_AT_MOST = limit

    def test_archive_of_the_guest(self):
        entries = [("dev", 0o40755, (0, 0), b""), ("dev/console", 0o20600, (5, 1), b""), ("init", 0o100755, (0, 0), b"12345")]
        listing = subprocess.run(
            ["cpio", "-tv", "--quiet"], input=machines.cpio(entries), capture_output=True, check=True
        ).stdout.decode()
        self.assertRegex(listing, r"^drwxr-xr-x .* dev\ncrw------- .* 5,  *1 .* dev/console\n-rwxr-xr-x .* 5 .* init\n$")

    def test_memory_and_command_line_of_the_host(self):
        for text, mib in (("512MiB", 512), ("2GiB", 2048), ("512MB", None), ("", None)):
            file = self.write("platform.yaml", f"hosts:\n  - memory: {text}\n    append: console=ttyS0 panic=-1\n")
            if mib:
                self.assertEqual(machines.host_of(file), (mib, "console=ttyS0 panic=-1"))
            else:
                self.assertRaises(machines.Failure, machines.host_of, file)
        file = self.write("platform.yaml", "hosts:\n  - memory: 1GiB\n")
        self.assertRaises(machines.Failure, machines.host_of, file)

    def test_guest_program_compiles(self):
        command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", SCRIPTS / "lib/bench/init.c"]
        self.assertEqual(output_of(*command), (0, ""))


if __name__ == "__main__":
    unittest.main()
