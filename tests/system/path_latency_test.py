# SPDX-License-Identifier: Apache-2.0
"""The parts of a path of the Mount Evans class machine add up to its published latencies.

OAE_VP_PROBE names the folder of the probes, which are built from tests/system/probe.
"""
import os
import pathlib
import sys

import machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBE = pathlib.Path(os.environ.get("OAE_VP_PROBE", "build/cmake/tests/system/probe"))
COUNT = 50

sys.path.insert(0, str(ROOT / "scripts" / "lib"))
import latency  # noqa: E402


def measure(platform, *options):
    return latency.measure(machine.PROGRAM, machine.IMAGES, PROBE, ROOT / "platforms" / f"{platform}.yaml", COUNT,
                           *options)


class MountEvans(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found = measure("e2000")

    def test_a_program_reads_a_register_in_750_ns(self):
        self.assertAlmostEqual(self.found.guest_read, 750_000, delta=0.05 * 750_000)

    def test_the_parts_of_a_read_are_what_the_guest_measures(self):
        """Leaves room for the instructions around the read. Two of them read the clock, which counts whole ns."""
        for guest, parts in zip(self.found.guest_reads, self.found.reads):
            self.assertGreaterEqual(guest + 1000, latency.whole(parts))
            self.assertLess(guest, latency.whole(parts) + 5_000)

    def test_an_interrupt_reaches_its_handler_in_1600_ns(self):
        whole = latency.whole(latency.median(self.found.interrupts))
        self.assertAlmostEqual(whole, 1_600_000, delta=0.05 * 1_600_000)

    def test_no_part_is_negative_or_unknown(self):
        for paths in (self.found.reads, self.found.interrupts):
            names = {tuple(name for name, _ in parts) for parts in paths}
            self.assertEqual(len(names), 1)
            for parts in paths:
                for name, time in parts:
                    self.assertGreaterEqual(time, 0, name)


class EachPart(machine.TestCase):
    def test_what_a_part_is_slower_the_whole_is_slower(self):
        two = ("--set", "hosts[0].vcpus=2")
        slower = ("--set", "pcie_links[0].latency_up=350ns", "--set", "hosts[0].root_complex.interrupt_latency=500ns")
        before, after = measure("oae-mini", *two), measure("oae-mini", *two, *slower)
        for paths, expected in (("reads", 100_000), ("interrupts", 600_000)):
            with self.subTest(paths):
                wholes = [latency.whole(latency.median(getattr(one, paths))) for one in (before, after)]
                self.assertEqual(wholes[1] - wholes[0], expected)


if __name__ == "__main__":
    machine.main()
