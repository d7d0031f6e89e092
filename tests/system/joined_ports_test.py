# SPDX-License-Identifier: Apache-2.0
"""OAE links join swap ports. Each slot that one host commits reaches the other host once and in order, even if the link fails."""
import collections
import functools
import json
import os
import pathlib
import re
import shutil
import tempfile

import machine
from campaign_test import ORDER

PROGRAM = pathlib.Path(os.environ.get("OAE_VP_JOINED", "build/cmake/tests/system/joined"))
RESTARTING = os.environ.get("OAE_VP_RESTARTING", "build/cmake/tests/firmware/restarting.elf")
REMOTE = pathlib.Path(os.environ.get("OAE_VP_EXAMPLES", "build/cmake/guest/examples")) / "remote"
COUNT = 200
APPEND = "console=ttyS0 panic=-1"


def cuts(link, spans):
    """Returns options that cut a link in these intervals (from, to), in ps."""
    return "--set", f"oae_links[{link}].cuts=[" + ", ".join(f"{{at: {at}ps, until: {until}ps}}" for at, until in spans) + "]"


class Joined(machine.TestCase):
    def run_(self, *options, **more):
        return self.finished(machine.Run(*options, trace=True, **more))

    def finished(self, run):
        for program in (PROGRAM, REMOTE):
            shutil.copy(program, run.share / program.name)
        run.finish()
        self.assertEqual(run.code, 0, run)
        return run

    def settled(self, run, name):
        """Counts the transitions of a link's sender: {(from, to): count}."""
        return collections.Counter((line["from"], line["to"]) for line in run.trace
                                   if line.get("link") == name and line["machine"] == "sender")


class Hosts(Joined):
    """Several hosts, each with its own IPU. Two of them exchange slots."""

    platform = None
    roles = 2  # hosts, each of which has its number as its role
    ends = (0, 1)  # those that exchange slots
    links = ()  # names of both ends of the link that is cut and damages bits
    faulty = 0  # its number
    marker = 0  # the host that comes to the mark `waiting` when the second one of `ends` waits for slots
    count = COUNT  # swaps of each host at each port
    at_the_end = ""  # of what both hosts run
    ports = (4, 7)

    @classmethod
    def options(cls):
        return [word for role in range(cls.roles) for word in ("--set", f"hosts[{role}].append={APPEND} role={role}")]

    def script(self):
        """Returns what all hosts run. The first one of `ends` begins after the mark."""
        first, second = self.ends
        ports = ' '.join(map(str, self.ports))
        return f"""
cd /share
role=$(sed 's/.*role=\\([0-9]\\).*/\\1/' /proc/cmdline)
case $role in {first}|{second}) end=yes;; *) end=;; esac
oae swap --port 0 1 2 3 > $role.own
[ $end ] || for port in {ports}; do oae bench --port $port --count 20 > $role.$port; done
if [ $role = {self.marker} ]; then
  sleep 0.005
  sh -c "$(vpctl mark waiting)"
elif [ $role = {first} ]; then
  sleep 0.01
fi
[ ! $end ] || for port in {ports}; do
  ./joined /dev/oae0p$port $((10 * port + role)) $((10 * port + {first + second} - role)) {self.count} > $role.$port &
done
[ $end ] || sleep 0.05  # until the others have swapped
wait
oae stat --port 4 > $role.stat 2>&1 || true  # It asks the firmware, too.
{self.at_the_end}
"""

    def exchange(self, *options):
        return self.run_(*self.options(), *options, script=self.script(), platform=self.platform)

    def assert_all_came(self, run):
        for role in range(self.roles):
            self.assertIn("committed, ", run.file(f"{role}.own"), "a port that is not joined answers by itself")
            for port in self.ports:
                if role in self.ends:
                    self.assertEqual(run.file(f"{role}.{port}"), f"{self.count} swaps\n", run)
                else:
                    self.assertIn("committed 20 of 20", run.file(f"{role}.{port}"), run)

    def assert_faults_lose_and_repeat_nothing(self, begin, *options):
        """The link damages bits, and is cut again and again while slots cross, from `begin` on, in ps. Returns the counters."""
        # Two cuts end before the silence is noticed, some are longer, and one is long.
        spans = [(0, 1), (40, 41)] + [(100 + 200 * n, 110 + 213 * n) for n in range(8)] + [(2000, 9000)]
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            stats = pathlib.Path(folder) / "stats"
            run = self.exchange(*cuts(self.faulty, [(begin + at * 1_000_000, begin + until * 1_000_000) for at, until in spans]),
                                "--set", f"oae_links[{self.faulty}].bit_error_rate=1e-4", "--stats", str(stats), *options)
            counters = json.loads(stats.read_text())["counters"]
        self.assert_all_came(run)
        downs = [line for line in run.trace if line.get("machine") == "phase" and line["to"] == "down"]
        self.assertGreaterEqual(len(downs), 10)
        self.assertGreater(min(counters[f"{end}.groups_damaged"] for end in self.links), 0)
        return counters


