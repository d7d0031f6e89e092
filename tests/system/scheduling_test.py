# SPDX-License-Identifier: Apache-2.0
"""Tasks that an agent schedules, on the host or on the IPU, through sched_ext: guest/scheduling.

OAE_VP_SCHEDULING names the files that the guest needs, with colons between them: modules, `schedule`, `tasks` and `decisions`.
OAE_VP_SCHEDULING_TRACE names the build machine's `scheduling-trace` and `scheduling_trace_damages`.
"""
import collections
import os
import re
import shutil
import statistics
import subprocess

import hot_plug_test
import machine

FILES = os.environ.get("OAE_VP_SCHEDULING", "").split(":")
TRACE, DAMAGES = os.environ.get("OAE_VP_SCHEDULING_TRACE", ":").split(":")

FAULTY_AGENT = os.environ.get("OAE_VP_FAULTY_AGENT", "build/cmake/tests/firmware/faulty_agent.elf")
ORDER = 0xf00  # in the memory of the queue function

# The agent has a core of its own, and the function of queues.
QUEUES = ("--set", "ipus[0].cores=2", "--set", "ipus[0].endpoint.queue_function.present=true",
          "--set", "ipus[0].endpoint.queue_function.memory=256KiB")

# CPU 0 is left to an agent on the host, so two CPUs run the tasks.
VCPUS = 3
LOADS = {"spin": "spin 5 1000", "yield": "yield 4 40", "ping": "ping 2 150", "move": "move 2 12", "renice": "renice 3 15",
         "start": "start 2 12"}
THREADS = {"spin": 5, "yield": 4, "ping": 2, "move": 2, "renice": 3, "start": 2 + 2 * 12}
# On one CPU, each wake-up of ping is a context switch.
RUNS = {"fifo-central": ("ping", "renice", "yield"), "fifo-central --cpus 1 --prestage": ("ping",),
        "fifo-central --prestage": ("spin", "start"), "fifo-per-cpu": ("spin", "move"), "fifo-per-cpu --prestage": ("ping",),
        "shinjuku": ("spin", "start"), "shinjuku --prestage": ("move", "yield"),
        "vm --time-slice 300us --prestage": ("spin", "renice")}
RUNS = {f"{load} {policy}": f"--policy {policy} tasks {LOADS[load]}" for policy, loads in RUNS.items() for load in loads}
# Some are not traced, as most users run it.
TRACED = [name for name in RUNS if not name.startswith("renice")]
for name in TRACED:
    file = f"/share/{name.replace(' ', '_')}"
    RUNS[name] = f"--trace {file}.trace {RUNS[name].replace('tasks ping', f'tasks --stamps {file}.stamps ping')}"

OTHERS = {"killed": """
schedule tasks spin 3 100000 &
begun
cat /sys/kernel/sched_ext/state
kill -9 $!
over
cat /sys/kernel/sched_ext/state
unload
test -e /sys/module/oae_sched || echo unloaded
insmod /share/oae_sched.ko ring_elements=64
""", "stopped": """
schedule --watchdog 20ms tasks spin 3 50000 &
begun
kill -STOP $!
over
cat /sys/kernel/sched_ext/state
kill -CONT $!
code wait $!
""", "lost": """
schedule tasks spin 3 3000000 &
begun
kill -STOP $!
for turn in $(seq 200); do usleep 100; done
kill -CONT $!
for try in $(seq 100); do grep -q disabled /sys/kernel/sched_ext/state && break; sleep 0.01; done
cat /sys/kernel/sched_ext/state
killall tasks
code wait $!
unload
insmod /share/oae_sched.ko
""", "even": """
schedule --policy vm --time-slice 300us tasks share 3 15000
schedule tasks share 3 15000
""", "overflow": """
code schedule --trace /share/overflow.trace --records 10 tasks ping 2 10
code schedule --trace /no/such/file true
""", "decisions": """
code decisions
code decisions owner
""", "wrong": """
code schedule --help
code schedule --policy best true
code schedule --cpus 0-2 true
code schedule --cpus 3 true
code schedule --time-slice 1ms true
code schedule
code schedule /no/such
code schedule sh -c 'exit 3'
code schedule sh -c 'kill -9 $$'
"""}

# A kernel frees a BPF program some time after it ended, which can be more than a second, and keeps the module until then.
BEGIN = """
PATH=/share:$PATH
code() { code=0; "$@" || code=$?; echo "code $code"; }
unload() { for try in $(seq 500); do rmmod oae_sched && break; sleep 0.01; done; }
begun() { for try in $(seq 100); do pidof tasks && return; sleep 0.01; done; }
over() { for try in $(seq 500); do pidof tasks > /dev/null || grep -q disabling /sys/kernel/sched_ext/state || return 0; sleep 0.01; done; }
sleep 0.4  # What the boot has left to do would keep a CPU from tasks for longer than the watchdog's patience.
insmod /share/oae_sched.ko
"""
OTHERS["silent"] = OTHERS["stopped"].replace("--watchdog 20ms", "--watchdog 20ms --watchdog-by liveness")


