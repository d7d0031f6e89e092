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
import bench  # noqa: E402


class Bench(InFolder):
    def result(self, value, baseline, more_is_better, **goals):
        return bench.Result(value, baseline, "u", "v", "it", more_is_better, **goals)

    def test_a_goal_is_met_on_its_edge(self):
        self.assertIsNone(self.result(1, 1, True).met)
        for value, more, met in ((9, True, False), (10, True, True), (10, False, True), (11, False, False)):
            self.assertIs(self.result(value, 5, more, goal=2).met, met)
        self.assertEqual(self.result(10, 4, True).ratio, 2.5)

    def run_shell(self, text, lines):
        return bench.run_machine(["bash", "-c", text], lines, self.folder / "log")

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
            with self.assertRaisesRegex(bench.Failure, re.escape(word)):
                self.run_shell(text, ["one"])

    def test_machine_that_does_not_end(self):
        limit, bench.SECONDS_AT_MOST = bench.SECONDS_AT_MOST, 0.3
        try:
            with self.assertRaisesRegex(bench.Failure, "did not end within 0.3 s"):
                self.run_shell("echo one; exec sleep 20", ["one"])
        finally:
            bench.SECONDS_AT_MOST = limit

    def test_archive_of_the_guest(self):
        entries = [("dev", 0o40755, (0, 0), b""), ("dev/console", 0o20600, (5, 1), b""), ("init", 0o100755, (0, 0), b"12345")]
        listing = subprocess.run(
            ["cpio", "-tv", "--quiet"], input=bench.cpio(entries), capture_output=True, check=True
        ).stdout.decode()
        self.assertRegex(listing, r"^drwxr-xr-x .* dev\ncrw------- .* 5,  *1 .* dev/console\n-rwxr-xr-x .* 5 .* init\n$")

    def test_memory_and_command_line_of_the_host(self):
        for text, mib in (("512MiB", 512), ("2GiB", 2048), ("512MB", None), ("", None)):
            file = self.write("platform.yaml", f"hosts:\n  - memory: {text}\n    append: console=ttyS0 panic=-1\n")
            if mib:
                self.assertEqual(bench.host_of(file), (mib, "console=ttyS0 panic=-1"))
            else:
                self.assertRaises(bench.Failure, bench.host_of, file)
        file = self.write("platform.yaml", "hosts:\n  - memory: 1GiB\n")
        self.assertRaises(bench.Failure, bench.host_of, file)

    def test_guest_program_compiles(self):
        command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", SCRIPTS / "lib/bench-init.c"]
        self.assertEqual(output_of(*command), (0, ""))


if __name__ == "__main__":
    unittest.main()
