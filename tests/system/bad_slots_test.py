# SPDX-License-Identifier: Apache-2.0
"""The firmware offers malformed slots. The host is answered NOT_READY at once, and nothing changes. Good slots between them
are swapped. mapped_test.py tests malformed slots of the host."""
import json
import os

import machine

FIRMWARE = os.environ.get("OAE_VP_BAD_OFFERS", "build/cmake/tests/firmware/bad_offers.elf")
KINDS = 12  # kinds of bad offers before each good one, see bad_offers_firmware.c
SWAPS = 20
FORMS = ("pushed", "streamed")

SCRIPT = f"""
dmesg -c > /dev/null
for form in {" ".join(FORMS)}; do
  for i in $(seq {SWAPS}); do oae swap --port 1 --form $form --json >> /share/$form; done
  for i in $(seq 5); do
    code=0; oae swap --port 7 --form $form --timeout ${{i}}ms --json >> /share/never || code=$?
    echo $code >> /share/codes
  done
done
for port in 0 7; do oae send --port $port 1 2 3 --json >> /share/sent; oae cas --port $port 3 0 0 >> /share/words; done
dmesg -r > /share/dmesg
"""


class BadSlots(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run("--firmware", FIRMWARE, "--console", "both", "--until", "20s", script=SCRIPT, trace=True).finish()
        assert cls.run_.code == 0, cls.run_

    def swaps(self, name):
        return [json.loads(line) for line in self.run_.file(name).splitlines()]

    def test_the_good_ones_are_swapped(self):
        for form in FORMS:
            swaps = self.swaps(form)
            self.assertEqual([(swap["status"], swap["sequence"]) for swap in swaps], [("committed", 1)] * SWAPS)

    def test_the_firmware_is_told_of_each_bad_one(self):
        for form in FORMS:
            for swap in self.swaps(form):
                self.assertEqual([int(word, 16) for word in swap["answer"][:2]], [KINDS, KINDS])

    def test_where_none_is_good_the_host_is_told_so(self):
        self.assertEqual(self.run_.file("codes").split(), ["3"] * 5 * len(FORMS))
        for swap in self.swaps("never"):
            self.assertEqual((swap["status"], swap["sequence"]), ("not ready", 1))
            self.assertGreaterEqual(swap["tries"], 1)

    def test_nothing_of_a_bad_one_is_in_the_journal(self):
        states = {line["to"] for line in self.run_.trace if "swap" in line and line["port"] == 7 and line["seq"]}
        # SEND needs no offer of the firmware.
        self.assertLessEqual(states, {"tentative", "committed", "closed"})
        swaps = [line for line in self.run_.trace if "swap" in line and line["port"] == 7 and line["to"] == "tentative"]
        self.assertEqual(len(swaps), 2, "the SEND and the CAS")

    def test_other_verbs_are_served_beside_them(self):
        self.assertEqual([swap["status"] for swap in self.swaps("sent")], ["committed"] * 2)
        self.assertEqual(self.run_.file("words").count("done"), 2)

    def test_the_firmware_runs_on(self):
        self.assertRegex(self.run_.console + self.run_.errors, rf"bad offers of {KINDS} kinds at 8 ports")

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


if __name__ == "__main__":
    machine.main()
