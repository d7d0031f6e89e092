# SPDX-License-Identifier: Apache-2.0
"""A card is removed and inserted while Linux runs, by surprise and orderly. The kernel's own pciehp handles it."""
import json
import re

import machine
from reset_test import write_silent_firmware

ROOT_PORT = "pcieport 0000:00:01.0: pciehp:"
TIMES = 5
SWAPS = 20

# A kernel that detects a problem prints one of these.
TROUBLE = re.compile(r"WARNING|BUG|Oops|hung|stall|Call Trace|refcount|use-after-free|Unable to handle", re.IGNORECASE)

AWAIT = """
await() { # COMMAND...: until it succeeds, at most 10 s
  for i in $(seq 1000); do "$@" 2> /dev/null && return; sleep 0.01; done
  echo "in vain: $*" >> /share/in_vain
}
"""

HEAD = AWAIT + """
device=/sys/bus/pci/devices/0000:01:00.0
power=/sys/bus/pci/slots/1/power
dmesg > /share/boot
dmesg -c > /dev/null
bound() { [ -e $device/driver ] && [ -e /dev/oae${1:-0}p7 ]; }
gone() { ! [ -e $device ] && ! [ -e /dev/oae0p0 ]; }
logged() { dmesg | grep -q "$1"; }
"""

# Two processes swap and one reads statistics while the card is pulled, each time at another moment. Another process has a
# port open all the time, and so has a shell that does nothing with it.
SURPRISE = HEAD + f"""
for i in $(seq {TIMES}); do
  oae bench --count 65536 > /dev/null 2>> /share/load.errors & first=$!
  oae bench --count 65536 --port 1 --form streamed > /dev/null 2>> /share/load.errors & second=$!
  while oae stat --port 2; do :; done > /dev/null 2>> /share/stat.errors & third=$!
  sleep 0.01$((RANDOM % 10))$i
  kill -0 $first $second $third
  exec 4<> /dev/oae0p5
  vpctl hot_plug host_ipu remove
  for load in $first $second; do
    code=0; wait $load || code=$?
    echo $code >> /share/load.codes
  done
  wait $third || true
  await eval '! [ -e $device ]'
  code=0; oae bench --count 1 2> /dev/null || code=$?; echo $code >> /share/absent.codes
  exec 4>&-
  await gone
  vpctl hot_plug host_ipu insert
  await bound
  oae bench --count {SWAPS} --json >> /share/bench
  oae bench --count {SWAPS} --form streamed --json >> /share/bench
done
cat $device/current_link_speed $device/current_link_width $device/power_state > /share/link
# With files that stay open the driver has another number for the next card.
exec 4<> /dev/oae0p5
vpctl hot_plug host_ipu remove
await eval '! [ -e $device ]'
vpctl hot_plug host_ipu insert
await bound 1
oae --device 1 bench --count {SWAPS} --json > /share/second
exec 4>&-
# Faster than software looks.
vpctl hot_plug host_ipu remove
vpctl hot_plug host_ipu insert
await logged "Slot(1): Card present"
sleep 1
await bound
oae bench --count {SWAPS} --json > /share/hasty
for action in "host_ipu insert" "host_ipu button" "host_ipu pull" "ipu remove"; do
  vpctl hot_plug $action 2>> /share/mistakes || true
done
dmesg -r > /share/dmesg
"""

ONCE = HEAD + f"""
oae bench --count 65536 > /dev/null 2>&1 & load=$!
sleep 0.01
kill -0 $load
vpctl hot_plug host_ipu remove
wait $load || true
await gone
vpctl hot_plug host_ipu insert
await bound
oae bench --count {SWAPS} --json > /share/bench
dmesg > /share/dmesg
"""