class Pair(Hosts):
    """The firmware of each IPU passes the slots on."""

    platform = "pair"
    links = ("ipu0.oae_link0", "ipu1.oae_link0")
    plain = None

    def undisturbed(self):
        """Returns the run without options, which the tests share."""
        if Pair.plain is None:
            Pair.plain = self.exchange()
        return Pair.plain

    def assert_all_came(self, run):
        super().assert_all_came(run)
        for role in range(2):
            self.assertRegex(run.file(f"{role}.stat"), rf"(?m)^firmware.committed +{COUNT}$")

    def test_hosts_exchange_slots(self):
        run = self.undisturbed()
        self.assert_all_came(run)
        again = self.exchange("--set", "simulation.max_quantum=3us")
        self.assertEqual(run.trace_bytes, again.trace_bytes, "another quantum, another course")

    def test_a_wire_that_is_cut_and_damages_bits_loses_and_repeats_nothing(self):
        first = min(line["t"] for line in self.undisturbed().trace if line.get("machine") == "sender")
        self.assert_faults_lose_and_repeat_nothing(first)


class Windowed(Hosts):
    """Links keep a window of slots on their way, and hardware passes them on without the firmware.

    The machine is forked while the first slots of the second host wait. One child goes on undisturbed. In another one, the
    firmware of an IPU restarts again and again, and hangs in the end.
    """

    count = 1000
    quantum = None  # another one
    FRAME = 5_120  # ps on a wire of 100 Gb/s
    restarts = 4
    early = 1  # restarts that may come before the first slot
    FIRMWARE = ("--firmware", RESTARTING)
    more = ()  # commands of other children
    family = None

    @classmethod
    def hang(cls):
        """Returns the command by which a host has the firmware of its IPU restart so often, and hang then."""
        return f"oae swap --port 0 {ORDER:#x} {cls.restarts + 1} 100 5 1 > /dev/null"

    @classmethod
    def children(cls):
        """Returns the children of one boot, which the tests share."""
        if cls.family is None:
            cls.family = cls().finished(machine.Children(
                *cls.options(), *cls.FIRMWARE, script=cls().script(), mark="waiting", host=f"host{cls.marker}",
                commands=["true", cls.hang(), *cls.more], platform=cls.platform, trace=True))
        return cls.family.children

    def arrivals(self):
        """Returns the ends by which slots come to a host, and at how many ports: {name: ports}."""
        return {f"ipu{role}.oae.link": len(self.ports) for role in self.ends}

    def ways(self):
        """Returns the ways of slots that the tests look at, as `hops` takes them."""
        return self.ends

    def assert_all_came(self, run):
        super().assert_all_came(run)
        passing = [line for line in run.trace if "bridge" in line or "relay" in line]
        for end, ports in self.arrivals().items():
            brought = sum(line["brings"] for line in passing if line.get("bridge") == end)
            # The last slot of each port may still be on its way when its host ends.
            self.assertGreaterEqual(brought, ports * (self.count - 1))
            self.assertLessEqual(brought, ports * self.count)
        self.assertEqual(sum(line["strays"] for line in passing), 0)

    def hops(self, run, role):
        """Returns when each slot was committed at this host's port, and when the other host's port had it, in ps."""
        committed = [line["t"] for line in run.trace if line.get("swap") == f"ipu{role}.oae" and line["port"] in self.ports
                     and (line["from"], line["to"]) == ("tentative", "committed")]
        brought = [line["t"] for line in run.trace
                   if line.get("bridge") == f"ipu{sum(self.ends) - role}.oae.link" and line["brings"]]
        return list(zip(committed, brought))

    def assert_hosts_exchange_slots(self):
        run = self.children()["true"]
        self.assert_all_came(run)
        mark = int(float(re.search(r"\[ *([\d.]+) s\] control info: mark waiting", self.family.errors)[1]) * 1e12)
        first, second = self.ends
        self.assertLess(self.hops(run, second)[len(self.ports) - 1][1], mark)
        self.assertGreater(self.hops(run, first)[0][0], mark)

    def assert_neither_the_quantum_nor_a_fork_changes_the_course(self):
        alone = self.exchange(*self.FIRMWARE, "--set", f"simulation.max_quantum={self.quantum}", "--snapshot-at", "waiting",
                              "--child", "true")
        self.assertEqual(alone.trace_bytes, self.children()["true"].trace_bytes)

    def assert_a_firmware_that_restarts_and_hangs_is_not_noticed(self):
        run = self.children()[self.hang()]
        self.assert_all_came(run)
        log = run.log(f"ipu{self.marker}")
        hung = int(float(re.search(r"\[ *([\d.]+)\] warning: the firmware hangs", log)[1]) * 1e12)
        self.assertEqual(run.file(f"{self.marker}.stat"), "oae: stat: no reply in time\n", "it hangs")
        for way in self.ways():
            hops = self.hops(run, way)
            begin, end = hops[0][0], hops[-1][0]
            restarts = [time for time in re.findall(r"\[ *([\d.]+)\] OAE firmware", log) if begin < float(time) * 1e12 < end]
            self.assertGreaterEqual(len(restarts), self.restarts - self.early)
            self.assertGreater(len([t for t, _ in hops if t > hung]), 200)
            # A slot may wait while others and returns cross, and never for the firmware.
            least = min(brought - committed for committed, brought in self.hops(self.children()["true"], way))
            self.assertLessEqual(max(brought - committed for committed, brought in hops), least + 4 * self.FRAME)


