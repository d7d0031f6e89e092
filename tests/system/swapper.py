# SPDX-License-Identifier: Apache-2.0
"""Processes of a guest that swap whatever happens to their device (swapper.c), and what they have counted."""
import dataclasses
import os
import pathlib
import struct

PROGRAM = pathlib.Path(os.environ.get("OAE_VP_SWAPPER", "build/cmake/tests/system/swapper"))

# Functions for a script that has `await` and whose processes write their records to /tmp/record and the number of their port.
# `losing` comes before a card loses its power, and `powerless` after that. What the card has committed until then is not in its
# counters any more. A process may note a swap of that card as late as it leaves it, so `powerless` waits for that.
POWER = """
count_of() { od -An -tu8 -j$((8 * $2)) -N8 /tmp/record$1 | tr -d ' '; } # PORT INDEX
losing() { for port in @PORTS@; do eval "left$port=$(count_of $port 5)"; done; }
has_left() { [ "$(count_of $1 4)" = 0 ] || [ "$(count_of $1 5)" -gt $2 ]; } # PORT DEVICES
powerless() {
  for port in @PORTS@; do
    eval "await has_left $port \\$left$port"
    count_of $port 6 > /share/powerless$port
  done
}
for port in @PORTS@; do echo 0 > /share/powerless$port; done
"""


def power(ports):
    """POWER for the processes of these ports."""
    return POWER.replace("@PORTS@", " ".join(map(str, ports)))


@dataclasses.dataclass(frozen=True)
class Record:
    """What the process of a port has counted."""

    begun: int
    committed: int
    not_taken: int  # swaps that have not taken place
    reversed: int
    has_device: int  # 1 or 0
    devices_left: int  # how often it has left a device
    committed_when_left: int
    committed_without_power: int  # `committed` when the card last lost its power

    @property
    def unknown(self):
        return self.begun - self.committed - self.not_taken - self.reversed


def record_of(child, port):
    numbers = struct.unpack("<7Q", (child.share / f"record{port}").read_bytes())
    return Record(*numbers, int(child.file(f"powerless{port}")))