WAITING = HEAD + """
echo 1000000 > /sys/module/oae/parameters/mailbox_timeout_ms
waits() { code=0; "$@" > /dev/null 2>> /share/errors || code=$?; echo $code >> /share/codes; }
waits oae swap --timeout 1000s & first=$!
waits oae stat --port 1 & second=$!
sleep 0.05
kill -0 $first $second
vpctl hot_plug host_ipu remove
wait $first $second
await gone
cut -d. -f1 /proc/uptime > /share/uptime
vpctl hot_plug host_ipu insert
await bound
code=0; oae swap --timeout 0s > /dev/null || code=$?; echo $code > /share/next
dmesg -r > /share/dmesg
"""

# Events that take the link down and are not removals, and removals of a card without a driver or that Linux has given up.
OTHERS = HEAD + f"""
bench() {{ oae bench --count {SWAPS} --json >> /share/bench; }}
for method in flr pm bus; do
  echo $method > $device/reset_method
  echo 1 > $device/reset
  bench
done
for direction in up down; do
  vpctl inject host_ipu.$direction malformed_tlp
  sleep 0.5
  bench
done
dmesg -c > /share/resets
rmmod oae
vpctl hot_plug host_ipu remove
await eval '! [ -e $device ]'
vpctl hot_plug host_ipu insert
await [ -e $device ]
modprobe oae
await bound; bench
echo 1 > $device/remove
await gone
vpctl hot_plug host_ipu remove
sleep 0.1
vpctl hot_plug host_ipu insert
await bound; bench
dmesg > /share/dmesg
"""

# The second boot begins with an empty hot-plug slot, into which a card can be inserted.
REBOOT = HEAD + f"""
if vpctl hot_plug host_ipu insert 2> /dev/null; then
  await bound
  oae bench --count {SWAPS} --json > /share/bench
  dmesg > /share/dmesg
else
  vpctl hot_plug host_ipu remove
  await gone
  reboot -f
  sleep 1000
fi
"""

ORDERLY = HEAD + f"""
each() {{ # NAME: what the kernel says of what has just been done
  dmesg -c > /share/$1
  cat $power >> /share/power
}}
works() {{ await bound; oae bench --count {SWAPS} --json >> /share/bench; }}
works
echo 0 > $power
gone; each written_off
echo 1 > $power
works; each written_on
vpctl hot_plug host_ipu button
await gone; await logged "Slot(1)"; sleep 1.5; each button_off
vpctl hot_plug host_ipu remove
sleep 0.1; each removed
vpctl hot_plug host_ipu insert
sleep 0.1; each inserted
vpctl hot_plug host_ipu button
works; each button_on
vpctl hot_plug host_ipu button
sleep 1
vpctl hot_plug host_ipu button
sleep 6
works; each cancelled
"""

# A hot-plug slot with all optional parts. After a power fault the kernel has to switch the power off and on, and finds the
# latch open.
COMMANDS = HEAD + f"""
works() {{ await bound; oae bench --count {SWAPS} --json >> /share/bench; }}
works
vpctl hot_plug host_ipu remove 2>> /share/mistakes || true
echo 0 > $power
gone
echo 1 > $power
works
vpctl hot_plug host_ipu power_fault
await logged "Slot(1): Power fault"
sleep 2
works
vpctl hot_plug host_ipu open
await logged "Slot(1): Latch open"
await gone
vpctl hot_plug host_ipu open 2>> /share/mistakes || true
vpctl hot_plug host_ipu remove
sleep 0.5
vpctl hot_plug host_ipu insert
sleep 0.5
vpctl hot_plug host_ipu close
gone
echo 1 > $power
works
dmesg > /share/dmesg
"""


def hot_plug(*features, **values):
    keys = [f"{feature}: true" for feature in ("capable",) + features] + [f"{key}: {value}" for key, value in values.items()]
    return "--set", "pcie_links[0].hot_plug={" + ", ".join(keys) + "}"


