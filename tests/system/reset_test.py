# SPDX-License-Identifier: Apache-2.0
"""Linux resets the function by all methods that it has, idle and under load, and swaps continue."""
import json
import os
import pathlib
import re
import shutil
import struct

import machine

RESETS = pathlib.Path(os.environ.get("OAE_VP_RESETS", "build/cmake/tests/system/resets"))
METHODS = ("flr", "pm", "bus")  # in the kernel's order
TIMES = 20
SWAPS = 5

SCRIPT = f"""
device=/sys/bus/pci/devices/0000:01:00.0
cat $device/reset_method > /share/methods
dmesg -c > /dev/null
for method in {" ".join(METHODS)}; do
  echo $method > $device/reset_method
  cat $device/reset_method > /share/$method.method
  for i in $(seq {TIMES}); do
    oae bench --count {SWAPS} --json >> /share/$method.before
    od -An -v -tx1 $device/config > /tmp/before
    echo 1 > $device/reset
    od -An -v -tx1 $device/config > /tmp/after
    cmp /tmp/before /tmp/after
    cat $device/current_link_speed $device/current_link_width $device/power_state > /share/$method.link
    oae bench --count {SWAPS} --form streamed --json >> /share/$method.after
  done
done
oae stat > /share/stat
dmesg -r > /share/dmesg
"""

LOAD = f"""
device=/sys/bus/pci/devices/0000:01:00.0
dmesg -c > /dev/null
for method in {" ".join(METHODS)}; do
  echo $method > $device/reset_method
  code=0; /share/resets {TIMES} $device/reset > /share/$method || code=$?
  echo $code > /share/$method.code
done
oae bench --count {SWAPS} --json > /share/bench
oae stat > /share/stat
dmesg -r > /share/dmesg
"""


# Both wait for something that the firmware never does. A reset ends them.
WAITING = f"""
device=/sys/bus/pci/devices/0000:01:00.0
echo 1000000 > /sys/module/oae/parameters/mailbox_timeout_ms
dmesg -c > /dev/null
waits() {{ code=0; "$@" > /dev/null 2>> /share/errors || code=$?; echo $code >> /share/codes; }}
for method in {" ".join(METHODS)}; do
  echo $method > $device/reset_method
  for i in $(seq {TIMES}); do
    waits oae swap --timeout 1000s & first=$!
    waits oae stat --port 1 & second=$!
    sleep 0.05
    kill -0 $first
    kill -0 $second
    echo 1 > $device/reset
    wait $first
    wait $second
    code=0; oae swap --timeout 0s > /dev/null || code=$?; echo $code >> /share/next
  done
done
cut -d. -f1 /proc/uptime > /share/uptime
dmesg -r > /share/dmesg
"""

# After a reset a function needs its addresses back. In two cases the kernel does not restore them: it saved the state of a
# function that had already lost them; or it leaves that to the driver after an error, and no driver is bound.
ADDRESSES = f"""
device=/sys/bus/pci/devices/0000:01:00.0
driver=/sys/bus/pci/drivers/oae
bars() {{ od -An -v -tx4 -j16 -N24 $device/config; }}
bench() {{ oae bench --count {SWAPS} --json >> /share/bench; }}
bars > /share/bars
for method in {" ".join(METHODS)}; do
  dd if=/dev/zero of=$device/config bs=4 seek=4 count=6 conv=notrunc 2> /dev/null
  bars >> /share/lost
  echo $method > $device/reset_method
  echo 1 > $device/reset
  bars >> /share/restored
  bench
done
echo 0000:01:00.0 > $driver/unbind
vpctl inject host_ipu.up malformed_tlp
sleep 0.5
bars >> /share/lost
echo 0000:01:00.0 > $driver/bind
bars >> /share/restored
bench
"""


