# SPDX-License-Identifier: Apache-2.0
"""Injects faults at random moments while two processes swap, one through the kernel and one in a mapped port.

Each case runs in a machine that is forked from one boot. Afterwards the counts of hosts, block and firmware have to agree,
and everything has to work. OAE_VP_CAMPAIGN_SEED=N runs only the case of that seed. OAE_VP_CAMPAIGN_CASES=200 runs 200 cases
instead of a few. The test prints how often each fault was injected, and fails if one of them was not.
"""
import collections
import json
import os
import random
import shutil

import machine
import swapper
from hot_plug_test import TROUBLE

RESTARTING = os.environ.get("OAE_VP_RESTARTING", "build/cmake/tests/firmware/restarting.elf")
CASES = int(os.environ.get("OAE_VP_CAMPAIGN_CASES", "6"))
CASES_OF_A_BOOT = 10
RATE = "250MIPS"  # A slower processor spins less while Linux waits for its second to pass.
PORTS = (1, 2)
ONLY = os.environ.get("OAE_VP_CAMPAIGN_SEED")
ORDER = 0x7472617473657221  # at port 0: tests/firmware/restarting_firmware.c

HEAD = """
device=/sys/bus/pci/devices/0000:01:00.0
driver=/sys/bus/pci/drivers/oae
power=/sys/bus/pci/slots/1/power
await() { # COMMAND...: until it succeeds, at most 10 s
  for i in $(seq 100); do "$@" > /dev/null 2>&1 && return; sleep 0.1; done
  echo "in vain: $*" >> /share/in_vain
}
bound() { [ -e $device/driver ]; }
gone() { ! [ -e $device ]; }
load() { # PORT: that of port 2 has it mapped
  if [ $1 = 2 ]; then set -- 2 mapped; fi
  /share/swapper $1 /tmp/record$1 $2 >> /share/complaints & eval "load$1=$!"
}
kill_owner() { eval "kill -9 \\$load$1" || return 1; eval "wait \\$load$1" || true; load $1; }
# A device that is bound anew while somebody has a file of it open has another number.
number() { set -- /dev/oae*p3; set -- "${1#/dev/oae}"; echo "${1%p3}"; }
byte() { od -An -tu1 -j$1 -N1 $device/config | tr -d ' '; }
# OCTAL: writes the upper byte of MSI-X's message control, of which bit 7 enables MSI-X and bit 6 masks all vectors.
interrupts() {
  at=$(byte 52)
  for i in $(seq 20); do
    if [ "$(byte "$at")" = 17 ]; then break; fi
    at=$(byte $((at + 1)))
  done
  [ "$(byte "$at")" = 17 ] || return 1
  printf "\\\\$1" | dd of=$device/config bs=1 seek=$((at + 3)) conv=notrunc
  [ "$(byte $((at + 3)))" = $((0$1)) ]
}
silence() { # OCTAL SECONDS
  interrupts $1 || return 1
  sleep $2
  interrupts 200 || true
}
works() { oae --device "$(number)" bench --port 3 --count 1; }
exec 2> /tmp/errors
dmesg -c > /dev/null
load 1
load 2
""" + swapper.power(PORTS)

TAIL = """
await works
touch /tmp/stop
wait
cat /tmp/record1 > /share/record1
cat /tmp/record2 > /share/record2
# A swap whose confirmation was lost is rolled forward by this open, and the firmware may count it later.
oae --device $(number) bench --port 1 --count 5 --json > /share/bench || true
for port in 1 2; do oae --device $(number) stat --port $port --json > /share/stat$port; done
cat /tmp/errors > /share/errors
dmesg -r > /share/dmesg
"""


def recoverable(chance):
    """Injects an error from which Linux recovers."""
    up = ("completion_timeout CplD", "poisoned_tlp CplD", "malformed_tlp CplD", "bad_tlp",
          "replay_timeout", "unexpected_completion CplD")
    down = ("completion_timeout MRd", "poisoned_tlp MWr", "bad_dllp", "bad_tlp", "receiver_error")
    direction, errors = chance.choice((("up", up), ("down", down)))
    error = chance.choice(errors)
    return f"vpctl inject host_ipu.{direction} {error}" + (f" {chance.randrange(1, 40)}" if " " in error else "")


def silence(octal):
    """Keeps interrupts back for a while, or loses them."""
    return lambda chance: f"silence {octal} 0.0{chance.randrange(1, 30):02}"


def restart(chance):
    """Orders restarts of the firmware."""
    return (f"oae --device $(number) swap --port 0 {ORDER:#x} {chance.randrange(1, 8)} {chance.choice((30, 300, 2000))} "
            f"{chance.randrange(1 << 32)}")


