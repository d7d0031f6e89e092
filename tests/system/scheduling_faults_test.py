# SPDX-License-Identifier: Apache-2.0
"""An agent fails under full load, on the host or on the IPU, or the way to it does. Linux goes on, the fault is noticed, and
the agent decides again where it can. The faults and their figures are those of scripts/lib/study/faults.py.

An agent's core fails when it is told to: tests/firmware/faulty_agent_firmware.c.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import hot_plug_test
import machine
import scheduling_test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lib"))
from study import faults  # noqa: E402

FIRMWARE = os.environ.get("OAE_VP_FAULTY_AGENT", "build/cmake/tests/firmware/faulty_agent.elf")

MS = 1_000_000
PATIENCE = 20 * MS
SILENCE = 15 * MS  # of a swap port
TICK = 4 * MS  # of the kernel: so long are turns without an agent

# Until it is noticed, by sign: the watchdog looks every 5 ms, which ends at a tick, and tasks still run by decisions that were
# made before. Other signs are seen when a CPU looks for a decision, or by the driver.
LIMITS = {"watchdog": (PATIENCE, PATIENCE + 3 * TICK), "silence": (SILENCE, PATIENCE + 3 * TICK), "all_ones": (0, 15 * MS),
          "doubt": (0, 15 * MS), "reset": (0, 15 * MS), "removal": (0, 15 * MS)}
OF_AGENT = {"host": {"watchdog"}, "queue": {"watchdog"}, "port": {"watchdog", "silence"}}
OF_LINK = {"queue": {"all_ones", "reset", "removal"}, "port": {"doubt", "reset", "removal"}}
LINK = ("cut", "disabled", "pulled")

UNTRACED = ("killed",)  # so would be what writes the trace

# What the boot has left to do would keep a CPU from tasks for longer than the watchdog's patience.
BEGIN = "sleep 0.4\n"

# What the kernel has to say of a link that is cut and of a card that is pulled.
EXPECTED = re.compile(r"pcieport 0000:00:01\.0: +(DPC|AER|pciehp|PCIe Bus Error|device|\[ ?\d+\])|"
                      r"oae_sched_port: port 0 cannot be claimed|cpu_acquire/release\(\) are deprecated")


class Case(machine.TestCase):
    """Runs points of one machine, each in a fork of it."""
    kind = "hot_plug"
    faults = ()  # by name
    variants = ("queue", "port")

    @classmethod
    def points(cls):
        return [point for point in faults.points() if point.fault in cls.faults and point.variant in cls.variants]

    @classmethod
    def setUpClass(cls):
        scripts = {point: BEGIN + faults.command(point, traced=point.fault not in UNTRACED) for point in cls.points()}
        options = [word for value in (*faults.COMMON, *faults.MACHINES[cls.kind]) for word in ("--set", value)]
        machines = machine.Children(*options, "--firmware", FIRMWARE, scripts=scripts)
        for file in scheduling_test.FILES:
            shutil.copy(file, machines.share)
        cls.machines = machines.finish()
        assert len(machines.children) == len(scripts), machines
        cls.results = {}

    @classmethod
    def tearDownClass(cls):
        if cls.results:
            print(faults.table(cls.results).text(), flush=True)

    def child(self, point):
        child = self.machines.children[point]
        self.assertEqual(child.guest_code, 0, child)
        return child

    def result(self, point):
        if point not in self.results:
            child = self.child(point)
            self.results[point] = faults.result(point, {name: child.file(name) for name in faults.FILES})
        return self.results[point]

    def each(self, check):
        """Calls a function for each point: with the point, its fault, and its result."""
        for point in self.points():
            with self.subTest(point.title()):
                check(point, faults.FAULTS[point.fault], self.result(point))

    def first(self, result):
        self.assertEqual(len(result["fallbacks"]), 1, result)
        return result["fallbacks"][0]

    def check_linux_goes_on(self):
        def check(point, fault, result):
            child = self.child(point)
            said = [line for line in machine.kernel_messages(child.file("dmesg"), 4) if not EXPECTED.search(line)]
            self.assertEqual(said, [])
            self.assertEqual([line for line in child.file("dmesg").splitlines() if hot_plug_test.TROUBLE.search(line)], [])
            self.assertEqual(child.file("state"), "disabled\n")
            # Without its firmware, an agent cannot say what it has counted.
            if point.fault != "killed":
                self.assertEqual(result["code"], 0 if fault.returns or point.variant == "host" else 125)

        self.each(check)

    def check_signs(self):
        def check(point, fault, result):
            if not fault.noticed or point.fault == "killed":
                return
            first = self.first(result)
            least, most = LIMITS[first["sign"]]
            self.assertIn(first["sign"], (OF_LINK if point.fault in LINK else OF_AGENT)[point.variant])
            self.assertGreater(first["noticed"], least)
            self.assertLess(first["noticed"], most)
            self.assertLess(first["fallback"] - first["noticed"], MS)
            self.assertLess(first["waited"], most + MS)

        self.each(check)

    def check_no_thread_starves(self):
        """Those that spin would keep a CPU until they end if their time slices did not."""
        def check(point, fault, result):
            if result["fallbacks"]:
                # Of four that spin on two CPUs, each waits for three turns at most, and for what the kernel does meanwhile.
                self.assertLess(result["longest_gap"], result["fallbacks"][0]["fallback"] + 5 * TICK)

        self.each(check)

    def check_returns(self):
        def check(point, fault, result):
            if fault.noticed and fault.returns:
                first = self.first(result)
                self.assertGreater(first["resumed"], first["fallback"])
                self.assertGreater(first["decided"], first["resumed"])
                self.assertLess(first["decided"] - first["resumed"], 2 * TICK)
                complete = int(re.search(r"(?m)^outcome COMPLETE (\d+)$", self.child(point).file("out"))[1])
                self.assertGreater(complete, 10)

        self.each(check)


    def account(self, point):
        """What became of each message and decision of a run. No mistake may be found in its trace."""
        words = [scheduling_test.TRACE, "account", self.child(point).share / "trace"]
        run = subprocess.run(words, text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return {what: int(number) for what, number in (line.rsplit(" ", 1) for line in run.stdout.splitlines()[1:])}

    def check_accounts(self):
        def check(point, fault, result):
            if point.fault in UNTRACED:
                return
            account, out = self.account(point), self.child(point).file("out")
            ended = [account[what] for what in ("ran", "taken_back", "withdrawn", "discarded")]
            aborted = [number for what, number in account.items() if what.startswith("aborted ")]
            self.assertEqual(account["decisions"], sum(ended + aborted))
            sent = sum(int(number) for number in re.findall(r"(?m)^message \w+ sent (\d+) ", out))
            self.assertEqual(account["messages"], sent + account["lost"])
            self.assertEqual(account["lost"], result["lost"])
            resumed = [each for each in result["fallbacks"] if each["resumed"] is not None]
            self.assertEqual((account["fallbacks"], account["resumed"]), (len(result["fallbacks"]), len(resumed)))
            # `schedule` says what was not delivered only of agents that another one follows.
            if len(resumed) == len(result["fallbacks"]):
                known = [each["undelivered"] for each in resumed if each["undelivered"] is not None]
                self.assertEqual(account["undelivered"], sum(known))
                self.assertEqual(account["undelivered_unknown"], len(resumed) - len(known))
            for what in ("turns", "turns_ns", "withheld"):
                self.assertEqual(account[what] > 0, bool(result["fallbacks"]), what)

        self.each(check)

    def check_damages(self):
        traces = [self.child(point).share / "trace" for point in self.points() if point.fault not in UNTRACED]
        scheduling_test.check_damages(self, traces)


class Agent(Case):
    """The agent on the host or on the IPU fails, or is slow, or its card is pulled."""
    faults = ("killed", "stopped_1000us", "stopped_100000us", "pause_10000us", "pause_100000us", "hang", "crash", "pulled")
    variants = ("host", "queue", "port")

    @classmethod
    def points(cls):
        # Firmware that fails begins anew in the same way, whatever way leads to it.
        left_out = {("port", "pause_100000us"), ("queue", "crash")}
        return [point for point in super().points() if (point.variant, point.fault) not in left_out]

    def test_linux_goes_on(self):
        self.check_linux_goes_on()

    def test_an_agent_that_does_not_work_is_noticed(self):
        self.check_signs()

    def test_tasks_take_turns_without_an_agent(self):
        self.check_no_thread_starves()

    def test_it_decides_again(self):
        self.check_returns()

    def test_each_message_and_decision_is_accounted_for(self):
        self.check_accounts()

    def test_damage_to_a_trace_is_found(self):
        self.check_damages()

    def test_a_slow_agent_is_no_false_alarm(self):
        def check(point, fault, result):
            if fault.noticed:
                return
            self.assertEqual(result["fallbacks"], [])
            self.assertNotIn("begins anew", self.child(point).log("ipu"))
            run = subprocess.run([scheduling_test.TRACE, "check", self.child(point).share / "trace"], text=True,
                                 capture_output=True, timeout=60, check=False)
            self.assertEqual((run.returncode, run.stderr), (0, ""))

        self.each(check)

    def test_the_end_of_an_agent_on_the_host_ends_its_scheduler(self):
        killed = self.result(faults.Point("host", "killed"))
        self.assertLess(killed["ended"], 50 * MS)
        self.assertEqual(killed["code"], 137)

    def test_firmware_reports_and_begins_anew(self):
        def check(point, fault, result):
            if point.variant != "host" and fault.noticed and fault.returns:
                self.assertEqual(self.child(point).log("ipu").count("core 1 does not answer the host, and begins anew"), 1)

        self.each(check)
        log = self.child(faults.Point("port", "crash")).log("ipu")
        self.assertIn("fault on core 1: data abort", log)
        self.assertIn("core 1 waits until the host starts it again", log)

    def test_what_was_not_delivered_is_known(self):
        hang = self.first(self.result(faults.Point("queue", "hang")))
        self.assertGreater(hang["undelivered"], faults.THREADS / 2)
        self.assertLess(hang["undelivered"], 256)
        # What a CPU has kept leaves room for as many events as it has tasks to report.
        hang = self.first(self.result(faults.Point("port", "hang")))
        self.assertLess(hang["undelivered"], 4 * faults.THREADS)


class Link(Case):
    """The link is cut, for a while or for good, and Linux contains that."""
    kind = "containment"
    faults = ("cut", "disabled")

    def test_linux_goes_on(self):
        self.check_linux_goes_on()

    def test_it_is_noticed(self):
        self.check_signs()

    def test_tasks_take_turns_without_an_agent(self):
        self.check_no_thread_starves()

    def test_the_agent_decides_again_once_the_link_is_back(self):
        self.check_returns()

    def test_each_message_and_decision_is_accounted_for(self):
        self.check_accounts()

    def test_damage_to_a_trace_is_found(self):
        self.check_damages()


if __name__ == "__main__":
    machine.main()