# The firmware replies after 300 ms to what it was asked before the reset.
LATE = f"""
device=/sys/bus/pci/devices/0000:01:00.0
echo 5000 > /sys/module/oae/parameters/mailbox_timeout_ms
oae stat --port 3 --json > /share/undisturbed
for method in {" ".join(METHODS)}; do
  echo $method > $device/reset_method
  oae stat --port 4 > /dev/null 2>> /share/errors & stat=$!
  sleep 0.05
  echo 1 > $device/reset
  code=0; wait $stat || code=$?; echo $code >> /share/codes
  oae stat --port 5 --json >> /share/after
done
"""
# A reset in which each attempt of the driver to open one port meets a lost answer. How many answers the kernel awaits before
# the driver does depends on its version. So the script resets the function again and again, and loses later answers each time,
# until it meets those of one port. Linux does not learn of the errors, since it would reset the function because of them.
ONE_PORT = """
device=/sys/bus/pci/devices/0000:01:00.0
trace=/sys/kernel/tracing
mount -t tracefs trace $trace
for port in 1 2 3 4 5 6 7; do sleep 1000 3<>/dev/oae0p$port & done
sleep 0.01
echo 1 > $trace/events/oae/enable
first=60
failed=
until [ $failed ] || [ $first -gt 600 ]; do
  first=$((first + 6))
  for answer in 0 1 2 3 4 5; do vpctl inject host_ipu.up completion_timeout CplD $((first + answer)); done
  echo > $trace/trace
  echo 1 > $device/reset
  code=0; oae swap --port 0 > /dev/null || code=$?
  for port in 1 2 3 4 5 6 7; do
    [ $(grep -c "oae0p$port open error=-5" $trace/trace) != 3 ] || failed=$port
  done
done
echo $failed > /share/failed
echo $code > /share/code
sleep 1
cat $trace/trace > /share/trace
for port in 1 2 3 4 5 6 7; do cat /sys/class/oae/oae0p$port/statistics/state >> /share/states; done
"""
LATE_FIRMWARE = os.environ.get("OAE_VP_LATE_REPLIES", "build/cmake/tests/firmware/late_replies.elf")


def write_silent_firmware(path):
    """Returns an ELF file whose only segment, at the start of the IPU's DRAM, is `wfi; b . - 4`."""
    base, at = 0x80000000, 0x78
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 2, 183, 1, base, 0x40, 0, 0, 0x40, 0x38, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, at, base, base, 8, 8, 8)
    path.write_bytes(header + segment + struct.pack("<II", 0xD503207F, 0x17FFFFFF))


class Idle(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SCRIPT, trace=True).finish()
        assert cls.run_.code == 0, cls.run_

    def test_linux_finds_the_methods(self):
        self.assertEqual(self.run_.file("methods").split(), list(METHODS))

    def test_each_is_taken(self):
        for method in METHODS:
            self.assertEqual(self.run_.file(f"{method}.method").strip(), method)

    def test_swaps_before_and_after_commit_and_all_agree(self):
        for method in METHODS:
            for when in ("before", "after"):
                results = [json.loads(line) for line in self.run_.file(f"{method}.{when}").splitlines()]
                self.assertEqual(len(results), TIMES)
                for result in results:
                    for count in ("committed", "block_committed", "firmware_committed"):
                        self.assertEqual(result[count], SWAPS, (method, when, result))

    def test_the_card_has_counted_all(self):
        stat = dict(line.split() for line in self.run_.file("stat").splitlines())
        total = str(len(METHODS) * TIMES * 2 * SWAPS)
        self.assertEqual((stat["block.committed"], stat["firmware.committed"]), (total, total))

    def test_the_link_has_its_speed_and_the_function_its_power(self):
        for method in METHODS:
            self.assertEqual(self.run_.file(f"{method}.link").splitlines(), ["16.0 GT/s PCIe", "16", "D0"])

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