class HotPlugCase(machine.TestCase):
    def check_benches(self, name, count):
        results = [json.loads(line) for line in self.run_.file(name).splitlines()]
        self.assertEqual(len(results), count)
        for result in results:
            for end in ("committed", "block_committed", "firmware_committed"):
                self.assertEqual(result[end], SWAPS, result)

    def check_nothing_in_vain(self):
        self.assertFalse((self.run_.share / "in_vain").exists() and self.run_.file("in_vain"))

    def check_no_trouble(self, log):
        self.assertEqual([line for line in log.splitlines() if TROUBLE.search(line)], [])


class Surprise(HotPlugCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run("--set", "hosts[0].vcpus=2", *hot_plug("surprise"), script=SURPRISE).finish()
        assert cls.run_.code == 0, cls.run_

    def test_linux_takes_the_slot(self):
        self.assertRegex(self.run_.file("boot"), rf"{ROOT_PORT} Slot #1 AttnBtn- PwrCtrl- MRL- AttnInd- PwrInd- HotPlug\+ "
                                                 r"Surprise\+ Interlock- NoCompl\+ IbPresDis- LLActRep\+")

    def test_each_removal_and_each_insertion_is_seen(self):
        said = self.run_.file("dmesg")
        for text in ("Link Down", "Card not present", "Card present"):
            self.assertGreaterEqual(said.count(f"{ROOT_PORT} Slot(1): {text}"), TIMES + 1, text)
        self.assertEqual(len(re.findall(r"oae 0000:01:00\.0: oae\d: 8 ports", said)), TIMES + 2)

    def test_processes_at_work_are_notified(self):
        self.assertEqual(self.run_.file("load.codes").split(), ["1"] * 2 * TIMES)
        for name in ("load.errors", "stat.errors"):
            errors = self.run_.file(name).splitlines()
            self.assertGreaterEqual(len(errors), TIMES, name)
            for error in errors:
                self.assertRegex(error, "the device does not answer|the device is gone|no such swap port", name)
        self.assertEqual(self.run_.file("absent.codes").split(), ["1"] * TIMES)

    def test_swaps_work_afterwards(self):
        self.check_benches("bench", 2 * TIMES)
        self.check_benches("second", 1)
        self.check_benches("hasty", 1)
        self.check_nothing_in_vain()
        self.assertEqual(self.run_.file("link").splitlines(), ["16.0 GT/s PCIe", "16", "D0"])

    def test_the_kernel_is_intact(self):
        self.check_no_trouble(self.run_.file("dmesg"))
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])

    def test_mistakes_are_reported(self):
        self.assertEqual([line.split(": ", 2)[2] for line in self.run_.file("mistakes").splitlines()],
                         ["the hot-plug slot has a card", "the hot-plug slot has no button",
                          "the action is unknown; a hot-plug slot knows remove, insert, button, open, close or power_fault", "there is no such hot-plug slot; there are host_ipu"])


