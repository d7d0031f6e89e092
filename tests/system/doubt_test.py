# SPDX-License-Identifier: Apache-2.0
"""The answers of swaps are lost on the link. The user settles these swaps or reverses them."""
import json

import machine

# The answer of a swap is the fifth completion of `oae swap`, after four of the open. That also holds for a streamed swap. Only the
# user settles a swap in doubt.
SCRIPT = """
echo 0 > /sys/module/oae/parameters/settle_reads
swap() { # NAME OPTION...
  name=$1; shift
  vpctl inject host_ipu.up completion_timeout CplD 5
  code=0
  oae swap 7 --json "$@" > /share/$name || code=$?
  echo $code > /share/$name.code
}
for form in pushed streamed; do
  swap $form.settled --form $form
  swap $form.reversed --form $form --reverse
done
oae swap 8 --json > /share/after
oae stat --json > /share/stat
"""


class Doubt(machine.TestCase):
    """Runs one boot without error reporting, whose recovery would settle the swaps."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SCRIPT, append="pci=noaer", trace=True).finish()
        assert cls.run_.code == 0, cls.run_

    def swap(self, name):
        return json.loads(self.run_.file(name)), int(self.run_.file(name + ".code"))

    def states(self):
        """Returns, for each epoch with a swap, the states of its swaps in order."""
        states = {}
        for line in self.run_.trace:
            if "swap" in line and line["seq"]:
                states.setdefault(line["epoch"], []).append(line["to"])
        return list(states.values())

    def test_settled_swaps_are_committed(self):
        for form in "pushed", "streamed":
            swap, code = self.swap(form + ".settled")
            self.assertEqual((swap["status"], swap["form"], swap["sequence"], code), ("committed", form, 1, 0))
            self.assertNotEqual(swap["answer"][1], "0x" + 16 * "0", "the firmware's slot has come")

    def test_reversed_swaps_are_not(self):
        for form in "pushed", "streamed":
            swap, code = self.swap(form + ".reversed")
            self.assertEqual((swap["status"], swap["form"], swap["sequence"], code), ("reversed", form, 1, 1))

    def test_journal_has_the_same_story(self):
        settled, reverse = ["tentative", "committed", "closed"], ["tentative", "reversed", "closed"]
        self.assertEqual(self.states(), [settled, reverse, settled, reverse, settled])

    def test_both_sides_have_counted_alike(self):
        stat = json.loads(self.run_.file("stat"))
        self.assertEqual((stat["block.committed"], stat["firmware.committed"]), (3, 3))
        self.assertEqual((stat["firmware.exchanged"], stat["firmware.reversed"]), (5, 2))
        self.assertEqual((stat["driver.doubts"], stat["driver.settled"]), (4, 4))


if __name__ == "__main__":
    machine.main()
