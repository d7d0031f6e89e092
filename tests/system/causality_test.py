# SPDX-License-Identifier: Apache-2.0
"""The quantum changes no result: booting, loading the driver and 10,000 swaps give the same trace, byte for byte, however far
processors may run ahead."""
import hashlib

import machine

QUANTA = ("1ms", "10us", "1us", "200ns", "50ns")  # a broken promise shows soonest with the longest quantum
# Processors that are never idle take minutes to boot with a quantum of 50 ns.
FEWER_QUANTA = ("1ms", "200ns")
SWAPS = 10_000


def poll(ipu):
    """Each poll of a core costs wall time, so it executes ten times more slowly than usual."""
    return ("--set", f"ipus[{ipu}].firmware_options.poll=true", "--set", f"ipus[{ipu}].instruction_rate=100MIPS")


class Causality(machine.TestCase):
    def digests(self, *options, quanta=QUANTA, swaps=SWAPS, hosts=1, **more):
        """Covers the trace of each quantum, and the console of a single host."""
        found = {}
        for quantum in quanta:
            run = self.succeed("--set", f"simulation.max_quantum={quantum}", *options, trace=True,
                               append=f'vp.exec="oae bench --count {swaps}"', **more)
            self.assertEqual(run.console.count(f"committed {swaps} of {swaps}"), hosts, run)
            self.assertEqual(run.console.count(f"the firmware {swaps}: agree"), hosts, run)
            committed = run.trace_bytes.count(b'"to":"committed"')
            self.assertEqual(committed, hosts * swaps)
            # Several consoles share the output in the order in which their processors run.
            console = run.console if hosts == 1 else ""
            found[quantum] = hashlib.sha256(run.trace_bytes + console.encode()).hexdigest()
        return found

    def assert_same(self, digests):
        self.assertEqual(len(set(digests.values())), 1, digests)


class Sleeping(Causality):
    def test_firmware_that_sleeps(self):
        self.assert_same(self.digests())


class Polling(Causality):
    def test_firmware_that_polls(self):
        self.assert_same(self.digests(*poll(0), quanta=FEWER_QUANTA))


class Pair(Causality):
    def test_two_machines_of_which_one_polls(self):
        self.assert_same(self.digests(*poll(0), platform="pair", quanta=FEWER_QUANTA, hosts=2, swaps=2000))


class Siblings(Causality):
    """The turns of vCPUs that share memory depend on the slice only."""

    def test_several_processors_on_both_sides(self):
        for vcpu_slice in ("300ns", "1us"):
            with self.subTest(slice=vcpu_slice):
                self.assert_same(self.digests(
                    "--set", "hosts[0].vcpus=2", "--set", "ipus[0].cores=2",
                    "--set", f"simulation.vcpu_slice={vcpu_slice}", quanta=FEWER_QUANTA, swaps=1000))


if __name__ == "__main__":
    machine.main()
