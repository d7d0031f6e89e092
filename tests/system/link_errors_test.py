# SPDX-License-Identifier: Apache-2.0
"""A link has bit errors. Every packet arrives once and in order, so only time is lost. Linux's log reports the errors."""
import json
import re

import machine

SWAPS = 3_000
# On Gen4 x16, 256 errors a second in each direction, almost all of them in idle symbols
RATE = ("--set", "pcie_links[0].bit_error_rate=1e-9")

DEVICE, ROOT_PORT = "0000:01:00.0", "0000:00:01.0"
# The kernel's name of an error, and which end counts it for a direction: the receiver or the transmitter.
RECEIVED = {"RxErr": "receiver_errors", "BadTLP": "bad_tlps", "BadDLLP": "bad_dllps"}
TRANSMITTED = {"Rollover": "replay_rollovers", "Timeout": "replay_timeouts"}
SCRIPT = f"""
oae bench --count {SWAPS} | tee /share/bench
sleep 0.1
for id in {DEVICE} {ROOT_PORT}; do cat /sys/bus/pci/devices/$id/aer_dev_correctable > /share/$id; done
dmesg > /share/dmesg
"""


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
        return run, {name: sum(counters[f"host_ipu.{direction}.{name}"] for direction in ("down", "up"))
                     for name in ("bad_tlps", "replays", "retrainings")}

    def test_swaps_do_not_notice(self):
        run, errors = self.swaps(*RATE)
        self.assertGreater(errors["retrainings"], 3, "of the idle wire")
        self.assertGreaterEqual(errors["replays"], errors["bad_tlps"])
        again, _ = self.swaps(*RATE, quantum="200ns")
        self.assertEqual(again.trace_bytes, run.trace_bytes, "errors depend on nothing but the seed")
        other, _ = self.swaps(*RATE, "--set", "simulation.seed=2")
        self.assertNotEqual(other.trace_bytes, run.trace_bytes)

    # The kernel does not count errors from before it listens, and one only if a second one occurs before it has read the first.
    def test_the_kernel_reports_the_errors(self):
        run = machine.Run(*RATE, script=SCRIPT)
        stats = run.folder / "stats"
        run.command += ["--stats", str(stats)]
        run.finish()
        self.assertEqual(run.code, 0, run)
        counters = json.loads(stats.read_text())["counters"]
        reported = 0
        for source, receives, transmits in ((DEVICE, "down", "up"), (ROOT_PORT, "up", "down")):
            kernel = dict(line.split() for line in run.file(source).splitlines())
            for word, name in (RECEIVED | TRANSMITTED).items():
                direction = receives if word in RECEIVED else transmits
                counter = counters[f"host_ipu.{direction}.{name}"]
                if word == "RxErr":
                    counter += counters[f"host_ipu.{direction}.dllp_receiver_errors"]
                self.assertLessEqual(int(kernel[word]), counter, f"{source} {word}")
                reported += int(kernel[word])
        self.assertGreater(reported, 3)
        said = run.file("dmesg")
        for word in ("Receiver ID", "RxErr"):
            self.assertIn(word, said)
        self.assertIsNone(re.search("Uncorrect", said), said)

    def test_without_errors_nothing_is_sent_again(self):
        _, errors = self.swaps()
        self.assertEqual(set(errors.values()), {0})


if __name__ == "__main__":
    machine.main()
