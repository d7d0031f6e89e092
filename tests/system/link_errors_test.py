# SPDX-License-Identifier: Apache-2.0
"""A link has bit errors. Every packet arrives once and in order, so only time is lost. Linux's log reports the errors."""
import json
import re

import machine

SWAPS = 3_000
# On Gen4 x16, 256 errors a second in each direction, almost all of them in idle symbols
RATE = ("--set", "pcie_links[0].bit_error_rate=1e-9")
# Without Recovery for errors of idle symbols, a link bears many more. Of 1,000 packets of these swaps, 0.3 are sent again.
SLOW = ("--set", "pcie_links[0].generation=2", "--set", "pcie_links[0].lanes=1", "--set", "pcie_links[0].bit_error_rate=1e-6")

DEVICE, ROOT_PORT = "0000:01:00.0", "0000:00:01.0"
# The kernel's name of an error, and which end counts it for a direction: the receiver or the transmitter.
RECEIVED = {"RxErr": "receiver_errors", "BadTLP": "bad_tlps", "BadDLLP": "bad_dllps"}
TRANSMITTED = {"Rollover": "replay_rollovers", "Timeout": "replay_timeouts"}
READ = "".join(f"cat /sys/bus/pci/devices/{id}/aer_dev_correctable > /share/{id}\n" for id in (DEVICE, ROOT_PORT))
# A kernel that prints each error on its console would miss those that occur meanwhile.
QUIET = "dmesg -n 1\n"
WORK = f"oae bench --count {SWAPS} > /dev/null\nsleep 0.3\n"
# Three children of one boot, so that errors of the boot are the same for all of them
SCRIPTS = {"before": QUIET + READ, "after": QUIET + WORK + READ, "log": WORK + "dmesg > /share/dmesg\n"}


def kernel_counts(child):
    """Returns how many errors the kernel has counted: {(source, word): count}."""
    found = {}
    for source in (DEVICE, ROOT_PORT):
        for word, count in (line.split() for line in child.file(source).splitlines()):
            found[source, word] = int(count)
    return found


def platform_counts(child):
    """Returns how many errors there were, under the kernel's names."""
    counters = json.loads((child.folder / "stats.json").read_text())["counters"]
    found = {}
    for source, receives, transmits in ((DEVICE, "down", "up"), (ROOT_PORT, "up", "down")):
        for word, name in (RECEIVED | TRANSMITTED).items():
            direction = receives if word in RECEIVED else transmits
            found[source, word] = counters[f"host_ipu.{direction}.{name}"]
        found[source, "RxErr"] += counters[f"host_ipu.{receives}.dllp_receiver_errors"]
    return found


class LinkErrors(machine.TestCase):
    def swaps(self, *options, quantum="100us", append=""):
        run = machine.Run("--set", f"simulation.max_quantum={quantum}", *options, trace=True,
                          append=f'{append} vp.exec="oae bench --count {SWAPS}"')
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
        again, _ = self.swaps(*RATE, quantum="200ns")
        self.assertEqual(again.trace_bytes, run.trace_bytes, "errors depend on nothing but the seed")
        other, _ = self.swaps(*RATE, "--set", "simulation.seed=2")
        self.assertNotEqual(other.trace_bytes, run.trace_bytes)

    # The kernel does not listen: thousands of errors a second would leave it no time for anything else.
    def test_swaps_are_sent_again(self):
        run, errors = self.swaps(*SLOW, append="pci=noaer")
        self.assertGreater(errors["replays"], 3)
        self.assertEqual(errors["retrainings"], 0)
        again, _ = self.swaps(*SLOW, append="pci=noaer", quantum="200ns")
        self.assertEqual(again.trace_bytes, run.trace_bytes)

    # The kernel does not count the errors from before it listens, and counts one if a second one occurs before it has read the
    # first. Once it listens, it misses hardly any.
    def test_the_kernel_reports_the_errors(self):
        run = machine.Children(*RATE, scripts=SCRIPTS)
        run.command += ["--stats", str(run.folder / "stats")]
        run.finish()
        self.assertEqual(run.code, 0, run)
        before, after, log = (run.children[name] for name in SCRIPTS)
        missed, occurred = [], []
        for child in (before, after):
            kernel, platform = kernel_counts(child), platform_counts(child)
            for key, count in platform.items():
                self.assertLessEqual(kernel[key], count, key)
            occurred.append(sum(platform.values()))
            missed.append(occurred[-1] - sum(kernel[key] for key in platform))
        # 256 errors a second in each direction for 0.3 s
        listening = occurred[1] - occurred[0]
        self.assertGreater(listening, 100)
        self.assertLess(missed[1] - missed[0], listening / 10, (occurred, missed))
        said = log.file("dmesg")
        for word in ("Receiver ID", "RxErr"):
            self.assertIn(word, said)
        self.assertIsNone(re.search("Uncorrect", said), said)

    def test_without_errors_nothing_is_sent_again(self):
        _, errors = self.swaps()
        self.assertEqual(set(errors.values()), {0})


if __name__ == "__main__":
    machine.main()
