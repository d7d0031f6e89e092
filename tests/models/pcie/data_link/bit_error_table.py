#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often bit errors hit a stream of packets, and what they cost, worked out from the specification.

    bit_error_table.py          print the table that bit_error_table.inc holds
    bit_error_table.py --check  compare the table with that file

Nothing here is taken from the model. The bits that framing checks, the groups of the error correction and what 8b/10b detects are
found by trying all single errors. The stream is of memory writes of 256 bytes to 64-bit addresses, back to back on an x8 link.
"""
import decimal
import itertools
import sys

sys.dont_write_bytecode = True
import expectations  # noqa: E402

decimal.getcontext().prec = 60
D = decimal.Decimal

LANES, PAYLOAD, HEADER = 8, 256, 16
PACKETS = 4_000_000
RATES = ("1e-12", "1e-9", "1e-7", "1e-6", "1e-5")
# Generation of the speed, and whether the link is in flit mode
LINKS = ((1, False), (1, True), (3, False), (5, False), (6, True))
# Picoseconds
UNIT_INTERVAL = {1: D(400), 3: D(125), 5: D("31.25"), 6: D("15.625")}
ROUND_TRIP = 500_000
RETRAINING = 20_000_000
# PCIe 5.0, tables 3-7 and 3-9: x8 and 256 bytes, in symbol times. REPLAY_TIMER: PCIe 3.1, table 3-4, and from 16 GT/s 24,000.
ACK_LATENCY = {1: 107, 3: 203, 5: 203}
REPLAY_TIMER = {1: 321, 3: 609, 5: 24_000}


def stp_token(length, sequence):
    """The 32 bits of an STP token, in the order of their transmission (PCIe 5.0, 4.2.2.3.1)."""
    bits = [length >> i & 1 for i in range(11)]
    crc = [sum(bits[i] for i in terms) % 2 for terms in ((10, 7, 6, 4, 2, 1, 0), (10, 9, 7, 5, 4, 3, 2),
                                                         (9, 8, 6, 4, 3, 2, 1), (8, 7, 5, 3, 2, 1, 0))]
    parity = (sum(bits) + sum(crc)) % 2
    number = [sequence >> i & 1 for i in range(12)]
    return [1] * 4 + bits[:4] + bits[4:] + [parity] + number[8:] + crc + number[:8]


def framing_accepts(token):
    if token[:4] != [1] * 4:
        return False  # no other token begins with the first byte of an STP token less one bit
    length = sum(bit << i for i, bit in enumerate(token[4:15]))
    expected = stp_token(length, 0)
    return expected[15] == token[15] and expected[20:24] == token[20:24]


def framing_bits_of_stp():
    """The bits of the token of which each alone, if wrong, is a framing error; the same for all lengths."""
    found = set()
    for length, sequence in itertools.product((5, 6, 70, 71, 1030), (0, 0xfff, 0x5a3)):
        token = stp_token(length, sequence)
        found.add(tuple(i for i in range(32) if not framing_accepts([bit ^ (i == j) for j, bit in enumerate(token)])))
    bits, = found
    assert not {0xff & ~(1 << i) for i in range(4)} & {0x00, 0xf0, 0xc0}
    return len(bits)


def symbols_8b10b():
    """The valid symbols for each running disparity, -1 and 1, and the code of END."""
    six = ("100111 011101 101101 110001 110101 101001 011001 111000 111001 100101 010101 110100 001101 101100 011100 010111 "
           "011011 100011 010011 110010 001011 101010 011010 111010 110011 100110 010110 110110 001110 101110 011110 101011").split()
    four = "1011 1001 0101 1100 1101 1010 0110 1110".split()
    k28 = "0100 1001 0101 0011 0010 1010 0110 1000".split()

    def turned(code):
        return code.translate(str.maketrans("01", "10"))

    def disparity(code):
        return 2 * code.count("1") - len(code)

    def of(code, special, running):
        flips = disparity(code) != 0 or code == special
        return turned(code) if running > 0 and flips else code

    valid = {-1: set(), 1: set()}
    for running in valid:
        for x, y in itertools.product(range(32), range(8)):
            first = of(six[x], "111000", running)
            then = running if disparity(first) == 0 else -running
            alternate = y == 7 and x in ((17, 18, 20) if then < 0 else (11, 13, 14))
            valid[running].add(first + of("0111" if alternate else four[y], "1100", then))
        specials = ["001111" + code for code in k28] + [code + "1000" for code in ("111010", "110110", "101110", "011110")]
        valid[running] |= {code if running < 0 else turned(code) for code in specials}
    assert all(len(codes) == 256 + 12 for codes in valid.values())
    return valid, {-1: "1011101000", 1: "0100010111"}


def check_8b10b():
    """Any single error makes an invalid symbol or leaves the wrong disparity, with which END is invalid."""
    valid, end = symbols_8b10b()
    for running, codes in valid.items():
        assert end[running] not in valid[-running]
        for code, i in itertools.product(codes, range(10)):
            wrong = code[:i] + "10"[int(code[i])] + code[i + 1:]
            assert wrong not in codes or wrong.count("1") != code.count("1")


def fec_groups():
    """The bytes of each interleaved group of a flit (PCIe 6.0, 4.2.3.4.2.4)."""
    return [sum(1 for i in range(250) if i % 3 == group) + 2 for group in range(3)]


def any_of(bits, rate):
    return 1 - (1 - rate) ** bits


def packet_row(generation, rate):
    size = {1: 1 + 2 + HEADER + PAYLOAD + 4 + 1}.get(generation, 4 + HEADER + PAYLOAD + 4)
    symbol = UNIT_INTERVAL[generation] * (10 if generation == 1 else 8)
    if generation == 1:
        check_8b10b()
        framing, refused = D(0), any_of(10 * size, rate)
        dllp_framing, dllp_wrong = D(0), any_of(10 * 8, rate)
        coding = D(8) / 10
    else:
        framing_bits = framing_bits_of_stp() + D(size) / 8  # 2 bits of a sync header for 16 bytes
        framing = any_of(framing_bits, rate)
        refused = (1 - framing) * any_of(8 * size - framing_bits_of_stp(), rate)
        dllp_framing = any_of(16 + 1, rate)
        dllp_wrong = (1 - dllp_framing) * any_of(8 * 6, rate)
        coding = D(128) / 130
    # Gb/s are bits in 1000 ps. SKP ordered sets are 4 of 1,538 symbols, or one of 375 blocks. The DLLPs of a stream take the other way.
    share = 1 - (D(4) / 1538 if generation == 1 else D(1) / 375)
    time = size * 8 * UNIT_INTERVAL[generation] / LANES / coding / share
    failure = framing + refused
    naks, framings = refused / (1 - failure), framing / (1 - failure)
    rollovers = failure ** 4 / (1 - failure ** 4)
    # An ACK waits for all packets that arrive within its limit; each replay begins anew.
    acks_wait = 1 + int(ACK_LATENCY[generation] * symbol / time)
    acks = failure / (1 - (1 - failure) ** acks_wait)
    assert ACK_LATENCY[generation] * symbol < ROUND_TRIP
    timer = max(REPLAY_TIMER[generation] * symbol - ROUND_TRIP, D(0))
    costs = ((naks * (1 - dllp_wrong - dllp_framing), ROUND_TRIP + time),
             (naks * dllp_wrong, ROUND_TRIP + timer + time),
             (naks * dllp_framing, ROUND_TRIP + RETRAINING + time),
             (framings, ROUND_TRIP + RETRAINING + time),
             (rollovers, D(RETRAINING)))
    return dict(corrected=0, refused=naks, framing=framings, bad_dllps=(naks + acks) * dllp_wrong,
                dllp_framing=(naks + acks) * dllp_framing, replays=naks + framings, time=time, costs=costs)


def flit_row(generation, rate):
    # In flit mode, 2.5 GT/s keeps 8b/10b: a symbol with a wrong bit is a byte that the receiver cannot decode.
    bits = 10 if generation == 1 else 8
    byte = any_of(bits, rate)
    all_right, correctable = D(1), D(1)
    assert fec_groups() == [86, 85, 85]
    for size in fec_groups():
        all_right *= (1 - byte) ** size
        correctable *= (1 - byte) ** size + size * byte * (1 - byte) ** (size - 1)
    wrong, corrected = 1 - correctable, correctable - all_right
    size = HEADER + PAYLOAD
    # 236 bytes of each flit carry TLPs; 40 symbols of SKP follow 748 flits of 16 symbols on x16 (PCIe 6.0, 4.2.8).
    # At 2.5 GT/s, 4 of 1,538 symbols are an SKP ordered set.
    skips = D(1538) / 1534 if generation == 1 else D(748 * 16 + 40) / (748 * 16)
    byte_time = bits * UNIT_INTERVAL[generation] / LANES * 256 / 236 * skips
    flits = D(size) / 236
    # The packet that crosses into the wrong flit is sent again from its first byte.
    before = D(size + 4) / 2
    cost = ROUND_TRIP + (before + 236) * byte_time
    return dict(corrected=flits * corrected, refused=flits * wrong, framing=0, bad_dllps=0, dllp_framing=0,
                replays=flits * wrong, time=size * byte_time, costs=((flits * wrong, cost),))


def table():
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             "// Made by bit_error_table.py: what is expected of a stream of so many packets.",
             "// generation, flits, rate, packets, corrected flits, refused, framing errors, bad DLLPs, framing errors of DLLPs, replays,",
             "// Gb/s of payload, and its standard deviation", "// clang-format off"]
    for (generation, flits), text in itertools.product(LINKS, RATES):
        row = (flit_row if flits else packet_row)(generation, D(text))
        names = ("corrected", "refused", "framing", "bad_dllps", "dllp_framing", "replays")
        counts = [float(row[name] * PACKETS) for name in names]
        mean = row["time"] + sum(often * cost for often, cost in row["costs"])
        deviation = (PACKETS * sum(often * cost ** 2 for often, cost in row["costs"])).sqrt() / (PACKETS * mean)
        goodput = 1000 * 8 * PAYLOAD / mean
        lines.append("{" + f"{generation}, {str(flits).lower()}, {text}, {PACKETS}, " + ", ".join(f"{count:.6g}" for count in counts)
                     + f", {float(goodput):.6g}, {float(goodput * deviation):.3g}" + "},")
    return "\n".join(lines + ["// clang-format on", ""])


if __name__ == "__main__":
    expectations.print_or_check(table(), __file__)
