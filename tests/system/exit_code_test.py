# SPDX-License-Identifier: Apache-2.0
"""The exit code says how a run ended, and its output says why."""
import os
import signal
import time

import machine

FAULTING_FIRMWARE = os.environ.get("OAE_VP_FAULTING_FIRMWARE", "")


class ExitCode(machine.TestCase):
    def test_failing_guest_command_is_1(self):
        run = self.fail_with(1, script="exit 7\n")
        self.assertIn("code 7", run.errors)

    def test_of_children_each_its_own_and_of_the_run_the_worst(self):
        run = machine.Children(scripts={"success": "true\n", "failure": "exit 7\n",
                                        "panic": "echo c > /proc/sysrq-trigger\n"}).finish()
        self.assertEqual(run.code, 3, run)
        self.assertEqual({name: child.code for name, child in run.children.items()},
                         {"success": 0, "failure": 1, "panic": 3})
        self.assertIn("code 7", run.children["failure"].errors)
        self.assertIn("Kernel panic - not syncing: sysrq triggered crash", run.children["panic"].errors)

    def test_firmware_fault_is_4_and_shows_registers(self):
        run = self.fail_with(4, "--firmware", FAULTING_FIRMWARE, "--console", "ipu", script="sleep 1\n")
        for register in (" pc ", " sp ", " esr ", " far ", " x30 "):
            self.assertIn(register, run.console)

    def test_time_limit_is_5(self):
        run = self.fail_with(5, "--until", "300ms")
        self.assertIn("time limit", run.errors)

    def test_interruption_is_130(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                run = machine.Run(script="sleep 100000\n")
                process = run.start()
                time.sleep(3)
                process.send_signal(number)
                run.wait(process)
                self.assertEqual(run.code, 130, run)


if __name__ == "__main__":
    machine.main()
