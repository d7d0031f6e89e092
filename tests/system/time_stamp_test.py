# SPDX-License-Identifier: Apache-2.0
"""Time among several vCPUs: Linux trusts their time stamp counters, without being told so, and finds them synchronised if it is
made to compare them. Neither a stamp nor an interrupt is seen before its cause.

OAE_VP_PROBE names the folder of order_probe.ko, OAE_VP_STAMPS the program that is built of stamps.c.
"""
import os
import pathlib
import re
import shutil

import machine

PROBE = pathlib.Path(os.environ.get("OAE_VP_PROBE", "build/cmake/tests/system/probe"))
STAMPS = os.environ.get("OAE_VP_STAMPS", "build/cmake/tests/system/stamps")
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
ROUNDS = 50
SCRIPT = f"""
/share/stamps {ROUNDS} > /share/stamps.txt
/share/stamps & busy=$!
insmod /share/order_probe.ko count=10 || true
kill $busy
tries=0 # Linux makes the TSC its clock a second after it has begun
until grep -qx tsc {CLOCK} || [ $((tries += 1)) -gt 30 ]; do sleep 0.1; done
dmesg -r > /share/dmesg
cat /proc/timer_list > /share/timers
cat {CLOCK} > /share/clocksource
cat /proc/cmdline > /share/cmdline
"""


def numbers(text):
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)$", text, re.MULTILINE)}


class Processors(machine.TestCase):
    vcpus = 0
    parameters = ""  # of the kernel

    @classmethod
    def setUpClass(cls):
        run = machine.Run("--set", f"hosts[0].vcpus={cls.vcpus}", script=SCRIPT,
                          append=f'preempt=full {cls.parameters} dyndbg="file tsc_sync.c +p"')
        shutil.copy(PROBE / "order_probe.ko", run.share)
        shutil.copy(STAMPS, run.share / "stamps")
        cls.run_ = run.finish()
        assert run.code == 0, run

    def test_linux_keeps_the_counters_as_its_clock(self):
        self.assertNotIn("tsc=", self.run_.file("cmdline"))
        self.assertEqual(self.run_.file("clocksource").strip(), "tsc")
        messages = self.run_.file("dmesg")
        self.assertNotRegex(messages, r"(?i)TSC warp|unstable|unsynchronized")
        self.assertEqual(machine.kernel_messages(messages, 3), [])

    def test_no_stamp_is_lower_than_one_that_was_seen(self):
        found = numbers(self.run_.file("stamps.txt"))
        self.assertEqual(found, {"threads": self.vcpus, "looks": 2 * ROUNDS * self.vcpus, "backwards": 0})

    def test_no_interrupt_is_taken_before_it_is_sent_nor_after_it_was_answered(self):
        found = numbers("\n".join(re.findall(r"order_probe: (\w+ \d+)", self.run_.file("dmesg"))))
        self.assertEqual(found["interrupts"], 10 * self.vcpus * (self.vcpus - 1))
        self.assertEqual((found["too_early"], found["too_late"]), (0, 0))


class Trusted(Processors):
    def test_timers_have_a_resolution_of_1_ns(self):
        timers = self.run_.file("timers")
        self.assertEqual(re.findall(r"\.hres_active *: (\d+)", timers), ["1"] * self.vcpus)
        self.assertEqual(set(re.findall(r"\.resolution: (\d+) nsecs", timers)), {"1"})


class Trusted2(Trusted):
    vcpus = 2


class Trusted8(Trusted):
    vcpus = 8


class Compared(Processors):
    """A kernel that does not see IA32_TSC_ADJUST lets each processor look for a stamp that is lower than another's."""
    parameters = "clearcpuid=tsc_adjust"

    def test_linux_finds_the_counters_synchronised(self):
        messages = self.run_.file("dmesg")
        self.assertEqual(len(re.findall(r"TSC synchronization \[.*passed", messages)), self.vcpus - 1, messages)


class Compared4(Compared):
    vcpus = 4


class Compared16(Compared):
    vcpus = 16


del Processors, Trusted, Compared  # have no number of their own


if __name__ == "__main__":
    machine.main()
