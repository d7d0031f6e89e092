#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The goodput of streams of memory writes, worked out from the specification.

    goodput_table.py          print the table that goodput_table.inc holds
    goodput_table.py --check  compare the table with that file

Nothing here is taken from the model. The streams are of memory writes to 64-bit addresses, back to back, with a Max_Payload_Size of
256 bytes. DLLPs and ordered sets are as rare as the specification permits. There are three accounts:

one way     The DLLPs that the writes cause travel against them, and so cost them nothing.
both ways   Each direction carries the same stream, and the DLLPs for the stream of the other direction.
published   Neugebauer et al. (SIGCOMM 2018). An ACK and an UpdateFC are charged to each direction, whatever it carries, as if a
            symbol time were one byte on links of all widths. Flit mode is newer than that account.

Lanes matter only by their number. In the specification a packet begins in a lane whose number is a multiple of four, and each
packet is a multiple of four bytes, so that packets back to back leave no lane idle. At 2.5 and 5 GT/s, no two DLLPs may begin in
one symbol time; on x16 the transmitter puts a packet between the ACK and the UpdateFC, and loses nothing.

These accounts leave out three things. UpdateFC are due every 30 us whether there is traffic or not: two DLLPs, for posted and for
non-posted requests, are 0.2 % of the time on Gen1 x1 and less on other links. At 8 to 32 GT/s, a token of 4 bytes ends the data
stream before each SKP ordered set, 0.07 % on x1. And no packet may cross that ordered set, so that half a block of 375 is idle on
average, 0.13 %.
"""
import sys
from fractions import Fraction as F
from math import floor

sys.dont_write_bytecode = True
import expectations  # noqa: E402

GENERATIONS = range(1, 7)
LANES = (1, 2, 4, 8, 16)
PAYLOADS = (64, 256)
MAX_PAYLOAD = 256

HEADER = 16  # 4 DW, for a 64-bit address; whole DWs need no orthogonal header content in flits
GIGATRANSFERS = {1: F(5, 2), 2: F(5), 3: F(8), 4: F(16), 5: F(32), 6: F(64)}
CODING = {1: F(8, 10), 2: F(8, 10), 3: F(128, 130), 4: F(128, 130), 5: F(128, 130), 6: F(1)}
# 2.5 and 5 GT/s: STP, sequence number, LCRC, END. 8 to 32 GT/s: STP token with the sequence number, LCRC.
OVERHEAD = {1: 1 + 2 + 4 + 1, 2: 1 + 2 + 4 + 1, 3: 4 + 4, 4: 4 + 4, 5: 4 + 4}
# SDP, 4 bytes of content, 2 of CRC, END; or a token of 2 bytes, 4 of content, 2 of CRC.
DLLP = 8
# Flits: 236 of 256 bytes are for TLPs. Acknowledgements and credits have bytes of their own in each flit.
FLIT, FLIT_TLP_BYTES = 256, 236
# PCIe 6.0, 4.2.3.4.5: whole flits between SKP ordered sets of 40 symbols at 64 GT/s. As many as fit in about 11,970 symbol times.
FLITS_BETWEEN_SKP = {1: 46, 2: 93, 4: 187, 8: 374, 16: 748}
# Neugebauer et al., Gb/s: writes of 64 and of 256 bytes.
PUBLISHED = {(3, 8): (42.1, 52.9), (3, 16): (82.7, 104.0), (4, 16): (165.4, 207.9)}


def latency_limit(generation, lanes, max_payload=MAX_PAYLOAD):
    """Symbol times within which a packet is acknowledged, and its credits are returned (PCIe 5.0, 2.6.1.2 and 3.6.3.1)."""
    factor = {8: F(25, 10), 16: F(3)}.get(lanes, F(14, 10)) if max_payload <= 256 else {16: F(2)}.get(lanes, F(1))
    internal_delay = {1: 19, 2: 70}.get(generation, 115)
    return floor((max_payload + 28) * factor / lanes) + internal_delay


def share_of_ordered_sets(generation, lanes):
    """The share of the time that SKP ordered sets take: one after the longest interval, on all lanes at once."""
    if generation <= 2:
        return F(4, 1538)  # symbols
    if generation <= 5:
        return F(1, 375)  # blocks
    flits = FLITS_BETWEEN_SKP[lanes] * F(FLIT, lanes)  # in symbol times
    return 40 / (flits + 40)


def raw_rate(generation, lanes):
    """Gb/s of symbols that are not ordered sets, or are."""
    return GIGATRANSFERS[generation] * lanes * CODING[generation]


def rate(generation, lanes):
    """Gb/s that are left for packets, or for flits."""
    return raw_rate(generation, lanes) * (1 - share_of_ordered_sets(generation, lanes))


def one_way(generation, lanes, payload):
    if generation == 6:
        return rate(generation, lanes) * F(FLIT_TLP_BYTES, FLIT) * F(payload, HEADER + payload)
    return rate(generation, lanes) * F(payload, OVERHEAD[generation] + HEADER + payload)


def both_ways(generation, lanes, payload):
    if generation == 6:
        return one_way(generation, lanes, payload)
    size = OVERHEAD[generation] + HEADER + payload
    # A packet that arrives when all before it are acknowledged starts the time; when the limit is over, one ACK acknowledges all
    # that have arrived, and one UpdateFC returns their credits. So the last of these packets arrives at most one limit after the
    # first. Between them, the other direction sends two DLLPs too.
    symbol_time = (10 if generation <= 2 else 8) / GIGATRANSFERS[generation]  # ns
    limit = latency_limit(generation, lanes) * symbol_time * rate(generation, lanes) / 8  # bytes
    packets = 1 + (limit - 2 * DLLP) // size
    return rate(generation, lanes) * packets * payload / (packets * size + 2 * DLLP)


def published_rate(generation, lanes, max_payload=MAX_PAYLOAD):
    """Gb/s that are left for packets."""
    return raw_rate(generation, lanes) * (1 - F(16, latency_limit(generation, lanes, max_payload)) - F(4, 1538))


def published(generation, lanes, payload):
    return published_rate(generation, lanes) * F(payload, 24 + payload)


def check_published():
    for (generation, lanes), goodputs in PUBLISHED.items():
        for payload, goodput in zip(PAYLOADS, goodputs):
            assert abs(float(published(generation, lanes, payload)) - goodput) < 0.06


def table():
    check_published()
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             "// Made by goodput_table.py: Gb/s of payload of a stream of memory writes.",
             "// generation, lanes, payload, one way, both ways, published (0 for flit mode, which is newer)",
             "// clang-format off"]
    for generation in GENERATIONS:
        for lanes in LANES:
            for payload in PAYLOADS:
                goodputs = [account(generation, lanes, payload) for account in (one_way, both_ways)]
                goodputs.append(published(generation, lanes, payload) if generation <= 5 else 0)
                lines.append("{" + f"{generation}, {lanes}, {payload}, " + ", ".join(f"{float(g):.6g}" for g in goodputs) + "},")
    return "\n".join(lines + ["// clang-format on", ""])


if __name__ == "__main__":
    expectations.print_or_check(table(), __file__)
