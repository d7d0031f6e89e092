# SPDX-License-Identifier: Apache-2.0
"""Linux's own NVMe driver, nvme-cli and fio work with a disk of the kind `nvme`, on the machine of platforms/disk.yaml."""
import hashlib
import json
import pathlib
import random
import shutil
import tempfile

import machine
from hot_plug_test import AWAIT, TROUBLE

MIB = 1 << 20
BLOCKS = 4 * MIB // 512
FUNCTION = "0000:02:00.0"

HEAD = AWAIT + f"""
dmesg -r > /share/boot
dmesg -c > /dev/null
device=/sys/bus/pci/devices/{FUNCTION}
disk=/dev/nvme0n1
forget() {{ sync; echo 3 > /proc/sys/vm/drop_caches; }}
sum() {{ sha256sum < $1 | cut -d ' ' -f 1; }}
"""

ENUMERATED = HEAD + """
cd /sys/class/nvme/nvme0; cat model serial state firmware_rev cntrltype address > /share/controller
cd /sys/block/nvme0n1; cat size queue/logical_block_size queue/write_cache queue/rotational > /share/namespace
lspci -vv -s ${device##*/} > /share/lspci
grep nvme /proc/interrupts > /share/interrupts
"""

READ = HEAD + "sum $disk > /share/sum\n"

# Writes at the beginning, across many blocks in the middle, and the last block; and reads back from the disk.
WRITTEN = HEAD + f"""
dd if=/share/pattern of=$disk bs=512 count=1 conv=notrunc,fsync
dd if=/share/pattern of=$disk bs=4096 seek=100 conv=notrunc,fsync
dd if=/share/pattern of=$disk bs=512 count=1 seek={BLOCKS - 1} conv=notrunc,fsync
forget
sum $disk > /share/sum
"""

FILE_SYSTEM = HEAD + """
mke2fs $disk > /dev/null
mkdir /tmp/disk
mount $disk /tmp/disk
cp /share/pattern /tmp/disk/pattern
umount /tmp/disk
forget
mount -o ro $disk /tmp/disk
cmp /share/pattern /tmp/disk/pattern
df /tmp/disk > /share/df
dmesg -r > /share/dmesg
"""

RESETS = HEAD + """
dd if=/share/pattern of=$disk bs=4096 conv=notrunc,fsync
echo 1 > /sys/class/nvme/nvme0/reset_controller
await grep -q live /sys/class/nvme/nvme0/state
forget; cmp -n $(stat -c %s /share/pattern) /share/pattern $disk
for method in flr bus; do
  echo $method > $device/reset_method
  echo 1 > $device/reset
  await grep -q live /sys/class/nvme/nvme0/state
  forget; cmp -n $(stat -c %s /share/pattern) /share/pattern $disk
done
dmesg -r > /share/dmesg
"""

# Each end of the link detects an error that is fatal, and the driver recovers.
ERRORS = HEAD + """
dd if=/share/pattern of=$disk bs=4096 conv=notrunc,fsync
for direction in down up; do
  vpctl inject host_disk.$direction malformed_tlp
  await eval 'dmesg | grep -q "device recovery successful"'
  await grep -q live /sys/class/nvme/nvme0/state
  forget; cmp -n $(stat -c %s /share/pattern) /share/pattern $disk
  dmesg -r >> /share/dmesg; dmesg -c > /dev/null
done
"""

# The disk is pulled while it is read, and put back. What was written before is still there.
PULLED = HEAD + """
dd if=/share/pattern of=$disk bs=4096 conv=notrunc,fsync
forget
(while dd if=$disk of=/dev/null bs=4096; do forget; done) 2> /share/errors & load=$!
sleep 0.02
kill -0 $load
vpctl hot_plug host_disk remove
wait $load || true
await eval '! [ -e $disk ]'
await eval '! [ -e $device ]'
vpctl hot_plug host_disk insert
await [ -e $disk ]
cmp -n $(stat -c %s /share/pattern) /share/pattern $disk
oae bench --count 5 > /share/bench
dmesg -r > /share/dmesg
"""

# The disk loses its power while its volatile cache holds 128 blocks that were not flushed.
UNFLUSHED = HEAD + """
dd if=/share/pattern of=$disk bs=4096 count=16 oflag=direct
vpctl hot_plug host_disk remove
await eval '! [ -e $disk ]'
vpctl hot_plug host_disk insert
await [ -e $disk ]
dd if=$disk of=/share/after bs=4096 count=16
"""


