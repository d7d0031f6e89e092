# SPDX-License-Identifier: Apache-2.0
"""An IPU whose card is pulled, or whose hot-plug slot is off, has no power. It forgets everything and does nothing."""
import json
import re

import machine
from hot_plug_test import HEAD, hot_plug

WORD = 5
SWAPS = 20

# A reset of the function changes no word and does not restart the firmware. A loss of power does both, in the middle of a load.
SCRIPT = HEAD + f"""
look() {{ # NAME
  await bound
  oae multi --port 1 read:{WORD} --json > /share/$1.word
  oae stat --port 0 > /share/$1.stat
}}
load() {{ # COMMAND...: takes the power
  oae bench --count 65536 > /dev/null 2>&1 & first=$!
  oae bench --count 65536 --port 1 --form streamed > /dev/null 2>&1 & second=$!
  sleep 0.01
  kill -0 $first $second
  "$@"
  wait $first $second || true
  await gone
}}
off() {{ echo 0 > $power; }}
oae add --port 1 {WORD} 7 > /dev/null
oae bench --count {SWAPS} > /dev/null
look before
echo flr > $device/reset_method
echo 1 > $device/reset
look reset
load vpctl hot_plug host_ipu remove
vpctl hot_plug host_ipu insert
look pulled
oae add --port 1 {WORD} 9 > /dev/null
load off
sleep 0.05
echo 1 > $power
look off
dmesg -r > /share/dmesg
"""


class Power(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = cls.run_with("100us", 3)

    @classmethod
    def run_with(cls, quantum, cores):
        run = machine.Run("--set", f"simulation.max_quantum={quantum}", "--set", f"ipus[0].cores={cores}",
                          *hot_plug("surprise", "power_controller"), script=SCRIPT, trace=True)
        run.command += ["--console", f"ipu={run.folder / 'ipu.log'}", "--stats", str(run.folder / "stats.json")]
        run.finish()
        assert run.code == 0, run
        return run

    def found(self, name):
        """Returns the value of the word and the number of swaps that the firmware has committed at port 0 since it began."""
        stat = self.run_.file(f"{name}.stat")
        return (int(re.search(r'"found": \[(\d+)', self.run_.file(f"{name}.word"))[1]),
                int(re.search(r"(?m)^firmware\.committed +(\d+)$", stat)[1]))

    def test_a_loss_of_power_clears_what_a_reset_keeps(self):
        self.assertEqual(self.found("before"), (7, SWAPS))
        self.assertEqual(self.found("reset"), (7, SWAPS))
        self.assertEqual(self.found("pulled"), (0, 0))
        self.assertEqual(self.found("off"), (0, 0))

    def test_the_firmware_begins_anew(self):
        log = (self.run_.folder / "ipu.log").read_text()
        self.assertEqual(log.count("OAE firmware"), 3, log)
        self.assertEqual(self.run_.errors.count("ipu: has lost its power"), 2, self.run_)
        self.assertEqual(self.run_.errors.count("ipu: has power again"), 2, self.run_)

    def test_nothing_happens_without_power(self):
        powered, seen = True, {True: 0, False: 0}
        switched = []
        for line in self.run_.trace:
            if line.get("power") == "ipu":
                powered = line["on"]
                switched.append(powered)
            elif any(str(value).startswith("ipu.") for value in line.values()):
                seen[powered] += 1
        self.assertEqual(switched, [False, True] * 2)
        self.assertEqual(seen[False], 0)
        self.assertGreater(seen[True], 1000)

    def test_the_kernel_is_intact(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 3), [])

    def test_the_quantum_changes_nothing(self):
        for runs in ((self.run_, self.run_with("300ns", 3)), (self.run_with("100us", 1), self.run_with("300ns", 1))):
            self.assertTrue(runs[0].trace_bytes == runs[1].trace_bytes, "the traces differ")
            counters = [json.loads((run.folder / "stats.json").read_text())["counters"] for run in runs]
            for name in counters[0]:
                if name.startswith("ipu."):
                    self.assertEqual(counters[0][name], counters[1][name], name)


if __name__ == "__main__":
    machine.main()