class Window(Windowed):
    """A bridge at each end of a link. In a child, the first host uses the words of the second one's IPU while slots cross, and
    sends it a slot."""

    platform = "window"
    links = ("ipu0.oae.link", "ipu1.oae.link")
    quantum = "300ns"
    OTHERS_WORDS = "; ".join((
        "cd /share",
        'code() { code=0; "$@" || code=$?; echo "code $code"; }',
        "code ./remote 5 100 > counted",
        "code oae cas --remote --port 5 7 0 5 > cas",
        "code oae cas --remote --port 5 7 0 6 > unequal",
        "code oae multi --remote --form streamed --json --port 5 add:0=1 read:7 > multi",
        "code oae add --remote --mapped --port 5 0 1 > mapped",
        "code oae add --remote --port 5 256 1 > far",
        "code oae add --remote --port 0 0 1 > alone",
        "code oae multi --port 5 read:0 read:7 > own",
        "code oae send --port 6 7 8 9 > sent"))
    at_the_end = """
oae multi read:0 read:7 > $role.words
if [ $role = 1 ] && grep -q 'word 7 was 5' 1.words; then
  oae swap --json --port 6 1 > 1.first
  oae swap --json --port 6 2 > 1.second
fi
"""
    more = (OTHERS_WORDS,)

    def test_hosts_exchange_slots(self):
        self.assert_hosts_exchange_slots()

    def test_neither_the_quantum_nor_a_fork_changes_the_course(self):
        self.assert_neither_the_quantum_nor_a_fork_changes_the_course()

    def test_a_firmware_that_restarts_and_hangs_is_not_noticed(self):
        self.assert_a_firmware_that_restarts_and_hangs_is_not_noticed()

    def test_a_host_uses_the_words_of_the_other_cell(self):
        run = self.children()[self.OTHERS_WORDS]
        for role in range(2):
            for port in self.ports:
                self.assertEqual(run.file(f"{role}.{port}"), f"{self.count} swaps\n", run)
        self.assertEqual(run.file("counted"), "counted up to 100\ncode 0\n")
        self.assertEqual(run.file("cas"), "done\nword 7 was 0\nword 7 was 0\ncode 0\n")
        self.assertEqual(run.file("unequal"), "not done, since a comparison does not hold\n"
                         "word 7 was 5\nword 7 was 5\ncode 4\n")
        self.assertEqual(run.file("multi"),
                         '{"verb": "result", "status": "committed", "done": true, "found": [100, 5]}\ncode 0\n')
        self.assertEqual(run.file("mapped"), "done\nword 0 was 101\ncode 0\n")
        self.assertEqual(run.file("far"), "bad verb: port 5 of the other cell may not use the word, or there is no such step\n"
                         "code 1\n")
        self.assertEqual(run.file("alone"), "bad verb: the firmware has not joined port 0 with a port of another cell\ncode 1\n")
        self.assertEqual(run.file("own"), "done\nword 0 was 0\nword 7 was 0\ncode 0\n", "those of its own cell are others")
        self.assertEqual(run.file("1.words"), "done\nword 0 was 102\nword 7 was 5\n")

    def test_a_send_reaches_the_other_host(self):
        run = self.children()[self.OTHERS_WORDS]
        self.assertIn("code 0", run.file("sent"))
        slots = [[int(word, 16) for word in json.loads(run.file(f"1.{name}"))["answer"]] for name in ("first", "second")]
        self.assertEqual(slots, [[0] * 6, [7, 8, 9, 0, 0, 0]])

    def test_a_wire_that_is_cut_and_damages_bits_loses_and_repeats_nothing(self):
        first = self.hops(self.children()["true"], 0)[0][0] + 100_000  # while it crosses
        counters = self.assert_faults_lose_and_repeat_nothing(first, *self.FIRMWARE)
        self.assertGreater(sum(counters[f"{end}.groups_lost"] for end in self.links), 0)