class Others(HotPlugCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(*hot_plug("surprise"), script=OTHERS).finish()
        assert cls.run_.code == 0, cls.run_

    def test_resets_and_recoveries_are_no_removals(self):
        said = self.run_.file("resets")
        self.assertEqual(said.count("AER: device recovery successful"), 2, said)
        self.assertNotIn("pciehp", said)

    def test_swaps_work_each_time(self):
        self.check_benches("bench", 7)
        self.check_nothing_in_vain()

    def test_a_card_without_a_driver_goes_and_comes_too(self):
        said = self.run_.file("dmesg")
        self.assertEqual([said.count(text) for text in ("Card not present", "Card present")], [2, 2], said)
        self.check_no_trouble(said)


class Quantum(HotPlugCase):
    """The quantum changes no result, even if the card is pulled between two instructions."""

    def test_the_trace_is_the_same(self):
        def pull(quantum):
            self.run_ = machine.Run("--set", f"simulation.max_quantum={quantum}", *hot_plug("surprise"), script=ONCE,
                                    trace=True).finish()
            self.assertEqual(self.run_.code, 0, self.run_)
            self.check_benches("bench", 1)
            self.check_nothing_in_vain()
            return self.run_

        first, second = pull("100us"), pull("300ns")
        self.assertEqual(first.file("dmesg"), second.file("dmesg"))
        self.assertTrue(first.trace_bytes == second.trace_bytes, "the traces differ")


class Reboot(HotPlugCase):
    def test_a_card_may_come_after_a_boot_without_one(self):
        self.run_ = self.succeed(*hot_plug("surprise"), script=REBOOT)
        self.assertEqual(self.run_.console.count("Linux version"), 2)
        self.assertNotIn("0000:01:00.0", self.run_.file("boot"))
        self.assertIn("Card present", self.run_.file("dmesg"))
        self.check_no_trouble(self.run_.file("dmesg"))
        self.check_benches("bench", 1)
        self.check_nothing_in_vain()


class Waiting(HotPlugCase):
    """Processes wait for something that the firmware never does."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(*hot_plug("surprise"), script=WAITING)
        firmware = cls.run_.folder / "silent.elf"
        write_silent_firmware(firmware)
        cls.run_.command += ["--firmware", str(firmware)]
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def test_they_are_told_and_do_not_wait_for_their_own_timeouts(self):
        self.assertEqual(self.run_.file("codes").split(), ["1", "1"])
        self.assertEqual(len(self.run_.file("errors").splitlines()), 2)
        self.assertLess(int(self.run_.file("uptime")), 10)
        self.assertEqual(self.run_.file("next").split(), ["3"])
        self.check_nothing_in_vain()

    def test_the_kernel_is_intact(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


class Orderly(HotPlugCase):
    """Software switches the hot-plug slot off before the card is removed."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(*hot_plug("attention_button", "indicators", "power_controller"), script=ORDERLY).finish()
        assert cls.run_.code == 0, cls.run_

    def test_the_kernel_does_as_it_is_asked(self):
        for name, text in (("button_off", "Powering off due to button press"),
                           ("button_on", "Powering on due to button press"),
                           ("cancelled", "Action canceled due to button press")):
            self.assertIn(text, self.run_.file(name), name)

    def test_power_follows(self):
        self.assertEqual(self.run_.file("power").split(), ["0", "1", "0", "0", "0", "1", "1"])

    def test_swaps_work_each_time(self):
        self.check_benches("bench", 4)
        self.check_nothing_in_vain()

    def test_there_is_no_error_and_no_trouble(self):
        for name in ("written_off", "written_on", "button_off", "removed", "inserted", "button_on", "cancelled"):
            said = self.run_.file(name)
            self.check_no_trouble(said)
            self.assertNotIn("AER", said, name)


class Commands(HotPlugCase):
    """The hot-plug slot reports completed commands, and has a latch, an interlock and power that fails."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(*hot_plug("surprise", "attention_button", "indicators", "power_controller", "latch", "interlock",
                                     command_time="10us"), script=COMMANDS).finish()
        assert cls.run_.code == 0, cls.run_

    def test_linux_takes_the_slot(self):
        self.assertRegex(self.run_.file("boot"), rf"{ROOT_PORT} Slot #1 AttnBtn\+ PwrCtrl\+ MRL\+ AttnInd\+ PwrInd\+ HotPlug\+ "
                                                 r"Surprise\+ Interlock\+ NoCompl- IbPresDis- LLActRep\+")

    def test_swaps_work_each_time(self):
        self.check_benches("bench", 4)
        self.check_nothing_in_vain()

    def test_a_latch_holds_the_card(self):
        self.assertEqual([line.split(": ", 2)[2] for line in self.run_.file("mistakes").splitlines()],
                         ["the latch is closed", "the hot-plug slot has no latch, or it is open"])

    def test_no_command_is_waited_for_in_vain(self):
        said = self.run_.file("dmesg")
        self.assertNotIn("Timeout on hotplug command", said)
        self.check_no_trouble(said)


if __name__ == "__main__":
    machine.main()
