# SPDX-License-Identifier: Apache-2.0
"""A processor that stores to a device without a pause is as fast as the link, and no faster.

OAE_VP_PROBE names the folder of store_probe, which is built from tests/system/probe.
"""
import os
import pathlib
import shutil
import statistics

import machine

PROBE = pathlib.Path(os.environ.get("OAE_VP_PROBE", "build/cmake/tests/system/probe"))
DEVICE = "0000:01:00.0"
STORES = 10_000  # take a quarter of the kernel's tick, or less
TAKES = 9
SCRIPT = f"""
echo {DEVICE} > /sys/bus/pci/drivers/oae/unbind
cat /sys/bus/pci/devices/{DEVICE}/resource > /share/resource
echo 1 > /sys/bus/pci/devices/{DEVICE}/enable
for take in $(seq {TAKES}); do
  /share/store_probe /sys/bus/pci/devices/{DEVICE}/resource2 {STORES} >> /share/times
done
"""

# A byte of 10 bits at 2.5 GT/s, or of 8 bits and the sync headers at 8 GT/s; and the SKP ordered sets.
BYTE = {1: 4.0 * 1538 / 1534, 3: 1.0 * 130 / 128 * 375 / 374}  # ns in a lane


def time_of_a_store(generation, lanes, *options):
    """Returns (measured, expected), in ns."""
    one = machine.Run("--set", f"pcie_links[0].generation={generation}", "--set", f"pcie_links[0].lanes={lanes}", *options,
                      script=SCRIPT)
    shutil.copy(PROBE / "store_probe", one.share)
    one.finish()
    assert one.code == 0, one
    address = int(one.file("resource").split("\n")[2].split()[0], 16)
    header = 16 if address >> 32 else 12
    framing = 8  # generations 1 to 5: 4 bytes with the sequence number, and the LCRC
    # The kernel's own work keeps the processor from storing in some of the takes.
    times = [int(time) / STORES for time in one.file("times").split()]
    assert len(times) == TAKES, times
    return statistics.median(times), (framing + header + 4) * BYTE[generation] / lanes


class StoreRate(machine.TestCase):
    def test_it_is_that_of_the_link(self):
        for generation, lanes in ((1, 1), (1, 4), (3, 1)):
            with self.subTest(generation=generation, lanes=lanes):
                measured, expected = time_of_a_store(generation, lanes)
                self.assertAlmostEqual(measured, expected, delta=0.01 * expected)

    def test_few_credits_make_it_slower(self):
        """One packet is on its way at a time, and its credit needs the way back."""
        few = ("--set", "pcie_links[0].credits_down={posted_headers: 1}")
        measured, expected = time_of_a_store(1, 1, *few)
        self.assertGreater(measured, expected + 500)


if __name__ == "__main__":
    machine.main()
