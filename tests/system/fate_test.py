# SPDX-License-Identifier: Apache-2.0
"""A host is told what becomes of the slots that it sends to the host of another cell: they are pending, delivered, or lost.

The firmware of the second IPU takes ports back from the bridge and joins them anew, which ends the session of these ports as a
loss of power does (rtl/bridge/README.md), but at a moment that the test chooses. power_campaign_test.py takes power from cells.
"""
import json
import os
import pathlib
import re
import shutil

import machine
from hot_plug_test import TROUBLE

FATES = pathlib.Path(os.environ.get("OAE_VP_FATES", "build/cmake/tests/system/fates"))
DELIVER = pathlib.Path(os.environ.get("OAE_VP_EXAMPLES", "build/cmake/guest/examples")) / "deliver"
FIRMWARE = os.environ.get("OAE_VP_LEAVING", "build/cmake/tests/firmware/leaving.elf")
CLAIMER = pathlib.Path(os.environ.get("OAE_VP_CLAIMER", "build/cmake/tests/system/claimer/claimer.ko"))
ORDER = 0x657661656c21  # at port 0: tests/firmware/leaving_firmware.c
APPEND = "console=ttyS0 panic=-1"
FIRST, PORTS = 4, 10  # the first port that is joined, and how many ports there are
# The link is cut for a while, in seconds of the platform's clock. The guests' clocks began 0.3 to 1.1 s later.
CUT, UNTIL = 4.0, 5.3
SENT, LEFT = 3.8, 3.9  # by these clocks

# The hosts wait for each other by words of each other's IPU, which port 7 can use.
HEAD = """
cd /share
device=/sys/bus/pci/devices/0000:01:00.0
driver=/sys/bus/pci/drivers/oae
claimer=/sys/kernel/debug/claimer
role=$(sed 's/.*role=\\([0-9]\\).*/\\1/' /proc/cmdline)
dmesg -c > /dev/null
code() { # NAME COMMAND: the output of a command of `oae`, and its exit code
  name=$1; shift; code=0
  "$@" > $role.$name 2>&1 || code=$?
  echo "code $code" >> $role.$name
}
tell() { oae add --remote --port 7 $((10 + $1)) 1 > /dev/null; }
hear() { until oae multi --port 7 compare:$((10 + $1))=1 > /dev/null; do sleep 0.001; done; }
shown() { until grep -qx "$2" /share/$1 2> /dev/null; do sleep 0.001; done; }
clock() { while [ $(cut -d' ' -f1 /proc/uptime | tr -d .) -lt $1 ]; do sleep 0.01; done; } # HUNDREDTHS
"""


def hundredths(seconds):
    return round(100 * seconds)


SENDER = f"""
mount -t tracefs trace /sys/kernel/tracing
echo 1 > /sys/kernel/tracing/events/oae/oae_loss/enable
# Nobody takes the first slot. The second one and that of a mapped port are awaited.
code pending oae send --until-delivered --timeout 20ms --port 4 1
tell 1
code delivered oae send --until-delivered --timeout 5s --json --port 4 2
code mapped oae swap --until-delivered --timeout 5s --mapped --port 4 3
code deliver /share/deliver 5 6 7
code own oae send --until-delivered --timeout 1ms --port 0 4
# Three slots of one process, and three of a port that is closed then
/share/fates 5 $device > $role.fates &
shown $role.fates ready
/share/fates 8 idle > $role.idle & idle=$!
shown $role.idle ready
/share/fates 9 full > $role.full &
shown $role.full ready
for word in 1 2 3; do oae send --port 6 $word > /dev/null; done
tell 2
shown $role.fates read
code watched oae stat --json --port 5
tell 3
hear 12
kill $idle
wait
code stat5 oae stat --json --port 5
# The steps for words of the other cell are on their way while the link is cut.
clock {hundredths(SENT)}
vpctl mark sent
code remote oae add --remote --timeout 5s --port 5 0 1 &
code slot oae swap --until-delivered --timeout 5s --port 4 5 &
/share/fates 7 > $role.request &
/share/fates 6 mapped > $role.request_mapped &
wait
vpctl mark told
code again oae add --remote --port 5 0 1
code stat6 oae stat --json --port 6
# A module of the kernel sends slots until there is no room, and once more after a loss.
insmod /share/claimer.ko
send() {{ echo swap 4 5 $1 > $claimer/command; grep status $claimer/answer >> $role.claim; }}
echo claim 4 0 > $claimer/command
for word in 1 2 3 4; do send $word; done
tell 4
hear 5
for i in $(seq 100); do
  send 4
  if tail -n 1 $role.claim | grep -q 'status 0'; then break; fi
  sleep 0.01
done
code stat4 oae stat --json --port 4
tell 6
# After a loss that the module does not notice, the function is reset, while somebody waits for a fate.
hear 7
for word in 7 8; do send $word; done
tell 8
hear 9
cp /sys/kernel/tracing/trace $role.trace
code reset oae send --until-delivered --timeout 5s --port 6 9 &
sleep 0.01
echo 1 > $device/reset
wait
echo release 4 > $claimer/command
code stat4_reset oae stat --json --port 4
# Slots of a port are lost while the driver is not bound.
for word in 21 22 23; do oae send --port 5 $word > /dev/null; done
tell 10
sleep 0.02  # The other host learns of it, and is slower than this one.
echo 0000:01:00.0 > $driver/unbind
sleep 0.1
echo 0000:01:00.0 > $driver/bind
tell 11
"""

