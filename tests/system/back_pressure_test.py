# SPDX-License-Identifier: Apache-2.0
"""Receivers have few credits. Senders wait for credits, a processor waits at its store, and nothing is lost."""
import json

import machine

SWAPS = 300
POSTED = {"MWr", "Msg"}
FEW = ("--set", "pcie_links[0].credits_down={posted_headers: 2, posted_data: 16, non_posted_headers: 1}",
       "--set", "pcie_links[0].credits_up={posted_headers: 1, posted_data: 16}")


class BackPressure(machine.TestCase):
    """Runs the same swaps with finite and with infinite credits."""

    @classmethod
    def setUpClass(cls):
        append = f'vp.exec="oae bench --count {SWAPS}"'
        cls.few = machine.Run(*FEW, append=append, trace=True).finish()
        cls.plenty = machine.Run(append=append, trace=True).finish()

    def posted(self, run, direction):
        return [line for line in run.trace if line.get("dir") == direction and line["type"] in POSTED]

    def test_swaps_go_on(self):
        for run in (self.few, self.plenty):
            self.assertEqual(run.code, 0, run)
            self.assertIn(f"committed {SWAPS} of {SWAPS}", run.console)
            self.assertIn(f"the firmware {SWAPS}: agree", run.console)

    def test_no_more_are_on_the_way_than_there_are_credits(self):
        # A credit returns after its packet has been received and an update has passed the link. The sender's
        # latency follows.
        for direction, headers in (("down", 2), ("up", 1)):
            lines = self.posted(self.few, direction)
            self.assertGreater(len(lines), SWAPS)
            spans = [line["t"] - before["arr"] for before, line in zip(lines, lines[headers:])]
            self.assertGreater(min(spans), 250_000)
            if direction == "down":
                self.assertGreater(sum(span < min(spans) + 1_000 for span in spans), 5 * SWAPS,
                                   "the processor waited for credits")

    def test_packets_are_the_same_and_in_the_same_order(self):
        def slots(run):
            return [(line["addr"], line["len"], line["digest"]) for line in self.posted(run, "up")
                    if line["type"] == "MWr" and line["len"] == 64]

        self.assertEqual(len(slots(self.few)), len(slots(self.plenty)))
        self.assertEqual([slot[:2] for slot in slots(self.few)], [slot[:2] for slot in slots(self.plenty)])


class Faults(machine.TestCase):
    """The platform file injects errors."""

    def test_at_a_time_and_at_a_packet(self):
        faults = [{"direction": "down", "error": "bad_dllp", "at": "1500ms"},
                  {"direction": "up", "error": "unexpected_completion", "tlp": "CplD", "number": 5, "at": "1500ms"}]
        run = self.succeed("--set", f"pcie_links[0].faults={json.dumps(faults)}",
                           script="sleep 2; oae bench --count 10; dmesg > /share/dmesg")
        self.assertIn("committed 10 of 10", run.console)
        messages = run.file("dmesg")
        self.assertIn("BadDLLP", messages)
        self.assertEqual(messages.count("BadDLLP"), 1)


if __name__ == "__main__":
    machine.main()