def blocks(runs, begin=BEGIN):
    """Returns a script that makes these runs one after the other, so that QEMU has to translate the guest's code once."""
    names = {name: name.replace(" ", "_") for name in runs}
    return begin + "".join(f"dmesg -c > /dev/null\n{{ {runs[name]}\n}} > /share/{file}.out 2> /share/{file}.err\n"
                           f"dmesg -r > /share/{file}.dmesg\n" for name, file in names.items())


def halves(start, begin=BEGIN, names=tuple(RUNS)):
    """Returns scripts with half of the runs each, which `start` begins."""
    half = len(names) // 2
    return {part: blocks({name: f"code {start} {RUNS[name]}" for name in some}, begin)
            for part, some in (("first", names[:half]), ("second", names[half:]))}


def check_damages(case, traces):
    """Checks that a trace that is damaged is refused."""
    run = subprocess.run([DAMAGES, *traces], text=True, capture_output=True, timeout=400, check=False)
    *lines, last = run.stdout.splitlines()
    damages = int(last.removeprefix("damages "))
    # Some damages find no place. A decision with another end leaves a trace that could be true, if its task was taken back then.
    not_done = [line for line in lines if line.startswith("not done: ")]
    case.assertLessEqual(len(not_done), 3, run.stdout)
    case.assertLess(len(lines) - len(not_done), damages / 1000, run.stdout)
    case.assertGreater(damages, 1000)


