# SPDX-License-Identifier: Apache-2.0
"""A booted machine is forked, and every child goes on alone."""
import fcntl
import json
import os
import pathlib
import pty
import signal
import subprocess
import termios
import time

import machine

BENCH = "oae bench --count 5"
SCRIPTS = {
    "letter": "cat /proc/uptime > /share/letter\n",
    "code": "exit 7\n",
    "stuck": "sleep 100000\n",
}


def processes_of(parent):
    """Returns its children."""
    return [int(word) for word in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def wait_for(what):
    deadline = time.monotonic() + machine.TIMEOUT
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


class Forked(machine.TestCase):
    """Compares the children of one boot with a run of the same command that was never forked."""

    @classmethod
    def setUpClass(cls):
        cls.family = machine.Children("--until", "10s", "--jobs", "2", "--stats", "/dev/null", commands=[BENCH, "true"],
                                      scripts=SCRIPTS, trace=True).finish()
        cls.children = cls.family.children

    def test_each_ends_by_itself(self):
        self.assertEqual([(child.code, child.guest_code) for child in self.children.values()],
                         [(0, 0), (0, 0), (0, 0), (1, 7), (5, 0)], self.family)
        self.assertEqual(self.children["stuck"].time_ps, 10 * 10**12)
        self.assertEqual(self.family.code, 5, self.family)  # that of the worst child

    def test_the_summary_has_a_line_for_each_in_their_order(self):
        lines = self.family.console.splitlines()
        self.assertEqual([line.split()[:2] for line in lines[1:6]],
                         [["1", "0"], ["2", "0"], ["3", "0"], ["4", "1"], ["5", "5"]])
        self.assertTrue(lines[1].endswith(BENCH))
        self.assertIn("3 of 5 children ended well", lines[6])
        self.assertEqual(len(lines), 7)

    def test_consoles_begin_with_the_boot_and_do_not_mix(self):
        for name, child in self.children.items():
            with self.subTest(name):
                self.assertIn("Linux version", child.console)
                self.assertEqual(child.console.count("committed"), 1 if name == BENCH else 0)
        self.assertIn("committed 5 of 5", self.children[BENCH].console)
        boot = (self.family.output / "boot" / "host.log").read_text(errors="replace")
        self.assertTrue(self.children[BENCH].console.startswith(boot))
        self.assertIn("OAE firmware", (self.family.output / "1" / "ipu.log").read_text())

    def test_files_come_back_to_each(self):
        self.assertGreater(float(self.children["letter"].file("letter").split()[0]), 0)
        self.assertEqual(list(self.children["true"].share.iterdir()), [])
        self.assertEqual(sorted(path.name for path in self.family.share.iterdir()), ["script0", "script1", "script2"])

    def test_statistics_are_those_of_each(self):
        stats = [json.loads((self.family.output / number / "stats.json").read_text()) for number in "12"]
        self.assertEqual([one["counters"]["ipu.oae.committed"] for one in stats], [5, 0])

    def test_traces_have_the_boot_in_common(self):
        boot = self.family.trace
        self.assertGreater(len(boot), 100)
        for name, child in self.children.items():
            with self.subTest(name):
                self.assertEqual(child.trace[:len(boot)], boot)

    def test_a_run_that_was_never_forked_is_equal_whatever_the_quantum(self):
        family = machine.Children(scripts=SCRIPTS)  # the same files are shared
        alone = machine.Run("--until", "10s", "--share", family.share, "--snapshot-at", "booted", "--child", BENCH,
                            "--console", f"ipu={family.folder}/ipu", "--set", "simulation.max_quantum=1ms",
                            trace=True).finish()
        self.assertEqual(alone.code, 0, alone)
        self.assertEqual(alone.trace_bytes, self.children[BENCH].trace_bytes)
        self.assertEqual(alone.console, self.children[BENCH].console)
        self.assertEqual((family.folder / "ipu").read_bytes(), (self.family.output / "1" / "ipu.log").read_bytes())


class Marks(machine.TestCase):
    def test_a_line_of_the_console(self):
        run = machine.Children("--until", "10s", mark="line:A shell of the guest", commands=["exit 3", BENCH],
                               append="vp.run=shell", trace=True).finish()
        self.assertEqual(run.code, 1, run)
        self.assertEqual([child.guest_code for child in run.children.values()], [3, 0])
        self.assertIn("committed 5 of 5", run.children[BENCH].console)
        alone = machine.Run("--until", "10s", "--share", run.share, "--snapshot-at", "line:A shell of the guest",
                            "--child", BENCH, "--set", "simulation.max_quantum=1ms", append="vp.run=shell",
                            trace=True).finish()
        self.assertEqual(alone.code, 0, alone)
        self.assertEqual(alone.trace, run.children[BENCH].trace)

    def test_a_mark_of_the_users_own(self):
        run = machine.Children("--until", "10s", mark="ready", commands=["exit $there"],
                               append="""vp.exec='there=4; eval "$(vpctl mark ready)"'""").finish()
        self.assertEqual(run.children["exit $there"].guest_code, 4, run)

    def test_one_that_never_comes_ends_at_the_limit(self):
        for option, value in (("--child", "true"), ("--children", __file__)):
            run = machine.Run("--until", "300ms", "--snapshot-at", "never", option, value)
            if option == "--children":
                run.command += ["--children-output", str(run.folder / "out")]
            run.finish()
            self.assertEqual(run.code, 5, run)
            self.assertIn("the time limit came before mark never", run.errors)

    def test_a_guest_that_ends_before_has_not_reached_it(self):
        run = self.fail_with(5, "--snapshot-at", "never", "--child", "true", script="true\n")
        self.assertIn("ended before mark never", run.errors)


class Interrupted(machine.TestCase):
    def start(self, commands, **more):
        run = machine.Children("--jobs", "2", commands=commands)
        return run, run.start(**more)

    def wait_for_files_of(self, run, *numbers):
        """Waits until these children have opened their files."""
        files = [run.output / str(number) / name for number in numbers for name in ("host.log", "messages.txt")]
        wait_for(lambda: all(file.exists() for file in files))

    def test_an_interruption_ends_all(self):
        run, process = self.start(["sleep 100000", "sleep 200000", "sleep 300000"])
        wait_for(lambda: len(processes_of(process.pid)) == 2)
        running = processes_of(process.pid)
        self.wait_for_files_of(run, 1, 2)
        process.send_signal(signal.SIGTERM)
        run.wait(process)
        self.assertEqual(run.code, 130, run)
        self.assertEqual([child.code for child in run.children.values()], [130, 130])
        self.assertIn("0 of 3 children ended well, 1 were not run", run.console)
        for number in running:
            self.assertFalse(pathlib.Path(f"/proc/{number}").exists())

    def test_a_crash_is_told_and_the_others_go_on(self):
        run, process = self.start(["sleep 100000", "true"])
        first = wait_for(lambda: processes_of(process.pid))[0]
        self.wait_for_files_of(run, 1)
        os.kill(first, signal.SIGKILL)
        run.wait(process)
        self.assertEqual(run.code, 6, run)
        self.assertEqual([(child.code, child.signal) for child in run.children.values()], [(None, 9), (0, None)])
        self.assertIn("SIGKILL", run.console)

    def test_control_c_on_a_terminal_leaves_it_as_it_was(self):
        master, slave = pty.openpty()
        before = termios.tcgetattr(slave)
        run = machine.Children("--jobs", "2", commands=["sleep 100000", "sleep 200000"])
        process = subprocess.Popen(run.command, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.wait_for_files_of(run, 1, 2)
        self.assertEqual(termios.tcgetattr(slave), before)
        os.write(master, b"\x03")
        run.wait(process)
        self.assertEqual(run.code, 130, run)
        self.assertEqual(termios.tcgetattr(slave), before)
        os.close(master)
        os.close(slave)


if __name__ == "__main__":
    machine.main()
