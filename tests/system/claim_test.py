# SPDX-License-Identifier: Apache-2.0
"""A module of the kernel claims ports of the driver and swaps where nothing may sleep: with interrupts off, in handlers of
interrupts, and with a runqueue locked. tests/system/claimer is that module."""
import os
import pathlib
import re
import shutil

import machine
from hot_plug_test import TROUBLE, hot_plug
from reset_test import write_silent_firmware

CLAIMER = pathlib.Path(os.environ.get("OAE_VP_CLAIMER", "build/cmake/tests/system/claimer/claimer.ko"))
PROCESSORS = 3
SHARED = 7
OK, NOT_READY, REVERSED, IN_DOUBT = 0, 1, 4, 255
FORMS = {"pushed": 0, "streamed": 1}
CONTEXTS = ("interrupts off", "vector registers in use", "runqueue locked", "handler of an interrupt")

HEAD = f"""
device=/sys/bus/pci/devices/0000:01:00.0
driver=/sys/bus/pci/drivers/oae
claimer=/sys/kernel/debug/claimer
own="$(seq -s ' ' 0 {PROCESSORS - 1})"
insmod /share/claimer.ko
dmesg -c > /dev/null
claimer() {{ echo "$*" > $claimer/command; }}
tried() {{ # COMMAND...: and its error, or 0
  if text=$(sh -c "echo '$*' > $claimer/command" 2>&1); then echo "$*: 0" >> /share/tried
  else echo "$*: ${{text##*error: }}" >> /share/tried; fi
}}
answered() {{ # COMMAND...: and its answer
  tried "$*"
  cat $claimer/answer | while read name value; do echo "$name=$value"; done | tr '\\n' ' ' >> /share/answers
  echo >> /share/answers
}}
claim_all() {{ # FORM
  for port in $own {SHARED}; do claimer claim $port $1; done
  for port in $own; do claimer set_cpu $port $port; done
}}
keep_counts() {{ # NAME
  cat $claimer/counts > /share/$1.counts
  cat $claimer/contexts > /share/$1.contexts
}}
release_all() {{ for port in $own {SHARED}; do claimer release $port; done; }}
keep_stat() {{ # NAME: what block and firmware have counted
  for port in $own {SHARED}; do
    echo port=$port $(oae stat --port $port | tr -s ' ' '=' | tr '\\n' ' ') >> /share/$1.stat
  done
}}
await() {{ # COMMAND...: until it succeeds, at most 10 s
  for i in $(seq 1000); do "$@" 2> /dev/null && return; sleep 0.01; done
  echo "in vain: $*" >> /share/in_vain
}}
"""
TAIL = """
rmmod claimer
dmesg -r > /share/dmesg
"""


def fields(line):
    return {name: int(value) if value.isdigit() else value for name, value in re.findall(r"([\w.]+)=(\S+)", line)}


class ClaimCase(machine.TestCase):
    """One boot, and a child of it for each of `scripts`."""

    @classmethod
    def boot(cls, scripts, *options, append=""):
        cls.run_ = machine.Children("--until", "60s", *options, append=append,
                                    scripts={name: HEAD + script + TAIL for name, script in scripts.items()})
        shutil.copy(CLAIMER, cls.run_.share / "claimer.ko")
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def child(self, name):
        child = self.run_.children[name]
        self.assertEqual(child.guest_code, 0, child)
        return child

    def tried(self, child):
        """What was tried, and what came of it."""
        return [tuple(line.rsplit(": ", 1)) for line in child.file("tried").splitlines()]

    def answers(self, child):
        return [fields(line) for line in child.file("answers").splitlines()]

    def counts(self, child, name):
        """What the module has counted on each port."""
        return {counts["port"]: counts for counts in map(fields, child.file(name + ".counts").splitlines())}

    def stat(self, child, name):
        return {stat["port"]: stat for stat in map(fields, child.file(name + ".stat").splitlines())}

    def check_all_agree(self, child, name):
        """Each swap that the module has found committed, block and firmware have too, and no other."""
        counts, stat = self.counts(child, name), self.stat(child, name)
        self.assertEqual(sorted(counts), [*range(PROCESSORS), SHARED])
        for port, counted in counts.items():
            with self.subTest(port=port):
                self.assertEqual((stat[port]["block.committed"], stat[port]["firmware.committed"]),
                                 (counted["committed"], counted["committed"]))
                self.assertEqual((counted["wrong"], counted["failed"], counted["stuck"], counted["busy"], counted["other"]),
                                 (0, 0, 0, 0, 0), counted)
        return counts

    def check_intact(self):
        for name in self.run_.children:
            with self.subTest(name):
                for text in machine.kernel_messages(self.child(name).file("dmesg"), 7):
                    self.assertIsNone(TROUBLE.search(text), text)


