# SPDX-License-Identifier: Apache-2.0
"""Injects faults at random moments while hosts at joined ports exchange slots over OAE links.

The links damage bits, and are cut again and again: some cuts take nanoseconds and lose a part of a frame, and some take
milliseconds. In the meantime the firmwares restart and functions are reset. Each slot that a host commits has to reach the
other host once and in order. None may be lost, since no cell loses its power.

Each case runs in a machine that is forked from one boot, and meets the faults at other points of its exchange.
OAE_VP_CAMPAIGN_SEED=N runs only the case of that seed, and OAE_VP_CAMPAIGN_CASES=200 runs that many instead of a few.
"""
import collections
import json
import os
import pathlib
import random
import re
import shutil

import machine
from campaign_test import ORDER
from hot_plug_test import TROUBLE

JOINED = pathlib.Path(os.environ.get("OAE_VP_JOINED", "build/cmake/tests/system/joined"))
RESTARTING = os.environ.get("OAE_VP_RESTARTING", "build/cmake/tests/firmware/restarting.elf")
ONLY = os.environ.get("OAE_VP_CAMPAIGN_SEED")
CASES = int(os.environ.get("OAE_VP_CAMPAIGN_CASES", "6")) // 2  # cases of each class
CASES_OF_A_BOOT = 10
CELLS = "abc"
PORTS = {2: "ab", 3: "ab", 4: "bc", 5: "bc", 6: "ca", 7: "ca"}  # the two cells of each joined port

ENDS = ("ab", "bc", "ca")  # of each link

# How long a link is cut, in ns
CUTS = {"cut of ns": (6, 60), "cut of us": (200, 5_000), "long cut": (100_000, 2_000_000)}
BEGIN = 2  # seconds since the guest's boot at which the faults begin, a quarter of a second later by the platform's clock
FIRST, LAST = 2_200_000_000, 3_000_000_000  # in ns, of cuts and errors


def cuts(link):
    """Returns the cuts of a link: (kind, from, to), in ns."""
    chance = random.Random(f"cuts {link}")
    found = []
    at = FIRST
    while at < LAST and len(found) < 1000:
        kind = chance.choices(list(CUTS), (4, 3, 3))[0]
        length = chance.randrange(*CUTS[kind])
        found.append((kind, at, at + length))
        at += length + chance.randrange(50_000, 1_200_000)
    return found


def errors(link):
    """Returns the damaged bits of a link: (end, bit, from when in ns)."""
    chance = random.Random(f"errors {link}")
    times = sorted(chance.randrange(FIRST, LAST) for _ in range(1000))
    return [(chance.choice(ENDS[link]), chance.randrange(512), at) for at in times]


def options(link):
    """Returns the options that lengthen a link, cut it and damage what it carries."""
    spans = ", ".join(f"{{at: {at}ns, until: {to}ns}}" for _, at, to in cuts(link))
    bits = ", ".join(f"{{from: cell_{end}, bit: {bit}, at: {at}ns}}" for end, bit, at in errors(link))
    # On a long wire transfers take long, so that a cut often meets one.
    return "--set", f"oae_links[{link}].latency=1us", "--set", f"oae_links[{link}].cuts=[{spans}]", \
        "--set", f"oae_links[{link}].errors=[{bits}]"


def link_error(chance, cell):
    direction, errors = chance.choice((("up", ("completion_timeout CplD", "poisoned_tlp CplD", "bad_tlp", "replay_timeout")),
                                       ("down", ("completion_timeout MRd", "bad_dllp", "bad_tlp"))))
    error = chance.choice(errors)
    return f"vpctl inject host_cell_{cell}.{direction} {error}" + (f" {chance.randrange(1, 40)}" if " " in error else "")


def reset(chance, cell):
    device = f"/sys/bus/pci/devices/0000:{1 + CELLS.index(cell):02}:00.0"
    return f"echo {chance.choice(('flr', 'pm', 'bus'))} > {device}/reset_method; echo 1 > {device}/reset"