def image(seed, size):
    return random.Random(seed).randbytes(size)


def sum_of(content):
    return hashlib.sha256(content).hexdigest()


class DiskCase(machine.TestCase):
    def check_nothing_in_vain(self, result):
        self.assertFalse((result.share / "in_vain").exists() and result.file("in_vain"), result)

    def check_no_trouble(self, log):
        self.assertEqual([line for line in log.splitlines() if TROUBLE.search(line)], [])

    def compare_quanta(self, script, quanta, *options, platform="disk", **more):
        """Checks that a forked child's trace and result are those of runs without a fork, with each of these quanta. Returns the
        child's family."""
        family = machine.Children(*options, platform=platform, scripts={"forked": script}, trace=True, **more)
        (family.share / "pattern").write_bytes(image(2, 200_000))
        given = family.folder / "given"
        shutil.copytree(family.share, given)
        forked = family.finish().children["forked"]
        self.assertEqual(forked.code, 0, forked)
        self.assertIn(b'"nvme":"disk.controller"', forked.trace_bytes)
        for quantum in quanta:
            # A run adds files to its share, and the next one must begin with the same.
            share = family.folder / f"share_{quantum}"
            shutil.copytree(given, share)
            alone = machine.Run(*options, "--share", share, "--snapshot-at", "booted", "--child", "sh /share/script0",
                                "--set", f"simulation.max_quantum={quantum}", platform=platform, trace=True, **more).finish()
            self.assertEqual(alone.code, 0, alone)
            self.assertEqual((share / "result").read_text(), forked.file("result"), quantum)
            self.assertTrue(alone.trace_bytes == forked.trace_bytes, f"the traces differ, with a quantum of {quantum}")
        return family