class Runs:
    """Checks of runs that are alike wherever the agent is."""
    names = tuple(RUNS)

    def with_(self, word):
        """Returns those of the runs that have this word in their name."""
        return [name for name in self.names if word in name]

    def traced(self):
        return [name for name in self.names if name in TRACED]

    @classmethod
    def run_(cls, scripts, *options):
        machines = machine.Children("--set", f"hosts[0].vcpus={VCPUS}", *options, scripts=scripts)
        for file in FILES:
            shutil.copy(file, machines.share)
        cls.machines = machines.finish()
        assert len(machines.children) == len(scripts), machines
        for child in machines.children.values():
            assert child.guest_code == 0, child

    def text(self, name, kind="out"):
        """Returns a file of a run: what it has printed, its errors, or what the kernel has said."""
        for child in self.machines.children.values():
            file = child.share / f"{name.replace(' ', '_')}.{kind}"
            if file.exists():
                return file.read_text()
        return self.fail(f"{name} has left no file")

    def counts(self, name):
        """Returns the counts of a run: messages, decisions and outcomes by name."""
        found = collections.defaultdict(collections.Counter)
        for line in self.text(name).splitlines():
            words = line.split()
            if words[0] == "message":
                self.assertEqual(words[3], words[5], line)
            if words[0] in ("message", "decision", "outcome", "slots"):
                found[words[0]][words[1]] = int(words[-1] if words[0] != "message" else words[3])
        return found

    def test_all_tasks_finish(self):
        for name in self.names:
            with self.subTest(name):
                self.assertEqual(self.text(name, "err"), "")
                self.assertRegex(self.text(name), r"(?m)^\w+ \d+ done in \d+ ns$")
                self.assertRegex(self.text(name), r"(?m)^code 0$")

    def test_the_kernel_does_not_complain(self):
        for name in [*self.names, *self.others]:
            with self.subTest(name):
                said = [line for line in machine.kernel_messages(self.text(name, "dmesg"), 4)
                        if "cpu_acquire/release() are deprecated" not in line]
                self.assertEqual(said, [])

    def test_each_decision_ends_once(self):
        for name in self.names:
            with self.subTest(name):
                counts = self.counts(name)
                self.assertGreater(counts["outcome"]["COMPLETE"], 0)
                self.assertEqual(counts["slots"]["written"], sum(counts["outcome"].values()))

    def test_each_task_begins_and_ends_once(self):
        for name in self.names:
            with self.subTest(name):
                message = self.counts(name)["message"]
                self.assertEqual(message["NEW"], 1 + THREADS[name.split()[0]])
                self.assertEqual(message["NEW"], message["DEAD"] + message["DEPARTED"])

    def test_each_load_shows_its_messages(self):
        for name in self.with_("yield"):
            # A thread that yields before the agent's class is attached is not seen.
            self.assertGreaterEqual(self.counts(name)["message"]["YIELD"], 4 * 40 * 0.9, name)
        for name in self.with_("move"):
            self.assertGreaterEqual(self.counts(name)["message"]["AFFINITY_CHANGED"], 2 * 12 - 2, name)
        for name in self.with_("renice"):
            self.assertGreaterEqual(self.counts(name)["message"]["PRIORITY_CHANGED"], 3 * 15 - 3, name)
        for name in self.with_("ping"):
            # On CPUs of their own, one thread may find that it is its turn before it sleeps.
            least = 2 if "per-cpu" in name else 2 * 150 * 0.9
            self.assertGreaterEqual(self.counts(name)["message"]["BLOCKED"], least, name)

    def test_time_slices_preempt(self):
        for name in self.with_("spin"):
            decisions = self.counts(name)["decision"]
            if "fifo" in name:
                self.assertEqual(decisions["PREEMPT"], 0, name)
            else:
                self.assertGreater(decisions["PREEMPT"], 5, name)

    def turns(self, name):
        """Returns for how long each task ran that was then preempted, in ns, in order."""
        began, stopped, found = {}, {}, []
        for line in self.scheduling_trace("text", *self.traces(name)):
            time, _, cpu, what, *_ = line.split()
            if what == "ON_CPU":
                began[cpu] = int(time)
            elif what == "stopping" and cpu in began:
                stopped[cpu] = int(time) - began.pop(cpu)
            elif what == "PREEMPT" and cpu in stopped:
                found.append(stopped.pop(cpu))
        return found

    def test_a_time_slice_ends_soon_after_it_is_over(self):
        # More tasks wait than there are CPUs, so that those of the VM policy are half as long.
        for name, slice_ns in (("spin shinjuku", 30_000), ("spin vm --time-slice 300us --prestage", 150_000)):
            if name in self.names:
                turns = self.turns(name)
                self.assertGreater(len(turns), 5, name)
                self.assertGreaterEqual(statistics.median(turns), slice_ns, name)
                self.assertLess(statistics.median(turns), slice_ns + 15_000, name)

    def test_prestaged_decisions_are_used(self):
        for name in self.with_("prestage"):
            self.assertGreater(self.counts(name)["decision"]["PRESTAGE"], 0, name)

    def check_begun_anew(self, name):
        self.assertEqual(self.text(name, "err"), "")
        self.assertRegex(self.text(name), r"(?m)^spin \d+ done in \d+ ns$")
        self.assertRegex(self.text(name), r"(?m)^fallbacks 1$")
        self.assertRegex(self.text(name), r"(?m)^code 0$")
        # The second agent has decided, too.
        self.assertGreater(int(re.search(r"(?m)^outcome COMPLETE (\d+)$", self.text(name)).group(1)), 10)

    def check_owner(self, name):
        """A run by the rule of the owner, in which tasks are changed while they wait."""
        self.assertEqual(self.text(name, "err"), "")
        self.assertRegex(self.text(name), r"(?m)^code 0$")
        self.assertGreater(self.counts(name)["message"]["AFFINITY_CHANGED"], 10)
        self.assertGreater(self.read_trace(name)["ran"], 10)

    def files(self, kind, *names):
        """Returns the files of this kind of these runs."""
        found = [child.share / f"{name.replace(' ', '_')}.{kind}" for name in names for child in self.machines.children.values()]
        found = [file for file in found if file.exists()]
        self.assertEqual(len(found), len(names))
        return found

    def traces(self, *names):
        return self.files("trace", *names)

    def scheduling_trace(self, *words):
        """Returns the lines that scheduling-trace prints. It must find no mistake."""
        run = subprocess.run([TRACE, *words], text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""), words)
        return run.stdout.splitlines()[1:]

    def read_trace(self, name, command="oracle"):
        """Returns what scheduling-trace says of a run, by name."""
        words = [line.rsplit(" ", 1) for line in self.scheduling_trace(command, *self.traces(name))]
        return {what: int(value) for what, value in words}

    def test_traces_account_for_each_decision(self):
        for name in self.traced():
            with self.subTest(name):
                trace, outcomes = self.read_trace(name), self.counts(name)["outcome"]
                self.assertEqual(trace["withdrawn"] + trace.pop("ended ABORTED", 0), outcomes.pop("ABORTED", 0))
                self.assertEqual({f"ended {end}": number for end, number in outcomes.items()},
                                 {end: number for end, number in trace.items() if end.startswith("ended")})
                self.assertEqual(trace["ran"] + trace["taken_back"], trace["ended COMPLETE"])
                self.assertEqual(trace["right"] + trace["stale"], trace["ended COMPLETE"])

    def test_what_became_of_decisions_adds_up(self):
        for name in self.traced():
            with self.subTest(name):
                account, counts = self.read_trace(name, "account"), self.counts(name)
                outcomes = counts["outcome"]
                self.assertEqual(account["decisions"], counts["slots"]["written"])
                self.assertEqual(account["unaccounted"], 0)
                self.assertEqual(account["ran"] + account["taken_back"], outcomes["COMPLETE"])
                self.assertEqual(account["right"] + account["stale"], outcomes["COMPLETE"])
                aborted = sum(number for what, number in account.items() if what.startswith("aborted "))
                self.assertEqual(aborted + account["withdrawn"], sum(outcomes.values()) - outcomes["COMPLETE"])
                decided = {what: number for what, number in account.items() if what.startswith("decided ") and number}
                self.assertEqual(decided, {f"decided {kind}": number for kind, number in counts["decision"].items()})
                self.assertEqual(account["messages"], sum(counts["message"].values()))
                found = [account[f"freed {how}"] for how in ("prestaged", "in_time", "refused", "late", "nothing")]
                self.assertEqual(account["freed"], sum(found))
                self.assertLessEqual(account["looks_missed"], account["looks_in_vain"])
                if "fifo" in name and "prestage" not in name:
                    self.assertEqual(account["freed prestaged"], 0)
                ages = sum(number for what, number in account.items() if what.startswith("age_below "))
                self.assertEqual(ages, sum(outcomes.values()) - account["withdrawn"])
                printed = {what: int(number) for what, number in re.findall(r"(?m)^(port \w+) (\d+)$", self.text(name))}
                self.assertEqual(printed, {what: number for what, number in account.items() if what.startswith("port ") and number})

    def test_parts_of_a_switch_add_up(self):
        name = "ping fifo-central --cpus 1 --prestage"
        lines = self.scheduling_trace("switches", "--stamps", *self.files("stamps", name), *self.traces(name))
        lines = [line.split() for line in lines]
        count = {words[0]: int(words[2]) for words in lines if words[1] == "switches"}
        means = {(words[0], words[1]): int(words[5]) for words in lines if words[2:3] == ["count"]}
        self.assertGreater(count["stamped"], 0.9 * 2 * 150)
        self.assertGreaterEqual(count["stopped_first"], count["stamped"])
        for kind in ("stamped", "stopped_first"):
            parts = {part: mean for (of, part), mean in means.items() if of == kind}
            whole = parts.pop("whole")
            self.assertEqual(whole, sum(parts.values()), kind)
            # The instructions of Linux alone take longer than the one, and nothing takes as long as the other.
            self.assertTrue(300 < parts["until_on_cpu"] and whole < 50_000, parts)
        # What the tasks have seen contains what the kernel has seen, and the switch is a part of a turn.
        self.assertGreater(means["stamped", "until_stopping"], 100)
        self.assertGreater(means["stamped", "until_user"], 100)
        done = re.search(r"(?m)^ping (\d+) done in (\d+) ns$", self.text(name))
        self.assertLess(means["stamped", "whole"], int(done[2]) / int(done[1]))

    def test_damage_to_a_trace_is_found(self):
        check_damages(self, self.traces(*self.traced()))