RECEIVER = f"""
take() {{ oae swap --json --timeout 5s --port $1 $3 > $role.$2; }}
leave() {{ oae swap --port 0 {ORDER:#x} $1 > /dev/null; }}
hear 1
for i in 0 1 2 3; do take 4 taken4.$i $((40 + i)); done
for i in 0 1 2; do take 5 given.$i 50; done
hear 2
leave $((1 << 5 | 1 << 6 | 1 << 8 | 1 << 9))
hear 3
# A reset of the function follows when the last slot of port 5 is taken, and ends every loss.
for i in 0 1; do take 8 taken8.$i 80; done
tell 12
for i in 0 1; do take 6 taken6.$i 60; done
for i in 0 1; do take 5 taken5.$i 50; done
clock {hundredths(LEFT)}
vpctl mark left
leave $((1 << 4 | 1 << 5 | 1 << 6 | 1 << 7))
hear 4
leave $((1 << 4))
tell 5
hear 6
for i in 0 1 2 3; do take 4 claimed.$i; done
tell 7
hear 8
leave $((1 << 4))
tell 9
hear 10
sleep 0.05
leave $((1 << 5))
hear 11
for i in 0 1; do take 5 bound.$i; done
oae multi --port 5 read:0 > words
"""

TAIL = """
dmesg -r > $role.dmesg
"""


