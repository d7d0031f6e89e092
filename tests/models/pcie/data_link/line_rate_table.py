#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time that a byte takes on a link, worked out from the specification as in goodput_table.py.

    line_rate_table.py          print the table that line_rate_table.inc holds
    line_rate_table.py --check  compare the table with that file

Each time is a fraction of picoseconds in lowest terms. A byte is one of a packet, with its framing, or outside of packets one of a DLLP.
In flits, it is one of the 236 bytes for packets.
"""
import sys

sys.dont_write_bytecode = True
import expectations  # noqa: E402
import goodput_table  # noqa: E402

MAX_PAYLOADS = (128, 256, 512, 1024, 2048, 4096)


def fraction(rate):
    time = 8000 / rate  # a Gb/s is a bit in 1,000 ps
    return f"{time.numerator}, {time.denominator}"


def own(generation, lanes):
    rate = goodput_table.rate(generation, lanes)
    return rate * goodput_table.FLIT_TLP_BYTES / goodput_table.FLIT if generation == 6 else rate


def table():
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             "// Made by line_rate_table.py: the time of bytes on a link.",
             "// generation, lanes, Max_Payload_Size, ps and bytes without DLLPs, ps and bytes by the published account (0: none)",
             "// clang-format off"]
    for generation in goodput_table.GENERATIONS:
        for lanes in goodput_table.LANES:
            for size in MAX_PAYLOADS:
                published = "0, 0" if generation == 6 else fraction(goodput_table.published_rate(generation, lanes, size))
                lines.append("{" + f"{generation}, {lanes}, {size}" + ", {" + fraction(own(generation, lanes)) + "}, {" + published + "}},")
    return "\n".join(lines + ["// clang-format on", ""])


if __name__ == "__main__":
    expectations.print_or_check(table(), __file__)
