# SPDX-License-Identifier: Apache-2.0
"""Owners of ports that die, hang, or cannot be given their outcome: they delay nobody else, leave nothing held, and lose
no outcome."""
import os
import pathlib
import shutil

import machine
from hot_plug_test import TROUBLE
from reset_test import write_silent_firmware

PROGRAMS = pathlib.Path(os.environ.get("OAE_VP_OWNER_PROGRAMS", "build/cmake/tests/system"))
ALL_GOOD = "all is as it must be\n"
# What a process may ask for whose memory is never served
REQUESTS = ("info", "swap", "stats", "firmware_stats", "begin", "words", "settle")

HEAD = """
device=/sys/bus/pci/devices/0000:01:00.0
driver=/sys/bus/pci/drivers/oae
dmesg -c > /dev/null
# The answer of the first swap behind an open is the fifth completion, and nobody asks for it again.
# The block asks for no confirmation meanwhile, so that no interrupt's handler, on either CPU, reads anything in between.
patient() { echo 1000000 > /sys/module/oae/parameters/confirm_limit_us; }
lose() { echo 0 > /sys/module/oae/parameters/settle_reads; vpctl inject host_ipu.up completion_timeout CplD $1; }
owner() { /share/owner "$@" >> /share/said || true; }
"""

TAIL = """
oae --device $(ls /dev | sed -n 's/^oae\\(.*\\)p7$/\\1/p') bench --port 7 --count 5 > /share/bench
dmesg -r > /share/dmesg
"""

# What a process may delay, and how long each takes, with and without the one that hangs
STALLED = """
measure() {
  /share/owner measure sh -c "echo 1 > $device/reset" >> /share/$1
  /share/owner measure sh -c "oae info --port 1 > /dev/null" >> /share/$1
  /share/owner measure sh -c "echo 0000:01:00.0 > $driver/unbind" >> /share/$1
  echo 0000:01:00.0 > $driver/bind
}
measure without
REQUEST=%s
if [ $REQUEST = settle ]; then lose 5; fi
/share/stall /dev/oae0p0 $REQUEST 2> /share/complaint & stall=$!
for i in $(seq 100); do [ -e /tmp/stalled ] && break; sleep 0.01; done
[ -e /tmp/stalled ]
measure with
kill -9 $stall
code=0; wait $stall || code=$?; echo $code > /share/code
"""

SCRIPTS = {
    **{f"stalled_{request}": STALLED % request for request in REQUESTS},
    **{what: f"owner {what}\n" for what in ("steps", "times", "resets", "close_frozen", "read_only", "poll")},
    "map_unbound": "owner map_unbound\necho 0000:01:00.0 > $driver/bind\n",
    "buffer": "owner buffer\necho 0000:01:00.0 > $driver/bind\n",
    "pages": "owner pages\n",
    "outcomes": "lose 5\nowner outcomes\n",
    "begins": "patient\nowner begins\n",
    "count_settled": "lose 5\nowner count_settled\n",
    # The answer of each verb is lost, and its owner dies without having asked for it again, or asked in vain for its
    # reversal, whose answer is lost too. The port's journal is read twice before that.
    "doubt": "patient\n" + "".join(f"""
lose 5
/share/owner die_in_doubt {verb} >> /share/said && exit 1
owner check "in doubt of verb {verb}"
lose 5
lose 8
/share/owner die_in_doubt {verb} reverse >> /share/said && exit 1
owner check "in doubt of the reversal of verb {verb}"
""" for verb in range(1, 6)),
    # The two writes that demand a reversal are lost, the first when its owner asks for it, and the second at the close.
    "demands": """
patient
lose 5
lose 8
/share/owner die_in_doubt 3 reverse lose >> /share/said && exit 1
owner check "in doubt of a reversal whose demands are lost"
owner nothing_added
""",
    # The close itself is not answered for a while.
    "unanswered": "".join(f"""
lose 5
for i in $(seq 6 {14 + more}); do vpctl inject host_ipu.up completion_timeout CplD $i; done
/share/owner die_in_doubt 3 >> /share/said && exit 1
sleep 4
owner check "in doubt, and {more} more answers lost"
""" for more in (0, 3)),
}