# The kinds of faults, with their weights. A command fails if the kernel refuses it because it is still recovering from the
# previous fault.
FAULTS = {
    "link error": (2, recoverable),
    "reset": (1, lambda chance: f"echo {chance.choice(('flr', 'pm', 'bus'))} > $device/reset_method && echo 1 > $device/reset"),
    "owner killed": (1, lambda chance: f"kill_owner {chance.choice(PORTS)}"),
    "card pulled": (1, lambda chance: "losing; vpctl hot_plug host_ipu remove && await gone && powerless; "
                                      "vpctl hot_plug host_ipu insert && await bound"),
    "switched off": (1, lambda chance: "losing; echo 0 > $power && gone && powerless; echo 1 > $power && await bound"),
    "power fault": (1, lambda chance: "losing; vpctl hot_plug host_ipu power_fault && powerless && sleep 0.1 && await bound"),
    "unbound": (1, lambda chance: "echo 0000:01:00.0 > $driver/unbind && await eval 'bound || echo 0000:01:00.0 > $driver/bind'"),
    "interrupts late": (1, silence("300")),
    "interrupts lost": (1, silence("000")),
    "restart": (1, restart),
}


def faults(seed):
    """Returns the faults of a case: (kind, when, commands). Five cases in succession have all kinds."""
    chance = random.Random(seed)
    kinds = [list(FAULTS)[(2 * seed + i) % len(FAULTS)] for i in range(2)]
    kinds += chance.choices(list(FAULTS), [weight for weight, _ in FAULTS.values()], k=chance.randrange(3))
    chance.shuffle(kinds)
    return [(kind, f"sleep 0.0{chance.randrange(10, 50)}{chance.randrange(1000):03}",
             f"if {{ {FAULTS[kind][1](chance)}; }}; then echo {kind} >> /share/injected; fi") for kind in kinds]


def script(seed):
    return "\n".join([HEAD] + [line for _, *lines in faults(seed) for line in lines]) + TAIL


def restarts(child):
    return child.log("ipu").count("OAE firmware") - 1 - child.errors.count("ipu: has power again")


class Cases(machine.TestCase):
    """Ten cases are forked from a boot."""

    runs = []  # whose folders hold the children's files

    @classmethod
    def setUpClass(cls):
        seeds = [int(ONLY)] if ONLY else range(1, 1 + CASES)
        cls.children = {}
        for first in range(0, len(seeds), CASES_OF_A_BOOT):
            run = machine.Children("--set", "hosts[0].vcpus=2", "--set", f"hosts[0].instruction_rate={RATE}",
                                   "--set", "pcie_links[0].hot_plug={capable: true, surprise: true, power_controller: true}",
                                   "--until", "60s", "--firmware", RESTARTING,
                                   scripts={seed: script(seed) for seed in seeds[first:first + CASES_OF_A_BOOT]})
            shutil.copy(swapper.PROGRAM, run.share / "swapper")
            run.finish()
            assert run.code == 0, run
            cls.children.update(run.children)
            cls.runs.append(run)
        cls.injected = collections.Counter(line for child in cls.children.values() for line in child.file("injected").splitlines())
        cls.injected["restart"] = sum(restarts(child) for child in cls.children.values())
        print(", ".join(f"{kind}: {cls.injected[kind]}" for kind in FAULTS))

    def check(self, each):
        for seed, child in self.children.items():
            with self.subTest(OAE_VP_CAMPAIGN_SEED=seed):
                each(seed, child)

    def counts_fit(self, seed, child):
        swaps = 0
        for port in PORTS:
            record = swapper.record_of(child, port)
            stat = json.loads(child.file(f"stat{port}"))
            found = record.committed_without_power + stat["block.committed"] - (5 if port == 1 else 0)
            self.assertGreaterEqual(found, record.committed)
            self.assertLessEqual(found, record.committed + record.unknown)
            if restarts(child):  # it counts from its start
                self.assertLessEqual(stat["firmware.committed"], stat["block.committed"])
            else:
                self.assertEqual(stat["firmware.committed"], stat["block.committed"])
            # A fault takes the device from an owner, or the owner away, in the middle of one swap of a port at most.
            self.assertLessEqual(record.unknown, len(faults(seed)))
            swaps += record.committed
        self.assertGreater(swaps, 50)

    def works(self, _, child):
        self.assertFalse((child.share / "in_vain").exists(), "something never came back")
        self.assertEqual(child.file("complaints"), "")
        self.assertEqual(json.loads(child.file("bench"))["committed"], 5)

    def kernel_is_intact(self, _, child):
        for text in machine.kernel_messages(child.file("dmesg"), 7):
            self.assertIsNone(TROUBLE.search(text), text)

    def test_what_all_have_counted_fits_together(self):
        self.check(self.counts_fit)

    def test_all_works_afterwards(self):
        self.check(self.works)

    def test_the_kernel_is_intact(self):
        self.check(self.kernel_is_intact)

    def test_each_fault_was_injected(self):
        if not ONLY:
            for kind in FAULTS:
                self.assertGreaterEqual(self.injected[kind], 1 + len(self.children) // 20, kind)


if __name__ == "__main__":
    machine.main()
