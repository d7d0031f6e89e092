# SPDX-License-Identifier: Apache-2.0
"""An agent fails under full load, on the host or on the IPU, or the way to it does. Linux goes on, the fault is noticed, and
the agent decides again where it can. The runs and their figures are those of the study: scripts/lib/study/loads/faults.py.

An agent's core fails when it is told to: tests/firmware/faulty_agent_firmware.c.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import hot_plug_test
import machine
import scheduling_test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lib"))
from study.loads import LOADS as STUDIED, faults, load  # noqa: E402
from study.matrix import Run  # noqa: E402

BUILD = pathlib.Path(scheduling_test.FAULTY_AGENT).resolve().parents[2]  # where the study finds programs, too

# What oae-mini lacks of the study's platform. It is slower, so that a guest spins for fewer instructions.
COMMON = ("ipus[0].cores=2", "ipus[0].endpoint.queue_function.present=true", "ipus[0].endpoint.queue_function.memory=256KiB")

MS = 1_000_000
PATIENCE = 20 * MS
SILENCE = 15 * MS  # of a swap port
TICK = 4 * MS  # of the kernel: so long are turns without an agent

# While the agent pauses, a CPU that runs none of its tasks changes all of them, and then has nothing more to say.
CHANGES = 12  # of each thread
RENICED = faults.Fault(
    "pause-reniced", "pause of 10 ms in which tasks are changed",
    f"taskset -p 1 $$ > /dev/null; tasks=$(ls /proc/$(pidof tasks)/task); {faults.order(1, 10_000)}; "
    f"renice -n 1 -p {CHANGES * '$tasks '}",
    (faults.SWAP_PORTS,), spin_us=3 * faults.SPIN_US, noticed=False)  # fmt: skip
LOADS = {**STUDIED, RENICED.name: RENICED}

# Until it is noticed, by sign: the watchdog looks every 5 ms, and tasks still run by decisions that were made before. Other signs
# are seen when a CPU looks for a decision, or by the driver.
LIMITS = {"watchdog": (PATIENCE, PATIENCE + 3 * TICK), "silence": (SILENCE, PATIENCE + 3 * TICK), "all_ones": (0, 15 * MS),
          "doubt": (0, 15 * MS), "reset": (0, 15 * MS), "removal": (0, 15 * MS)}
# Of a link that is cut for good, no driver tells, and tasks that spin twice as long keep all CPUs. If none looks, the watchdog acts.
LIMITS_OF = {("disabled", "all_ones"): (0, PATIENCE + 3 * TICK)}
DAMAGED = ("stopped-100ms", "hang", "cut")  # Traces of these are damaged, which takes a while.

# The signs that may come first. Of a dead agent behind swap ports, a CPU that idles is the first to know, since it looks often. A
# reset and a card that is gone are noticed by the driver, or by a CPU that looks before.
OF_AGENT = {faults.HOST: {"watchdog"}, faults.QUEUES: {"watchdog"}, faults.SWAP_PORTS: {"watchdog", "silence"}}
OF_CARD = {faults.QUEUES: {"removal", "all_ones"}, faults.SWAP_PORTS: {"removal", "doubt"}}
FIRST_SIGNS = {
    "hang-idle": {faults.SWAP_PORTS: {"silence"}},
    "cut": {faults.QUEUES: {"reset", "all_ones"}, faults.SWAP_PORTS: {"reset", "doubt"}},
    "disabled": {faults.QUEUES: {"all_ones"}, faults.SWAP_PORTS: {"doubt"}},
    "pulled": OF_CARD,
    "replaced": OF_CARD,
}

# What the kernel has to say of a link that is cut and of a card that is pulled.
EXPECTED = re.compile(r"pcieport 0000:00:01\.0: +(DPC|AER|pciehp|PCIe Bus Error|device|\[ ?\d+\])|"
                      r"oae_sched_port: port 0 cannot be claimed|cpu_acquire/release\(\) are deprecated")


class Case(machine.TestCase):
    """Makes runs of one machine, each in a fork of it."""
    loads = ()  # by name

    @classmethod
    def runs(cls):
        return [cls.run_of(name, variant) for name in cls.loads for variant in LOADS[f"fault-{name}"].variants]

    @classmethod
    def setUpClass(cls):
        cls.all_runs = cls.runs()
        scripts = {run: LOADS[run.load].command(run) for run in cls.all_runs}
        first = cls.all_runs[0]
        options = [word for value in (*COMMON, *LOADS[first.load].platform) for word in ("--set", value)]
        options += ["--firmware", scheduling_test.FAULTY_AGENT]
        machines = machine.Children(*options, scripts=scripts, mark=load.MARK, append=f"vp.run={load.SHARE}/boot")
        machines.command += ["--stats", str(machines.folder / "stats")]
        for file in scheduling_test.FILES:
            shutil.copy(file, machines.share)
        (machines.share / "boot").write_text(LOADS[first.load].boot())
        cls.machines = machines.finish()
        assert len(machines.children) == len(scripts), machines
        cls.results = {}

    def child(self, run):
        child = self.machines.children[run]
        self.assertEqual(child.guest_code, 0, child)
        return child

    def result(self, run):
        if run not in self.results:
            child = self.child(run)
            self.assertEqual(child.file("err"), "")
            stats = json.loads((child.folder / "stats.json").read_text())
            self.results[run] = LOADS[run.load].result(run, load.Files(child.share, stats, BUILD))
        return self.results[run]

    @staticmethod
    def run_of(name, variant):
        return Run(f"fault-{name}", variant, "", 0.0, 0, ())

    def result_of(self, name, variant):
        return self.result(self.run_of(name, variant))

    def each(self, check):
        """Calls a function for each run: with the run, its load, and its result."""
        for run in self.all_runs:
            with self.subTest(f"{run.variant}: {LOADS[run.load].title}"):
                check(run, LOADS[run.load], self.result(run))

    def first(self, result):
        self.assertEqual(len(result["fallbacks"]), 1, result)
        return result["fallbacks"][0]

    def check_linux_goes_on(self):
        def check(run, fault, result):
            child = self.child(run)
            said = [line for line in machine.kernel_messages(child.file("dmesg"), 4) if not EXPECTED.search(line)]
            self.assertEqual(said, [])
            self.assertEqual([line for line in child.file("dmesg").splitlines() if hot_plug_test.TROUBLE.search(line)], [])
            self.assertEqual(child.file("state"), "disabled\n")
            # Without its firmware, an agent cannot say what it has counted.
            if fault is not faults.KILL:
                code = 0 if fault.returns or run.variant == faults.HOST else 125
                self.assertEqual(child.file("code"), f"{code}\n")

        self.each(check)

    def check_signs(self):
        def check(run, fault, result):
            if not fault.noticed or fault is faults.KILL:
                return
            first, name = self.first(result), fault.name.removeprefix("fault-")
            least, most = LIMITS_OF.get((name, first["sign"]), LIMITS[first["sign"]])
            self.assertIn(first["sign"], FIRST_SIGNS.get(name, OF_AGENT)[run.variant])
            self.assertGreater(first["noticed"], least)
            self.assertLess(first["noticed"], most)
            self.assertLess(first["fallback"] - first["noticed"], MS)
            self.assertLess(first["waited"], most + MS)

        self.each(check)

    def check_no_thread_starves(self):
        """Those that spin would keep a CPU until they end if their time slices did not."""
        def check(run, fault, result):
            if result["fallbacks"]:
                # Of four that spin on two CPUs, each waits for three turns at most, and for what the kernel does meanwhile.
                self.assertLess(result["longest_gap"], result["fallbacks"][0]["fallback"] + 5 * TICK)

        self.each(check)

    def check_returns(self):
        def check(run, fault, result):
            if fault.noticed and fault.returns:
                first = self.first(result)
                self.assertGreater(first["resumed"], first["fallback"])
                self.assertGreater(first["decided"], first["resumed"])
                self.assertLess(first["decided"] - first["resumed"], 2 * TICK)
                complete = int(re.search(r"(?m)^outcome COMPLETE (\d+)$", self.child(run).file("out"))[1])
                self.assertGreater(complete, 10)

        self.each(check)

    def check_no_false_alarm(self):
        def check(run, fault, result):
            if fault.noticed:
                return
            self.assertEqual(result["fallbacks"], [])
            self.assertNotIn("begins anew", self.child(run).log("ipu"))
            checked = subprocess.run([scheduling_test.TRACE, "check", "--wait", "20", self.child(run).share / "trace"], text=True,
                                     capture_output=True, timeout=60, check=False)
            self.assertEqual((checked.returncode, checked.stderr), (0, ""))

        self.each(check)

    def account(self, run):
        """What became of each message and decision of a run. No mistake may be found in its trace."""
        words = [scheduling_test.TRACE, "account", "--wait", "20", self.child(run).share / "trace"]
        done = subprocess.run(words, text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {what: int(number) for what, number in (line.rsplit(" ", 1) for line in done.stdout.splitlines()[1:])}

    def check_accounts(self):
        def check(run, fault, result):
            if not fault.traced:
                return
            account, out = self.account(run), self.child(run).file("out")
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
        traces = [self.child(run).share / "trace" for run in self.all_runs if run.load.removeprefix("fault-") in DAMAGED]
        scheduling_test.check_damages(self, traces)

    def check_lost(self, name):
        """Queues lose what they held as the device is reset, and nobody can say how much. What is kept for swap ports is here."""
        self.assertIsNone(self.first(self.result_of(name, faults.QUEUES))["undelivered"])
        self.assertIsNotNone(self.first(self.result_of(name, faults.SWAP_PORTS))["undelivered"])


class Withstood:
    """What holds whatever fails: for subclasses of Case."""

    def test_linux_goes_on(self):
        self.check_linux_goes_on()

    def test_it_is_noticed(self):
        self.check_signs()

    def test_tasks_take_turns_without_an_agent(self):
        self.check_no_thread_starves()


class Accounted:
    """The traces of such a group are whole: for subclasses of Case."""

    def test_each_message_and_decision_is_accounted_for(self):
        self.check_accounts()

    def test_damage_to_a_trace_is_found(self):
        self.check_damages()


class Agent(Withstood, Accounted, Case):
    """The agent on the host or on the IPU fails, or is slow."""
    loads = ("killed", "stopped-1ms", "stopped-100ms", "pause-10ms", "pause-reniced", "pause-100ms", "hang", "hang-idle", "crash")

    @classmethod
    def runs(cls):
        # Firmware that fails begins anew in the same way, whatever way leads to it.
        left_out = {("fault-pause-100ms", faults.SWAP_PORTS), ("fault-crash", faults.QUEUES), ("fault-hang-idle", faults.QUEUES)}
        return [run for run in super().runs() if (run.load, run.variant) not in left_out]

    def test_it_decides_again(self):
        self.check_returns()

    def test_a_slow_agent_is_no_false_alarm(self):
        self.check_no_false_alarm()

    def test_a_cpu_that_has_kept_much_delivers_it_at_once(self):
        """Until then, the agent cannot use what other CPUs say about the same tasks. None waits for as long as the watchdog allows."""
        run = self.run_of("pause-reniced", faults.SWAP_PORTS)
        changes = RENICED.threads * CHANGES
        out = self.child(run).file("out")
        self.assertGreaterEqual(load.numbers("message", out)["PRIORITY_CHANGED"], changes)
        self.assertGreater(load.number("port kept", out), changes / 2)
        self.assertLess(self.result(run)["longest_gap"], PATIENCE)

    def test_the_end_of_an_agent_on_the_host_ends_its_scheduler(self):
        self.assertLess(self.result_of("killed", faults.HOST)["ended"], 50 * MS)
        self.assertEqual(self.child(self.run_of("killed", faults.HOST)).file("code"), "137\n")

    def test_firmware_reports_and_begins_anew(self):
        def check(run, fault, result):
            if run.variant != faults.HOST and fault.noticed and fault.returns:
                self.assertEqual(self.child(run).log("ipu").count("core 1 does not answer the host, and begins anew"), 1)

        self.each(check)
        log = self.child(self.run_of("crash", faults.SWAP_PORTS)).log("ipu")
        self.assertIn("fault on core 1: data abort", log)
        self.assertIn("core 1 waits until the host starts it again", log)

    def test_what_was_not_delivered_is_known(self):
        threads = LOADS["fault-hang"].threads
        hang = self.first(self.result_of("hang", faults.QUEUES))
        self.assertGreater(hang["undelivered"], threads / 2)
        self.assertLess(hang["undelivered"], 256)
        # What a CPU has kept leaves room for as many events as it has tasks to report.
        hang = self.first(self.result_of("hang", faults.SWAP_PORTS))
        self.assertGreater(hang["undelivered"], 0)
        self.assertLess(hang["undelivered"], 4 * threads)


class Card(Withstood, Case):
    """The card is pulled, for a while or for good, or its link is trained again."""
    loads = ("retrained", "pulled", "replaced")

    def test_the_agent_of_the_new_card_decides(self):
        self.check_returns()
        for variant in faults.ON_IPU:
            # The card was away for 20 ms, and Linux waits before it uses what is new in the slot.
            self.assertGreater(self.first(self.result_of("replaced", variant))["resumed"], 20 * MS)

    def test_a_link_that_is_trained_again_is_no_false_alarm(self):
        self.check_no_false_alarm()

    def test_what_was_lost(self):
        self.check_lost("replaced")


class Link(Withstood, Accounted, Case):
    """The link is cut, for a while or for good, and Linux contains that."""
    loads = ("cut", "disabled")

    def test_the_agent_decides_again_once_the_link_is_back(self):
        self.check_returns()

    def test_what_was_lost(self):
        self.check_lost("cut")


if __name__ == "__main__":
    machine.main()