class Owners(machine.TestCase):
    """A child of one boot for each script. Error reporting is off: what it recovers would be a reset."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Children("--set", "hosts[0].vcpus=2", "--until", "60s", append="pci=noaer",
                                    scripts={name: HEAD + script + TAIL for name, script in SCRIPTS.items()})
        for program in ("owner", "stall"):
            shutil.copy(PROGRAMS / program, cls.run_.share / program)
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def good(self, *names):
        for name in names:
            with self.subTest(name):
                child = self.run_.children[name]
                self.assertEqual(child.guest_code, 0, child)
                said = child.file("said")
                self.assertEqual(said, ALL_GOOD * said.count(ALL_GOOD))
                self.assertGreater(len(said), 0)

    def test_a_page_that_is_never_served_delays_nobody(self):
        for request in REQUESTS:
            with self.subTest(request):
                child = self.run_.children["stalled_" + request]
                self.assertEqual(child.guest_code, 0, child)
                without, stalled = ([int(line) for line in child.file(name).split()] for name in ("without", "with"))
                self.assertEqual((len(without), len(stalled)), (3, 3))
                for before, now in zip(without, stalled):
                    self.assertLess(now, 1.2 * before + 1000, (without, stalled))
                self.assertEqual((child.file("code").strip(), child.file("complaint")), ("137", ""), "it can be killed")

    def test_an_owner_that_dies_at_any_step_leaves_nothing_held(self):
        self.good("steps", "times", "doubt", "unanswered")

    def test_a_reversal_whose_demand_is_lost_is_demanded_again(self):
        self.good("demands")

    def test_nor_does_one_that_dies_in_a_reset(self):
        self.good("resets")

    def test_a_port_that_is_closed_in_a_reset_is_closed_in_hardware(self):
        self.good("close_frozen")

    def test_an_outcome_is_kept_until_its_owner_has_it(self):
        self.good("outcomes")

    def test_a_swap_begins_the_epoch_that_a_begin_has_not(self):
        self.good("begins")

    def test_what_a_reset_settles_is_counted(self):
        self.good("count_settled")

    def test_a_file_open_for_reading_changes_nothing(self):
        self.good("read_only")

    def test_a_file_of_an_unbound_device_maps_nothing(self):
        self.good("map_unbound")

    def test_a_poll_goes_on_through_a_reset(self):
        self.good("poll")

    def test_the_answer_buffer_stays_in_a_reset(self):
        self.good("buffer")

    def test_mapped_pages_lead_nowhere_after_an_unbinding(self):
        self.good("pages")

    def test_the_device_swaps_afterwards(self):
        for name, child in self.run_.children.items():
            with self.subTest(name):
                self.assertIn("committed 5 of 5", child.file("bench"))

    def test_the_kernel_is_intact(self):
        for name, child in self.run_.children.items():
            with self.subTest(name):
                for text in machine.kernel_messages(child.file("dmesg"), 7):
                    self.assertIsNone(TROUBLE.search(text), text)


class Interrupted(machine.TestCase):
    """Waits for firmware that never offers anything, and signals."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run("--until", "20s", script="/share/owner interrupt > /share/said || true\n")
        shutil.copy(PROGRAMS / "owner", cls.run_.share / "owner")
        firmware = cls.run_.folder / "silent.elf"
        write_silent_firmware(firmware)
        cls.run_.command += ["--firmware", str(firmware)]
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def test_a_signal_ends_a_wait_unless_its_handler_restarts_it(self):
        self.assertEqual(self.run_.file("said"), ALL_GOOD)


if __name__ == "__main__":
    machine.main()
