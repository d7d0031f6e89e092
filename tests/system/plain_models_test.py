# SPDX-License-Identifier: Apache-2.0
"""Models that are plain SystemC work beside a platform that boots Linux, and they are exact: the guest sees what they do at
the same time, however far processors may run ahead. A model that lies about time ends the run and is named."""
import os
import re

import machine

PROGRAM = os.environ.get("OAE_VP_PLAIN_MODELS", "build/cmake/tests/system/plain_models")
WORD = 0x10000000  # the DMA engine of plain_models.cpp counts here,
KEPT = f"memmap=4K${WORD:#x}"  # in a page that Linux does not use
SCRIPT = f"""
oae bench --count 100
for n in 1 2 3 4 5 6 7 8; do
  dd if=/dev/mem bs=4 skip={WORD // 4} count=1 2> /dev/null | hexdump -e '1/4 "word %u\\n"'
done
grep RES: /proc/interrupts
"""


def run(habit, *options, **more):
    one = machine.Run(*options, **more)
    one.command[:1] = [PROGRAM, habit]
    return one.finish()


class PlainModels(machine.TestCase):
    def test_the_guest_sees_the_same_at_every_quantum(self):
        first = None
        for quantum in ("1ms", "50ns"):
            one = run("honest", "--set", f"simulation.max_quantum={quantum}", append=KEPT, script=SCRIPT, trace=True)
            self.assertEqual(one.code, 0, one)
            words = [int(word) for word in re.findall(r"word (\d+)", one.console)]
            self.assertEqual(len(set(words)), 8, one)
            self.assertEqual(words, sorted(words))
            self.assertGreater(int(re.search(r"RES: +(\d+)", one.console)[1]), 1000, one)
            first = first or one
            self.assertEqual(one.console, first.console)
            self.assertEqual(one.trace_bytes, first.trace_bytes)

    def test_one_that_lies_about_time_is_6_and_named(self):
        one = run("lying", "--set", "simulation.max_quantum=1ms")
        self.assertEqual(one.code, 6, one)
        self.assertRegex(one.errors, r"models\.shortcut\.act acts on host\S* at 300000000000 ps, but a processor there has "
                                     r"executed up to \d+ ps already")


if __name__ == "__main__":
    machine.main()
