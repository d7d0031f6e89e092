# SPDX-License-Identifier: Apache-2.0
"""Swap ports joined by OAE links: what one host commits the other gets, in order, once, whatever becomes of the link."""
import collections
import os
import pathlib
import re
import shutil

import machine

PROGRAM = pathlib.Path(os.environ.get("OAE_VP_JOINED", "build/cmake/tests/system/joined"))
COUNT = 300
APPEND = "console=ttyS0 panic=-1 tsc=reliable"


class Joined(machine.TestCase):
    def run_(self, *options, **more):
        one = machine.Run(*options, trace=True, **more)
        shutil.copy(PROGRAM, one.share / "joined")
        one.finish()
        self.assertEqual(one.code, 0, one)
        return one

    def cut(self, link, spans, **more):
        cuts = ", ".join(f"{{at: {at}us, until: {until}us}}" for at, until in spans)
        return self.run_("--set", f"oae_links[{link}].cuts=[{cuts}]", **more)

    def settled(self, run, name):
        """What a link's sender went through: {(from, to): how often}."""
        return collections.Counter((line["from"], line["to"]) for line in run.trace
                                   if line.get("link") == name and line["machine"] == "sender")


class Pair(Joined):
    """Two hosts, each with an IPU of its own."""

    SCRIPT = f"""
cd /share
role=$(sed 's/.*role=\\([01]\\).*/\\1/' /proc/cmdline)
for port in 4 7; do ./joined /dev/oae0p$port $((10 * port + role)) $((10 * port + 1 - role)) {COUNT} > $role.$port & done
oae swap --port 0 1 2 3 > $role.own
wait
oae stat --port 4 > $role.stat
"""
    ROLES = [word for role in range(2) for word in ("--set", f"hosts[{role}].append={APPEND} role={role}")]

    def pair(self, *options, spans=()):
        options = [*self.ROLES, *options]
        if spans:
            return self.cut(0, spans, script=self.SCRIPT, platform="pair", *options)
        return self.run_(*options, script=self.SCRIPT, platform="pair")

    def assert_all_came(self, run):
        for role in range(2):
            for port in (4, 7):
                self.assertEqual(run.file(f"{role}.{port}"), f"{COUNT} swaps\n", run)
            self.assertIn("committed, ", run.file(f"{role}.own"), "a port that is not joined answers by itself")
            self.assertRegex(run.file(f"{role}.stat"), rf"(?m)^firmware.committed +{COUNT}$")

    def test_hosts_exchange_slots(self):
        run = self.pair()
        self.assert_all_came(run)
        again = self.pair("--set", "simulation.max_quantum=3us")
        self.assertEqual(run.trace_bytes, again.trace_bytes, "another quantum, another course")

    def test_a_link_that_is_cut_loses_and_repeats_nothing(self):
        begin = self.begin(self.pair())
        # One that is back before silence is noticed, some in the middle, and a long one.
        spans = [(begin + 40, begin + 41)]
        spans += [(begin + 100 + 200 * n, begin + 110 + 213 * n) for n in range(8)]
        spans += [(begin + 2000, begin + 9000)]
        run = self.pair(spans=spans)
        self.assert_all_came(run)
        downs = [line for line in run.trace if line.get("machine") == "phase" and line["to"] == "down"]
        self.assertGreaterEqual(len(downs), 10)

    def begin(self, run):
        """When the first slot crossed the link, in us."""
        return min(line["t"] for line in run.trace if line.get("machine") == "sender") // 1_000_000


class Triangle(Joined):
    """One host, three IPUs, a link between any two of them."""

    PORTS = {2: "01", 4: "12", 6: "20"}
    SCRIPT = "cd /share\n" + "".join(
        f"./joined /dev/oae{end}p{port} {10 * port + int(end)} {10 * port + int(other)} {COUNT} > {port}.{end} &\n"
        for port, ends in PORTS.items() for end, other in (ends, ends[::-1])) + "wait\n"

    def triangle(self, *options):
        return self.run_(*options, script=self.SCRIPT, platform="triangle")

    def assert_all_came(self, run):
        for port, ends in self.PORTS.items():
            for end in ends:
                self.assertEqual(run.file(f"{port}.{end}"), f"{COUNT} swaps\n", run)

    def test_all_three_pass_slots_on(self):
        run = self.triangle()
        self.assert_all_came(run)
        for cell in "abc":
            for n in range(2):
                self.assertIn(("committing", "idle"), self.settled(run, f"cell_{cell}.oae_link{n}"))

    def test_doubt_is_settled_through_the_third(self):
        busy = [(line["t"], line["to"]) for line in self.triangle().trace
                if line.get("link") == "cell_a.oae_link0" and line["machine"] == "sender"]
        # Each cut falls upon a transfer that only the other side can tell the end of: the third phase
        # has left, and neither it nor the fourth has arrived, or the fourth has not.
        committing = [t for t, to in busy if to == "committing"]
        for at, name in ((committing[5] + 10_000, "lost"), (committing[5] + 90_000, "committed")):
            with self.subTest(name):
                self.assert_settled(at, name)

    def assert_settled(self, at, name):
        folder = machine.pathlib.Path(machine.tempfile.mkdtemp())
        run = self.triangle("--set", f"oae_links[0].cuts=[{{at: {at}ps, until: {at // 1_000_000 + 20_000}us}}]",
                            "--console", f"cell_a={folder}/a.log")
        self.assert_all_came(run)
        log = (folder / "a.log").read_text()
        found = re.findall(r"link 0 to cell 1: transfer (\d+) is settled through another cell: (\w+)", log)
        self.assertEqual(len(found), 1, log)
        shutil.rmtree(folder)


if __name__ == "__main__":
    machine.main()