class Scheduling(Runs, machine.TestCase):
    """The agent is a thread on the host."""
    others = ["decisions"]

    @classmethod
    def setUpClass(cls):
        # The agent leaves no time on its CPU to the shell.
        begin = BEGIN + "taskset -p 6 $$ > /dev/null\n"
        cls.run_({**halves("schedule", begin), "others": blocks(OTHERS, begin)})

    def test_tasks_of_a_killed_agent_finish_in_the_fair_class(self):
        self.assertRegex(self.text("killed"), r"enabled\n(.*\n)*disabled\nunloaded\n$")

    def test_tasks_take_turns_while_the_agent_does_not_work(self):
        for name in ("stopped", "silent"):
            with self.subTest(name):
                for line in ("enabled", r"spin \d+ done in \d+ ns", "fallbacks 1", "code 0"):
                    self.assertRegex(self.text(name), f"(?m)^{line}$")

    def test_lost_messages_end_the_scheduler(self):
        self.assertRegex(self.text("lost"), r"(?m)^disabled$")
        self.assertRegex(self.text("lost"), r"(?m)^code 125$")
        self.assertRegex(self.text("lost", "err"), r"(?m)^schedule: \d+ messages were lost")

    def test_virtual_cpus_are_given_cpus_evenly(self):
        every = re.findall(r"(?m)^units (\d+) least (\d+) most (\d+) each (\d+) ns\nshare 3 done in (\d+) ns$", self.text("even"))
        (units, least, most, each, ns), fifo = (list(map(int, found)) for found in every)
        # A task may be ahead by a time slice, of some 33.
        self.assertGreater(least, 0.9 * units / 3)
        self.assertLess(most, 1.1 * units / 3)
        # Two CPUs have done nothing else for nearly all the time.
        self.assertTrue(0.9 < units * each / (2 * ns) < 1, every)
        # Without time slices, one task has waited for the others to end.
        self.assertLess(fifo[1], 0.1 * fifo[0] / 3)

    def test_each_decision_is_checked(self):
        self.assertEqual(self.text("decisions", "err"), "")
        self.assertEqual(self.text("decisions"), "good\ncode 0\n" * 2)

    def test_an_agent_that_polls_memory_knows_what_happens(self):
        for name in TRACED:
            if "prestage" in name:
                continue
            with self.subTest(name):
                trace = self.read_trace(name)
                self.assertGreaterEqual(trace["right"], 0.95 * trace["ended COMPLETE"])
                self.assertLess(trace["age_p50"], 50_000)
                # Another thread of the fair class can have the agent's CPU for a time slice.
                self.assertLess(trace["longest_wait"], 5_000_000)

    def test_a_trace_that_is_too_long_is_refused(self):
        self.assertEqual(re.findall(r"(?m)^code (\d+)$", self.text("overflow")), ["125", "125"])
        self.assertRegex(self.text("overflow", "err"), r"the trace has no room for \d+ records\n.*/no/such/file: No such file")
        for command in ("check", "account", "switches"):
            run = subprocess.run([TRACE, command, *self.traces("overflow")], text=True, capture_output=True, timeout=60, check=False)
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertRegex(run.stderr, "records are missing")

    def test_stamps_that_are_none_are_refused(self):
        name = "ping fifo-central --cpus 1 --prestage"
        words = [TRACE, "switches", "--stamps", *self.traces(name), *self.traces(name)]
        run = subprocess.run(words, text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertRegex(run.stderr, r"\.trace: line \d+ is no stamp\n$")

    def test_mistakes_are_explained(self):
        out = self.text("wrong") + self.text("wrong", "err")
        self.assertEqual(re.findall(r"(?m)^code (\d+)$", out), ["0"] + ["126"] * 5 + ["127", "3", "137"], out)
        for text in ("usage: schedule", "no such policy: best", "the agent's CPU, 0, cannot run the threads, too",
                     "no list of CPUs from 0 to 2: 3", "this policy has no time slice", "a command is needed",
                     "/no/such: No such file"):
            self.assertIn(text, out)


class Agents(machine.TestCase):
    """Agents that fail while they schedule. An agent's core does so when it is told to: tests/firmware/faulty_agent_firmware.c."""
    ORDERS = {"short_pause": 1 << 56 | 5_000, "long_pause": 1 << 56 | 50_000, "hang": 2 << 56, "crash": 3 << 56}
    FAULTS = {name: f"devmem $((bar + {ORDER})) 64 {order}" for name, order in ORDERS.items()}
    FAULTS["pulled"] = "vpctl hot_plug host_ipu remove"
    # Here the watchdog also goes by the agent's liveness, in a second run.
    SIGNS = {name: ("waiting", "liveness") for name in ("short_pause", "hang", "crash")}

    @classmethod
    def setUpClass(cls):
        begin = BEGIN + "insmod /share/oae_sched_queue.ko\n"
        scripts = {name: begin + f"""
bar=$(sed -n 3p /sys/bus/pci/devices/0000:01:00.1/resource | cut -d ' ' -f 1)
for sign in {' '.join(cls.SIGNS.get(name, ("waiting",)))}; do
schedule --transport queue --cpus 1-2 --policy shinjuku --prestage --watchdog-by $sign tasks spin 5 40000 > /share/out_$sign &
begun
usleep 2000
dmesg -c > /dev/null
{fault}
code wait $! > /share/code_$sign
dmesg -r > /share/dmesg_$sign
done
""" for name, fault in cls.FAULTS.items()}
        cls.machines = machine.Children("--set", f"hosts[0].vcpus={VCPUS}", *QUEUES, "--firmware", FAULTY_AGENT,
                                        "--set", "pcie_links[0].hot_plug={capable: true, surprise: true}", scripts=scripts)
        for file in FILES:
            shutil.copy(file, cls.machines.share)
        cls.machines.finish()

    def runs(self, *names):
        """Yields each run of these children, or of all: its name, the sign by which its watchdog goes, and its child."""
        for name in names or self.FAULTS:
            for sign in self.SIGNS.get(name, ("waiting",)):
                yield name, sign, self.machines.children[name]

    def test_all_tasks_finish(self):
        for name, sign, child in self.runs():
            with self.subTest(name, sign=sign):
                self.assertEqual(child.guest_code, 0, child)
                self.assertRegex(child.file(f"out_{sign}"), r"(?m)^spin \d+ done in \d+ ns$")
                self.assertEqual(child.file(f"code_{sign}"), "code 125\n" if name == "pulled" else "code 0\n")

    def test_the_kernel_does_not_complain(self):
        for name, sign, child in self.runs():
            with self.subTest(name, sign=sign):
                lines = child.file(f"dmesg_{sign}").splitlines()
                self.assertEqual([line for line in lines if hot_plug_test.TROUBLE.search(line)], [])

    def test_tasks_take_turns_when_the_card_is_pulled(self):
        self.assertRegex(self.machines.children["pulled"].file("out_waiting"), r"(?m)^fallbacks 1$")

    def test_a_pause_within_patience_is_not_noticed(self):
        for _, sign, child in self.runs("short_pause"):
            with self.subTest(sign=sign):
                self.assertNotIn("fallbacks", child.file(f"out_{sign}"))
                self.assertNotIn("begins anew", child.log("ipu"))

    def test_an_agent_that_stops_begins_anew(self):
        for name, sign, child in self.runs("long_pause", "hang", "crash"):
            with self.subTest(name, sign=sign):
                out = child.file(f"out_{sign}")
                self.assertRegex(out, r"(?m)^fallbacks 1$")
                self.assertGreater(int(re.search(r"(?m)^outcome COMPLETE (\d+)$", out).group(1)), 10)
                self.assertEqual(child.log("ipu").count("core 1 does not answer the host, and begins anew"),
                                 len(self.SIGNS.get(name, ("waiting",))))

    def test_a_fault_of_the_agent_is_reported_and_ends_no_run(self):
        log = self.machines.children["crash"].log("ipu")
        self.assertIn("fault on core 1: data abort", log)
        self.assertIn("core 1 waits until the host starts it again", log)


class Queue(Runs, machine.TestCase):
    """The agent is firmware, and the device's memory has the queues."""
    others = ["pushed", "owner", "share", "even", "watched", "warm", "plain", "held", "ended", "reset"]

    @classmethod
    def setUpClass(cls):
        begin = BEGIN + "insmod /share/oae_sched_queue.ko\n"
        plain = "".join(f"echo 0 > /sys/module/oae_sched_queue/parameters/{name}\n"
                        for name in ("write_combining", "write_through", "prefetch_decisions", "agent_cached"))
        # The agent needs milliseconds to empty uncached rings that are as long as the memory allows.
        plain += "echo 1024 > /sys/module/oae_sched_queue/parameters/ring_elements\n"
        start = "schedule --transport queue --cpus 1-2"
        # An agent ends when it finds another number than that of its request.
        ended = f"""{start} --policy shinjuku --prestage tasks spin 5 40000 &
begun
devmem $(sed -n 3p /sys/bus/pci/devices/0000:01:00.1/resource | cut -d ' ' -f 1) 64 0
code wait $!
"""
        # A reset of the function in the middle of the run.
        reset = f"""{start} --policy shinjuku --prestage tasks spin 5 150000 &
begun
echo 1 > /sys/bus/pci/devices/0000:01:00.1/reset
code wait $!
"""
        owner = f"code {start} --rule owner --trace /share/owner.trace --policy shinjuku --prestage tasks {LOADS['move']}"
        # A task of the fair class has CPU 1, for which one of the agent's waits.
        held = "".join(f"""{start} --policy fifo-per-cpu --watchdog-by {by} tasks spin 2 60000 &
begun
usleep 5000
taskset 2 tasks spin 1 30000 > /dev/null
code wait $!
""" for by in ("waiting", "liveness"))
        share = f"code {start} --cpus 1 --prestage=50% tasks {LOADS['ping']}"
        # With time slices of 10 ms, the last of these tasks would wait for as long as the watchdog allows.
        even = f"code {start} --policy vm --prestage tasks share 6 60000"
        # The first CPU that runs no task is the last one. Only the watchdog has timers that end in a soft interrupt.
        watched = f"""grep HRTIMER /proc/softirqs
code schedule --transport queue --cpus 0-1 --policy shinjuku --time-slice 300us tasks spin 4 15000
grep HRTIMER /proc/softirqs
"""
        warm = f"""code {start} --cpus 1 --prestage tasks --warm-up 3000 ping 2 1
code {start} --cpus 1 --prestage tasks --warm-up 3000 ping 2 100
code {start} --cpus 1 --prestage tasks --warm-up 3000 --vary 7 ping 2 100
code tasks --warm-up 3000 spin 2 100
"""
        # With this load, many decisions are withdrawn.
        pushed = f"""echo 1 > /sys/module/oae_sched_queue/parameters/decisions_pushed
code {start} --trace /share/pushed.trace --policy vm --time-slice 300us --prestage tasks {LOADS['start']}
echo 0 > /sys/module/oae_sched_queue/parameters/decisions_pushed
"""
        plain = f"{plain}code {start} --policy shinjuku --prestage tasks {LOADS['spin']}"
        others = {"pushed": pushed, "owner": owner, "share": share, "even": even, "watched": watched, "warm": warm,
                  "plain": plain, "held": held, "ended": ended, "reset": reset}
        cls.run_({**halves(start, begin), "others": blocks(others, begin)}, *QUEUES)

    def test_a_plain_queue_works(self):
        self.assertEqual(self.text("plain", "err"), "")
        self.assertRegex(self.text("plain"), r"(?m)^code 0$")

    def test_decisions_can_be_pushed_into_the_hosts_memory(self):
        self.assertEqual(self.text("pushed", "err"), "")
        self.assertRegex(self.text("pushed"), r"(?m)^code 0$")
        self.assertGreater(self.counts("pushed")["outcome"]["ABORTED"], 0)
        self.assertGreater(self.read_trace("pushed")["ran"], 10)

    def test_the_rule_of_the_owner_refuses_what_cannot_be_and_not_what_is_old(self):
        self.check_owner("owner")

    def test_a_share_of_the_decisions_can_be_prestaged(self):
        self.assertEqual(self.text("share", "err"), "")
        decisions = self.counts("share")["decision"]
        self.assertGreater(decisions["PRESTAGE"], 100)
        # On one CPU, one of the two tasks runs while the other one waits, so that nearly every decision could be prestaged.
        self.assertAlmostEqual(decisions["PRESTAGE"] / decisions["RUN"], 1, delta=0.1)

    def test_no_virtual_cpu_waits_for_too_long_if_the_next_ones_are_prestaged(self):
        self.assertEqual(self.text("even", "err"), "")
        self.assertRegex(self.text("even"), r"(?m)^code 0$")
        self.assertNotIn("fallbacks", self.text("even"))
        self.assertGreater(self.counts("even")["decision"]["PRESTAGE"], 0)

    def test_the_watchdog_runs_on_a_cpu_that_runs_no_task(self):
        self.assertEqual(self.text("watched", "err"), "")
        before, after = (list(map(int, line.split()[1:])) for line in self.text("watched").splitlines() if "HRTIMER:" in line)
        looks = [late - early for early, late in zip(before, after)]
        # The kernel may have such a timer of its own end on any CPU, once.
        self.assertLessEqual(max(looks[:2]), 1)
        self.assertGreater(looks[2], 2)

    def test_what_precedes_the_warm_up_of_a_load_does_not_count(self):
        lines = r"(?m)^switches (\d+) in (\d+) ns\n(?:computed .*\n)?ping (\d+) done in (\d+) ns$"
        found = [list(map(int, some)) for some in re.findall(lines, self.text("warm"))]
        self.assertEqual([switches for switches, *_ in found], [2, 200, 200])
        for switches, time, all_switches, whole in found:
            with self.subTest(switches):
                self.assertGreater(all_switches, switches + 200)  # 3 ms are enough for that
                self.assertGreater(time, 1_000 * switches)
                self.assertLess(time, 20_000 * switches)
                self.assertGreater(whole, time + 3_000_000)
        self.assertEqual(re.findall(r"(?m)^code (\d+)$", self.text("warm")), ["0", "0", "0", "2"])
        self.assertIn("usage: tasks", self.text("warm", "err"))

    def test_tasks_that_vary_compute_besides(self):
        (_, plain), (_, varied) = re.findall(r"(?m)^switches (200) in (\d+) ns$", self.text("warm"))
        ((times, computed),) = re.findall(r"(?m)^computed (\d+) times in (\d+) ns$", self.text("warm"))
        self.assertEqual(times, "200")
        # A turn has 1,023.5 loops on average, with a standard deviation of 591, of three instructions of 1 ns each.
        self.assertAlmostEqual(int(computed) / 200, 3 * 1_023.5, delta=3 * 4 * 591 / 200**0.5)
        self.assertAlmostEqual((int(varied) - int(computed)) / int(plain), 1, delta=0.03)

    def test_only_a_watchdog_that_goes_by_waiting_takes_a_busy_cpu_for_a_dead_agent(self):
        waiting, liveness, _ = re.split(r"(?m)^code 0$", self.text("held"))
        self.assertEqual(self.text("held", "err"), "")
        # The new agents may be taken for dead, too, also because they give both tasks to one CPU.
        self.assertRegex(waiting, r"(?m)^fallbacks [1-9]$")
        self.assertRegex(liveness, r"(?m)^spin \d+ done in \d+ ns$")
        self.assertNotIn("fallbacks", liveness)

    def test_an_agent_that_has_missed_something_begins_anew(self):
        for name in ("ended", "reset"):
            with self.subTest(name):
                self.check_begun_anew(name)


class Port(Runs, machine.TestCase):
    """The agent is firmware, and swap ports lead to it."""
    others = ["pushed", "each_sent", "barrier", "ended"]
    names = tuple(name for name in RUNS if name in (
        "ping fifo-central", "ping fifo-central --cpus 1 --prestage", "yield fifo-central", "spin fifo-central --prestage",
        "spin fifo-per-cpu", "start shinjuku", "move shinjuku --prestage", "spin vm --time-slice 300us --prestage"))

    @classmethod
    def setUpClass(cls):
        begin = BEGIN + "insmod /share/oae_sched_port.ko\n"
        start = "schedule --transport port --cpus 1-2"
        pushed = f"""echo 0 > /sys/module/oae_sched_port/parameters/streamed
code {start} --policy shinjuku --prestage tasks {LOADS['spin']}
"""
        # An agent ends when it finds another number than that of its request.
        ended = f"""{start} --policy shinjuku --prestage tasks spin 5 60000 &
begun
devmem $(sed -n 3p /sys/bus/pci/devices/0000:01:00.1/resource | cut -d ' ' -f 1) 64 0
code wait $!
"""
        each_sent = f"""echo 0 > /sys/module/oae_sched_port/parameters/carry_events
code {start} --policy fifo-central --prestage tasks {LOADS['ping']}
echo 1 > /sys/module/oae_sched_port/parameters/carry_events
"""
        barrier = f"code {start} --rule barrier --trace /share/barrier.trace --policy shinjuku --prestage tasks {LOADS['move']}"
        others = {"pushed": pushed, "each_sent": each_sent, "barrier": barrier, "ended": ended}
        cls.run_({**halves(start, begin, cls.names), "others": blocks(others, begin)}, *QUEUES)

    def ports(self, name):
        """Returns what the two sides have counted at the ports, by name."""
        return collections.Counter({what: int(number) for what, number in re.findall(r"(?m)^port (\w+) (\d+)$", self.text(name))})

    def test_pushed_answers_work(self):
        self.assertEqual(self.text("pushed", "err"), "")
        self.assertRegex(self.text("pushed"), r"(?m)^code 0$")
        self.assertGreater(self.ports("pushed")["taken"], 10)

    def test_events_can_be_sent_each(self):
        self.assertEqual(self.text("each_sent", "err"), "")
        self.assertRegex(self.text("each_sent"), r"(?m)^code 0$")

    def test_a_swap_carries_what_a_send_would_wait_for(self):
        # Of the four messages and ends of a switch, the block and the end need no SEND.
        ports, counts = self.ports("ping fifo-central"), self.counts("ping fifo-central")
        self.assertGreater(ports["carried"], 0.9 * counts["message"]["BLOCKED"])
        self.assertGreater(ports["implied"], 0.9 * counts["outcome"]["COMPLETE"])

    def test_what_crosses_ports_is_accounted_for(self):
        for name in [*self.names, "pushed", "each_sent", "barrier"]:
            with self.subTest(name):
                ports, counts = self.ports(name), self.counts(name)
                ends = sum(counts["outcome"].values())
                self.assertEqual(ports["swaps"], ports["taken"] + ports["idle"])
                self.assertEqual(ports["taken"], ends - counts["outcome"]["ABORTED"])
                self.assertEqual(ports["revoked"], counts["outcome"]["ABORTED"])
                # Each message is an event, and so is each end that the kernel knows. Some come with another one.
                self.assertEqual(ports["sends"] + ports["carried"] + ports["implied"],
                                 sum(counts["message"].values()) + ports["taken"])
                self.assertEqual(ports["carried"] > 0, name != "each_sent" and counts["message"]["BLOCKED"] > 0)
                self.assertEqual(ports["implied"] > 0, name != "each_sent")
                for nothing in ("doubts", "foreign", "reversed", "refused"):
                    self.assertEqual(ports[nothing], 0, nothing)

    def test_a_swap_can_rest_on_a_barrier(self):
        self.assertEqual(self.text("barrier", "err"), "")
        self.assertRegex(self.text("barrier"), r"(?m)^code 0$")
        self.assertGreater(self.read_trace("barrier")["ran"], 10)

    def test_an_agent_that_ends_begins_anew(self):
        self.check_begun_anew("ended")


if __name__ == "__main__":
    machine.main()