class Linux(DiskCase):
    """Many scripts from one boot, each in a fork of it with a disk of its own."""

    @classmethod
    def setUpClass(cls):
        cls.content = image(1, 4 * MIB)
        cls.pattern = image(2, 200_000)
        scripts = {"enumerated": ENUMERATED, "read": READ, "written": WRITTEN, "file_system": FILE_SYSTEM, "resets": RESETS,
                   "errors": ERRORS, "pulled": PULLED, "unflushed": UNFLUSHED, "read_again": READ}
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            file = pathlib.Path(folder) / "disk.img"
            file.write_bytes(cls.content)
            cls.run_ = machine.Children("--set", f"devices[0].namespaces=[{{image: {file}, cache: 64KiB}}]",
                                        "--set", "pcie_links[1].hot_plug={capable: true, surprise: true}",
                                        "--stats", str(pathlib.Path(folder) / "stats.json"),
                                        platform="disk", scripts=scripts, trace=True)
            (cls.run_.share / "pattern").write_bytes(cls.pattern)
            cls.run_.finish()
            cls.image_afterwards = file.read_bytes()

    def child(self, name):
        child = self.run_.children[name]
        self.assertEqual(child.code, 0, child)
        return child

    def test_the_kernel_finds_the_disk(self):
        child = self.child("enumerated")
        controller = [line.strip() for line in child.file("controller").splitlines()]
        self.assertEqual(controller[:3], ["OAE-VP NVMe disk", "disk", "live"])
        self.assertEqual(controller[4:], ["io", FUNCTION])
        self.assertEqual(child.file("namespace").split(), [str(BLOCKS), "512", "write", "back", "0"])
        self.assertIn("Kernel driver in use: nvme", child.file("lspci"))
        self.assertRegex(child.file("interrupts"), r"nvme0q0[\s\S]*nvme0q1")

    def test_the_kernel_warns_of_nothing(self):
        texts = machine.kernel_messages(self.child("enumerated").file("boot"), 4)
        self.assertEqual([text for text in texts if "out-of-tree module" not in text], [])

    def test_it_reads_the_image(self):
        self.assertEqual(self.child("read").file("sum").strip(), sum_of(self.content))

    def test_it_reads_what_it_has_written(self):
        expected = bytearray(self.content)
        expected[:512] = self.pattern[:512]
        expected[409600:409600 + len(self.pattern)] = self.pattern
        expected[-512:] = self.pattern[:512]
        self.assertEqual(self.child("written").file("sum").strip(), sum_of(expected))

    def test_each_fork_has_a_disk_of_its_own(self):
        self.assertEqual(self.child("read_again").file("sum").strip(), sum_of(self.content))
        self.assertEqual(self.image_afterwards, self.content, "the image has changed")

    def test_it_holds_a_file_system(self):
        child = self.child("file_system")
        self.assertIn("/dev/nvme0n1", child.file("df"))
        self.check_no_trouble(child.file("dmesg"))

    def test_it_survives_resets(self):
        child = self.child("resets")
        self.check_nothing_in_vain(child)
        self.check_no_trouble(child.file("dmesg"))

    def test_the_driver_recovers_from_errors_of_the_link(self):
        child = self.child("errors")
        self.check_nothing_in_vain(child)
        log = child.file("dmesg")
        self.assertEqual(log.count("AER: device recovery successful"), 2, log)
        self.assertIn("nvme nvme0: restart after slot reset", log)
        self.check_no_trouble(log)

    def test_it_can_be_pulled_and_put_back(self):
        child = self.child("pulled")
        self.check_nothing_in_vain(child)
        self.assertRegex(child.file("errors"), "I/O error|Input/output error|No such")
        log = child.file("dmesg")
        for text in ("Slot(2): Link Down", "Slot(2): Card present"):
            self.assertIn(text, log)
        self.check_no_trouble(log)
        self.assertIn("committed 5 of 5", child.file("bench"))

    def test_a_pulled_disk_loses_what_was_not_flushed(self):
        child = self.child("unflushed")
        self.check_nothing_in_vain(child)
        after = (child.share / "after").read_bytes()
        kept = lost = 0
        for at in range(0, 16 * 4096, 512):
            block = after[at:at + 512]
            kept += block == self.pattern[at:at + 512]
            lost += block == self.content[at:at + 512]
        self.assertEqual(kept + lost, 128, "each block is lost as a whole or not at all")
        self.assertGreater(kept, 0)
        self.assertGreater(lost, 0)
        self.assertEqual([line["lost"] for line in child.trace if line.get("state") == "power lost"], [lost])

    def test_commands_are_traced_and_counted(self):
        child = self.child("written")
        commands = [line for line in child.trace if line.get("nvme") == "disk.controller" and "opcode" in line]
        # Linux 6.1 asks once for what an NVMe 1.4 controller does not know: Invalid Field in Command.
        failed = [line["status"] for line in commands if line["status"] != "0x000"]
        self.assertLessEqual(set(failed), {"0x002"})
        written = [line for line in commands if line["queue"] > 0 and line["opcode"] == "0x01"]
        blocks = {block for line in written for block in range(line["block"], line["block"] + line["blocks"])}
        self.assertLessEqual({0, 800, BLOCKS - 1}, blocks)
        stats = json.loads((child.folder / "stats.json").read_text())
        self.assertEqual(stats["counters"]["disk.controller.writes"], len(written))
        self.assertEqual(stats["counters"]["disk.controller.errors"], len(failed))


# What nvme-cli asks for. A Compare of other data fails with its status, and the error log has an entry of it.
TOOLS = HEAD + f"""
nvme list -o json > /share/list
nvme id-ctrl $disk -o json > /share/controller
nvme id-ns $disk -o json > /share/namespace
nvme get-feature $disk -f 7 > /share/queues
dd if=/share/pattern of=/tmp/block bs=4096 count=1
nvme write $disk --start-block=8 --block-count=7 --data-size=4096 --data=/tmp/block
nvme read $disk --start-block=8 --block-count=7 --data-size=4096 --data=/tmp/back
cmp /tmp/block /tmp/back
nvme compare $disk --start-block=8 --block-count=7 --data-size=4096 --data=/tmp/block
code=0; nvme compare $disk --start-block=9 --block-count=7 --data-size=4096 --data=/tmp/block > /share/compared 2>&1 || code=$?
echo $code > /share/compare_code
nvme flush $disk
nvme write-zeroes $disk --start-block=10 --block-count=1
nvme dsm $disk --ad --slbs=12 --blocks=2
nvme read $disk --start-block=8 --block-count=7 --data-size=4096 --data=/share/block
nvme smart-log $disk -o json > /share/smart
nvme error-log $disk -e 8 -o json > /share/errors
nvme reset /dev/nvme0
await grep -q live /sys/class/nvme/nvme0/state
nvme read $disk --start-block=8 --block-count=7 --data-size=4096 --data=/tmp/after
cmp /share/block /tmp/after
dmesg -r > /share/dmesg
"""


