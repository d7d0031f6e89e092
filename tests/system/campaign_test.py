# SPDX-License-Identifier: Apache-2.0
"""Injects faults at random moments while two processes swap, one through the kernel and one in a mapped port.

Each case runs in a machine that is forked from one boot. Afterwards the counts of hosts, block and firmware have to agree,
and everything has to work. OAE_VP_CAMPAIGN_SEED=N runs only the case of that seed. OAE_VP_CAMPAIGN_CASES=200 runs 200 cases
instead of a few. Each group prints how often it has injected each fault.
"""
import collections
import json
import os
import pathlib
import random
import shutil
import struct

import machine
from hot_plug_test import TROUBLE

SWAPPER = pathlib.Path(os.environ.get("OAE_VP_SWAPPER", "build/cmake/tests/system/swapper"))
GROUPS = 2
CASES = int(os.environ.get("OAE_VP_CAMPAIGN_CASES", "12")) // GROUPS  # cases of each group
CASES_OF_A_BOOT = 10
PORTS = (0, 1)
ONLY = os.environ.get("OAE_VP_CAMPAIGN_SEED")

HEAD = """
device=/sys/bus/pci/devices/0000:01:00.0
await() { # COMMAND...: until it succeeds, at most 10 s
  for i in $(seq 1000); do "$@" > /dev/null 2>&1 && return; sleep 0.01; done
  echo "in vain: $*" >> /share/in_vain
}
load() { # PORT: that of port 1 has it mapped
  if [ $1 = 1 ]; then set -- 1 mapped; fi
  /share/swapper $1 /tmp/record$1 $2 >> /share/complaints & eval "load$1=$!"
}
kill_owner() { eval "kill -9 \\$load$1"; eval "wait \\$load$1" || true; load $1; }
# A device that is bound anew while somebody has a file of it open has another number.
number() { set -- /dev/oae*p2; set -- "${1#/dev/oae}"; echo "${1%p2}"; }
works() { oae --device "$(number)" bench --port 2 --count 1; }
dmesg -c > /dev/null
load 0
load 1
"""

TAIL = """
await works
touch /tmp/stop
wait
cat /tmp/record0 > /share/record0
cat /tmp/record1 > /share/record1
# A swap whose confirmation was lost is rolled forward by this open, and the firmware may count it later.
oae --device $(number) bench --port 0 --count 5 --json > /share/bench || true
for port in 0 1; do oae --device $(number) stat --port $port --json > /share/stat$port; done
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


# The kinds of faults, with the number of their shares.
FAULTS = {
    "link error": (2, recoverable),
    "reset": (1, lambda chance: f"echo {chance.choice(('flr', 'pm', 'bus'))} > $device/reset_method; echo 1 > $device/reset || true"),
    "owner killed": (1, lambda chance: f"kill_owner {chance.choice(PORTS)}"),
    "card pulled": (1, lambda chance: "vpctl hot_plug host_ipu remove; await eval '! [ -e $device ]'; vpctl hot_plug host_ipu insert; "
                                      "await [ -e $device/driver ]"),
    # The kernel may still be recovering from the previous fault, and refuse.
    "unbound": (1, lambda chance: "echo 0000:01:00.0 > /sys/bus/pci/drivers/oae/unbind || true; "
                                  "await eval '[ -e $device/driver ] || echo 0000:01:00.0 > /sys/bus/pci/drivers/oae/bind'"),
}


def faults(seed):
    """Returns the faults of a case: (kind, when, commands)."""
    chance = random.Random(seed)
    kinds = [kind for kind, (weight, _) in FAULTS.items() for _ in range(weight)]
    found = []
    for _ in range(chance.randrange(1, 4)):
        pause = f"sleep 0.0{chance.randrange(10, 50)}{chance.randrange(1000):03}"
        kind = chance.choice(kinds)
        found.append((kind, pause, FAULTS[kind][1](chance)))
    return found


def script(seed):
    return "\n".join([HEAD] + [line for _, *lines in faults(seed) for line in lines]) + TAIL


class Group:
    """A share of the cases, of which ten are forked from a boot."""

    group = 0
    runs = []  # whose folders hold the children's files

    @classmethod
    def setUpClass(cls):
        seeds = [int(ONLY)] if ONLY else range(1 + cls.group * CASES, 1 + (cls.group + 1) * CASES)
        cls.children = {}
        for first in range(0, len(seeds), CASES_OF_A_BOOT):
            run = machine.Children("--set", "hosts[0].vcpus=2", "--set", "pcie_links[0].hot_plug={capable: true, surprise: true}",
                                   "--until", "60s",
                                   scripts={seed: script(seed) for seed in seeds[first:first + CASES_OF_A_BOOT]})
            shutil.copy(SWAPPER, run.share / "swapper")
            run.finish()
            assert run.code == 0, run
            cls.children.update(run.children)
            cls.runs.append(run)
        counts = collections.Counter(kind for seed in seeds for kind, *_ in faults(seed))
        print(", ".join(f"{kind}: {counts[kind]}" for kind in FAULTS))

    def check(self, each):
        for seed, child in self.children.items():
            with self.subTest(OAE_VP_CAMPAIGN_SEED=seed):
                each(child)

    def counts_fit(self, child):
        swaps = 0
        for port in PORTS:
            begun, committed, not_taken, reversed_ = struct.unpack("<4Q", (child.share / f"record{port}").read_bytes())
            unknown = begun - committed - not_taken - reversed_
            stat = json.loads(child.file(f"stat{port}"))
            found = stat["block.committed"] - (5 if port == 0 else 0)
            self.assertGreaterEqual(found, committed)
            self.assertLessEqual(found, committed + unknown)
            self.assertEqual(stat["firmware.committed"], stat["block.committed"])
            self.assertLessEqual(unknown, 3)
            swaps += committed
        self.assertGreater(swaps, 50)

    def works(self, child):
        self.assertFalse((child.share / "in_vain").exists(), "something never came back")
        self.assertEqual(child.file("complaints"), "")
        self.assertEqual(json.loads(child.file("bench"))["committed"], 5)

    def kernel_is_intact(self, child):
        for text in machine.kernel_messages(child.file("dmesg"), 7):
            self.assertIsNone(TROUBLE.search(text), text)

    def test_what_all_have_counted_fits_together(self):
        self.check(self.counts_fit)

    def test_all_works_afterwards(self):
        self.check(self.works)

    def test_the_kernel_is_intact(self):
        self.check(self.kernel_is_intact)


class Cases1(Group, machine.TestCase):
    group = 0


class Cases2(Group, machine.TestCase):
    group = 1


if __name__ == "__main__":
    machine.main()
