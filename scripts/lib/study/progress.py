# SPDX-License-Identifier: Apache-2.0
"""Progress on standard error, with the time left."""

import sys
import time
from typing import Callable, TextIO


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """Counts runs. The time left comes from the runs that were made since the beginning, with their boots. How much longer the
    others take is known from their loads: `to_make` is the sum of `Load.seconds` of all runs that were not made before."""

    def __init__(
        self, of: int, before: int, to_make: float, out: TextIO = sys.stderr, clock: Callable[[], float] = time.monotonic
    ):
        self.of, self.done, self.made = of, before, 0
        self.to_make, self.made_of_it = to_make, 0.0
        self.in_boot = self.in_runs = 0.0
        self.out, self.clock, self.begin = out, clock, clock()
        self.say(f"{of} runs" + (f", of which {before} were made before" if before else ""))

    def say(self, text: str) -> None:
        print(f"[{self.clock() - self.begin:5.0f} s] {text}", file=self.out, flush=True)

    def left(self) -> str:
        if not self.made or self.done == self.of:
            return ""
        rest = self.to_make - self.made_of_it
        return "; about " + duration((self.clock() - self.begin) * rest / self.made_of_it) + " left"

    def ended(self, text: str, wall: float, expected: float) -> None:
        """A run has ended that took `wall` seconds, and whose load says `expected`."""
        self.done += 1
        self.made += 1
        self.made_of_it += expected
        self.in_runs += wall
        self.say(f"{self.done} of {self.of}: {text}{self.left()}")

    def whole(self) -> str:
        """Where the wall time of the runs that were made now went."""
        return (f"{self.made} runs in {duration(self.clock() - self.begin)}: {duration(self.in_boot)} for boots, and "
                f"{duration(self.in_runs)} in runs, of which several are made at once")  # fmt: skip
