#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of how scripts/study makes its runs: what it keeps, makes again and goes on with. A small program stands in for the
simulator.

Usage: study_runner_test.py [GROUP[.CASE]]...
"""

import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest.mock

import in_folder
import study_data

from study import inputs, machine, matrix, runner  # noqa: E402
from study.inputs import Inputs  # noqa: E402
from study.loads import LOADS, faults  # noqa: E402
from study.progress import Progress, duration  # noqa: E402
from study.store import Store  # noqa: E402

# Takes the place of oae-vp. The file `mode` beside it says what goes wrong; `boots` gets a line for each boot.
SIMULATOR = """#!/usr/bin/python3
import json, pathlib, sys, time
here = pathlib.Path(__file__).parent
mode = (here / "mode").read_text().split() if (here / "mode").exists() else [""]
words = sys.argv[1:]
def value(name): return words[words.index(name) + 1]
with open(here / "boots", "a") as boots: print(*words, file=boots)
if mode[0] == "boot":
    sys.exit("the platform file has a mistake")
commands = pathlib.Path(value("--children")).read_text().splitlines()
out = pathlib.Path(value("--children-output"))
print("child  exit code  simulated  wall  command", flush=True)
for number, command in enumerate(commands, 1):
    if mode[0] == "hang" and number == int(mode[1]):
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            sys.exit(130)
    share = out / str(number) / "share"
    share.mkdir(parents=True)
    counts = [int(part.split()[0].strip(";'")) for part in command.split("ping 2 ")[1:]]
    ns = [1000 * count * (1 + len(command) % 7) for count in counts]
    lines = [line for count, time in zip(counts, ns)
             for line in (f"switches {2 * count} in {time + 7} ns", f"computed {2 * count} times in 7 ns",
                          f"ping {3 * count} done in {2 * time} ns")]
    lines += ["message WAKEUP sent 9 received 9", "decision RUN 5", "outcome COMPLETE 5", "kicks 5"]
    (share / "out").write_text("\\n".join(lines) + "\\n")
    (share / "parameters").write_text("")
    (share / "stamps").write_text("")
    failed = mode[0] == "fail" and number == int(mode[1])
    (share / "err").write_text("schedule: no agent\\n" if failed else "")
    zero = dict.fromkeys([*(f"ipu.endpoint.pf{function}.{name}" for function in (0, 1)
                            for name in ("bar_reads", "bar_writes", "interrupts")),
                          "host_ipu.down.wire_bytes", "host_ipu.up.wire_bytes", "ipu.queue_memory.line_fills"], 0)
    latency = {"host.root_complex.read_latency": {"median": 750000}}
    (share.parent / "stats.json").write_text(json.dumps({"counters": zero, "latencies_ps": latency}))
    code = "1 (guest 125)" if failed else "0"
    print(f"{number:>5}  {code:13}  {1.25:>10.6f} s  {0.5:>6.2f} s  {command}", flush=True)
