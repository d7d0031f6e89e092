# SPDX-License-Identifier: Apache-2.0
"""Debian boots from an NVMe disk, on the machine of platforms/debian.yaml and with each kernel, and is used as Debian is."""
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile

import machine
from nvme_test import DiskCase

IMAGE = machine.IMAGES / "debian.img"
# The goal is a login within a minute on 2 cores, of which the simulator uses one. Time on a processor depends little on what else runs.
LONGEST_BOOT = 60  # s

# What is sent is echoed, so each answer begins with a word that the command does not have.
LOGIN = r"""
timeout 60s
expect "debian login: "
send "root\n"
expect "root@debian:~# "
"""
SESSION = LOGIN + r"""
send "echo root: $(findmnt -no SOURCE,FSTYPE,OPTIONS /)\n"
expect "root: /dev"
expect "root@debian:~# "
send "echo system: $(cat /proc/1/comm) $(hostname) $(uname -r) $(cat /etc/debian_version)\n"
expect "root@debian:~# "
send "echo login: $(id -un) on $(tty) after $(cut -d' ' -f1 /proc/uptime) s\n"
expect "root@debian:~# "
send "mke2fs -q /dev/nvme0n2 && mount /dev/nvme0n2 /mnt && echo made: $(findmnt -no SOURCE /mnt)\n"
expect "made: /dev"
expect "root@debian:~# "
send "oae bench --count 5; lsmod; modinfo -n oae; rmmod oae && modprobe oae && echo again: good\n"
expect "again: good"
expect "root@debian:~# "
send "dmesg --level=emerg,alert,crit,err,warn > /root/warnings; dd if=/dev/urandom of=/root/random bs=64k count=16 status=none\n"
expect "root@debian:~# "
send "sha256sum /root/random; poweroff\n"
"""


def console_input(folder, text):
    file = folder / "input"
    file.write_text(text)
    return "--input", str(file)


