# SPDX-License-Identifier: Apache-2.0
"""An IPU in `devices`, below a switch, is the same as one in `ipus`."""
import pathlib
import re
import tempfile

import machine

IPU = "firmware: oae-fw.elf, endpoint: {latency: 20ns}"
LISTED = ("--set", f"ipus=[{{name: ipu0, {IPU}}}, {{name: ipu1, {IPU}}}]")
AMONG_DEVICES = ("--set", f"ipus=[{{name: ipu0, {IPU}}}]", "--set", f"devices=[{{name: ipu1, kind: ipu, {IPU}}}]")
LINK = ("--set", "oae_links=[{a: ipu0, b: ipu1, latency: 1us, first_port: 4, ports: 4}]")
SCRIPT = """
lspci -n > /share/functions
for card in 0 1; do oae bench --device $card --count 20 > /share/bench.$card; done
"""


class IpuDevice(machine.TestCase):
    def test_nothing_depends_on_where_it_stands_in_the_file(self):
        folder = tempfile.TemporaryDirectory(prefix="oae-vp-")
        self.addCleanup(folder.cleanup)
        stats = pathlib.Path(folder.name) / "stats"
        runs = []
        for options in (LISTED, AMONG_DEVICES):
            run = self.succeed(*options, *LINK, "--stats", stats, "--console", "ipu1=/dev/null", platform="switch",
                               script=SCRIPT, trace=True)
            self.assertEqual(len(re.findall("f0ae:0ae0", run.file("functions"))), 2, run)
            for card in (0, 1):
                self.assertIn("committed 20 of 20", run.file(f"bench.{card}"))
            runs.append((run.trace_bytes, stats.read_bytes()))
        self.assertGreater(len(runs[0][0]), 100_000)
        self.assertTrue(runs[0][0] == runs[1][0], "the traces differ")
        self.assertTrue(runs[0][1] == runs[1][1], "the statistics differ")


if __name__ == "__main__":
    machine.main()
