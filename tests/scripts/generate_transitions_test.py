#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/generate-transitions: what it makes, that all of it is one table, and every
mistake that it must name."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "scripts" / "generate-transitions"
LINK = ROOT / "rtl" / "transfer" / "link_transitions.yaml"

GOOD = """\
table: lamp
title: A lamp
machines:
  - name: bulb
    text: It shines or not
    states: [dark, light]
    events:
      press: The button
      fuse: Too much
    actions:
      click: A sound
      smoke: None wanted
    transitions:
      - {state: dark, event: press, next: light, actions: [click]}
      - {state: light, event: press, next: dark, actions: [click]}
      - {state: light, event: fuse, next: dark, actions: [click, smoke]}
"""


class Generator(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_on(self, content):
        file = self.path / "rtl" / "lamp.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
        return subprocess.run([sys.executable, GENERATOR, file, "--output", self.path / "out"],
                              capture_output=True, text=True)

    def made(self, name):
        return (self.path / "out" / name).read_text()


def entries_of_c(text):
    """(machine, state, event) to (next, actions), by number, of what is not empty."""
    found = {}
    for name, body in re.findall(r"namespace (\w+) \{\nenum(.*?)\}  // namespace \1", text, re.S):
        states = re.search(r"State : std::uint8_t \{ (.*?) \}", body)[1].split(", ")
        rows = re.findall(r"^    \{(\{.*\})\},$", body, re.M)
        for s, row in enumerate(rows):
            for e, (following, actions) in enumerate(re.findall(r"\{State::(\w+), (\d+)\}", row)):
                if states.index(following) != s or actions != "0":
                    found[name, s, e] = (states.index(following), int(actions))
    return found


def entries_of_spin(text):
    found = {}
    for name, body in re.findall(r"inline (\w+)_step\(at, event, actions\) \{(.*?)\n\}", text, re.S):
        for s, e, following, actions in re.findall(
                r":: at == (\d+) && event == (\d+) -> at = (\d+); actions = (\d+)", body):
            found[name, int(s), int(e)] = (int(following), int(actions))
    return found


class Output(Generator):
    def test_what_is_made(self):
        self.assertEqual(self.run_on(GOOD).stderr, "")
        self.assertIn("BULB_EVENT_PRESS = 2'd1", self.made("oae_lamp_table.svh"))
        self.assertIn("BULB_SMOKE = 1;", self.made("oae_lamp_table.svh"))
        entries = {("bulb", 0, 1): (1, 1), ("bulb", 1, 1): (0, 1), ("bulb", 1, 2): (0, 3)}
        self.assertEqual(entries_of_c(self.made("lamp_table.h")), entries)
        self.assertEqual(entries_of_spin(self.made("lamp_table.pml")), entries)

    def test_the_link_is_one_table_for_all(self):
        result = self.run_on(LINK.read_text())
        self.assertEqual(result.stderr, "")
        entries = entries_of_c(self.made("link_table.h"))
        self.assertEqual(entries_of_spin(self.made("link_table.pml")), entries)
        self.assertEqual(len(entries), LINK.read_text().count("{state:"))

    def test_what_is_right_is_left_alone(self):
        self.run_on(GOOD)
        before = (self.path / "out" / "lamp_table.h").stat().st_mtime_ns
        self.run_on(GOOD)
        self.assertEqual((self.path / "out" / "lamp_table.h").stat().st_mtime_ns, before)


class Mistakes(Generator):
    def refused(self, old, new, message):
        self.assertIn(old, GOOD)
        result = self.run_on(GOOD.replace(old, new, 1))
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"lamp\.yaml:\d+:\d+: ")
        self.assertIn(message, result.stderr)
        self.assertFalse((self.path / "out").exists())

    def test_each_is_named(self):
        self.refused("next: light", "next: dim", "there is no state 'dim'")
        self.refused("event: press", "event: pull", "there is no event 'pull'")
        self.refused("[click]", "[clack]", "there is no action 'clack'")
        self.refused("state: light, event: fuse", "state: light, event: press", "stands twice")
        self.refused("[dark, light]", "[dark, dark]", "'dark' stands twice")
        self.refused("      fuse: Too much\n", "      fuse: Too much\n      rain: Never\n",
                     "event 'rain' is in no transition")
        self.refused("smoke: None wanted", "smoke: None wanted\n      heat: Much",
                     "action 'heat' is in no transition")
        self.refused("[dark, light]", "[dark, light, red]", "no transition leads to state 'red'")
        self.refused("next: light, actions: [click]", "next: dark",
                     "a transition that changes nothing")
        self.refused("press: The button", "none: The button", "event 'none'")
        self.refused("    text: It shines or not\n", "", "lacks 'text'")
        self.refused("title: A lamp", "titel: A lamp", "has no key 'titel'")

    def test_an_empty_file(self):
        self.assertIn("the table is empty", self.run_on("").stderr)


if __name__ == "__main__":
    unittest.main()