def restarts(chance, cell):
    return (f"oae --device {CELLS.index(cell)} swap --timeout 10s {ORDER:#x} {chance.randrange(4, 12)} "
            f"{chance.choice((30, 300))} {chance.randrange(1 << 32)} > /dev/null")


EFFECTS = ("cycle lost", "cycle damaged", "link down", "doubt", "settled through another")
FAULTS = {"firmware restarted": restarts, "function reset": reset, "PCIe error": link_error}


class Group:
    """Cases of one kind, of which ten are forked from a boot."""

    cells = CELLS
    slots = 600  # of each end
    group = 0
    effects = EFFECTS
    kinds = FAULTS
    program = JOINED

    @classmethod
    def links(cls):
        """Returns the links that are cut now and then, by their numbers."""
        return [link for link, ends in enumerate(ENDS) if set(ends) <= set(cls.cells)]

    @classmethod
    def wires(cls):
        """Returns options for all links. One to a cell that takes no part is cut from the start."""
        return [word for link in range(len(ENDS)) for word in
                (options(link) if link in cls.links() else ("--set", f"oae_links[{link}].cuts=[{{at: 0ps}}]"))]

    @classmethod
    def first(cls, seed):
        """Returns the kinds of the faults with which a case begins. The kinds take turns."""
        return [list(cls.kinds)[seed % len(cls.kinds)]]

    @classmethod
    def faults(cls, seed):
        """Returns the faults of a case but for the cuts: (kind, commands)."""
        chance = random.Random(seed)
        kinds = cls.first(seed) + chance.choices(list(cls.kinds), k=chance.randrange(3))
        return [(kind, f"sleep 0.00{chance.randrange(10000):04}", cls.kinds[kind](chance, chance.choice(cls.cells)))
                for kind in kinds]

    @classmethod
    def ports(cls):
        return {port: ends for port, ends in PORTS.items() if set(ends) <= set(cls.cells)}

    @classmethod
    def arguments(cls, port, end, own, other):
        """Returns those of the program at an end of a port: `own` and `other` mark its slots and those of the other end."""
        return f"/dev/oae{CELLS.index(end)}p{port} {own} {other} {cls.slots} patient"

    @classmethod
    def ready(cls):
        """Returns commands that wait until the programs may meet faults."""
        return []

    @classmethod
    def calm(cls):
        """Returns commands that follow the faults. The programs end by themselves."""
        return []

    @classmethod
    def script(cls, seed):
        return "\n".join(
            ["dmesg -c > /dev/null", f"while [ $(cut -d. -f1 /proc/uptime) -lt {BEGIN} ]; do sleep 0.01; done",
             f"sleep 0.{random.Random(f'begin {seed}').randrange(200):03}", "vpctl mark begin"] +
            [f"/share/{cls.program.name} {cls.arguments(port, end, *(10 * port + CELLS.index(one) for one in (end, other)))} "
             f"> /tmp/{port}.{end} &"
             for port, (a, b) in cls.ports().items() for end, other in ((a, b), (b, a))] +
            cls.ready() + [": > /share/injected"] +
            [line for kind, *lines in cls.faults(seed) for line in
             [*lines, f"if pidof {cls.program.name} > /dev/null; then echo {kind} >> /share/injected; fi"]] +
            cls.calm() + ["wait", "vpctl mark end"] +
            [f"cat /tmp/{port}.{end} > /share/{port}.{end}" for port, ends in cls.ports().items() for end in ends] +
            ["dmesg -r > /share/dmesg", ""])

    @classmethod
    def setUpClass(cls):
        seeds = [int(ONLY)] if ONLY else range(1 + cls.group * CASES, 1 + (cls.group + 1) * CASES)
        cls.children = {}
        cls.runs = []  # whose folders hold the children's files
        for first in range(0, len(seeds), CASES_OF_A_BOOT):
            run = machine.Children("--set", "hosts[0].vcpus=2", "--firmware", RESTARTING, "--until", "20s",
                                   *cls.wires(), platform="triangle",
                                   scripts={seed: cls.script(seed) for seed in seeds[first:first + CASES_OF_A_BOOT]})
            run.command += ["--stats", str(run.folder / "stats.json")]
            shutil.copy(cls.program, run.share)
            run.finish()
            assert run.code == 0, run
            cls.children.update(run.children)
            cls.runs.append(run)
        cls.counts = cls.count()
        print(", ".join(f"{kind}: {count}" for kind, count in cls.counts.items()))

    @classmethod
    def count(cls):
        """Counts what has happened while slots were exchanged."""
        counts = collections.Counter(dict.fromkeys([*CUTS, *cls.kinds, *cls.effects], 0))
        for seed, child in cls.children.items():
            begin, end = (float(re.search(rf"\[ *([\d.]+) s\] control info: mark {name}\n", child.errors)[1])
                          for name in ("begin", "end"))
            for link in cls.links():
                counts.update(kind for kind, at, _ in cuts(link) if begin < at / 1e9 < end)
            for name, value in json.loads((child.folder / "stats.json").read_text())["counters"].items():
                for kind, counter in (("cycle lost", "groups_lost"), ("cycle damaged", "groups_damaged")):
                    if name.endswith(counter):
                        counts[kind] += value
            # A fault counts if slots were still exchanged after it.
            counts.update(kind for kind in child.file("injected").splitlines() if kind != "firmware restarted")
            for cell in cls.cells:
                for time, text in re.findall(r"(?m)^\[ *([\d.]+)\] (.*)$", child.log(f"cell_{cell}")):
                    if not begin < float(time) < end:
                        continue
                    for kind, pattern in (("firmware restarted", "OAE firmware"), ("link down", "down:"), ("doubt", "in doubt"),
                                          ("settled through another", "settled through")):
                        if kind in counts:
                            counts[kind] += pattern in text
        return counts

    def test_each_slot_arrives_once_and_in_order(self):
        for seed, child in self.children.items():
            with self.subTest(OAE_VP_CAMPAIGN_SEED=seed):
                self.assertEqual(child.guest_code, 0, child)
                for port, ends in self.ports().items():
                    for end in ends:
                        self.assertEqual(child.file(f"{port}.{end}"), f"{self.slots} swaps\n", child)

    def test_the_kernel_is_intact(self):
        for seed, child in self.children.items():
            with self.subTest(OAE_VP_CAMPAIGN_SEED=seed):
                for text in machine.kernel_messages(child.file("dmesg"), 7):
                    self.assertIsNone(TROUBLE.search(text), text)

    def test_each_fault_was_injected(self):
        if not ONLY:
            for kind, count in self.counts.items():
                often = kind in CUTS or kind in ("cycle lost", "cycle damaged", "link down")
                if kind != "settled through another":
                    self.assertGreaterEqual(count, 2 * len(self.children) if often else 1 + len(self.children) // 10, kind)


class TwoCells(Group, machine.TestCase):
    """The third cell has no link, so that only the other end can settle a transfer in doubt."""

    cells = "ab"
    slots = 1000


class ThreeCells(Group, machine.TestCase):
    """A transfer in doubt is settled through the third cell while its link is down."""

    group = 1

    def test_doubts_are_settled_through_another_cell(self):
        if not ONLY:
            self.assertGreater(self.counts["settled through another"], 0)


class Window(Group, machine.TestCase):
    """Two cells, whose link keeps a window of slots on their way. A bridge passes them on, and no firmware settles anything."""

    cells = "ab"
    slots = 1000
    group = 2
    effects = ("cycle lost", "cycle damaged", "link down")

    @classmethod
    def wires(cls):
        words = ["--set", "oae_links=[{a: cell_a, b: cell_b, first_port: 2, ports: 2, design: window}]", *options(0)]
        for cell in range(len(cls.cells)):
            words += ["--set", f"ipus[{cell}].oae.clock=781250kHz"]
        return words


if __name__ == "__main__":
    machine.main()
