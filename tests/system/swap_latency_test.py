# SPDX-License-Identifier: Apache-2.0
"""A swap costs the host one round trip (Gen4 x16), whatever the link's latency."""
import statistics
import unittest

import machine

PORT_PAGE = 0xC000000000  # BAR 2, as Linux assigns it
PUSHED_ANSWER = PORT_PAGE + 0x40
STATUS = PORT_PAGE + 0x50
BLOCK_CLOCK = 2_000  # ps at 500 MHz
BLOCK_CLOCKS = 20
SWAPS = 200


def measure(latency):
    """Returns medians in ps: of a read, of a swap from its read, and of a swap from the first store of its offer."""
    run = machine.Run("--set", f"pcie_links[0].latency_down={latency}ns",
                      "--set", f"pcie_links[0].latency_up={latency}ns",
                      script=f"oae bench --count {SWAPS}\n", trace=True).finish()
    assert run.code == 0, run
    trace = run.trace
    swaps = machine.round_trips(trace, PUSHED_ANSWER)
    reads = machine.round_trips(trace, STATUS)
    stores = [line["t"] for line in trace
              if line.get("type") == "MWr" and line["dir"] == "down" and line["addr"] == hex(PORT_PAGE)]
    exchanged = [line for line in trace if line.get("swap") and line["to"] == "tentative"]
    assert len(exchanged) == SWAPS, f"{len(exchanged)} swaps took place"
    from_store = [end - max(store for store in stores if store < begin) for begin, end in swaps]
    return (machine.median_latency(reads), machine.median_latency(swaps),
            statistics.median(from_store))


class SwapLatency(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.medians = {latency: measure(latency) for latency in (250, 500)}

    def test_from_the_read_it_is_one_round_trip(self):
        for latency, (read, swap, _) in self.medians.items():
            with self.subTest(latency=latency):
                self.assertLessEqual(swap, 1.05 * read + BLOCK_CLOCKS * BLOCK_CLOCK)

    def test_from_the_first_store_it_is_hardly_more(self):
        for latency, (read, _, from_store) in self.medians.items():
            with self.subTest(latency=latency):
                self.assertLessEqual(from_store, 1.15 * read)

    def test_it_scales_with_the_latency_one_to_one(self):
        # A request is seen at an edge of the block's clock, so that a median may lie an edge later.
        for at_250, at_500 in zip(*self.medians.values()):
            self.assertLess(abs(at_500 - at_250 - 2 * 250_000), BLOCK_CLOCK)


if __name__ == "__main__":
    machine.main()
