# SPDX-License-Identifier: Apache-2.0
"""OAE links join swap ports. Each slot that one host commits reaches the other host once and in order, even if the link fails."""
import collections
import json
import os
import pathlib
import re
import shutil
import tempfile

import machine

PROGRAM = pathlib.Path(os.environ.get("OAE_VP_JOINED", "build/cmake/tests/system/joined"))
COUNT = 200
APPEND = "console=ttyS0 panic=-1"


def cuts(spans):
    """Returns options that cut the first link in these intervals (from, to), in us."""
    return "--set", "oae_links[0].cuts=[" + ", ".join(f"{{at: {at}us, until: {until}us}}" for at, until in spans) + "]"


class Joined(machine.TestCase):
    def run_(self, *options, **more):
        one = machine.Run(*options, trace=True, **more)
        shutil.copy(PROGRAM, one.share / "joined")
        one.finish()
        self.assertEqual(one.code, 0, one)
        return one

    def settled(self, run, name):
        """Counts the transitions of a link's sender: {(from, to): count}."""
        return collections.Counter((line["from"], line["to"]) for line in run.trace
                                   if line.get("link") == name and line["machine"] == "sender")


class Pair(Joined):
    """Two hosts, each with its own IPU."""

    SCRIPT = f"""
cd /share
role=$(sed 's/.*role=\\([01]\\).*/\\1/' /proc/cmdline)
for port in 4 7; do ./joined /dev/oae0p$port $((10 * port + role)) $((10 * port + 1 - role)) {COUNT} > $role.$port & done
oae swap --port 0 1 2 3 > $role.own
wait
oae stat --port 4 > $role.stat
"""
    ROLES = [word for role in range(2) for word in ("--set", f"hosts[{role}].append={APPEND} role={role}")]

    PLATFORM = "pair"

    def pair(self, *options):
        return self.run_(*self.ROLES, *options, script=self.SCRIPT, platform=self.PLATFORM)

    def undisturbed(self):
        """Returns the run without options, which the tests of a class share."""
        cls = type(self)
        if "plain" not in vars(cls):
            cls.plain = self.pair()
        return cls.plain

    def assert_all_came(self, run):
        for role in range(2):
            for port in (4, 7):
                self.assertEqual(run.file(f"{role}.{port}"), f"{COUNT} swaps\n", run)
            self.assertIn("committed, ", run.file(f"{role}.own"), "a port that is not joined answers by itself")
            self.assertRegex(run.file(f"{role}.stat"), rf"(?m)^firmware.committed +{COUNT}$")

    def test_hosts_exchange_slots(self):
        run = self.undisturbed()
        self.assert_all_came(run)
        again = self.pair("--set", "simulation.max_quantum=3us")
        self.assertEqual(run.trace_bytes, again.trace_bytes, "another quantum, another course")

    def test_a_link_that_is_cut_loses_and_repeats_nothing(self):
        begin = self.begin(self.undisturbed())
        # One cut ends before the silence is noticed, some are longer, and one is long.
        spans = [(begin + 40, begin + 41)]
        spans += [(begin + 100 + 200 * n, begin + 110 + 213 * n) for n in range(8)]
        spans += [(begin + 2000, begin + 9000)]
        run = self.pair(*cuts(spans))
        self.assert_all_came(run)
        downs = [line for line in run.trace if line.get("machine") == "phase" and line["to"] == "down"]
        self.assertGreaterEqual(len(downs), 10)

    def begin(self, run):
        """Returns when the first slot crossed the link, in us."""
        return min(line["t"] for line in run.trace if line.get("machine") == "sender") // 1_000_000


class Window(Pair):
    """The pair with a link with a window, over which a bridge passes the slots without the firmware."""

    PLATFORM = "window"

    def assert_all_came(self, run):
        for role in range(2):
            for port in (4, 7):
                self.assertEqual(run.file(f"{role}.{port}"), f"{COUNT} swaps\n", run)
            self.assertIn("committed, ", run.file(f"{role}.own"), "a port that is not joined answers by itself")
            brought = sum(line["brings"] for line in run.trace if line.get("bridge") == f"ipu{role}.oae.link")
            # The last slot of each port waits in its ring or port when its host ends.
            self.assertGreaterEqual(brought, 2 * (COUNT - 1))
            self.assertLessEqual(brought, 2 * COUNT)
            self.assertEqual(sum(line["strays"] for line in run.trace if "bridge" in line), 0)

    def begin(self, run):
        return min(line["t"] for line in run.trace if line.get("passes")) // 1_000_000

    def test_bit_errors_lose_and_repeat_nothing(self):
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            stats = pathlib.Path(folder) / "stats"
            run = self.pair("--set", "oae_links[0].bit_error_rate=1e-4", "--stats", str(stats))
            counters = json.loads(stats.read_text())["counters"]
        self.assert_all_came(run)
        for role in range(2):
            self.assertGreater(counters[f"ipu{role}.oae.link.groups_damaged"], 0)


class Triangle(Joined):
    """One host with three IPUs, and a link between any two of them."""

    PORTS = {2: "01", 4: "12", 6: "20"}
    SCRIPT = "cd /share\n" + "".join(
        f"./joined /dev/oae{end}p{port} {10 * port + int(end)} {10 * port + int(other)} {COUNT} > {port}.{end} &\n"
        for port, ends in PORTS.items() for end, other in (ends, ends[::-1])) + "wait\n"

    plain = None

    def triangle(self, *options):
        return self.run_(*options, script=self.SCRIPT, platform="triangle")

    def undisturbed(self):
        """Returns the run without options, which the tests share."""
        if Triangle.plain is None:
            Triangle.plain = self.triangle()
        return Triangle.plain

    def assert_all_came(self, run):
        for port, ends in self.PORTS.items():
            for end in ends:
                self.assertEqual(run.file(f"{port}.{end}"), f"{COUNT} swaps\n", run)

    def test_all_three_pass_slots_on(self):
        run = self.undisturbed()
        self.assert_all_came(run)
        for cell in "abc":
            for n in range(2):
                self.assertIn(("committing", "idle"), self.settled(run, f"cell_{cell}.oae_link{n}"))

    def test_doubt_is_settled_through_the_third(self):
        busy = [(line["t"], line["to"]) for line in self.undisturbed().trace
                if line.get("link") == "cell_a.oae_link0" and line["machine"] == "sender"]
        # The cut hits a transfer of which only the other side knows the outcome. Its third phase has left and is
        # lost on the wire of 50 ns; or it has arrived, and the fourth phase is lost.
        committing = [t for t, to in busy if to == "committing"][5]
        for after, outcome in ((20_000, "reversed"), (90_000, "committed")):
            with self.subTest(outcome):
                self.assert_settled(committing + after, outcome)

    def assert_settled(self, at, outcome):
        until = at // 1_000_000 + 20_000
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            log = pathlib.Path(folder) / "a.log"
            run = self.triangle("--set", f"oae_links[0].cuts=[{{at: {at}ps, until: {until}us}}]", "--console", f"cell_a={log}")
            text = log.read_text()
        self.assert_all_came(run)
        found = re.findall(r"(?m)^\[ *([\d.]+)\] link 0 to cell 1: transfer \d+ is settled through another cell: (\w+)$", text)
        self.assertEqual([said for _, said in found], [outcome], text)
        self.assertLess(float(found[0][0]), until / 1e6, "not before the link was back")


if __name__ == "__main__":
    machine.main()