(out / "summary.json").write_text("{}")
"""
SCHEDULING_TRACE = f"""#!/bin/sh
case $1 in
account) printf '{study_data.lines_of(study_data.ACCOUNT)}';;
switches) printf '{study_data.switches(7)}';;
esac
"""
# The part of a bzImage that says its release
LINUX = "\0" * 0x202 + "HdrS" + "\0" * 8 + "\x20\x00" + "\0" * 16 + "7.0 (somebody) #1\0code"
EXTENT = "smallest"


class Simulated(in_folder.InFolder):
    def setUp(self):
        super().setUp()
        self.build = self.folder / "build"
        files = {"images/libqemu.so": "qemu", "images/firmware/bios": "bios", "images/oae-fw.elf": "firmware",
                 "images/kernels/newest/vmlinuz": LINUX, "images/kernels/newest/initramfs.cpio": "files",
                 "cmake/guest/scheduling/newest/oae_sched.ko": "module",
                 "cmake/guest/scheduling/newest/oae_sched_port.ko": "module 1",
                 "cmake/guest/scheduling/newest/oae_sched_queue.ko": "module 2", "cmake/guest/scheduling/schedule": "program",
                 "cmake/tests/system/tasks": "tasks", "cmake/tests/system/fault": "fault",
                 "cmake/tests/firmware/faulty_agent.elf": "faulty firmware",
                 "cmake/guest/workload/serve": "serve", "cmake/platforms/oae-vp": SIMULATOR, "cmake/platforms/liboae-vp.so.1": "core",
                 "cmake/guest/scheduling/trace/scheduling-trace": SCHEDULING_TRACE}  # fmt: skip
        for name, text in files.items():
            (self.build / name).parent.mkdir(parents=True, exist_ok=True)
            (self.build / name).write_text(text)
        self.simulator = self.build / "cmake/platforms"
        for program in (self.simulator / "oae-vp", self.build / "cmake/guest/scheduling/trace/scheduling-trace"):
            program.chmod(0o755)

    def command(self, *options):
        return ["/usr/bin/python3", "-I", str(study_data.SCRIPTS / "lib" / "study"), "--build", str(self.build), "--extent",
                "smallest", *map(str, options), "wave"]  # fmt: skip

    def study(self, *options, mode="", code=0):
        (self.simulator / "mode").write_text(mode or "none")
        run = subprocess.run(self.command(*options), capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, code, run)
        return run

    def boots(self):
        file = self.simulator / "boots"
        return file.read_text().splitlines() if file.exists() else []

    def kept(self):
        return sorted((self.build / "study" / "runs").glob("*.json"))


class Runs(Simulated):
    def test_the_same_study_again_makes_no_run_and_gives_the_same_bytes(self):
        files = [self.folder / name for name in ("a.json", "a.html", "b.json", "b.html", "c.json", "c.html")]
        first = self.study("--json", files[0], "--html", files[1])
        second = self.study("--json", files[2], "--html", files[3])
        self.assertEqual(len(self.boots()), 1)
        self.assertEqual(first.stdout, second.stdout)
        runs = len(matrix.runs(EXTENT))
        self.assertIn(f"{runs} runs, of which {runs} were made before", second.stderr)
        # From the file alone
        third = self.study("--from", files[0], "--json", files[4], "--html", files[5])
        self.assertEqual((third.stdout, third.stderr), (first.stdout, ""))
        for one, other, another in zip(files[:2], files[2:4], files[4:]):
            self.assertEqual(one.read_bytes(), other.read_bytes())
            self.assertEqual(one.read_bytes(), another.read_bytes())

    def test_the_kernel_says_its_release(self):
        self.assertEqual(Inputs(self.build).release, "7.0")
        self.assertIn("\nLinux 7.0, SHA-256 ", self.study().stdout)
        (self.build / "images/kernels/newest/vmlinuz").write_text("what")
        self.assertIn("scripts/study: the kernel's image is no bzImage", self.study(code=1).stderr)

    def test_what_determines_a_run_is_in_its_key(self):
        run = matrix.runs(EXTENT)[-1]
        before = {Inputs(self.build).key(run)}
        for name in ("images/libqemu.so", "images/firmware/bios", "images/oae-fw.elf", "images/kernels/newest/vmlinuz",
                     "images/kernels/newest/initramfs.cpio", "cmake/guest/scheduling/newest/oae_sched.ko",
                     "cmake/guest/scheduling/newest/oae_sched_port.ko",
                     "cmake/guest/scheduling/newest/oae_sched_queue.ko", "cmake/guest/scheduling/schedule",
                     "cmake/tests/system/tasks", "cmake/guest/scheduling/trace/scheduling-trace",
                     "cmake/platforms/oae-vp", "cmake/platforms/liboae-vp.so.1"):  # fmt: skip
            with open(self.build / name, "a") as file:
                file.write("#")
            key = Inputs(self.build).key(run)
            self.assertNotIn(key, before, name)
            before.add(key)
        self.assertEqual(Inputs(self.build).key(run), key)
        # Firmware of a load's own concerns its runs alone
        with open(self.build / "cmake/tests/firmware/faulty_agent.elf", "a") as file:
            file.write("#")
        faulty = matrix.Run("fault-hang", "wave-all", "", 0.0, 0, ())
        self.assertEqual(Inputs(self.build).key(run), key)
        keys = {Inputs(self.build).key(faulty)}
        (self.build / "cmake/tests/firmware/faulty_agent.elf").write_text("another")
        self.assertNotIn(Inputs(self.build).key(faulty), keys)
        keys = {Inputs(self.build).key(each) for each in matrix.runs("whole")}
        self.assertEqual(len(keys), len(matrix.runs("whole")))

    def test_a_load_is_read_by_its_own_modules(self):
        for name, expected in (("ping", ["load", "ping"]), ("requests-rocksdb", ["load", "serve"]),
                               ("mixed-fifo", ["load", "serve", "services"]), ("traced-ping", ["load", "traced", "traces"]),
                               ("fault-hang", ["faults", "load", "traces"])):  # fmt: skip
            self.assertEqual([path.stem for path in inputs.readers(LOADS[name])], expected)

    def test_a_run_that_fails_is_told_and_made_again(self):
        run = self.study(mode="fail 2", code=1)
        self.assertRegex(run.stdout, r"(?s)FAILED: ping, wave-\S+, seed 0: exit code 1 \(guest 125\)\nschedule: no agent\n$")
        self.assertEqual(len(self.kept()), len(matrix.runs(EXTENT)) - 1)
        self.assertNotIn("FAILED", self.study().stdout)
        self.assertEqual(len(pathlib.Path(self.simulator / "boots").read_text().splitlines()), 2)

    def test_a_machine_that_does_not_boot_is_told(self):
        run = self.study(mode="boot", code=1)
        self.assertRegex(run.stdout, r"(?s)FAILED: a machine with hosts\[0\].vcpus=4: exit code 1:\nthe platform file has")
        self.assertEqual(self.kept(), [])

    def test_damaged_results_are_made_again(self):
        first = self.study()
        for file, text in zip(self.kept(), ("", "{}", '{"key": "another", "result": {}}')):
            file.write_text(text)
        self.assertEqual(self.study().stdout, first.stdout)
        self.assertEqual(len(self.boots()), 2)

    def test_an_interrupted_study_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                shutil.rmtree(self.build / "study", ignore_errors=True)
                (self.simulator / "mode").write_text("hang 3")
                with subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                    for line in process.stderr:
                        if "] 2 of" in line:
                            break
                    process.send_signal(number)
                    out, said = process.communicate(timeout=30)
                self.assertEqual((process.returncode, out), (130, ""))
                self.assertIn("interrupted; the next one goes on from here", said)
                self.assertEqual(len(self.kept()), 2)
                self.assertEqual([each.name for each in (self.build / "study").iterdir()], ["runs"])
                self.assertIn("of which 2 were made before", self.study().stderr)

    def test_an_interruption_ends_a_study_even_if_it_makes_a_cleanup_fail(self):
        def interrupted(*_):
            try:
                raise KeyboardInterrupt
            finally:
                os.close(-1)

        runs = [matrix.Run("ping", "floor", "", 0.0, 0, (10, 20))]
        with unittest.mock.patch.object(machine, "run_all", interrupted), self.assertRaises(KeyboardInterrupt):
            runner.make(Inputs(self.build), runs, self.build / "study", 1)

    def test_runs_of_a_machine_have_one_boot_and_their_own_commands(self):
        runs = [matrix.Run("ping", variant, *where, 0, (10, 20)) for variant in ("floor", "wave-all")
                for where in (("", 0.0), ("rings", 8))]  # fmt: skip
        results, failures = runner.make(Inputs(self.build), runs, self.build / "study", 3)
        self.assertEqual((set(results), failures), (set(runs), []))
        boots = [boot.split() for boot in self.boots()]
        self.assertEqual([boot[boot.index("--set") + 1] for boot in boots], ["hosts[0].vcpus=4", "hosts[0].vcpus=8"])
        self.assertEqual([boot[boot.index("--jobs") + 1] for boot in boots], ["3", "3"])

    def test_a_load_with_firmware_of_its_own_has_a_machine_of_its_own(self):
        more = (faults.HOT_PLUG, "hosts[0].vcpus=4")
        runs = [matrix.Run(load, "wave-all", "", 0.0, 0, (10, 20), more) for load in ("ping", "fault-hang")]
        self.assertEqual(*(run.values() for run in runs))
        runner.make(Inputs(self.build), runs, self.build / "study", 1)
        first, second = (boot.split() for boot in self.boots())
        self.assertNotIn("--firmware", first)
        self.assertEqual(second[second.index("--firmware") + 1], str(self.build / "cmake/tests/firmware/faulty_agent.elf"))

    def test_only_some_loads(self):
        run = self.study("--only", "traced-*,saturation", "--json", self.folder / "some.json")
        found = json.loads((self.folder / "some.json").read_text())["runs"]
        self.assertEqual({each["load"] for each in found}, {"traced-ping"})
        self.assertIn("] 1 runs\n", run.stderr)
        self.assertIn("there is no load 'ping-*'; there are: ping, ", self.study("--only", "ping,ping-*", code=2).stderr)
        self.study("--json", self.folder / "all.json")
        again = self.study("--from", self.folder / "all.json", "--only", "traced-ping")
        self.assertEqual(again.stdout, run.stdout)

    def test_only_some_variants(self):
        run = self.study("--variants", "floor,*-all", "--json", self.folder / "some.json")
        found = json.loads((self.folder / "some.json").read_text())["runs"]
        self.assertEqual({each["variant"] for each in found}, {"floor", "wave-all"})
        self.assertIn("there is no variant 'wave'; there are: floor, ", self.study("--variants", "wave", code=2).stderr)
        self.study("--json", self.folder / "all.json")
        again = self.study("--from", self.folder / "all.json", "--variants", "floor,wave-all")
        self.assertEqual(again.stdout, run.stdout)


class Parts(in_folder.InFolder):
    def test_a_store_keeps_results_by_key(self):
        store = Store(self.folder / "runs")
        self.assertIsNone(store.get("a"))
        store.put("a", {"ns": 1})
        store.put("b", {"ns": 2})
        self.assertEqual([store.get("a"), Store(self.folder / "runs").get("b")], [{"ns": 1}, {"ns": 2}])
        self.assertEqual(json.loads((self.folder / "runs/a.json").read_text())["key"], "a")
        os.replace(self.folder / "runs/a.json", self.folder / "runs/b.json")
        self.assertIsNone(store.get("b"))

    def test_the_time_left_is_of_the_runs_made_now(self):
        clock, out = [100.0], io.StringIO()
        progress = Progress(7, 4, 100, out, lambda: clock[0])
        for passed, text, expected in ((30, "one", 5), (30, "two", 5), (300, "three", 90)):
            clock[0] += passed
            progress.ended(text, 25, expected)
        self.assertEqual(out.getvalue().splitlines(), [
            "[    0 s] 7 runs, of which 4 were made before", "[   30 s] 5 of 7: one; about 10 min left",
            "[   60 s] 6 of 7: two; about 9 min left", "[  360 s] 7 of 7: three"])  # fmt: skip
        self.assertEqual([duration(each) for each in (0, 89.4, 90, 5_369, 7_260)], ["0 s", "89 s", "2 min", "89 min", "2 h 1 min"])

    def test_each_load_says_how_long_a_run_takes(self):
        self.assertEqual([name for name, load in LOADS.items() if not getattr(load, "seconds", 0) > 0], [])


if __name__ == "__main__":
    in_folder.unittest.main(verbosity=2)
