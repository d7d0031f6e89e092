# SPDX-License-Identifier: Apache-2.0
"""Takes the power from cells at random moments while hosts at joined ports exchange slots over OAE links.

Cards are pulled and come back, so that a cell forgets all that it has, and its firmware begins anew. The links damage bits, and
are cut, and firmwares restart. The rule for each slot that a host has committed: the other host gets it once and in order, or
its sender is told that it is lost, or the sender's own cell has lost its power since, or the slot is still on its way.

OAE_VP_CAMPAIGN_SEED and OAE_VP_CAMPAIGN_CASES work as for cells_campaign_test.py.
"""
import os
import pathlib
import re

import cells_campaign_test
import machine
from cells_campaign_test import CELLS, options, restarts

LIVES = pathlib.Path(os.environ.get("OAE_VP_LIVES", "build/cmake/tests/system/lives"))
STOP = "/tmp/stop"  # a file at which the hosts stop sending
CALM = "0.5"  # seconds without a fault before that
LATEST = 50  # ms before the end in which a slot must have come
AWAY = ("0", "0.0003", "0.01", "0.1")  # seconds without power

# Slots of an end that may be lost at a time: a port has places for two slots of the other port (rtl/bridge/README.md). Without a bridge,
# one is in the port, one is in a transfer, and the firmware keeps one.
MOST_LOST = 2
MOST_MISSING = 3

# What may become of a slot whose sender does not lose its power
FATES = ("delivered", "lost", "on its way")


def folder(cell):
    return f"/sys/bus/pci/devices/0000:{1 + CELLS.index(cell):02}:00.0"


def pull(chance, cell):
    return (f"sleep 0.{chance.randrange(200):03}; vpctl hot_plug host_cell_{cell} remove; sleep {chance.choice(AWAY)}; "
            f"vpctl hot_plug host_cell_{cell} insert")


def restart(chance, cell):
    """A cell may have no power at first."""
    return (f"until [ -e /dev/oae{CELLS.index(cell)}p0 ]; do sleep 0.001; done; sleep 0.{chance.randrange(100):03}; "
            f"{restarts(chance, cell)} 2>&1 || true")


def hot_plug():
    """Returns options by which cards may be pulled."""
    return [word for number in range(len(CELLS)) for word in
            ("--set", f"pcie_links[{number}].hot_plug={{capable: true, surprise: true}}")]


class End:
    """What a program said of its own slots, and of those of the other end."""

    def __init__(self, text):
        self.lines = [line.split() for line in text.splitlines()]
        self.swapped, self.extra, self.got, self.delivered, self.lost, self.told = (
            [int(number) for kind, *numbers in self.lines for number in numbers if kind == wanted]
            for wanted in ("sent", "extra", "got", "delivered", "lost", "told"))
        self.sent = sorted(self.swapped + self.extra)
        self.doubts = {int(numbers[0]) for kind, *numbers in self.lines if kind == "doubt"}
        self.lives = sum(kind == ["life"] for kind in self.lines)
        # The slots of earlier lives whose fate nobody knows any more, and those that are on their way at the end
        last_life = max((i for i, line in enumerate(self.lines) if line == ["life"]), default=0)
        self.forgotten = {int(line[1]) for line in self.lines[:last_life] if line[0] == "pending"} | self.doubts
        self.on_way = {int(line[1]) for line in self.lines[last_life:] if line[0] == "pending"}

    def unseen(self):
        """Returns (before, after) for each answer that may have been lost with the card: the last slot that came before and
        the first one that came after."""
        found = []
        for place, line in enumerate(self.lines):
            if line[0] == "doubt":
                before = [int(each[1]) for each in self.lines[:place] if each[0] == "got"]
                after = [int(each[1]) for each in self.lines[place:] if each[0] == "got"]
                found.append((max(before, default=0), min(after, default=float("inf"))))
        return found


def missing(sender, receiver):
    """Returns the swapped slots that did not come though later ones did, in their order."""
    got = set(receiver.got)
    return [number for number in sender.swapped if number not in got and number < max(got, default=0)]


def inventions(sender, receiver):
    """Returns what of the slots that came was not sent, or came twice or out of order, as texts."""
    wrong = []
    got = set(receiver.got)
    if receiver.got != sorted(got):
        wrong.append("slots came twice or out of order")
    if not got <= set(sender.sent) | sender.doubts:
        wrong.append(f"nobody has sent {sorted(got - set(sender.sent) - sender.doubts)}")
    return wrong


def violations(sender, receiver, losses):
    """Returns what breaks the rule for the slots of `sender`, as texts. `losses` is the number of losses of power."""
    wrong = inventions(sender, receiver)
    got = set(receiver.got)
    unseen = receiver.unseen()
    for number in sender.delivered:
        if number in got:
            continue
        place = next((span for span in unseen if span[0] < number < span[1]), None)
        if place is None:
            wrong.append(f"{number} is said to be delivered and did not come")
        else:
            unseen.remove(place)
    if len(sender.lost) > MOST_LOST * losses:
        wrong.append(f"{sorted(sender.lost)} are lost, and power was lost {losses} times")
    known = got.union(sender.delivered, sender.lost, sender.forgotten, sender.on_way)
    for number in sender.sent:
        if number not in known:
            wrong.append(f"{number} vanished")
    for number in sender.on_way - got:
        if got and number < max(got):
            wrong.append(f"{number} was overtaken on its way")
    if set(sender.told) - set(sender.lost) - sender.forgotten:
        wrong.append(f"told, but not lost: {sorted(set(sender.told) - set(sender.lost))}")
    return wrong


