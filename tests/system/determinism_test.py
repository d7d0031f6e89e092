# SPDX-License-Identifier: Apache-2.0
"""The same inputs give the same trace, bit for bit. causality_test.py shows that the quantum does not matter."""
import machine

DEMO = dict(append="vp.run=demo", trace=True)


class Determinism(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.first = machine.Run(**DEMO).finish()

    def test_demonstration_commits_all_swaps(self):
        self.assertEqual(self.first.code, 0, self.first)
        self.assertIn("committed 100 of 100", self.first.console)
        self.assertIn("the firmware 100: agree", self.first.console)

    def test_two_runs_write_the_same_trace(self):
        again = self.succeed(**DEMO)
        self.assertEqual(again.trace_bytes, self.first.trace_bytes)
        self.assertEqual(again.console, self.first.console)

    def test_checks_of_the_rtl_change_nothing(self):
        unchecked = self.succeed(**DEMO, check_rtl=False)
        self.assertEqual(unchecked.trace_bytes, self.first.trace_bytes)
        self.assertEqual(unchecked.console, self.first.console)


if __name__ == "__main__":
    machine.main()
