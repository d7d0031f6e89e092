# SPDX-License-Identifier: Apache-2.0
"""The options of `oae-vp run`, on a booted machine."""
import json
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import unittest

import machine

GDB = "gdb-multiarch"
FIRMWARE = machine.IMAGES / "oae-fw.elf"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Files(machine.TestCase):
    """Runs with the user's own files, and checks everything that it writes."""

    @classmethod
    def setUpClass(cls):
        own = machine.Run(script="""
cat /proc/cmdline > /share/cmdline
cat /share/letter > /share/answer
oae bench --count 5
vpctl mark middle
""")
        folder = cls.folder = own.folder
        for name in ("vmlinuz", "initramfs.cpio", "oae-fw.elf"):
            shutil.copy(machine.IMAGES / name, folder / name)
        (own.share / "letter").write_text("to the guest\n")
        own.command[own.command.index("--append") + 1] += " hello=world"
        own.command += ["--kernel", folder / "vmlinuz", "--initrd", folder / "initramfs.cpio",
                        "--firmware", folder / "oae-fw.elf", "--console", f"host={folder}/host",
                        "--console", f"ipu={folder}/ipu", "--vcd", folder / "vcd",
                        "--stats", folder / "stats"]
        cls.run_ = own.finish()

    def test_it_ends_well(self):
        self.assertEqual(self.run_.code, 0, self.run_)

    def test_append_reaches_the_kernel(self):
        self.assertIn("hello=world", self.run_.file("cmdline"))

    def test_share_goes_both_ways(self):
        self.assertEqual(self.run_.file("answer"), "to the guest\n")

    def test_consoles_go_to_files(self):
        self.assertEqual(self.run_.console, "")
        self.assertIn("committed 5 of 5", (self.folder / "host").read_text(errors="replace"))
        self.assertIn("OAE firmware", (self.folder / "ipu").read_text())

    def test_stats_count_the_swaps(self):
        stats = json.loads((self.folder / "stats").read_text())
        self.assertEqual(stats["exit_code"], 0)
        self.assertEqual(stats["counters"]["ipu.oae.committed"], 5)

    def test_vcd_holds_the_signals_of_the_block(self):
        head = (self.folder / "vcd").read_text()[:200000]
        self.assertIn("$timescale", head)
        self.assertIn("$enddefinitions", head)

    def test_marks_are_logged(self):
        self.assertIn("mark middle", self.run_.errors)


class Marks(machine.TestCase):
    def test_a_run_ends_at_its_mark(self):
        self.succeed("--until-mark", "half", script="vpctl mark half\nsleep 1000\n")

    def test_statistics_that_cannot_be_written_hide_no_verdict(self):
        run = self.fail_with(5, "--until", "1us", "--stats", "/dev/full")
        self.assertIn("/dev/full", run.errors)
        self.assertIn("the time limit came before", run.errors)

    def test_a_mark_that_never_comes_ends_at_the_limit(self):
        run = self.fail_with(5, "--until-mark", "never", "--until", "300ms")
        self.assertIn("never", run.errors)


class Consoles(machine.TestCase):
    def test_both_share_the_terminal_by_line(self):
        run = self.succeed("--console", "both", script="true\n")
        self.assertRegex(run.console, r"(?m)^ipu\| \[.*OAE firmware")
        self.assertRegex(run.console, r"(?m)^host\| .*reboot: Power down")

    def test_a_pseudo_terminal_takes_input(self):
        run = machine.Run("--console", "host=pty", "--until", "4s", append="vp.run=shell")
        process = run.start()
        path = re.search(r"(/dev/pts/\d+)", process.stderr.readline()).group(1)
        with open(path, "r+b", buffering=0) as terminal:
            seen = b""
            while b"Try: oae --help" not in seen:
                self.assertTrue(select.select([terminal], [], [], machine.TIMEOUT)[0])
                seen += terminal.read(4096)
            terminal.write(b"exit 3\n")
            run.wait(process)
        self.assertEqual(run.code, 1, run)


class Input(machine.TestCase):
    def play(self, code, text):
        run = machine.Run(append="vp.run=shell")
        script = run.folder / "input"
        script.write_text(text)
        run.command += ["--input", str(script)]
        run.finish()
        self.assertEqual(run.code, code, run)
        return run

    def test_commands_are_typed_when_the_prompt_is_there(self):
        run = self.play(0, 'timeout 10s\nexpect "Try: oae --help"\nexpect "# "\n'
                           'send "echo $((6 * 7))\\n"\nexpect "42"\nsend "exit\\n"\n')
        self.assertIn("42", run.console)

    def test_an_expectation_that_fails_is_the_limit(self):
        run = self.play(5, 'timeout 1ms\nexpect "no such text"\n')
        self.assertIn("no such text", run.errors)


class Gdb(machine.TestCase):
    def debug(self, side, commands):
        """Returns the output of GDB, while the machine runs on to 200 ms."""
        port = free_port()
        run = machine.Run("--gdb", f"{side}={port}", "--until", "400ms")
        process = run.start()
        self.assertIn(str(port), process.stderr.readline())
        command = [GDB, "-nx", "-batch", "-ex", "set confirm off",
                   "-ex", f"target remote 127.0.0.1:{port}"]
        for each in commands:
            command += ["-ex", each]
        output = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=machine.TIMEOUT).stdout
        run.wait(process)
        self.assertEqual(run.code, 5, f"{run}\n{output}")
        return output

    def test_firmware_is_debugged_by_name(self):
        output = self.debug("ipu", [f"symbol-file {FIRMWARE}", "break core_main", "continue",
                                    "print $pc == (unsigned long)core_main || 1", "backtrace 1",
                                    "stepi", "x/4xw 0x80000000", "delete", "detach"])
        self.assertRegex(output, r"Breakpoint 1, (0x\w+ in )?core_main")
        self.assertRegex(output, r"#0 .*core_main")
        self.assertRegex(output, r"0x80000000.*:\t0x\w{8}")

    def test_the_host_is_debugged_from_its_first_instruction(self):
        output = self.debug("host", ["set architecture i386:x86-64", "stepi", "stepi",
                                     "break *0x100000", "continue", "info registers rip",
                                     "x/4xb 0x100000", "delete", "detach"])
        self.assertIn("Breakpoint 1, 0x0000000000100000", output)
        self.assertRegex(output, r"rip +0x100000")
        self.assertRegex(output, r"0x100000:\t0x\w\w")


if __name__ == "__main__":
    machine.main()