class Addresses(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=ADDRESSES).finish()
        assert cls.run_.code == 0, cls.run_

    def test_they_are_lost(self):
        for line in self.run_.file("lost").splitlines():
            self.assertEqual([int(bar, 16) & ~0xF for bar in line.split()], [0] * len(line.split()))

    def test_the_driver_gives_them_back(self):
        self.assertEqual(self.run_.file("restored"), self.run_.file("bars") * (len(METHODS) + 1))

    def test_swaps_commit(self):
        results = [json.loads(line)["firmware_committed"] for line in self.run_.file("bench").splitlines()]
        self.assertEqual(results, [SWAPS] * (len(METHODS) + 1))


class Load(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run("--set", "hosts[0].vcpus=2", script=LOAD)
        shutil.copy(RESETS, cls.run_.share / "resets")
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def test_every_request_ends_and_host_block_and_firmware_agree(self):
        for method in METHODS:
            said = self.run_.file(method)
            self.assertEqual(self.run_.file(f"{method}.code").strip(), "0", said)
            found = re.fullmatch(rf"{TIMES} resets, (\d+) committed, (\d+) interrupted, \d+ settled: agree\n", said)
            self.assertTrue(found, said)
            self.assertGreaterEqual(int(found[1]), 2 * TIMES)
            self.assertGreaterEqual(int(found[2]), TIMES)

    def test_the_next_process_swaps(self):
        self.assertEqual(json.loads(self.run_.file("bench"))["firmware_committed"], SWAPS)

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


class Waiting(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=WAITING)
        firmware = cls.run_.folder / "silent.elf"
        write_silent_firmware(firmware)
        cls.run_.command += ["--firmware", str(firmware)]
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def test_a_waiting_process_gets_an_error(self):
        self.assertEqual(self.run_.file("codes").split(), ["1"] * (2 * TIMES * len(METHODS)))
        errors = self.run_.file("errors").splitlines()
        self.assertEqual(len(errors), 2 * TIMES * len(METHODS))
        for error in errors:
            self.assertIn("the device does not answer", error)

    def test_none_waits_for_its_own_timeout(self):
        self.assertLess(int(self.run_.file("uptime")), 100)

    def test_the_next_is_told_that_nothing_is_offered(self):
        self.assertEqual(self.run_.file("next").split(), ["3"] * (TIMES * len(METHODS)))

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


class LateReplies(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run("--firmware", LATE_FIRMWARE, "--until", "20s", script=LATE).finish()
        assert cls.run_.code == 0, cls.run_

    def test_a_reply_of_before_a_reset_answers_nothing(self):
        self.assertEqual(json.loads(self.run_.file("undisturbed"))["firmware.exchanged"], 3)
        self.assertEqual(self.run_.file("codes").split(), ["1"] * len(METHODS))
        after = [json.loads(line)["firmware.exchanged"] for line in self.run_.file("after").splitlines()]
        self.assertEqual(after, [5] * len(METHODS), "and not those of port 4")


class OnePort(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run("--until", "300s", append=" pci=noaer", script=ONE_PORT).finish()
        assert cls.run_.code == 0, cls.run_
        failed = cls.run_.file("failed").strip()
        assert "1" <= failed <= "6", f"port '{failed}' fails; there must be one, and another one behind it"
        cls.failed = f"oae0p{failed}"
        cls.events = re.findall(r": oae_(?:port|state): (.*)", cls.run_.file("trace"))

    def test_the_others_come_back_without_the_one_that_fails(self):
        self.assertIn("oae0 live", self.events)
        before = self.events[:self.events.index("oae0 live")]
        last = {event.split()[0]: event.split()[-1] for event in before if event.startswith("oae0p")}
        for port in (f"oae0p{number}" for number in range(1, 8)):
            self.assertEqual(last.get(port), "error=-5" if port == self.failed else "error=0", port)
        self.assertEqual(self.run_.file("code").strip(), "0", "a process swaps at once by port 0")

    def test_it_comes_back_later_by_itself(self):
        after = self.events[self.events.index("oae0 live"):]
        self.assertIn(f"{self.failed} open error=0", after)
        self.assertEqual(self.run_.file("states").split(), ["idle"] * 7)


if __name__ == "__main__":
    machine.main()
