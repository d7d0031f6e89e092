# SPDX-License-Identifier: Apache-2.0
"""A link with bit errors: every packet arrives once and in order, so nothing but time is lost."""
import json

import machine

SWAPS = 3_000


class LinkErrors(machine.TestCase):
    def swaps(self, *options, quantum="100us"):
        run = machine.Run("--set", f"simulation.max_quantum={quantum}", *options, trace=True,
                          append=f'vp.exec="oae bench --count {SWAPS}"')
        stats = run.folder / "stats"
        run.command += ["--stats", str(stats)]
        run.finish()
        self.assertEqual(run.code, 0, run)
        self.assertIn(f"committed {SWAPS} of {SWAPS}", run.console)
        self.assertIn(f"the firmware {SWAPS}: agree", run.console)
        counters = json.loads(stats.read_text())["counters"]
        return run, {name: sum(counters[f"host_ipu.{way}.{name}"] for way in ("down", "up"))
                     for name in ("bad_tlps", "replays", "retrainings")}

    def test_swaps_do_not_notice(self):
        rate = ("--set", "pcie_links[0].bit_error_rate=1e-6")
        run, errors = self.swaps(*rate)
        self.assertGreater(errors["replays"], 3)
        self.assertEqual(errors["replays"], errors["bad_tlps"])
        again, _ = self.swaps(*rate, quantum="200ns")
        self.assertEqual(again.trace_bytes, run.trace_bytes, "errors depend on nothing but the seed")
        other, _ = self.swaps(*rate, "--set", "simulation.seed=2")
        self.assertNotEqual(other.trace_bytes, run.trace_bytes)

    def test_without_errors_nothing_is_sent_again(self):
        _, errors = self.swaps()
        self.assertEqual(set(errors.values()), {0})


if __name__ == "__main__":
    machine.main()
