# SPDX-License-Identifier: Apache-2.0
"""What is written about a run does not depend on how far processors may run ahead, however the run ends; and every run
does end, or can be ended."""
import os
import signal
import time

import machine

QUANTA = ("50ns", "1us", "1ms")
FEWER_QUANTA = ("200ns", "1ms")  # for runs that boot
FAULTING_FIRMWARE = os.environ.get("OAE_VP_FAULTING_FIRMWARE", "")
GUESTS = os.environ.get("OAE_VP_GUESTS", "")


class Ending(machine.TestCase):
    def written(self, code, quantum, *options, **more):
        """Statistics, consoles and trace of a run with this quantum."""
        run = machine.Run("--set", f"simulation.max_quantum={quantum}", *options, trace=True, **more)
        files = {name: run.folder / name for name in ("stats", "host.log", "ipu.log")}
        run.command += ["--stats", str(files["stats"]), "--console", f"host={files['host.log']}",
                        "--console", f"ipu={files['ipu.log']}"]
        run.finish()
        self.assertEqual(run.code, code, run)
        texts = {name: file.read_text(errors="replace") for name, file in files.items()}
        self.assertIn('"instructions"', texts["stats"].replace("host.instructions", "instructions"))
        return {**texts, "trace": run.trace}

    def compare(self, code, *options, quanta=QUANTA, **more):
        first = self.written(code, quanta[0], *options, **more)
        for quantum in quanta[1:]:
            other = self.written(code, quantum, *options, **more)
            for part, text in first.items():
                with self.subTest(quantum=quantum, part=part):
                    self.assertEqual(other[part], text)
        return first

    def test_time_limit(self):
        first = self.compare(5, "--until", "400ms")
        self.assertIn('"time_ps": 400000000000', first["stats"])

    def test_firmware_fault(self):
        self.compare(4, "--firmware", FAULTING_FIRMWARE, quanta=FEWER_QUANTA)

    def test_mark(self):
        self.compare(0, "--until-mark", "booted", quanta=FEWER_QUANTA)

    def test_power_off(self):
        self.compare(1, script="exit 7\n", quanta=FEWER_QUANTA)

    def test_panic(self):
        self.compare(3, append="rdinit=/none init=/none", quanta=FEWER_QUANTA)


class Halted(machine.TestCase):
    def test_all_processors_halted_for_good_is_7_and_says_who_and_since_when(self):
        run = self.fail_with(7, "--firmware", f"{GUESTS}/asleep.elf", script="halt -f\n")
        self.assertIn("host: processors that have halted: 1; the last halted at ", run.errors)
        self.assertIn("ipu: processors that have halted: 1; the last halted at ", run.errors)
        self.assertIn("powering off", run.errors)


class Heard(machine.TestCase):
    def test_ctrl_c_is_heard_while_firmware_faults_for_ever(self):
        run = machine.Run("--firmware", f"{GUESTS}/lost.elf", "--set", "simulation.max_quantum=1ms")
        process = run.start()
        time.sleep(3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        run.wait(process)
        self.assertEqual(run.code, 130, run)
        self.assertLess(time.monotonic() - begin, 5)


if __name__ == "__main__":
    machine.main()