ROUNDS = 128
LOAD = {form: f"""
claim_all {number}
claimer start {ROUNDS} {SHARED}
claimer wait
keep_counts load
for port in $own; do cat /sys/class/oae/oae0p$port/statistics/sequence >> /share/sequences; done
release_all
keep_stat load
""" for form, number in FORMS.items()}


class Load(ClaimCase):
    """Swaps on all CPUs at once, and messages from all of them by one port."""

    @classmethod
    def setUpClass(cls):
        cls.boot(LOAD, "--set", f"hosts[0].vcpus={PROCESSORS}")

    def test_each_swap_commits_once_on_both_sides(self):
        for form in FORMS:
            child = self.child(form)
            counts = self.check_all_agree(child, "load")
            for port in range(PROCESSORS):
                self.assertEqual(counts[port]["committed"] + counts[port]["not_ready"], 2 * ROUNDS, counts[port])
                self.assertGreaterEqual(counts[port]["committed"], ROUNDS)
            # The firmware may not yet have taken the last message.
            self.assertEqual(counts[SHARED]["committed"] + counts[SHARED]["not_ready"], PROCESSORS * ROUNDS)
            self.assertGreaterEqual(counts[SHARED]["committed"], ROUNDS)
            self.assertEqual([int(line) for line in child.file("sequences").splitlines()],
                             [counts[port]["committed"] for port in range(PROCESSORS)])

    def test_they_were_made_in_each_context(self):
        for form in FORMS:
            made = dict(zip(CONTEXTS, map(int, self.child(form).file("load.contexts").split())))
            self.assertEqual(made, dict.fromkeys(CONTEXTS, PROCESSORS * ROUNDS // len(CONTEXTS)))

    def test_offers_are_signalled_to_the_cpu_that_waits(self):
        for form in FORMS:
            counts = self.counts(self.child(form), "load")
            for port in range(PROCESSORS):
                # They are awaited in each 16th round, and when there was none.
                self.assertGreaterEqual(counts[port]["offered"], ROUNDS // 16)
                # An interrupt in use moves when it comes.
                self.assertLessEqual(counts[port]["elsewhere"], 1, counts[port])

    def test_the_kernel_is_intact(self):
        self.check_intact()


RESETS = 2
TAKEN = {
    # While all CPUs swap.
    "reset": f"""
claim_all 1
claimer start 1000000 {SHARED}
for method in flr pm bus; do
  echo $method > $device/reset_method
  for i in $(seq {RESETS}); do
    sleep 0.00$i
    echo 1 > $device/reset
  done
done
sleep 0.03
keep_counts before
sleep 0.03
claimer stop
keep_counts load
release_all
keep_stat load
""",
    "unbound": f"""
claim_all 1
claimer start 1000000 {SHARED}
sleep 0.02
echo 0000:01:00.0 > $driver/unbind
claimer wait
keep_counts load
tried swap 0 1 1
tried settle 0
tried arm 0
tried set_cpu 0 0
tried claim 5 1
release_all
echo 0000:01:00.0 > $driver/bind
keep_stat load
claimer claim 5 1
answered swap 5 1 1
""",
    "pulled": f"""
claim_all 1
claimer start 1000000 {SHARED}
sleep 0.02
vpctl hot_plug host_ipu remove
claimer wait
await eval '! [ -e $device ]'
keep_counts load
tried swap 0 1 1
vpctl hot_plug host_ipu insert
await [ -e /dev/oae1p7 ]
echo 1 > /sys/module/claimer/parameters/device
claimer claim 5 1
answered swap 5 1 1
release_all
""",
}


class Taken(ClaimCase):
    """The device is taken away while all CPUs swap: for a while, or for good."""

    @classmethod
    def setUpClass(cls):
        cls.boot(TAKEN, "--set", f"hosts[0].vcpus={PROCESSORS}", *hot_plug("surprise"))

    def test_swaps_go_on_in_a_new_epoch_after_a_reset(self):
        child = self.child("reset")
        counts = self.check_all_agree(child, "load")
        before = self.counts(child, "before")
        for port, counted in counts.items():
            self.assertEqual((counted["frozen"], counted["begun"], counted["gone"]), (3 * RESETS, 3 * RESETS, 0))
            self.assertEqual(counted["gone_swaps"], 0)
            self.assertGreaterEqual(counted["frozen_swaps"], 3 * RESETS)
            self.assertGreater(counted["committed"], before[port]["committed"], "swaps go on")
            self.assertGreater(before[port]["committed"], 3 * RESETS)
            # The module arms the port in each new epoch.
            self.assertGreaterEqual(counted["offered"], 3 * RESETS)
        self.assertEqual(counts[SHARED]["offered"], 3 * RESETS, "nothing else arms this port")

    def check_gone(self, child):
        for counted in self.counts(child, "load").values():
            self.assertEqual((counted["frozen"], counted["begun"], counted["gone"]), (0, 0, 1))
            self.assertGreater(counted["gone_swaps"], 0)
            self.assertGreater(counted["committed"], 0)
            self.assertEqual(counted["wrong"], 0)
        answer = self.answers(child)[0]
        self.assertEqual((answer["status"], answer["sequence"]), (OK, 1), "a claim of the next device works")

    def test_swaps_fail_for_good_once_the_driver_is_unbound(self):
        child = self.child("unbound")
        self.check_gone(child)
        self.check_all_agree(child, "load")
        self.assertEqual([result for what, result in self.tried(child)], 5 * ["No such device"] + ["0"])

    def test_swaps_fail_for_good_once_the_card_is_pulled_out(self):
        child = self.child("pulled")
        self.check_gone(child)
        self.assertEqual(self.tried(child)[0], ("swap 0 1 1", "No such device"))

    def test_the_kernel_is_intact(self):
        self.check_intact()


REFUSED = {
    "owned": """
mount -t tracefs trace /sys/kernel/tracing
echo 1 > /sys/kernel/tracing/events/oae/oae_swap/enable
for form in 0 1; do
  claimer claim 2 $form
  claimer swap 2 1 5
  claimer release 2
done
cat /sys/kernel/tracing/trace > /share/trace
claimer claim 1 1
code=0; oae swap --port 1 > /dev/null 2> /share/complaint || code=$?; echo $code > /share/open
code=0; rmmod oae 2> /dev/null || code=$?; echo $code > /share/rmmod
answered swap 1 1 5
claimer release 1
oae swap --port 1 > /share/swap
sleep 1000 3<>/dev/oae0p1 & owner=$!
sleep 0.01
tried claim 1 1
kill $owner
wait $owner || true
tried claim 1 1
""",
    "mistakes": """
tried claim 8 1
tried claim 1 2
claimer claim 1 1
tried swap 1 0 5
tried swap 1 8 5
tried settle 1
tried set_cpu 1 1
tried swap 1 5 5
tried settle 1
""",
}
SILENT = HEAD + f"""
for form in 0 1; do
  claimer claim 1 $form
  answered swap 1 1 5
  tried arm 1
  answered swap 1 5 5
  answered swap 1 1 5
  claimer release 1
done
""" + TAIL


class Refused(ClaimCase):
    @classmethod
    def setUpClass(cls):
        cls.boot(REFUSED)
        cls.silent = machine.Run("--until", "60s", script=SILENT)
        shutil.copy(CLAIMER, cls.silent.share / "claimer.ko")
        firmware = cls.silent.folder / "silent.elf"
        write_silent_firmware(firmware)
        cls.silent.command += ["--firmware", str(firmware)]
        cls.silent.finish()
        assert cls.silent.code == 0, cls.silent

    def test_a_port_has_one_owner(self):
        child = self.child("owned")
        self.assertEqual(child.file("open").strip(), "1")
        self.assertIn("in use", child.file("complaint"))
        self.assertEqual(self.tried(child), [("swap 1 1 5", "0"), ("claim 1 1", "Device or resource busy"), ("claim 1 1", "0")])
        self.assertEqual(self.answers(child)[0]["status"], OK)
        self.assertEqual(child.file("rmmod").strip(), "1", "the driver stays while its functions are used")

    def test_a_claim_has_its_form(self):
        swaps = re.findall(r"oae_swap: oae0p2 verb=swap form=(\w+) outcome=(\w+)", self.child("owned").file("trace"))
        self.assertEqual(swaps, [(form, "committed") for form in FORMS])

    def test_mistakes_are_refused(self):
        child = self.child("mistakes")
        self.assertEqual([result for _, result in self.tried(child)],
                         ["No such device", "Invalid argument", "Invalid argument", "Invalid argument", "No data available",
                          "Invalid argument", "0", "No data available"])

    def test_firmware_that_offers_nothing_is_not_ready(self):
        for first in 0, 3:
            swaps = self.answers(self.silent)[first:first + 3]
            self.assertEqual([(swap["status"], swap["verb"]) for swap in swaps], [(NOT_READY, 1), (OK, 5), (NOT_READY, 1)])
            self.assertEqual([swap["sequence"] for swap in swaps], [1, 1, 2])
        self.assertEqual({result for _, result in self.tried(self.silent)}, {"0"})

    def test_the_kernel_is_intact(self):
        self.check_intact()


def doubt(fault, form, rest, reads=0):
    return f"""
echo {reads} > /sys/module/oae/parameters/settle_reads
claimer claim 1 {FORMS[form]}
vpctl inject {fault}
answered swap 1 1 5
{rest}
"""


LOST_ANSWER = "host_ipu.up completion_timeout CplD 1"
LOST_OFFER = "host_ipu.down poisoned_tlp MWr 1"
SETTLED = """
tried swap 1 1 6
answered settle 1
tried settle 1
answered swap 1 1 7
for count in committed doubts settled; do cat /sys/class/oae/oae0p1/statistics/$count >> /share/statistics; done
"""
DOUBT = {f"{name} {form}": script for form in FORMS for name, script in {
    "answer": doubt(LOST_ANSWER, form, SETTLED),
    "offer": doubt(LOST_OFFER, form, SETTLED),
    "asked again": doubt(LOST_ANSWER, form, SETTLED, reads=3),
    "reset": doubt(LOST_ANSWER, form, "echo 1 > $device/reset" + SETTLED),
    "unbound": doubt(LOST_ANSWER, form, """
echo 0000:01:00.0 > $driver/unbind
tried swap 1 1 6
answered settle 1
tried settle 1
claimer release 1
echo 0000:01:00.0 > $driver/bind
oae stat --port 1 > /share/stat
"""),
    "released": doubt(LOST_ANSWER, form, """
claimer release 1
cat /sys/class/oae/oae0p1/statistics/state > /share/state
claimer claim 1 1
answered swap 1 1 7
cat /sys/class/oae/oae0p1/statistics/committed > /share/statistics
"""),
}.items()}
# A reset in which the driver's three attempts to open one port are lost (reset_test.OnePort looks for it in the same way)
DOUBT["late"] = """
trace=/sys/kernel/tracing
mount -t tracefs trace $trace
for port in 1 2 3 4 5 6 7; do claimer claim $port 1; done
echo 1 > $trace/events/oae/oae_port/enable
first=60
failed=
until [ $failed ] || [ $first -gt 600 ]; do
  first=$((first + 6))
  for answer in 0 1 2 3 4 5; do vpctl inject host_ipu.up completion_timeout CplD $((first + answer)); done
  echo > $trace/trace
  echo 1 > $device/reset
  for port in 1 2 3 4 5 6; do
    [ $(grep -c "oae0p$port open error=-5" $trace/trace) != 3 ] || failed=$port
  done
done
echo $failed > /share/failed
sleep 1
for port in 1 2 3 4 5 6 7; do answered swap $port 1 6; done
cat $claimer/counts > /share/after.counts
"""
DENIED = [("swap 1 1 6", "Operation now in progress"), ("settle 1", "0"), ("settle 1", "No data available"), ("swap 1 1 7", "0")]


class Doubt(ClaimCase):
    """Error reporting is off: what it recovers would be a reset."""

    @classmethod
    def setUpClass(cls):
        cls.boot(DOUBT, append="pci=noaer")

    def check(self, name, settled, sequence, counted):
        """`settled`: how it is settled; `sequence`: of the next swap; `counted`: committed, in doubt, and settled swaps."""
        for form in FORMS:
            with self.subTest(form):
                child = self.child(f"{name} {form}")
                first, outcome, after = self.answers(child)
                self.assertEqual((first["status"], first["sequence"]), (IN_DOUBT, 1))
                self.assertEqual((outcome["status"], outcome["verb"], outcome["sequence"]), (settled, 1, 1))
                self.assertEqual((after["status"], after["sequence"]), (OK, sequence))
                self.assertEqual(self.tried(child), [("swap 1 1 5", "0"), *DENIED])
                self.assertEqual([int(line) for line in child.file("statistics").split()], counted)

    def test_an_answer_that_is_lost_is_asked_for_again(self):
        self.check("answer", OK, 2, [2, 1, 1])

    def test_an_offer_that_is_lost_is_reversed(self):
        self.check("offer", REVERSED, 2, [1, 1, 1])

    def test_a_reset_settles_a_swap(self):
        self.check("reset", OK, 1, [2, 1, 1])

    def test_a_port_that_opens_late_after_a_reset_begins_then(self):
        child = self.child("late")
        self.assertIn(child.file("failed").strip(), set("123456"))
        self.assertEqual([(answer["status"], answer["sequence"]) for answer in self.answers(child)], 7 * [(OK, 1)])
        for counted in self.counts(child, "after").values():
            self.assertEqual(counted["frozen"], counted["begun"], counted)

    def test_a_swap_asks_again_by_itself(self):
        for form in FORMS:
            child = self.child(f"asked again {form}")
            swap = self.answers(child)[0]
            self.assertEqual((swap["status"], swap["sequence"], swap["reads"]), (OK, 1, 1))
            # Nothing is in doubt: the next two swaps are made.
            self.assertEqual([result for _, result in self.tried(child)], ["0", "0", "No data available", "No data available", "0"])
            self.assertEqual(child.file("statistics").split(), ["3", "1", "1"])

    def test_an_outcome_outlives_the_device(self):
        for form in FORMS:
            child = self.child(f"unbound {form}")
            self.assertEqual(self.tried(child), [("swap 1 1 5", "0"), ("swap 1 1 6", "No such device"), ("settle 1", "0"),
                                                 ("settle 1", "No such device")])
            self.assertEqual([(answer["status"], answer["sequence"]) for answer in self.answers(child)], [(IN_DOUBT, 1), (OK, 1)])
            stat = dict(line.split() for line in child.file("stat").splitlines())
            self.assertEqual((stat["block.committed"], stat["firmware.committed"]), ("1", "1"))

    def test_a_release_leaves_nothing_in_doubt(self):
        for form in FORMS:
            child = self.child(f"released {form}")
            self.assertEqual([(answer["status"], answer["sequence"]) for answer in self.answers(child)], [(IN_DOUBT, 1), (OK, 1)])
            self.assertEqual((child.file("state"), child.file("statistics")), ("closed\n", "2\n"))

    def test_the_kernel_is_intact(self):
        self.check_intact()


if __name__ == "__main__":
    machine.main()