class Tools(DiskCase):
    """nvme-cli, of Debian's package."""

    @classmethod
    def setUpClass(cls):
        cls.pattern = image(2, 200_000)
        cls.run_ = machine.Run(platform="disk", script=TOOLS, packages="nvme-cli")
        (cls.run_.share / "pattern").write_bytes(cls.pattern)
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def read(self, name):
        return json.loads(self.run_.file(name))

    def test_it_lists_the_disk(self):
        disk = self.read("list")["Devices"][0]
        self.assertEqual((disk["DevicePath"], disk["ModelNumber"].strip(), disk["SerialNumber"].strip()),
                         ("/dev/nvme0n1", "OAE-VP NVMe disk", "disk"))
        self.assertEqual((disk["PhysicalSize"], disk["SectorSize"]), (64 * MIB, 512))

    def test_it_identifies_controller_and_namespace(self):
        controller, namespace = self.read("controller"), self.read("namespace")
        self.assertEqual((controller["vid"], controller["nn"], controller["mdts"], controller["ver"]), (0xf0ae, 1, 6, 0x10400))
        self.assertEqual((namespace["nsze"], namespace["ncap"]), (64 * MIB // 512, 64 * MIB // 512))
        self.assertEqual(namespace["lbafs"][0]["ds"], 9)

    def test_it_reads_and_compares_and_clears(self):
        block = bytearray(self.pattern[:4096])
        block[2 * 512:4 * 512] = bytes(2 * 512)
        block[4 * 512:6 * 512] = bytes(2 * 512)
        self.assertEqual((self.run_.share / "block").read_bytes(), block)
        self.assertNotEqual(self.run_.file("compare_code").strip(), "0")
        self.assertIn("Compare Failure", self.run_.file("compared"))

    def test_the_logs_know_it(self):
        smart = self.read("smart")
        self.assertGreaterEqual(int(smart["host_read_commands"]), 2)
        self.assertEqual(int(smart["media_errors"]), 0)
        errors = self.read("errors")["errors"]
        self.assertEqual(int(smart["num_err_log_entries"]), errors[0]["error_count"])
        # The others are of Identify commands by which Linux finds out what a controller knows.
        compared = [error for error in errors if error["sqid"] > 0]
        self.assertEqual([(error["lba"], error["nsid"], error["status_field"] & 0x7ff) for error in compared],
                         [(9, 1, 0x285)])

    def test_the_kernel_is_intact(self):
        self.check_nothing_in_vain(self.run_)
        self.check_no_trouble(self.run_.file("dmesg"))


FIO = HEAD + """
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
run() { fio --name=job --filename=$disk --ioengine=libaio --direct=1 --output-format=json --output=/share/result "$@"; }
run """


class Fio(DiskCase):
    """fio, of Debian's package, verifies what it has written, and measures the latencies and the rate of the platform file."""

    OPTIONS = {
        "verified": "--rw=randwrite --bs=512 --bsrange=512-64k --size=2M --iodepth=16 --verify=crc32c",
        "mixed": "--rw=randrw --bs=4k --size=1M --iodepth=32 --verify=crc32c --trim_percentage=10",
        "read": "--rw=randread --bs=4k --size=512k --iodepth=1",
        "written": "--rw=randwrite --bs=4k --size=512k --iodepth=1",
        "rate": "--rw=read --bs=128k --size=32M --iodepth=32",
    }

    @classmethod
    def setUpClass(cls):
        scripts = {name: FIO + options + "\n" for name, options in cls.OPTIONS.items()}
        cls.run_ = machine.Children("--set", "hosts[0].memory=1GiB", "--set", "devices[0].rate=4Gb/s", platform="disk",
                                    scripts=scripts, packages="fio").finish()

    def job(self, name):
        child = self.run_.children[name]
        self.assertEqual(child.code, 0, child)
        job = json.loads(child.file("result"))["jobs"][0]
        self.assertEqual(job["error"], 0)
        return job

    def test_it_reads_what_it_has_written(self):
        for name in ("verified", "mixed"):
            self.assertGreater(self.job(name)["read"]["total_ios"], 50, name)

    def test_a_command_takes_its_latency(self):
        # 80 us and 20 us, 8.2 us for 4 KiB of the medium, and what link and Linux take.
        for name, way, latency in (("read", "read", 80), ("written", "write", 20)):
            mean = self.job(name)[way]["clat_ns"]["mean"] / 1000
            self.assertGreater(mean, latency + 8, name)
            self.assertLess(mean, latency + 20, name)

    def test_commands_share_the_rate(self):
        rate = self.job("rate")["read"]["bw_bytes"]
        self.assertLess(rate, 500e6)
        self.assertGreater(rate, 440e6)


class Depths(DiskCase):
    """Four processors, each with a queue of its own, write at random and verify, with 1 to 128 commands each under way."""

    DEPTHS = (1, 4, 32, 128)
    JOBS = 4
    SIZE = 1 << 20  # of a job, in a region of its own

    @classmethod
    def setUpClass(cls):
        scripts = {depth: FIO + f"--rw=randwrite --bsrange=512-16k --size={cls.SIZE} --offset_increment=2M --numjobs={cls.JOBS} "
                                f"--iodepth={depth} --cpus_allowed=0-3 --cpus_allowed_policy=split --verify=crc32c "
                                f"--verify_fatal=1 --group_reporting\n"
                                "grep nvme0q /proc/interrupts > /share/interrupts\n" for depth in cls.DEPTHS}
        # A disk so slow that the processors are always ahead of it.
        cls.run_ = machine.Children("--set", "hosts[0].vcpus=4", "--set", "hosts[0].memory=1GiB", "--set",
                                    "devices[0].read_latency=4ms", "--set", "devices[0].write_latency=4ms", platform="disk",
                                    scripts=scripts, packages="fio", trace=True, check_rtl=False).finish()

    def test_all_that_was_written_is_read_again(self):
        for depth in self.DEPTHS:
            with self.subTest(depth=depth):
                child = self.run_.children[depth]
                self.assertEqual(child.code, 0, child)
                result = child.file("result")
                # fio first warns that its jobs might write to the same places, which their regions keep them from.
                job = json.loads(result[result.index("{"):])["jobs"][0]
                self.assertEqual(job["error"], 0)
                self.assertGreater(job["write"]["io_bytes"], 0.9 * self.JOBS * self.SIZE)
                self.assertEqual(job["read"]["io_bytes"], job["write"]["io_bytes"])

    def test_as_many_commands_are_under_way_as_fio_permits(self):
        most = {}
        for depth in self.DEPTHS:
            changes = []
            for line in self.run_.children[depth].trace:
                if line.get("nvme") == "disk.controller" and line.get("queue", 0) > 0:
                    changes += [(line["start"], 1), (line["t"], -1)]
            under_way = most[depth] = 0
            for _, change in sorted(changes):
                under_way += change
                most[depth] = max(most[depth], under_way)
        self.assertLessEqual(most[1], self.JOBS)
        self.assertEqual(sorted(most.values()), list(most.values()), most)
        self.assertGreater(most[128], 100, "the disk executes 128 commands at a time")
        self.assertLessEqual(most[128], 128)

    def test_each_processor_has_a_queue(self):
        for depth in self.DEPTHS:
            lines = [line.split() for line in self.run_.children[depth].file("interrupts").splitlines()]
            queues = {words[-1]: list(map(int, words[1:1 + self.JOBS])) for words in lines}
            for number in range(1, self.JOBS + 1):
                counts = queues[f"nvme0q{number}"]
                self.assertGreater(max(counts), 0, queues)
                self.assertEqual(sum(counts), max(counts), "one processor alone serves it")


class Quantum(DiskCase):
    """The quantum changes no result, and neither does a fork."""

    def test_the_trace_is_the_same(self):
        self.compare_quanta(HEAD + ("dd if=/share/pattern of=$disk bs=4096 conv=notrunc,fsync\nforget\n"
                                    "cmp -n 200000 /share/pattern $disk\ndmesg > /share/result\n"), ["700ns"])

    def test_the_trace_of_fio_is_the_same(self):
        self.compare_quanta(FIO + "--rw=randrw --bsrange=512-16k --size=512k --iodepth=16 --verify=crc32c --trim_percentage=10\n",
                            ["1us", "13us"], "--set", "hosts[0].memory=1GiB", packages="fio", check_rtl=False)


class Unformatted(DiskCase):
    """A disk without a file system, blank or with garbage, is a disk. Linux says that there is none, and makes one."""

    def test_linux_says_so_and_uses_it(self):
        garbage = image(6, 2 * MIB)
        script = HEAD + """
mkdir /tmp/disk
for each in nvme0n1 nvme0n2; do
  sum /dev/$each >> /share/sums
  cat /sys/block/$each/size >> /share/sizes
  ls /sys/block/$each | grep -c $each'p' >> /share/partitions || true
  for kind in ext4 ext2 auto; do
    code=0; mount -o loud -t $kind /dev/$each /tmp/disk 2>> /share/mounts || code=$?
    echo $code >> /share/codes
  done
done
dmesg -r > /share/refused
dmesg -c > /dev/null
for each in nvme0n1 nvme0n2; do
  mke2fs /dev/$each > /dev/null
  mount /dev/$each /tmp/disk
  cp /share/pattern /tmp/disk/pattern
  umount /tmp/disk
  forget
  mount -o ro /dev/$each /tmp/disk
  cmp /share/pattern /tmp/disk/pattern
  umount /tmp/disk
done
dmesg -r > /share/dmesg
"""
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            file = pathlib.Path(folder) / "garbage.img"
            file.write_bytes(garbage)
            run = machine.Run("--set", f"devices[0].namespaces=[{{size: 2MiB}}, {{image: {file}}}]", platform="disk", script=script,
                              check_rtl=False)
            (run.share / "pattern").write_bytes(image(2, 200_000))
            run.finish()
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.file("sums").split(), [sum_of(bytes(2 * MIB)), sum_of(garbage)])
        self.assertEqual(run.file("sizes").split(), [str(2 * MIB // 512)] * 2)
        self.assertEqual(run.file("partitions").split(), ["0", "0"])
        codes = run.file("codes").split()
        self.assertEqual(len(codes), 6)
        self.assertNotIn("0", codes)
        for name in ("nvme0n1", "nvme0n2"):
            self.assertIn(f"EXT4-fs ({name}): VFS: Can't find ext4 filesystem", run.file("refused"))
        self.check_no_trouble(run.file("refused"))
        self.assertNotIn("error", run.file("dmesg"))
        self.check_no_trouble(run.file("dmesg"))


class WrittenThrough(DiskCase):
    def test_the_image_changes(self):
        content, pattern = image(1, MIB), image(2, 50_000)
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            file = pathlib.Path(folder) / "disk.img"
            file.write_bytes(content)
            run = machine.Run("--set", f"devices[0].namespaces=[{{image: {file}, write_through: true}}]", platform="disk",
                              script=HEAD + "dd if=/share/pattern of=$disk bs=4096 seek=3 conv=notrunc,fsync\n")
            (run.share / "pattern").write_bytes(pattern)
            run.finish()
            self.assertEqual(run.code, 0, run)
            expected = bytearray(content)
            expected[3 * 4096:3 * 4096 + len(pattern)] = pattern
            self.assertEqual(sum_of(file.read_bytes()), sum_of(expected))


class Switch(DiskCase):
    """Two disks below a switch, one of them with two namespaces."""

    def test_each_disk_works(self):
        script = HEAD + """
for each in nvme0n1 nvme1n1 nvme1n2; do
  dd if=/share/pattern of=/dev/$each bs=4096 conv=notrunc,fsync
  forget
  cmp -n 200000 /share/pattern /dev/$each
  echo $each $(cat /sys/block/$each/size /sys/block/$each/queue/logical_block_size) >> /share/found
done
cat /sys/class/nvme/nvme?/serial > /share/serials
dmesg -r > /share/dmesg
"""
        run = machine.Run("--set", "switches=[{name: sw0}]",
                          "--set", "devices=[{name: one, kind: nvme, namespaces: [{size: 1MiB}]}, {name: two, kind: nvme, "
                                   "namespaces: [{size: 2MiB}, {size: 4MiB, block_size: 4096B}]}]",
                          "--set", "pcie_links=[{up: host, down: ipu}, {up: host, down: sw0}, {up: sw0, down: one}, "
                                   "{up: sw0, down: two, lanes: 1, generation: 3}]", platform="disk", script=script)
        (run.share / "pattern").write_bytes(image(2, 200_000))
        run.finish()
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.file("found").splitlines(), ["nvme0n1 2048 512", "nvme1n1 4096 512", "nvme1n2 8192 4096"])
        self.assertEqual([line.strip() for line in run.file("serials").splitlines()], ["one", "two"])
        self.check_no_trouble(run.file("dmesg"))


if __name__ == "__main__":
    machine.main()