class Chain(Windowed):
    """Two IPUs relay the slots of the hosts at the ends of the row. The firmware of one of them restarts and hangs."""

    platform = "chain"
    roles = 4
    ends = (0, 3)
    marker = 1
    links = ("ipu1.relay.link1", "ipu2.relay.link0")
    faulty = 1
    quantum = "3us"
    CLOCK = 1_280  # ps
    WIRE = 50_000
    # The ends by which slots leave the cells from ipu0 to ipu3, and back
    WAYS = (("ipu0.oae.link", "ipu1.relay.link1", "ipu2.relay.link1"), ("ipu3.oae.link", "ipu2.relay.link0", "ipu1.relay.link0"))
    LAST = ("ipu3.oae.link", "ipu0.oae.link")

    @staticmethod
    def numbers(lines, end, key):
        """Returns when this number of an end came to each of its values: {value: ps}."""
        found = {}
        value = 0
        for line in lines:
            if line.get("window") == end:
                while value < line[key]:
                    value += 1
                    found[value] = line["t"]
        return found

    def test_hosts_exchange_slots(self):
        self.assert_hosts_exchange_slots()

    def test_a_slot_leaves_each_cell_before_all_of_it_has_arrived(self):
        lines = self.children()["true"].trace
        # The head leaves within a clock and passes the wire. 9 clocks after it was seen it leaves, while the rest of the frame
        # comes. A return may come first, and takes one.
        seen = 2 + self.WIRE // self.CLOCK
        for way in self.WAYS:
            left = [self.numbers(lines, end, "sent") for end in way]
            self.assertGreater(len(left[0]), len(self.ports) * self.count // 2)
            for before, after in zip(left, left[1:]):
                self.assertEqual(len(before), len(after))
                hops = sorted(after[n] - before[n] for n in before)
                self.assertEqual(hops[0], (9 + seen) * self.CLOCK)
                self.assertLessEqual(hops[len(hops) // 2], (10 + seen) * self.CLOCK)

    def test_the_commitment_is_end_to_end(self):
        lines = self.children()["true"].trace
        for way, last in zip(self.WAYS, self.LAST):
            done, expected = (self.numbers(lines, last, key) for key in ("done", "expected"))
            first, second, third = (self.numbers(lines, end, "settled") for end in way)
            self.assertGreater(len(first), len(self.ports) * self.count // 2)
            for n, time in first.items():
                # The answer goes back over three wires, and the confirmation comes over them.
                self.assertGreater(done[n], expected[n + 1] + 6 * self.WIRE)
                self.assertGreater(third[n], done[n] + self.WIRE)
                self.assertGreater(second[n], third[n] + self.WIRE)
                self.assertGreater(time, second[n] + self.WIRE)

    def test_neither_the_quantum_nor_a_fork_changes_the_course(self):
        self.assert_neither_the_quantum_nor_a_fork_changes_the_course()

    def test_a_firmware_in_the_middle_that_restarts_and_hangs_is_not_noticed(self):
        self.assert_a_firmware_that_restarts_and_hangs_is_not_noticed()

    def test_a_wire_in_the_middle_that_is_cut_and_damages_bits_loses_and_repeats_nothing(self):
        first = self.hops(self.children()["true"], 0)[0][0] + 100_000  # while it crosses
        counters = self.assert_faults_lose_and_repeat_nothing(first, *self.FIRMWARE)
        self.assertGreater(sum(counters[f"{end}.groups_lost"] for end in self.links), 0)


class Ring(Windowed):
    """Each host exchanges slots with both of its neighbours, whose IPUs are ends of two links. The firmware of one IPU restarts
    and hangs, and in another run a wire is cut."""

    platform = "ring"
    roles = 4
    ends = range(4)
    ports = (4, 6)  # of the two links of each IPU
    quantum = "3us"
    count = 1500
    restarts = 7
    early = 5  # The processor of a host takes turns between its two ports, and begins with the order to restart.

    @staticmethod
    def neighbour(role, port):
        return role ^ 1 if port == 4 else 3 - role

    @staticmethod
    def end(role, port):
        """Returns the end of the link that carries this port. IPUs number their links in the order of the platform file."""
        return f"ipu{role}.oae.link{int((port == 4) == (role == 2))}"

    def script(self):
        """Returns what all hosts run. The first one comes to the mark when both of its neighbours wait for it. These wait for
        the host beyond them, too, which begins a bit later."""
        return f"""
cd /share
role=$(sed 's/.*role=\\([0-9]\\).*/\\1/' /proc/cmdline)
oae swap --port 0 1 2 3 > $role.own
if [ $role = {self.marker} ]; then
  sleep 0.005
  sh -c "$(vpctl mark waiting)"
elif [ $role = 2 ]; then
  sleep 0.007
fi
./joined /dev/oae0p4 $((40 + role)) $((40 + (role ^ 1))) {self.count} > $role.4 &
./joined /dev/oae0p6 $((60 + role)) $((60 + 3 - role)) {self.count} > $role.6 &
wait
oae stat --port 4 > $role.stat 2>&1 || true  # It asks the firmware, too.
"""

    def arrivals(self):
        return {self.end(role, port): 1 for role in self.ends for port in self.ports}

    def ways(self):
        """Returns those from and to the IPU whose firmware restarts."""
        return [(role, port) for port in self.ports for role in (self.marker, self.neighbour(self.marker, port))]

    @classmethod
    @functools.lru_cache(maxsize=2)  # A trace is long.
    def crossings(cls, run):
        """Returns when slots were committed at each host's port, {(role, port): [ps]}, and brought by each end, {name: [ps]}."""
        committed = {(role, port): [] for role in cls.ends for port in cls.ports}
        brought = {cls.end(role, port): [] for role, port in committed}
        roles = {f"ipu{role}.oae": role for role in cls.ends}
        for line in run.trace:
            if line.get("brings"):
                brought[line["bridge"]].append(line["t"])
            elif "swap" in line and line["port"] in cls.ports and (line["from"], line["to"]) == ("tentative", "committed"):
                committed[roles[line["swap"]], line["port"]].append(line["t"])
        return committed, brought

    def hops(self, run, way):
        role, port = way
        committed, brought = self.crossings(run)
        return list(zip(committed[way], brought[self.end(self.neighbour(role, port), port)]))

    def test_each_host_exchanges_slots_with_both_neighbours(self):
        run = self.children()["true"]
        self.assert_all_came(run)
        for role in self.ends:
            for port in self.ports:
                hops = [brought - committed for committed, brought in self.hops(run, (role, port))]
                self.assertGreaterEqual(len(hops), self.count - 1)
                self.assertGreater(min(hops), 50_000, "the latency of the link")

    def test_neither_the_quantum_nor_a_fork_changes_the_course(self):
        self.assert_neither_the_quantum_nor_a_fork_changes_the_course()

    def test_a_firmware_that_restarts_and_hangs_is_not_noticed(self):
        self.assert_a_firmware_that_restarts_and_hangs_is_not_noticed()

    def test_a_wire_that_is_cut_leaves_the_other_neighbours_served(self):
        # Each host has then exchanged a tenth of its slots with both neighbours, and has more than 100 left.
        uncut = [self.hops(self.children()["true"], (role, port)) for role in self.ends for port in self.ports]
        begin = max(hops[self.count // 10][0] for hops in uncut)
        self.assertLess(begin, min(hops[-100][0] for hops in uncut))
        until = begin + 10_000_000_000  # longer than a process waits for the processor
        run = self.exchange(*self.FIRMWARE, *cuts(0, [(begin, until)]))
        self.assert_all_came(run)
        downs = {line["link"] for line in run.trace
                 if line.get("machine") == "phase" and line["from"] == "up" and line["to"] == "down"}
        self.assertEqual(downs, {self.end(0, 4), self.end(1, 4)})
        # What was on the wire may arrive just after the cut.
        within = {(role, port): [t for _, t in self.hops(run, (role, port)) if begin + 1_000_000 < t < until]
                  for role in self.ends for port in self.ports}
        for way, times in within.items():
            if way in ((0, 4), (1, 4)):
                self.assertEqual(times, [])
            else:
                self.assertGreater(len(times), 50, way)


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
