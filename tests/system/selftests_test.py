# SPDX-License-Identifier: Apache-2.0
"""The driver's self-tests, which the kernel's own rules have built, pass in the guest."""
import os
import pathlib
import re
import shutil

import machine

SELFTESTS = pathlib.Path(os.environ.get("OAE_VP_SELFTESTS", "build/cmake/tests/guest/driver/tools/testing/selftests/drivers/oae"))
PUSHED = 60 // 3  # swaps of requests.c
SLOT = 64

SCRIPT = """
dmesg -c > /dev/null
code=0; /share/requests > /share/requests.tap 2>&1 || code=$?
echo $code > /share/code
dmesg -r > /share/dmesg
"""


class Selftests(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SCRIPT, trace=True)
        shutil.copy(SELFTESTS / "requests", cls.run_.share)
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_
        cls.output = cls.run_.file("requests.tap")

    def test_each_passes(self):
        self.assertEqual(self.run_.file("code").strip(), "0", self.output)
        planned = int(re.search(r"^1\.\.(\d+)$", self.output, re.M)[1])
        results = re.findall(r"^((?:not )?ok) (\d+) ", self.output, re.M)
        self.assertEqual(results, [("ok", str(number)) for number in range(1, planned + 1)], self.output)
        source = (pathlib.Path(__file__).resolve().parents[1] / "guest/driver/selftests/requests.c").read_text()
        for fixture, name in re.findall(r"^TEST_F\((\w+), (\w+)\)", source, re.M):
            self.assertRegex(self.output, rf"(?m)^ok \d+ {fixture}[.\w]*\.{name}$")

    def test_only_pushed_answers_are_written_to_memory(self):
        slots = [line for line in self.run_.trace
                 if line.get("type") == "MWr" and line["dir"] == "up" and line["len"] == SLOT]
        self.assertEqual(len(slots), PUSHED)

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


if __name__ == "__main__":
    machine.main()
