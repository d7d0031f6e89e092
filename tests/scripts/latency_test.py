#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/latency: what it makes of a trace, of a platform file and of its options. No machine runs.

Usage: latency_test.py [GROUP[.CASE]]...
"""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"

sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS / "lib"))
import latency  # noqa: E402

OF = latency.Latencies("host_ipu", root_complex=50, interrupt=700, endpoint=20, down=100, up=200)
BAR, MARK = 0xC000_0000, 0xC000_4038


def packet(kind, direction, t, arr, address=0, tag=0):
    line = {"t": t, "arr": arr, "link": "host_ipu", "dir": direction, "type": kind, "tag": tag, "len": 8}
    return line if kind == "CplD" else {**line, "addr": hex(address)}


class Parts(unittest.TestCase):
    def test_a_read_is_the_sum_of_its_parts(self):
        lines = [
            packet("MRd", "down", 1050, 1155, BAR, tag=3),
            packet("MRd", "down", 1060, 1160, BAR + 8, tag=4),  # of another register
            packet("CplD", "up", 1202, 1410, tag=3),
            packet("CplD", "up", 1300, 1500, tag=4),
        ]
        (parts,) = latency.read_parts(lines, OF, BAR)
        self.assertEqual([time for _, time in parts], [50, 5, 100, 20, 7, 20, 8, 200, 50])
        self.assertEqual(latency.whole(parts), 1410 + 50 - (1050 - 50))

    def test_reads_are_told_apart_by_their_tags(self):
        lines = [
            packet("MRd", "down", 0, 105, BAR, tag=1),
            packet("MRd", "down", 10, 115, BAR, tag=2),
            packet("CplD", "up", 200, 400, tag=2),
            packet("CplD", "up", 300, 500, tag=1),
        ]
        self.assertEqual([latency.whole(parts) for parts in latency.read_parts(lines, OF, BAR)], [490, 600])

    def test_an_interrupt_ends_with_the_store_of_its_handler(self):
        lines = [
            packet("MWr", "down", 500, 605, MARK),  # of a handler before
            {"t": 1000, "interrupt": "ipu.oae", "vector": 0},
            packet("MWr", "up", 1020, 1223, 0x1000),  # no message
            packet("MWr", "up", 1030, 1233, 0xFEE0_1004),
            packet("MWr", "down", 1100, 1205, BAR),  # by another processor
            packet("MWr", "down", 2200, 2305, MARK),
        ]
        (parts,) = latency.interrupt_parts(lines, OF, MARK)
        self.assertEqual([time for _, time in parts], [20, 10, 3, 200, 50, 700, 2150 - 1983])
        self.assertEqual(latency.whole(parts), 2200 - 50 - 1000)

    def test_the_median_is_one_of_them(self):
        paths = [[("a", 5), ("b", 1)], [("a", 1), ("b", 1)], [("a", 2), ("b", 1)], [("a", 9), ("b", 9)]]
        self.assertEqual(latency.median(paths), [("a", 2), ("b", 1)])


class Platform(unittest.TestCase):
    def test_values_are_the_files_or_the_programs_defaults(self):
        with tempfile.TemporaryDirectory() as name:
            program = pathlib.Path(name) / "oae-vp"
            program.write_text(
                "#!/bin/sh\n"
                "printf 'ipus[].dma.latency\\n    Text\\n    a duration; default 1us\\n'\n"
                "printf 'ipus[].endpoint.latency\\n    Text\\n    a duration (units ps or s); default 50ns\\n'\n"
                "printf 'hosts[].root_complex.interrupt_latency\\n    Text\\n    a duration; default 0ps\\n'\n"
            )
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            file = pathlib.Path(name) / "platform.yaml"
            file.write_text(
                "hosts: [{name: a}, {name: b, root_complex: {latency: 1.5us}}]\n"
                "ipus: [{name: c}]\n"
                "pcie_links: [{up: b, down: c, latency_down: 180ns, latency_up: 90ps}]\n"
            )
            found = latency.latencies_of(str(program), file)
        self.assertEqual(found, latency.Latencies("b_c", 1_500_000, 0, 50_000, 180_000, 90))


class Options(unittest.TestCase):
    def refuse(self, *options):
        run = subprocess.run([str(SCRIPTS / "latency"), *options], capture_output=True, text=True,
                             env={**os.environ, "OAE_VP_BUILD": "/nonexistent"})
        self.assertEqual(run.returncode, 2, run)
        return run.stderr

    def test_help_tells_the_unit(self):
        run = subprocess.run([str(SCRIPTS / "latency"), "--help"], capture_output=True, text=True, check=True)
        self.assertIn("Times are in ns.", run.stdout)

    def test_mistakes_start_nothing(self):
        self.assertIn("no platform 'nothing'", self.refuse("nothing"))
        self.assertIn("unknown option '--what'", self.refuse("--what"))
        for count in ("0", "10001", "x", ""):
            self.assertIn("--count needs a number", self.refuse("--count", count))
        self.assertIn("--json: there is no folder", self.refuse("--json", "/nonexistent/file"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