class PowerLosses(cells_campaign_test.Group):
    """The cells of joined ports lose their power."""

    program = LIVES
    kinds = {"power lost": pull, "firmware restarted": restart}
    effects = ("cycle lost", "cycle damaged", "link down") + FATES + ("forgotten",)
    slots = None

    @classmethod
    def first(cls, seed):
        return ["power lost"] + super().first(seed)

    @classmethod
    def arguments(cls, port, end, own, other):
        return f"{folder(end)} {port} {own} {other} {STOP}"

    @classmethod
    def ready(cls):
        outputs = [f"/tmp/{port}.{end}" for port, ends in cls.ports().items() for end in ends]
        return [f"until grep -q life {output}; do sleep 0.001; done" for output in outputs]

    @classmethod
    def calm(cls):
        return [f"sleep {CALM}; : > {STOP}"]

    @classmethod
    def ends(cls, child):
        """Returns (port, sender, receiver) for each direction of each joined port."""
        for port, (a, b) in cls.ports().items():
            each = [End(child.file(f"{port}.{end}")) for end in (a, b)]
            yield f"port {port} of {a}", *each
            yield f"port {port} of {b}", *reversed(each)

    @classmethod
    def count(cls):
        counts = super().count()
        for child in cls.children.values():
            losses = child.errors.count("has lost its power")
            counts["power lost"] += losses - child.file("injected").splitlines().count("power lost")
            counts["firmware restarted"] -= losses
            for _, sender, receiver in cls.ends(child):
                for kind, slots in (("delivered", sender.delivered), ("lost", sender.lost), ("on its way", sender.on_way),
                                    ("forgotten", sender.forgotten), ("missing", missing(sender, receiver))):
                    if kind in counts:
                        counts[kind] += len(slots)
        return counts

    @classmethod
    def violations(cls, sender, receiver, losses):
        """Returns what breaks the rule for the slots of `sender`, as texts. `losses` is the number of losses of power."""
        return violations(sender, receiver, losses)

    def test_each_slot_arrives_once_and_in_order(self):
        """Unless power was lost, as the rule has it."""
        for seed, child in self.children.items():
            with self.subTest(OAE_VP_CAMPAIGN_SEED=seed):
                self.assertEqual(child.guest_code, 0, child)
                for name, sender, receiver in self.ends(child):
                    self.assertEqual([line[0] for line in sender.lines[-1:]], ["end"], (name, child))
                    self.assertLess(int(sender.lines[-1][1]), LATEST, (name, child))
                    losses = child.errors.count("has lost its power")
                    self.assertEqual(self.violations(sender, receiver, losses), [], (name, child))

    def test_each_loss_of_power_begins_a_life(self):
        for seed, child in self.children.items():
            with self.subTest(OAE_VP_CAMPAIGN_SEED=seed):
                for name, sender, _ in self.ends(child):
                    losses = len(re.findall(rf"cell_{name[-1]}: has lost its power", child.errors))
                    self.assertGreaterEqual(1 + losses, sender.lives, name)
                    self.assertTrue(losses == 0 or sender.lives > 1, name)


def windows(*joined):
    """Returns options for links with a window between these cells, each with the same two ports."""
    links = ", ".join(f"{{a: cell_{a}, b: cell_{b}, first_port: 2, ports: 2, design: window}}" for a, b in joined)
    words = ["--set", f"oae_links=[{links}]"]
    for cell in range(len(CELLS)):
        words += ["--set", f"ipus[{cell}].oae.clock=781250kHz"]
    return words


class Window(PowerLosses, machine.TestCase):
    """Two cells, whose link keeps a window of slots on their way."""

    cells = "ab"
    group = 3

    @classmethod
    def wires(cls):
        return hot_plug() + windows("ab") + [*options(0)]


class Chain(PowerLosses, machine.TestCase):
    """A cell in the middle relays the slots of two others, and loses its power, too."""

    group = 4

    @classmethod
    def links(cls):
        return [0, 1]

    @classmethod
    def wires(cls):
        short = [word for link in cls.links() for word in ("--set", f"oae_links[{link}].latency=400ns")]
        return hot_plug() + windows("ab", "bc") + [*options(0), *options(1), *short]

    @classmethod
    def ports(cls):
        return {2: "ac", 3: "ac"}


class Transfer(PowerLosses, machine.TestCase):
    """The firmware passes the slots of swaps on, and no host is told of fates. Few slots are missing after a loss of power."""

    cells = "ab"
    group = 5
    effects = ("cycle lost", "cycle damaged", "link down", "doubt", "missing")

    @classmethod
    def wires(cls):
        return hot_plug() + super().wires()

    @classmethod
    def violations(cls, sender, receiver, losses):
        wrong = inventions(sender, receiver)
        gone = missing(sender, receiver)
        if len(gone) > MOST_MISSING * losses:
            wrong.append(f"{gone} are missing, and power was lost {losses} times")
        return wrong


if __name__ == "__main__":
    machine.main()