class InFolder(machine.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="oae-vp-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def debugfs(self, image, command):
        return subprocess.run(["/sbin/debugfs", "-R", command, image], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True).stdout


class Login(InFolder):
    """Somebody logs in at the console, works, and powers off. The disk is written through, so that it can be looked at afterwards."""

    def test_a_session_at_the_console(self):
        disk = self.folder / "disk.img"
        shutil.copyfile(IMAGE, disk)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = machine.Run("--set", f"devices[0].namespaces=[{{image: {disk}, write_through: true}}, {{size: 16MiB}}]",
                          *console_input(self.folder, SESSION), "--until", "120s", platform="debian", check_rtl=False).finish()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(run.code, 0, run)
        console = run.console.replace("\r", "")

        def said(begin):
            found = re.search(rf"(?m)^{begin}(.*)$", console)
            self.assertTrue(found, run)
            return found.group(1)

        self.assertRegex(said("root: "), r"^/dev/nvme0n1 ext4 rw\b")
        self.assertRegex(said("system: "), r"^(init|systemd) debian \d+\.\d+\S*-cloud-amd64 12(\.\d+)?$")
        self.assertRegex(said("login: "), r"^root on /dev/(ttyS0|console) after ")
        self.assertEqual(said("made: "), "/dev/nvme0n2")
        self.assertIn("committed 5 of 5", console)
        self.assertRegex(console, r"(?m)^/lib/modules/\S+/oae\.ko$")
        uptime = float(said("login: ").split()[-2])
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"logged in after {uptime:.1f} s of simulated time; the whole run took {seconds:.1f} s on a processor")
        self.assertLess(seconds, LONGEST_BOOT)

        # It was shut down properly: the journal is empty, and everything has reached the disk.
        checked = subprocess.run(["/sbin/e2fsck", "-f", "-n", disk], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        state = subprocess.run(["/sbin/dumpe2fs", "-h", disk], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True).stdout
        self.assertRegex(state, r"Filesystem state: +clean")
        self.assertNotIn("needs_recovery", state)
        copy = self.folder / "random"
        self.debugfs(disk, f"dump /root/random {copy}")
        self.assertEqual(copy.stat().st_size, 1 << 20)
        summed = subprocess.run(["sha256sum", copy], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[0]
        self.assertIn(f"{summed}  /root/random", console)
        # A module is not Debian's own, and the processor has the frequency that it has.
        usual = re.compile("out-of-tree module|amd_pstate: the _CPC object is not present")
        warnings = [line for line in self.debugfs(disk, "cat /root/warnings").splitlines() if not usual.search(line)]
        self.assertEqual(warnings, [])


class Equal(InFolder):
    """Two boots of Debian are equal, whatever the quantum."""

    def test_two_runs_are_equal(self):
        def boot(quantum):
            run = machine.Run("--set", f"simulation.max_quantum={quantum}", *console_input(self.folder, LOGIN + 'send "poweroff\\n"\n'),
                              "--until", "120s", platform="debian", trace=True, check_rtl=False).finish()
            self.assertEqual(run.code, 0, run)
            return run

        first, second = boot("100us"), boot("3us")
        self.assertEqual(first.console, second.console)
        self.assertTrue(first.trace_bytes == second.trace_bytes, "the traces differ")


class Quantum(InFolder, DiskCase):
    """fio in a Debian guest: neither the quantum nor a fork changes the trace."""

    # One disk holds fio and its libraries, so that Debian's own disk needs no further package. fio writes to a third one, and
    # to a file of the root file system.
    SCRIPT = """
mount -o ro /dev/nvme0n2 /mnt
export LD_LIBRARY_PATH=/mnt/usr/lib/x86_64-linux-gnu:/mnt/usr/lib/x86_64-linux-gnu/ceph:/mnt/lib/x86_64-linux-gnu
run() { /mnt/usr/bin/fio --ioengine=libaio --direct=1 --bsrange=512-16k --verify=crc32c --output-format=json "$@"; }
run --name=disk --filename=/dev/nvme0n3 --rw=randrw --size=512k --iodepth=16 > /share/result
run --name=file --directory=/root --rw=randwrite --bs=4k --size=256k --iodepth=4 --fsync=8 >> /share/result
"""

    def test_the_trace_of_fio_is_the_same(self):
        files = self.folder / "files"
        files.mkdir()
        with open(machine.IMAGES.parent / "packages/fio/files.cpio", "rb") as archive:
            subprocess.run(["cpio", "--extract", "--quiet", "--make-directories", "--directory", files], stdin=archive, check=True)
        tools = self.folder / "tools.img"
        subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", "-d", files, tools, "320M"], check=True,
                       stdout=subprocess.DEVNULL)
        family = self.compare_quanta(self.SCRIPT, ["1us", "13us"], "--set",
                                     f"devices[0].namespaces=[{{image: debian.img}}, {{image: {tools}}}, {{size: 8MiB}}]",
                                     platform="debian", check_rtl=False)
        result = family.children["forked"].file("result")
        self.assertEqual(result.count('"error" : 0'), 2)


class Forked(machine.TestCase):
    """Many commands from one boot of Debian: each child has the disk as it was, and its own changes."""

    SCRIPT = """
[ ! -e /root/mine ]
echo {name} > /root/mine
sync
dpkg-query -W -f '${{Package}}\\n' > /share/packages
cp /root/mine /share/mine
mkdir -p /share/folder; cp /etc/fstab /share/folder/
[ {name} != third ]
"""

    def test_each_child_is_alone(self):
        names = ("first", "second", "third")
        run = machine.Children(platform="debian", scripts={name: self.SCRIPT.format(name=name) for name in names},
                               check_rtl=False).finish()
        self.assertEqual(set(run.children), set(names), run)
        for name, child in run.children.items():
            self.assertEqual(child.code, 1 if name == "third" else 0, child)
            self.assertEqual(child.file("mine").strip(), name)
            self.assertIn("LABEL=debian / ext4", child.file("folder/fstab"))
            self.assertLess({"bash", "kmod", "mount", "pciutils", "procps"}, set(child.file("packages").split()))

    def test_the_packages_are_those_that_setup_has_recorded(self):
        run = machine.Run(platform="debian", script="dpkg-query -W -f '${Package} ${Version}\\n' > /share/packages\n"
                          "dpkg --audit > /share/audit\n", check_rtl=False).finish()
        self.assertEqual(run.code, 0, run)
        recorded = (machine.IMAGES.parent / "debian/packages").read_text().splitlines()
        self.assertEqual(sorted(run.file("packages").splitlines()), sorted(line.rsplit(" ", 1)[0] for line in recorded))
        self.assertEqual(run.file("audit"), "")


class Mistakes(machine.TestCase):
    """What cannot be booted ends the run with exit code 1, and says why."""

    def test_there_is_no_such_root(self):
        run = self.fail_with(1, platform="debian", append="root=LABEL=other", check_rtl=False)
        self.assertIn("init: there is no root file system LABEL=other", run.console)
        self.assertIn("/dev/nvme0n1", run.console)

    def test_the_disk_is_no_file_system(self):
        run = self.fail_with(1, "--set", "devices[0].namespaces[0]={size: 1MiB}", platform="debian", append="root=/dev/nvme0n1",
                             check_rtl=False)
        self.assertIn("init: the root file system /dev/nvme0n1 cannot be mounted", run.console)

    def test_there_is_no_such_init(self):
        run = self.fail_with(1, platform="debian", append="init=/sbin/other", check_rtl=False)
        self.assertIn("init: the root file system LABEL=debian has no /sbin/other", run.console)


if __name__ == "__main__":
    machine.main()
