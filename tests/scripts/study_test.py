#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A smallest study from end to end: Linux boots, tasks are scheduled by the fair class and by firmware, and the results are
written. The build is that of OAE_VP_BUILD, or build/.

Usage: study_test.py [GROUP[.CASE]]...
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import study_data

from study import matrix  # noqa: E402

BUILD = pathlib.Path(os.environ.get("OAE_VP_BUILD", study_data.ROOT / "build")).resolve()
PART, TRACED = matrix.EXTENTS["smallest"]
FLOOR, WRITE_THROUGH, ALL = PART.variants


class Study(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Another folder for the results, with links to what has been built
        folder = tempfile.TemporaryDirectory(prefix="oae-vp-test.")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name in ("cmake", "images"):
            (cls.folder / name).symlink_to(BUILD / name)
        cls.output = cls.study("one")
        runs = json.loads((cls.folder / "one.json").read_text())["runs"]
        cls.results = {run["variant"]: run["result"] for run in runs if run["load"] == PART.load}
        (cls.traced,) = [run["result"] for run in runs if run["load"] == TRACED.load]

    @classmethod
    def study(cls, name, *options):
        command = ["/usr/bin/python3", "-I", str(study_data.SCRIPTS / "lib" / "study"), "--build", str(cls.folder)]
        command += ["--extent", "smallest", "--json", str(cls.folder / f"{name}.json")]
        command += ["--html", str(cls.folder / f"{name}.html"), *options, "wave"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, f"{run.stdout}\n{run.stderr}"
        return run.stdout

    def time(self, variant):
        return self.results[variant]["ns"] / self.results[variant]["switches"]

    def test_the_agent_costs_time_and_optimisations_save_some(self):
        self.assertLess(self.time(FLOOR), self.time(ALL))
        self.assertLess(self.time(ALL), self.time(WRITE_THROUGH))

    def test_each_switch_has_a_decision_that_came_over_the_link(self):
        boot = self.results[FLOOR]["device"]
        self.assertEqual(boot["interrupts"], 0)
        for variant in (WRITE_THROUGH, ALL):
            found = self.results[variant]
            switches = found["all_switches"]
            self.assertAlmostEqual(found["outcomes"]["COMPLETE"], switches, delta=0.1 * switches)
            self.assertEqual(found["device"]["interrupts"], found["kicks"])
            self.assertGreater(found["device"]["reads"] - boot["reads"], switches)
            self.assertGreater(found["device"]["writes"], found["messages"])
            self.assertEqual(found["fallbacks"], 0)

    def test_prestage_decides_before_and_spares_interrupts(self):
        before, after = (self.results[variant] for variant in (WRITE_THROUGH, ALL))
        self.assertNotIn("PRESTAGE", before["decisions"])
        self.assertGreater(after["decisions"]["PRESTAGE"], 0.9 * sum(after["decisions"].values()))
        self.assertGreater(before["device"]["interrupts"], 0.9 * before["all_switches"])
        self.assertLess(after["device"]["interrupts"], 0.1 * after["all_switches"])

    def test_a_read_takes_what_is_published(self):
        self.assertAlmostEqual(self.results[ALL]["read_ns"], 750, delta=7.5)

    def test_a_traced_run_tells_where_its_time_went(self):
        (rounds,) = TRACED.size
        account, parts = self.traced["account"], {name: part["mean"] for name, part in self.traced["switches"]["stamped"].items()}
        self.assertAlmostEqual(account["ran"], 2 * rounds, delta=0.1 * 2 * rounds)
        self.assertGreater(account["freed prestaged"], 0.9 * account["freed"])
        self.assertEqual(parts.pop("whole"), sum(parts.values()))
        # A switch is the greater part of what the tasks wait for each other.
        self.assertTrue(0.5 * self.time(ALL) < sum(parts.values()) < self.time(ALL), parts)
        self.assertEqual(self.traced["configuration"]["transport"], "queue")
        self.assertIn("FITO diagnostic", self.output)

    def test_the_page_shows_the_results(self):
        text = (self.folder / "one.html").read_text().removeprefix("<!DOCTYPE html>\n")
        bars = [float(mark.get("data-value")) for mark in xml.etree.ElementTree.fromstring(text).iter()
                if mark.get("class") == "bar"]  # fmt: skip
        self.assertEqual(bars, [self.time(variant) for variant in (FLOOR, WRITE_THROUGH, ALL)])
        for variant in (FLOOR, WRITE_THROUGH, ALL):
            self.assertIn(f"{self.time(variant):,.1f} (one run)", self.output)

    def test_made_anew_at_another_quantum_it_gives_the_same_bytes(self):
        shutil.rmtree(self.folder / "study")
        quantum = "simulation.max_quantum=7us"
        said = f"all runs with {quantum}"
        self.assertEqual(self.study("two", "--set", quantum).replace(f"{said}\n", ""), self.output)
        one, two = ((self.folder / f"{name}.html").read_text() for name in ("one", "two"))
        self.assertEqual(two.replace(f"<p><code>{said}</code></p>\n", ""), one)
        one, two = (json.loads((self.folder / f"{name}.json").read_text())["runs"] for name in ("one", "two"))
        self.assertEqual([run["result"] for run in two], [run["result"] for run in one])
        self.assertTrue(all(quantum in run["values"] for run in two))
        self.assertEqual(len(list((self.folder / "study" / "runs").iterdir())), len(matrix.runs("smallest")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
