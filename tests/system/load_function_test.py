# SPDX-License-Identifier: Apache-2.0
"""A program in the guest answers the requests of the load function, which measures how long that takes."""
import json
import os
import pathlib
import shutil

import machine

DEVICE = "/sys/bus/pci/devices/0000:01:00.1"
PROGRAM = pathlib.Path(os.environ.get("OAE_VP_REQUESTS", "build/cmake/tests/system/requests"))
COUNT, UNANSWERED, FIRST = 2000, 3, 3  # the program has had two requests before
ONE_WAY = 320_000  # ps: root complex, link and endpoint of oae-mini, in one direction


class Function(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        run = machine.Run("--set", "ipus[0].endpoint.load_function.present=true", trace=True, script=f"""
            lspci -s 01:00.1 > /share/lspci
            /share/requests {DEVICE} {COUNT} {UNANSWERED} > /share/requests.txt""")
        shutil.copy(PROGRAM, run.share / "requests")
        statistics = run.folder / "statistics.json"
        run.command += ["--stats", str(statistics)]
        cls.run_ = run.finish()
        assert run.code == 0, run
        cls.statistics = json.loads(statistics.read_text())
        lines = [[int(word) for word in line.split()] for line in run.file("requests.txt").splitlines()]
        cls.requests, cls.counters = lines[:-1], lines[-1]

    def test_lspci_names_it(self):
        self.assertIn("Load generator", self.run_.file("lspci"))

    def test_requests_come_in_order_at_their_rate(self):
        times = [time for time, _, _ in self.requests]
        self.assertEqual([number for _, _, number in self.requests], list(range(FIRST, FIRST + COUNT)))
        self.assertEqual(times, sorted(times))
        mean = (times[-1] - times[0]) / (COUNT - 1)
        self.assertAlmostEqual(mean, 1_000_000, delta=5 * 1_000_000 / COUNT ** 0.5)
        self.assertAlmostEqual(sum(kind for _, kind, _ in self.requests), COUNT / 4, delta=100)

    def test_a_request_leaves_when_it_comes(self):
        """The trace says when the packet with a request left the endpoint."""
        written = [line["t"] for line in self.run_.trace
                   if line.get("type") == "MWr" and line["dir"] == "up" and line["len"] == 32]
        self.assertEqual(len(written), FIRST - 1 + COUNT)
        for (time, _, _), left in zip(self.requests, written[FIRST - 1:]):
            self.assertGreaterEqual(left, time)
            self.assertLess(left - time, 100_000)

    def test_answers_are_counted(self):
        self.assertEqual(self.counters, [COUNT, 0, COUNT - UNANSWERED, 1, FIRST, sum(kind for _, kind, _ in self.requests)],
                         "generated, dropped, answered, unknown, first, generated_long")

    def test_answers_are_measured_from_the_request_on(self):
        long = sum(kind for _, kind, _ in self.requests[UNANSWERED:])
        latencies = self.statistics["latencies_ps"]
        self.assertEqual(latencies["ipu.load.long"]["count"], long)
        self.assertEqual(latencies["ipu.load.short"]["count"], COUNT - UNANSWERED - long)
        for kind in ("short", "long"):
            self.assertGreater(latencies[f"ipu.load.{kind}"]["min"], 2 * ONE_WAY)


if __name__ == "__main__":
    machine.main()