class Fates(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        script = HEAD + "if [ $role = 0 ]; then\n" + SENDER + "else\n" + RECEIVER + "fi\n" + TAIL
        cls.run_ = machine.Run(*(word for role in (0, 1) for word in ("--set", f"hosts[{role}].append={APPEND} role={role}")),
                               "--set", f"oae_links[0].cuts=[{{at: {CUT}s, until: {UNTIL}s}}]", "--firmware", FIRMWARE,
                               *(word for role in (0, 1) for word in ("--set", f"ipus[{role}].oae.ports={PORTS}")),
                               "--set", f"oae_links[0].ports={PORTS - FIRST}",
                               "--until", "15s", script=script, platform="window", trace=True)
        for program in (FATES, DELIVER, CLAIMER):
            shutil.copy(program, cls.run_.share / program.name)
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def file(self, name):
        return self.run_.file(name)

    def last(self, name):
        """Returns the last two lines of what a command has written: its outcome, and its exit code."""
        return self.file(name).splitlines()[-2:]

    def taken(self, name):
        """Returns the first word of the slot that a swap of the second host has got."""
        return int(json.loads(self.file(f"1.{name}"))["answer"][0], 16)

    def test_a_slot_that_nobody_takes_is_pending(self):
        self.assertEqual(self.last("0.pending"), ["fate   pending", "code 5"])
        self.assertEqual(self.last("0.own"), ["fate   pending", "code 5"], "the firmware's ports have no fates")

    def test_a_slot_that_is_taken_is_delivered(self):
        result, code = self.last("0.delivered")
        self.assertEqual((json.loads(result)["fate"], code), ("delivered", "code 0"))
        self.assertEqual(self.file("0.deliver"), "6: delivered\n7: delivered\ncode 0\n")
        self.assertEqual([self.taken(f"taken4.{i}") for i in range(4)], [0, 1, 2, 3])
        self.assertEqual([self.taken(f"given.{i}") for i in range(3)], [0, 6, 7])

    def test_a_mapped_port_is_told_too(self):
        self.assertEqual(self.last("0.mapped"), ["fate   delivered", "code 0"])

    def test_losses_have_names(self):
        self.assertEqual(self.file("0.fates").splitlines(), [
            "sent: 1 to 3", "at first: pending, pending, pending", "a while later: pending", "it waits: as long as it shall",
            "events: 0", "no loss: there is none", "ready",
            "events: 1 loss", "then: lost, lost, pending", "loss: sequence 1", "loss: sequence 2", "no loss: there is none",
            "events: 0", "read",
            "the last one: delivered", "at last: lost, lost, delivered",
            "after a reset: no swap is in doubt, or its epoch has ended"])
        self.assertEqual([self.taken(f"taken5.{i}") for i in range(2)], [0, 102])
        # Somebody else may look at the counters meanwhile.
        for name in ("watched", "stat5"):
            stat = json.loads(self.last(f"0.{name}")[0])
            self.assertEqual((stat["driver.lost"], stat["driver.lost_remotes"]), (2, 0))

    def test_losses_are_traced(self):
        losses = re.findall(r"oae_loss: (oae0p\d) lost=(\w+) first=(\w+) last=(\w+) remote=(\w+)", self.file("0.trace"))
        self.assertEqual(len(losses), 9, losses)
        traced = {port: (lost, int(first, 0) >> 32, int(last, 0) >> 32) for port, lost, first, last, _ in losses[:4]}
        self.assertEqual(traced, {"oae0p5": ("0x2", 1, 2), "oae0p6": ("0x2", 1, 1), "oae0p8": ("0x2", 1, 2),
                                  "oae0p9": ("0x2", 1, 2)})  # fmt: skip

    def test_a_port_that_is_closed_goes_on_after_a_loss(self):
        self.assertEqual([self.taken(f"taken6.{i}") for i in range(2)], [0, 3])

    def test_a_port_goes_on_after_a_loss_while_its_owner_does_nothing(self):
        """The interrupt of the loss could be that of the result for which the port is armed, and no other one comes."""
        self.assertEqual(self.file("0.idle"), "events: 0\nready\n")
        self.assertEqual([self.taken(f"taken8.{i}") for i in range(2)], [0, 102])

    def test_a_process_that_waits_for_room_has_some_after_a_loss(self):
        self.assertEqual(self.file("0.full"), "ready\nsent\n")

    def test_a_lost_remote_has_no_result(self):
        said = "oae: result: lost: nobody knows whether the steps took effect in the other cell"
        self.assertEqual(self.last("0.remote"), [said, "code 6"])
        self.assertEqual(self.last("0.slot"), ["fate   lost", "code 6"])
        self.assertEqual(self.last("0.again")[-1], "code 0")
        self.assertIn("word 0 was 1", self.file("words"), "that which was asked for again")
        stat = json.loads(self.last("0.stat6")[0])
        self.assertEqual((stat["driver.lost"], stat["driver.lost_remotes"]), (2, 1))

    def test_a_port_is_ready_when_its_remote_is_lost(self):
        self.assertEqual(self.file("0.request").splitlines(), [
            "requested: 1", "result: no error, not ready", "events: 1 result loss",
            "result: lost: nobody knows whether the steps took effect in the other cell", "fate: lost", "loss: sequence 1",
            "events: 1 result", "requested: 2", "result: no error, committed", "result: no error, not ready", "events: 0"])

    def test_a_mapped_port_is_ready_for_losses_alone(self):
        self.assertEqual(self.file("0.request_mapped").splitlines(), [
            "requested: 1", "result: no error, not ready", "events: 1 loss",
            "result: lost: nobody knows whether the steps took effect in the other cell", "fate: lost", "loss: sequence 1",
            "events: 0", "requested: 2", "result: no error, committed", "result: no error, not ready", "events: 0"])

    def test_a_claim_goes_on_after_a_loss(self):
        statuses = self.file("0.claim").splitlines()
        self.assertEqual(statuses[:5], ["status 0"] * 4 + ["status 1"], "there is no room until the loss is acknowledged")
        self.assertEqual(statuses[-3:], ["status 0"] * 3, statuses)
        self.assertEqual([self.taken(f"claimed.{i}") for i in range(4)], [0, 3, 4, 4])
        stat = json.loads(self.last("0.stat4")[0])
        self.assertEqual((stat["driver.lost"], stat["driver.lost_remotes"]), (3, 0))

    def test_a_reset_ends_what_is_known_but_for_the_counters(self):
        self.assertEqual(self.last("0.reset"), ["fate   the device does not answer, or the answer is in doubt", "code 1"])
        before, after = (json.loads(self.last(f"0.{name}")[0])["driver.lost"] for name in ("stat4", "stat4_reset"))
        self.assertEqual(after - before, 2)

    def test_a_loss_without_a_driver_is_acknowledged_by_the_next_one(self):
        self.assertEqual([self.taken(f"bound.{i}") for i in range(2)], [0, 23])

    def test_a_loss_ends_all_waits_at_once(self):
        sent, left, told = (float(re.search(rf"\[ *([\d.]+) s\] control info: mark {name}\n", self.run_.errors)[1])
                            for name in ("sent", "left", "told"))
        self.assertTrue(CUT < sent < left < UNTIL < told, (sent, left, told))
        self.assertLess(told, UNTIL + 0.03)

    def test_the_kernels_are_intact(self):
        for role in (0, 1):
            self.assertEqual(machine.kernel_messages(self.file(f"{role}.dmesg"), 3), [])
            for text in machine.kernel_messages(self.file(f"{role}.dmesg"), 7):
                self.assertIsNone(TROUBLE.search(text), text)


if __name__ == "__main__":
    machine.main()
