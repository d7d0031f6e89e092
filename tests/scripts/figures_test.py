#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/figures: its options, the arithmetic of its tables, the figures of the link, which have to agree with each
other and with rtl/transfer/README.md, and the figures of machines. The programs that measure are those of OAE_VP_BUILD, or of
build/, unless they are named.

Usage: figures_test.py [GROUP[.CASE]]... [PROGRAM]...
"""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"

sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS / "lib"))
from figures import __main__ as command  # noqa: E402
from figures import failures, hosts, joined, link, ports, swap  # noqa: E402
from figures.table import Failure, Requirement, Table, ns, required_text, rtts  # noqa: E402

BUILD = pathlib.Path(os.environ.get("OAE_VP_BUILD", ROOT / "build")).resolve()
PAGE = 0xC0_0000_0000


def packet(kind, direction, t, arr, address=0, tag=0):
    line = {"t": t, "arr": arr, "link": "host_ipu", "dir": direction, "type": kind, "tag": tag}
    return line if kind == "CplD" else {**line, "addr": hex(address)}


def state(t, to, before, port=0, sequence=1):
    return {"t": t, "swap": "ipu.oae", "port": port, "epoch": 1, "seq": sequence, "from": before, "to": to}


class Options(unittest.TestCase):
    def refuse(self, *options):
        run = subprocess.run([str(SCRIPTS / "figures"), *options], capture_output=True, text=True,
                             env={**os.environ, "OAE_VP_BUILD": "/nonexistent"})
        self.assertEqual(run.returncode, 2, run)
        return run.stderr

    def test_help_names_all_figures(self):
        run = subprocess.run([str(SCRIPTS / "figures"), "--help"], capture_output=True, text=True, check=True)
        for name in command.PARTS:
            self.assertRegex(run.stdout, rf"(?m)^  {name} ")
        self.assertIn("An RTT is the delay of the wire or link", run.stdout)

    def test_mistakes_start_nothing(self):
        self.assertIn("no figures of 'nothing'; there are: " + " ".join(command.PARTS), self.refuse("nothing"))
        self.assertIn("unknown option '--what'", self.refuse("--what"))
        self.assertIn("--json needs a value", self.refuse("--json"))
        self.assertIn("--json: there is no folder", self.refuse("--json", "/nonexistent/file"))


class Tables(unittest.TestCase):
    def run_with(self, *names, **parts):
        """Exit code, output and JSON of a run with other parts."""
        before, argv = command.PARTS, sys.argv
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            file = pathlib.Path(folder) / "json"
            try:
                command.PARTS, sys.argv = parts, ["figures", "--build", "/b", "--json", str(file), *names]
                code = command.main()
            finally:
                command.PARTS, sys.argv = before, argv
            return code, out.getvalue(), json.loads(file.read_text())

    def test_columns_are_as_wide_as_their_widest(self):
        table = Table("Title", ["a", "long head"], [("one", ["1", "2"]), ("the second", ["10.00", "3"])], ["Note."])
        self.assertEqual(
            table.text().splitlines(),
            [
                "Title",
                "",
                "                  a  long head",
                "  one             1          2",
                "  the second  10.00          3",
                "  Note.",
            ],
        )

    def test_units(self):
        self.assertEqual((ns(1_234_567), ns(5), ns(0)), ("1,234.57", "0.01", "0.00"))
        self.assertEqual((rtts(15_000, 10_000), rtts(99_999, 100_000)), ("1.50", "1.00"))

    def test_verdicts(self):
        for met, word in ((True, "met "), (False, "NOT MET "), (None, "not modelled ")):
            text = Requirement("what", "who", "that", met).text()
            self.assertTrue(text.strip().startswith(word), text)
            self.assertTrue(text.endswith("  what: that"), text)
        required = [Requirement("a", "X", "1", True), Requirement("b", "Y", "2", True), Requirement("c", "X", "3", False)]
        self.assertEqual([line.split()[-2:] for line in required_text(required).splitlines() if line],
                         [["by", "X"], ["a:", "1"], ["c:", "3"], ["by", "Y"], ["b:", "2"]])

    def test_a_part_that_fails_does_not_hide_the_others(self):
        def good(_, progress):
            progress("at work")
            return [Table("Good", ["x"], [("row", ["1"])])], [Requirement("a", "b", "c", True)], {"x": 1}

        def bad(*_):
            raise Failure("no such thing")

        with contextlib.redirect_stderr(io.StringIO()) as said:
            code, out, numbers = self.run_with(bad=bad, good=good)
        self.assertEqual((code, numbers), (1, {"good": {"x": 1}}))
        self.assertIn("bad: failed: no such thing", out)
        self.assertRegex(out, r"(?s)Good.*row.*Required by b\n  met +a: c\n$")
        self.assertEqual(said.getvalue(), "good: at work\n")
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(self.run_with("good", bad=bad, good=good)[0], 0)

    def models(self):
        """With made-up times: each is the wire's, and 1 ns a step for the ends. Nothing else is printed."""
        found = {}
        for rate in link.RATES:
            for metres in link.METRES:
                delay = metres * link.METRE
                transfers = []
                for beats in (1, 4, 16, 64):
                    times = {"reflected": 2, "tentative": 1, "committed": 3, "settled": 4}
                    transfers.append({"flow": False, "beats": beats,
                                      **{key: ways * delay + 1_000 for key, ways in times.items()}})
                    transfers.append({"flow": True, "beats": beats, "committed": delay + 1_000,
                                      "settled": 2 * delay + 1_000})
                found.setdefault(rate, {})[metres] = {
                    "rate": rate * 10**9, "delay": delay, "clock": 512_000 // rate, "transfers": transfers}
        return found

    def test_round_trips_of_the_wire_and_what_the_ends_take(self):
        for name, texts in link.steps_table(self.models()).rows:
            ways = int(texts[0])
            near, far = ways * 5 + 1, ways * 50 + 1
            expected = [f"{near:.2f}", f"{near / 10:.2f}", f"{far:.2f}", f"{far / 100:.2f}", "1.00"]
            self.assertEqual(texts[1:], expected, name)

    def test_use_of_the_wire_is_of_its_own_rate(self):
        models = self.models()
        # A slot takes 5.12 ns of 100 Gb/s, and a flow is settled after 11 ns.
        self.assertAlmostEqual(link.use(models[100][1], True, 1), 100 * 5.12 / 11)
        self.assertAlmostEqual(link.use(models[200][1], True, 1), 50 * 5.12 / 11)
        self.assertAlmostEqual(link.use(models[100][10], False, 4), 100 * 4 * 5.12 / 201)

    def test_a_limit_is_not_met_on_its_edge(self):
        for settled, met in ((299_999, True), (300_000, False)):
            models = self.models()
            link.transfer(models[100][10], False)["settled"] = settled
            window = {"Rate1.OneWay": {"percent_one_way": 96.9}}
            chain = {2: {"hop_1_ns": 16.6}, 4: {"hop_1_ns": 16.6, "hop_2_ns": 49.99 if met else 50.0, "held_ns": 70.0}}
            verdicts = {each.what: each.met for each in link.requirements(models, window, chain)}
            self.assertIs(verdicts["send to acknowledgement below 300 ns in a rack, four phases, over 10 m"], met)
            self.assertIs(verdicts["a hop below 50 ns, cut through, with a window, over 1 m"], met)

    def test_records_of_a_test(self):
        report = {"testsuites": [{"name": "A", "testsuite": [{"name": "b", "line": 3, "file": "x", "time": "0.1s",
                                                               "settled_ns": "46.7"}]}]}
        self.assertEqual(link.recorded(report), {"A.b": {"settled_ns": 46.7}})


class Traces(unittest.TestCase):
    """What is made of the traces of machines."""

    LINES = [
        packet("MWr", "down", 100, 350, PAGE),
        packet("MWr", "down", 103, 353, PAGE + 8),
        packet("MRd", "down", 130, 380, PAGE + 0x40, tag=3),
        packet("MRd", "down", 135, 385, PAGE + 0x1040, tag=4),  # of another port
        state(390, "tentative", "idle", port=1),
        state(400, "tentative", "idle"),
        packet("CplD", "up", 420, 670, tag=4),
        packet("CplD", "up", 421, 671, tag=3),
        state(800, "committed", "tentative", port=1),
        packet("MWr", "down", 700, 950, PAGE + 0x48),
        state(960, "committed", "tentative"),
        packet("MRd", "down", 1000, 1250, PAGE + 0x50, tag=3),
        packet("CplD", "up", 1300, 1550, tag=3),
    ]

    def test_a_swap_by_its_packets_and_the_journal(self):
        self.assertEqual(swap.swaps_of(self.LINES, PAGE, PAGE + 0x40), [swap.Swap(100, 130, 671, 960)])
        self.assertEqual(swap.reads_of(self.LINES, PAGE + 0x50), [550])

    def test_an_answer_that_never_came_is_no_swap_until_it_is_asked_for_again(self):
        lines = [line for line in self.LINES if line.get("type") != "CplD" or line["tag"] != 3]
        lines = [line for line in lines if line.get("to") != "committed" and line["t"] < 1000]
        again = [packet("MRd", "down", 5000, 5250, PAGE + 0x40, tag=7), packet("CplD", "up", 5300, 5550, tag=7)]
        self.assertEqual(failures.answers_of(lines + again, [PAGE + 0x40]), [(130, 0), (5000, 5550)])
        self.assertEqual(swap.swaps_of(lines, PAGE, PAGE + 0x40), [])

    def test_states_of_the_port(self):
        self.assertEqual(failures.states_of(self.LINES, "committed"), [960])

    def test_beyond_the_round_trips(self):
        times = {50: {"answered": 100_206}, 250: {"answered": 500_206}, 1000: {"answered": 2_000_206}}
        self.assertEqual(swap.beyond(times, "answered", 1), [206])
        self.assertEqual(swap.beyond(times, "answered", 0.5), [50_206, 250_206, 1_000_206])
        times[1000]["answered"] += 1
        self.assertEqual(swap.beyond(times, "answered", 1), [206, 207])

    def swap_times(self, extra):
        one = {latency: {key: round(trips * 2000 * latency) + 100_000 for key, _, trips in swap.STEPS}
               for latency in swap.LATENCIES}  # fmt: skip
        one[1000]["answered"] += extra
        return {"pushed": one}

    def test_a_swap_is_round_trips_and_a_constant(self):
        for name, texts in swap.tables(self.swap_times(0))[0].rows:
            trips = float(texts[-2].split()[0])
            self.assertEqual(texts[:2], [f"{trips * 100 + 100:.2f}", f"{trips + 1:.2f}"], name)
            self.assertEqual(texts[-1], "100.00", name)
        self.assertTrue(swap.requirements(self.swap_times(0))[0].met)
        self.assertTrue(swap.requirements(self.swap_times(swap.BLOCK_CLOCK - 1))[0].met)
        self.assertFalse(swap.requirements(self.swap_times(swap.BLOCK_CLOCK))[0].met)
        rest = {name: texts[-1] for name, texts in swap.tables(self.swap_times(2_000))[0].rows}
        self.assertEqual(rest["host has committed, from its first store"], "100.00 to 102.00")

    def test_a_hop_with_its_firmware(self):
        for to_settle, met in ((90_000, True), (90_001, False)):
            of = {"to_link": 9_999, "link": to_settle, "settled": 290_000 + to_settle - 90_000}
            required = hosts.requirements({"pair": {1: of}, "window": {1: of}})
            self.assertEqual([each.met for each in required], [met] * 4)
            self.assertEqual(["a window" in each.what for each in required], [False, False, True, True])

    def test_the_middle_half_of_swaps(self):
        self.assertEqual(ports.middle_of([9, 1, 2, 3, 4, 5, 6, 7]), (3, 7, 4))
        self.assertEqual(ports.middle_of(range(0, 4000, 10)), (1000, 3000, 200))

    def test_swaps_a_second_are_of_simulated_time(self):
        self.assertEqual(ports.per_second({"swaps": 200, "time": 100_000_000}), 2_000_000)

    def test_ports_are_at_work_with_others_once(self):
        ports = [port for each in joined.ranges().values() for port in each]
        self.assertEqual(ports, list(range(joined.FIRST, joined.PORTS)))

    def test_joined_ports_by_what_their_hosts_have_committed(self):
        of = joined.figures_of({4: [0, 100, 200, 300, 400], 5: [500, 600, 700]})
        self.assertEqual(of, {"time": 400, "swaps": 4, "at_work": 2})
        # 4 slots of 512 bits in 400 ps are 5,120 Gb/s.
        self.assertAlmostEqual(joined.share_of_wire(of), 51.2)
        self.assertRaises(Failure, joined.figures_of, {4: [7, 7, 7, 7]})

    def test_use_of_a_link_is_bytes_and_not_latency(self):
        lines = [packet("MWr", "down", t, t + ports.LATENCY + 10) for t in range(0, 1000, 100)]
        lines.append(packet("MWr", "up", 500, 500 + ports.LATENCY + 500))
        self.assertAlmostEqual(ports.use_of(lines, "down", 0, 1000), 0.1)
        self.assertAlmostEqual(ports.use_of(lines, "down", 500, 1000), 0.1)
        self.assertAlmostEqual(ports.use_of(lines, "up", 0, 1000), 0.5)


    BAR = 0xC000000000

    def host_lines(self):
        """Lines of a swap that host 0 commits, and of those of host 1, by which it takes that slot."""

        def pcie(t, arr, host, kind, direction, offset=None):
            line = packet(kind, direction, t, arr)
            line.update(link=f"host{host}_ipu{host}", tag=7)
            if offset is not None:
                line["addr"] = hex(self.BAR + (hosts.PORT << 12) + offset)
            return line

        return [
            pcie(40, 70, 0, "MWr", "down", hosts.CONFIRM),
            pcie(60, 95, 0, "MWr", "down", hosts.CONFIRM),
            pcie(99, 130, 0, "MWr", "down", hosts.CONFIRM),  # arrives later
            pcie(80, 95, 0, "MWr", "down", 0),
            pcie(85, 89, 1, "MRd", "down", hosts.READ),
            pcie(91, 110, 1, "CplD", "up"),
            pcie(190, 195, 1, "MRd", "down", hosts.READ),
            pcie(202, 230, 1, "CplD", "up"),
        ]

    def paths(self, platform, lines, here=0, there=1):
        count, hosts.COUNT = hosts.COUNT, 1
        try:
            return hosts.paths_of(lines, platform, self.BAR, here, there)
        finally:
            hosts.COUNT = count

    def test_a_slot_from_host_to_host_over_a_bridge(self):
        def port(t, end, to, before):
            return {**state(t, to, before, hosts.PORT), "swap": f"ipu{end}.oae"}

        def bridge(t, end, passes, brings):
            return {"t": t, "bridge": f"ipu{end}.oae.link", "passes": passes, "brings": brings, "strays": 0}

        lines = sorted(self.host_lines() + [
            port(90, 1, "tentative", "idle"),
            port(100, 0, "committed", "tentative"),
            bridge(109, 0, 1, 0),
            {"t": 112, "window": "ipu0.oae.link", "sent": 1, "settled": 0, "expected": 1, "done": 0},
            {"t": 150, "window": "ipu1.oae.link", "sent": 0, "settled": 0, "expected": 2, "done": 1},
            bridge(160, 1, 0, 1),
            {"t": 180, "window": "ipu0.oae.link", "sent": 1, "settled": 1, "expected": 1, "done": 0},
            port(200, 1, "tentative", "committed"),
        ], key=lambda line: line["t"])  # fmt: skip
        self.assertEqual(self.paths("window", lines), [
            {"to_port": 40, "to_link": 9, "link": 51, "settled": 71, "to_swap": 40, "to_host": 30, "whole": 170}])  # fmt: skip
        with self.assertRaisesRegex(Failure, "1 slots of 1 were committed, 0 sent, 0 received"):
            self.paths("pair", lines)

    def test_a_slot_from_host_to_host_by_its_parts(self):
        def port(t, end, to, before):
            return {**state(t, to, before, hosts.PORT), "swap": f"ipu{end}.oae"}

        def link(t, end, machine, to, before):
            return {"t": t, "link": f"ipu{end}.oae_link0", "machine": machine, "number": 1, "from": before, "to": to}

        lines = self.host_lines() + [
            port(90, 1, "tentative", "idle"),  # answered by an empty slot
            port(100, 0, "committed", "tentative"),
            state(101, "committed", "tentative", port=0),
            link(110, 0, "sender", "tentative", "idle"),
            link(115, 1, "receiver", "tentative", "idle"),
            link(120, 0, "sender", "committing", "tentative"),
            link(130, 1, "receiver", "idle", "tentative"),
            link(150, 0, "sender", "idle", "committing"),
            port(200, 1, "tentative", "committed"),
        ]
        self.assertEqual(self.paths("pair", lines), [
            {"to_port": 40, "to_link": 10, "link": 20, "settled": 40, "to_swap": 70, "to_host": 30, "whole": 170}])  # fmt: skip
        with self.assertRaisesRegex(Failure, "0 slots of 1 were committed"):
            self.paths("pair", lines, 1, 0)


class Machines(unittest.TestCase):
    """Machines that run Linux."""

    def test_swaps_that_fail(self):
        _, required, found = failures.results(BUILD, lambda text: None)
        self.assertEqual([each.what for each in required if not each.met], [])
        self.assertEqual(found["lost"]["noticed"], found["lost"]["timeout"])
        self.assertEqual(found["down"]["outcome"], "committed")
        self.assertEqual(found["down"]["doubt"], found["down"]["back"] + found["down"]["settled"])
        self.assertLess(found["down"]["slowest"], 2 * failures.RTT)
        self.assertEqual(found["stopped"]["left"], 1)
        # Seen by the guest, whose clock counts whole ns and a few instructions more.
        self.assertLess(abs(found["stopped"]["later"] - found["stopped"]["answered"]), 50_000)

    def test_slots_from_host_to_host(self):
        metres, hosts.METRES = hosts.METRES, (10,)
        try:
            found = hosts.results(BUILD, lambda text: None)[2]
        finally:
            hosts.METRES = metres
        self.assertEqual(list(found), ["pair", "window"])
        for of in (found["pair"][10], found["window"][10]):
            # Three ways of 50 ns and four.
            self.assertGreater(of["link"], 150_000)
            self.assertGreater(of["settled"], max(200_000, of["link"]))
            self.assertLess(of["settled"], 400_000)
            self.assertGreater(of["whole"], of["to_link"] + of["link"] + 2 * 250_000)  # PCIe links of 250 ns
            # Between the two ways, the other host checks the slot that it has got, and confirms its own.
            self.assertGreater(of["round_trip"], of["two_ways"])
        # The cores of the firmware run an instruction in a nanosecond, and the bridge is not one of them.
        self.assertLess(found["window"][10]["to_link"], 20_000)
        self.assertGreater(found["pair"][10]["to_link"], 20_000)

    def test_swaps_cost_one_round_trip(self):
        latencies, swap.LATENCIES = swap.LATENCIES, (50, 1000)
        try:
            _, required, found = swap.results(BUILD, lambda text: None)
        finally:
            swap.LATENCIES = latencies
        self.assertEqual([each.what for each in required if not each.met], [])
        for form, times in found.items():
            rest = swap.beyond(times, "answered_from_read", 1)
            self.assertLess(rest[-1] - rest[0], swap.BLOCK_CLOCK, form)
            for of in times.values():
                self.assertLess(of["read"], of["answered_from_read"])
                self.assertLess(of["answered"], of["found_valid"])
                self.assertLess(of["found_valid"] - 20_000, of["committed"])


class Link(unittest.TestCase):
    """A run of all programs."""

    @classmethod
    def setUpClass(cls):
        cls.tables, cls.required, cls.numbers = link.results(BUILD, lambda text: None)
        cls.models, cls.rtl = cls.numbers["models"], cls.numbers["rtl"]
        cls.readme = (ROOT / "rtl" / "transfer" / "README.md").read_text()
        cls.window = cls.numbers["window"]

    def test_it_is_the_same_again(self):
        tables, required, numbers = link.results(BUILD, lambda text: None)
        self.assertEqual([table.text() for table in tables], [table.text() for table in self.tables])
        self.assertEqual(required, self.required)
        self.assertEqual(json.dumps(numbers), json.dumps(self.numbers))

    def test_commands_do_not_show_the_banner_of_systemc(self):
        program = f"{BUILD}/cmake/tests/models/oae/figures_oae_link {100 * 10**9} {link.METRE}"
        for environment, shown in (("", True), (f". {ROOT}/scripts/lib/environment.sh && ", False)):
            said = subprocess.run(["bash", "-c", f"{environment}exec {program}"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                                  env={"PATH": os.environ["PATH"]}).stdout
            self.assertIs("Accellera" in said, shown, said[:1000])

    def test_times_of_the_rtl_are_those_of_its_readme(self):
        number = r"([\d.]+)(?: ns)?"
        found = re.search(rf"reflection is back after {number} \(8 slices: {number}\).* checked at the other side after "
                          rf"{number}, the third phase has arrived there after {number} \({number}\), and the transfer "
                          rf"is settled after {number} \({number}\)", self.readme.replace("\n", " "))
        self.assertTrue(found, "rtl/transfer/README.md does not have them")
        one, eight = (self.rtl[width]["LinkRate1.LatenciesMeetTheirTargets"] for width in (1, 8))
        expected = [one["reflection_ns"], eight["reflection_ns"], one["tentative_ns"], one["committed_ns"],
                    eight["committed_ns"], one["settled_ns"], eight["settled_ns"]]  # fmt: skip
        self.assertEqual([float(text) for text in found.groups()], expected)

    def test_use_of_the_wire_by_the_rtl_is_that_of_its_readme(self):
        for width in (1, 8):
            row = re.search(rf"(?m)^\| {width} slices? a clock .*$", self.readme)[0]
            shares = [[float(text) for text in part.split(",")] for part in row.split("|")[2:-1]]
            near, far = (self.rtl[width][f"LinkRate{metres}.BeatsRecoverTheWire"] for metres in (1, 10))
            for names, texts in (("beats_", shares[:2]), ("four_phases_", shares[2:])):
                for of, text in zip((near, far), texts):
                    self.assertEqual([of[f"{names}{beats}"] for beats in (1, 4, 16, 64)], text)

    def test_figures_of_the_design_with_a_window_are_those_of_its_readme(self):
        readme = (ROOT / "rtl" / "link" / "README.md").read_text()
        one = self.window["Rate1.LatencyOfOneSlot"]
        for name, found in (
            ("1 m, one way and both ways", self.window["Rate1.OneWay"]["percent_one_way"]),
            ("1 m, one way and both ways", self.window["Rate1.BothWays"]["percent_both_ways"]),
            ("10 m", self.window["Rate10.OneWay"]["percent_one_way"]),
            ("10 m", self.window["Rate10.BothWays"]["percent_both_ways"]),
            ("1 m: from the ring until the other side holds the slot, ns", one["held_ns"]),
            ("1 m: until the other side has committed it", one["committed_ns"]),
            ("1 m: until it is settled", one["settled_ns"]),
            ("10 m: until it is settled", self.window["Rate10.SendToAcknowledgement"]["settled_ns"]),
        ):
            row = re.search(rf"(?m)^\| {re.escape(name)} \| ([\d.]+) \|", readme)
            self.assertEqual(f"{found:.1f}", row[1], name)

    def test_figures_of_chains_are_those_of_their_readme(self):
        readme = (ROOT / "rtl" / "relay" / "README.md").read_text()
        chain = self.numbers["chain"]
        rows = [("one hop", chain[2]["hop_1_ns"])]
        for links, of in chain.items():
            self.assertEqual(len([name for name in of if name.startswith("hop_")]), links - 1)
            self.assertEqual({time for name, time in of.items() if name.startswith("hop_")}, {rows[0][1]})
            before = {"held_ns": "the last cell holds it, ", "committed_ns": "the last cell has committed it, ",
                      "settled_ns": "it is settled at the first cell, "}  # fmt: skip
            rows += [(f"{text}over {links} hops", of[name]) for name, text in before.items()]
        for name, found in rows:
            texts = re.findall(rf"(?m)^\| {re.escape(name)} \| ([\d.]+) \|", readme)
            self.assertEqual([f"{found:.1f}"], texts, name)
        hop = next(each for each in self.required if "cut through" in each.what)
        self.assertEqual((hop.met, hop.found), (True, f"{rows[0][1]:.2f} ns"))

    def test_a_model_is_the_rtl_and_a_clock_more_each_way(self):
        """Of the RTL a clock's slices are seen at the next; of a model they leave until then, pass the wire, and are
        seen at the first edge after they have come."""
        pins = self.rtl[8]["LinkRate1.LatenciesMeetTheirTargets"]
        names = {(False, "reflected"): "reflection_ns", (False, "tentative"): "tentative_ns",
                 (False, "committed"): "committed_ns", (False, "settled"): "settled_ns",
                 (True, "committed"): "flow_committed_ns", (True, "settled"): "flow_settled_ns"}  # fmt: skip
        for rate, metres in ((rate, metres) for rate in link.RATES for metres in link.METRES):
            of = self.models[rate][metres]
            for text, flow, key, ways in link.STEPS:
                with self.subTest(text, rate=rate, metres=metres):
                    clocks = round(pins[names[flow, key]] / 5.12) - ways + ways * (2 + of["delay"] // of["clock"])
                    self.assertEqual(link.transfer(of, flow)[key], clocks * of["clock"])

    def test_slots_of_a_transfer_follow_each_other_without_a_gap(self):
        for flow in (True, False):
            one = link.transfer(self.models[100][1], flow)
            for beats in (4, 16, 64):
                many = link.transfer(self.models[100][1], flow, beats)
                for key in ("committed", "settled"):
                    self.assertEqual(many[key] - one[key], (beats - 1) * self.models[100][1]["clock"])

    def test_silence_is_noticed_when_its_limit_is_over(self):
        for of in (self.models[rate][metres] for rate in link.RATES for metres in link.METRES):
            for each in of["silence"]:
                limit = each["slices"] * of["clock"] / 8
                self.assertGreaterEqual(each["noticed"], limit)
                self.assertLess(each["noticed"], limit + of["delay"] + 5 * of["clock"])

    def test_doubt_ends_with_the_outage(self):
        for of in (self.models[rate][metres] for rate in link.RATES for metres in link.METRES):
            doubt = of["doubt"]
            self.assertEqual(doubt["cuts"], doubt["reversed_at_once"] + doubt["in_doubt"])
            self.assertEqual(doubt["in_doubt"] % 2, 0)
            # The confirm, in doubt, is lost or the done is: each passes the wire once.
            self.assertEqual(doubt["committed"], doubt["in_doubt"] // 2)
            self.assertGreater(doubt["longest"], doubt["outage"])
            self.assertLess(doubt["settled_after"], 4 * of["delay"] + 16 * of["clock"])


def main():
    global BUILD
    programs = [pathlib.Path(word) for word in sys.argv[1:] if "/" in word]
    if programs:
        # CMake's build folder is that of `cmake/` in the build.
        BUILD = next(folder.parent for folder in programs[0].parents if folder.name == "cmake")
    sys.argv[1:] = [word for word in sys.argv[1:] if "/" not in word]
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
