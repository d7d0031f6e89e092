# SPDX-License-Identifier: Apache-2.0
"""Several threads send requests of random bytes. The driver refuses or executes them, and the kernel stays intact.

Debian's cloud kernel has no KASAN. Damage therefore shows in the kernel's own messages and in what fails afterwards.
"""
import json
import os
import pathlib
import shutil

import machine
from hot_plug_test import TROUBLE

FUZZER = pathlib.Path(os.environ.get("OAE_VP_FUZZER", "build/cmake/tests/system/fuzzer"))
THREADS = 4
CALLS = 8000  # calls of each thread
SEEDS = (1, 2, 3, 4)

SCRIPT = f"""
dmesg -c > /dev/null
%s
for port in 0 1 2 3; do oae bench --port $port --count 10 --json >> /share/bench; done
for port in 0 1 2 3; do oae bench --port $port --count 10 --json --mapped --form streamed >> /share/bench; done
rmmod oae
modprobe oae
oae bench --count 10 --json >> /share/bench
dmesg -r > /share/dmesg
"""

RESETS = """
sleep 0.1 && while ! [ -e /tmp/stop ]; do echo 1 > /sys/bus/pci/devices/0000:01:00.0/reset || true; sleep 0.02; done &
"""


class Fuzz(machine.TestCase):
    """Each seed runs in a child of one boot. In the last child the device is reset meanwhile."""

    @classmethod
    def setUpClass(cls):
        scripts = {seed: SCRIPT % f"/share/fuzzer {seed} {THREADS} {CALLS} > /share/ends" for seed in SEEDS}
        scripts["resets"] = SCRIPT % (RESETS + f"/share/fuzzer 5 {THREADS} {CALLS // 2} > /share/ends; touch /tmp/stop; wait")
        cls.run_ = machine.Children("--set", "hosts[0].vcpus=2", "--until", "60s", scripts=scripts)
        shutil.copy(FUZZER, cls.run_.share / "fuzzer")
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def ends(self, child):
        return {name: int(count) for name, count in (line.split() for line in child.file("ends").splitlines())}

    def test_there_were_many_calls_of_all_kinds(self):
        total = 0
        for name, child in self.run_.children.items():
            ends = self.ends(child)
            total += ends["calls"]
            with self.subTest(name):
                for end in ("good", "EFAULT", "EINVAL", "ENOTTY", "EBUSY", "EBADF", "mapped", "touched"):
                    self.assertGreater(ends.get(end, 0), 20, (end, ends))
        print(f"\n{total} calls")
        self.assertGreaterEqual(total, 100000)

    def test_the_device_swaps_afterwards(self):
        for name, child in self.run_.children.items():
            with self.subTest(name):
                benches = [json.loads(line) for line in child.file("bench").splitlines()]
                self.assertEqual([bench["committed"] for bench in benches], [10] * 9)

    def test_the_kernel_says_nothing(self):
        for name, child in self.run_.children.items():
            with self.subTest(name):
                self.assertEqual(machine.kernel_messages(child.file("dmesg"), 3), [])
                for text in machine.kernel_messages(child.file("dmesg"), 7):
                    self.assertIsNone(TROUBLE.search(text), text)


if __name__ == "__main__":
    machine.main()
