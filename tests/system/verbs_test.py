# SPDX-License-Identifier: Apache-2.0
"""Linux uses the verbs by the tool, and by several examples at the same time, each on its own port."""
import json
import os
import pathlib
import re
import shutil

import machine

EXAMPLES = pathlib.Path(os.environ.get("OAE_VP_EXAMPLES", "build/cmake/guest/examples"))
FEW_WORDS = os.environ.get("OAE_VP_FEW_WORDS", "build/cmake/tests/firmware/few_words.elf")
TIMES = 100

SCRIPT = f"""
cd /share
code() {{ code=0; "$@" || code=$?; echo "code $code"; }}
code oae cas 7 0 5 > cas
code oae cas 7 0 6 > unequal
code oae add --json 7 -- -1 > add
code oae multi --form streamed compare:7=4 write:7=40 write:8=50 read:9 > multi
code oae multi --json compare:7=4 add:8=1 > none
code oae multi read:7 read:8 > words
code oae cas 256 0 1 > far
code oae send 1 2 3 > send
oae stat > stat
code ./counter 0 {TIMES} > c0 & code ./counter 1 {TIMES} > c1 & code ./counter 2 {TIMES} > c2 & wait
code oae multi --json read:0 > counted
code ./lock 0 {TIMES // 4} > l0 & code ./lock 1 {TIMES // 4} > l1 & wait
code oae multi --json read:1 read:2 > locked
oae add 16 1000 > /dev/null
for i in $(seq 10); do ./transfer 0 16 17 70 || true; done > t0 &
for i in $(seq 10); do ./transfer 1 16 17 70 || true; done > t1 & wait
code oae multi --json read:16 read:17 > transferred
code ./swap 3 4711 > s0
code ./swap 3 4712 > s1
code ./mapped 5 50 > m0
code ./log 4 one two three > logged
oae bench --count 100 > bench
dmesg -r > dmesg
"""


def run(*options):
    one = machine.Run("--set", "hosts[0].vcpus=2", *options, script=SCRIPT, trace=True)
    for example in ("swap", "mapped", "counter", "transfer", "lock", "log"):
        shutil.copy(EXAMPLES / example, one.share / example)
    return one.finish()


class Verbs(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = run()
        assert cls.run_.code == 0, cls.run_

    def file(self, name):
        return self.run_.file(name)

    def found(self, name):
        lines = self.file(name).splitlines()
        self.assertEqual(lines[1], "code 0")
        return json.loads(lines[0])["found"]

    def test_the_tool_says_what_was_done(self):
        self.assertEqual(self.file("cas"), "done\nword 7 was 0\nword 7 was 0\ncode 0\n")
        self.assertEqual(self.file("unequal"), "not done, since a comparison does not hold\n"
                         "word 7 was 5\nword 7 was 5\ncode 4\n")
        self.assertEqual(self.found("add"), [5])
        self.assertEqual(self.file("multi"),
                         "done\nword 7 was 4\nword 7 was 4\nword 8 was 0\nword 9 was 0\ncode 0\n")
        self.assertIn('"done": false, "found": [40, 50]', self.file("none"))
        self.assertIn("code 4", self.file("none"))
        self.assertEqual(self.file("words"), "done\nword 7 was 40\nword 8 was 50\ncode 0\n")
        self.assertEqual(self.file("far"), "bad verb: the words that the firmware has given port 0: 0 to 255\ncode 1\n")

    def test_a_send_arrives_once(self):
        self.assertRegex(self.file("send"), r"^committed, pushed, .*\noffer  0+1 0+2 0+3 .*\ncode 0\n$")
        stat = dict(line.split() for line in self.file("stat").splitlines())
        self.assertEqual(stat["firmware.committed"], "1", "the others are not for the firmware")
        self.assertEqual(self.file("logged"), "the firmware has 3 slots\ncode 0\n")

    def test_nothing_is_counted_twice_or_lost(self):
        self.assertEqual(self.found("counted"), [3 * TIMES])
        last = [int(self.file(name).split()[3]) for name in ("c0", "c1", "c2")]
        self.assertEqual(max(last), 3 * TIMES)
        self.assertEqual(self.found("locked"), [0, 2 * (TIMES // 4)])

    def test_an_amount_is_moved_or_is_not(self):
        moved = (self.file("t0") + self.file("t1")).split("\n").count("moved")
        self.assertEqual(moved, 1000 // 70)
        self.assertEqual(self.found("transferred"), [1000 - 70 * moved, 70 * moved])

    def test_a_mapped_swap_takes_less(self):
        found = re.fullmatch(r"a swap takes (\d+) ns through the kernel, (\d+) ns without it\ncode 0\n", self.file("m0"))
        self.assertTrue(found, self.file("m0"))
        self.assertLess(int(found[2]), 0.8 * int(found[1]))

    def test_swaps_go_on_between(self):
        self.assertIn("the firmware has seen 0 before", self.file("s0"))
        self.assertIn("the firmware has seen 1 before, the last was 4711", self.file("s1"))
        self.assertIn("committed 100 of 100", self.file("bench"))

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.file("dmesg"), 3), [])

    def test_the_quantum_changes_nothing(self):
        self.assertEqual(run("--set", "simulation.max_quantum=200ns").trace, self.run_.trace)


class FewWords(machine.TestCase):
    """The firmware gives each port 32 words of its own."""

    def test_a_port_uses_the_words_that_it_was_given_and_no_others(self):
        run = self.succeed("--firmware", FEW_WORDS, script="""
cd /share
code() { code=0; "$@" || code=$?; echo "code $code"; }
oae info --port 1 > info
oae info --port 1 --json > json
for word in 31 32 63 64; do code oae add --port 1 $word 1; done > added
code oae multi --port 1 add:32=1 read:64 > both
code oae multi --port 1 --json read:32 > after
code oae cas --port 2 64 0 7 > other
""")
        self.assertIn("\nwords       32 to 63\n", run.file("info"))
        info = json.loads(run.file("json"))
        self.assertEqual((info["first_word"], info["words"]), (32, 32))
        refused = "bad verb: the words that the firmware has given port 1: 32 to 63\ncode 1\n"
        self.assertEqual(run.file("added"), f"{refused}done\nword 32 was 0\ncode 0\ndone\nword 63 was 0\ncode 0\n{refused}")
        self.assertEqual(run.file("both"), refused)
        self.assertIn('"done": true, "found": [1]', run.file("after"))
        self.assertEqual(run.file("other"), "done\nword 64 was 0\nword 64 was 0\ncode 0\n")


if __name__ == "__main__":
    machine.main()
