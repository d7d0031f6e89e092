#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guest/debian: the same image each time, what is in it, and mistakes. Nothing is installed, which tests/system/debian_test.py needs."""

import io
import os
import subprocess
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MKIMAGE = ROOT / "guest/debian/mkimage"
PACK = ROOT / "guest/debian/pack"
OWN_IDS = ROOT / "guest/initramfs/pci.ids"
EPOCH = 1_600_000_000
UUID = "f0ae0ae5-0000-4000-8000-000000000001"
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"

# What mmdebstrap leaves, as far as it matters here: name, mode, owner, group, and content
FILES = (
    ("etc", 0o755, 0, 0, None),
    ("etc/hostname", 0o755, 0, 0, b"machine\n"),
    ("etc/resolv.conf", 0o644, 0, 0, b"nameserver 192.0.2.1\n"),
    ("etc/shadow", 0o640, 0, 42, b"other:!*:19000::::::\nroot:*:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n"),
    ("etc/apt", 0o755, 0, 0, None),
    ("etc/apt/sources.list", 0o644, 0, 0, b"deb copy:/somewhere ./\n"),
    ("etc/rcS.d", 0o755, 0, 0, None),
    ("etc/systemd", 0o755, 0, 0, None),
    ("etc/systemd/system", 0o755, 0, 0, None),
    ("etc/systemd/system/getty.target.wants", 0o755, 0, 0, None),
    ("etc/systemd/system/getty.target.wants/getty@tty1.service", 0o644, 0, 0, b"unit\n"),
    ("etc/rcS.d/S01hwclock.sh", 0o755, 0, 0, b"wait\n"),
    ("etc/rcS.d/S01hostname.sh", 0o755, 0, 0, b"name\n"),
    ("usr", 0o755, 0, 0, None),
    ("usr/local", 0o755, 0, 0, None),
    ("usr/local/bin", 0o755, 0, 0, None),
    ("usr/lib", 0o755, 0, 0, None),
    ("usr/share", 0o755, 0, 0, None),
    ("usr/share/misc", 0o755, 0, 0, None),
    ("usr/share/misc/pci.ids", 0o644, 0, 0, b"8086  Intel Corporation\n"),
    ("usr/secret", 0o000, 0, 0, b"secret"),
    ("usr/write", 0o2755, 0, 5, b"x" * 10_000),
    ("var", 0o755, 0, 0, None),
    ("var/mine", 0o700, 7, 12, None),
)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def pack(self, name, size="", init="sysv", files=FILES):
        """Returns the image and what was said."""
        work, image = self.folder / f"work-{name}", self.folder / f"{name}.img"
        work.mkdir()
        with tarfile.open(work / "root.tar", "w") as archive:
            for path, mode, owner, group, content in files:
                member = tarfile.TarInfo(f"./{path}")
                member.mode, member.uid, member.gid = mode, owner, group
                member.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
                member.mtime = EPOCH if member.isdir() else EPOCH - 1000
                member.size = len(content or b"")
                archive.addfile(member, io.BytesIO(content or b""))
            device = tarfile.TarInfo("./dev-null")
            device.type, device.devmajor, device.devminor, device.mode, device.mtime = tarfile.CHRTYPE, 1, 3, 0o666, EPOCH
            archive.addfile(device)
        environment = dict(os.environ, PATH=PATH, LABEL="debian", UUID=UUID, HASH_SEED=UUID, LEAST=str(16 << 20),
                           SOURCE_DATE_EPOCH=str(EPOCH))
        done = subprocess.run(["fakeroot", "--", PACK, work, image, init, size, OWN_IDS], env=environment, capture_output=True,
                              text=True)
        return image, done

    def made(self, name, **more):
        image, done = self.pack(name, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return image

    def debugfs(self, image, command):
        return subprocess.run(["debugfs", "-R", command, image], env=dict(os.environ, PATH=PATH), check=True, capture_output=True,
                              text=True).stdout

    def content(self, image, path):
        return self.debugfs(image, f"cat {path}")


class Same(Case):
    def test_time_and_order_leave_no_trace(self):
        first = self.made("first")
        time.sleep(1.1)  # times in a file system may be whole seconds
        second = self.made("second")
        self.assertTrue(first.read_bytes() == second.read_bytes(), "the images differ")

    def test_a_machine_that_cannot_mount_proc_makes_the_same(self):
        """systemd-tmpfiles, which the scripts of packages call, does nothing there."""
        parents = tuple((path, 0o755, 0, 0, None) for path in
                        ("root", "run", "run/lock", "var/cache", "var/lib", "var/lib/systemd", "var/log"))
        made = (*((path, 0o700, 0, 0, None) for path in ("root/.ssh", "var/cache/private", "var/lib/private", "var/log/private")),
                *((path, 0o755, 0, 0, None) for path in ("run/lock/subsys", "var/lib/systemd/coredump", "var/lib/systemd/pstore")),
                ("var/log/README", 0o644, 0, 0, b"text\n"))
        there = self.made("there", init="systemd", files=FILES + parents)
        here = self.made("here", init="systemd", files=FILES + parents + made)
        self.assertIn("pstore", self.debugfs(there, "ls -p /var/lib/systemd"))
        self.assertTrue(there.read_bytes() == here.read_bytes(), "the images differ")

    def test_no_time_is_that_of_the_machine(self):
        image = self.made("image")
        for path in ("/", "/etc/fstab", "/usr/write", "/share", "/lost+found"):
            times = [int(line.split()[1].split(":")[0], 16) for line in self.debugfs(image, f"stat {path}").splitlines()
                     if line.split() and line.split()[0] in ("ctime:", "atime:", "mtime:", "crtime:")]
            self.assertEqual(len(times), 4, path)
            self.assertLessEqual(max(times), EPOCH, path)


class Contents(Case):
    def test_owners_modes_and_devices(self):
        image = self.made("image")
        for path, mode, owner, group in (("/etc/shadow", "0640", 0, 42), ("/usr/write", "02755", 0, 5), ("/var/mine", "0700", 7, 12)):
            stat = self.debugfs(image, f"stat {path}")
            self.assertRegex(stat, rf"Mode: +{mode} ", path)
            self.assertRegex(stat, rf"User: +{owner} +Group: +{group} ", path)
        self.assertRegex(self.debugfs(image, "stat /dev-null"), r"Type: character special[\s\S]*Device major/minor number: 01:03")
        self.assertEqual(self.content(image, "/usr/write"), "x" * 10_000)
        self.assertRegex(self.debugfs(image, "stat /usr/secret"), r"Mode: +0000 ")
        self.assertEqual(self.content(image, "/usr/secret"), "secret")

    def test_it_is_settled(self):
        image = self.made("image")
        self.assertEqual(self.content(image, "/etc/hostname"), "debian\n")
        self.assertEqual(self.content(image, "/etc/resolv.conf"), "")
        self.assertEqual([line.split(":")[:2] for line in self.content(image, "/etc/shadow").splitlines()],
                         [["other", "!*"], ["root", ""], ["daemon", "*"]])
        self.assertEqual(self.content(image, "/etc/fstab").split()[:3], ["LABEL=debian", "/", "ext4"])
        names = self.debugfs(image, "ls -p /etc/apt") + self.debugfs(image, "ls -p /etc/rcS.d")
        self.assertNotIn("sources.list/", names)
        self.assertNotIn("hwclock", names)
        self.assertIn("S01hostname.sh", names)
        gettys = [line for line in self.content(image, "/etc/inittab").splitlines() if "getty" in line]
        self.assertEqual(len(gettys), 1)
        self.assertIn("ttyS0", gettys[0])
        self.assertIn("f0ae  OAE-VP\n", self.content(image, "/usr/share/misc/pci.ids"))
        self.assertIn("8086  Intel Corporation\n", self.content(image, "/usr/share/misc/pci.ids"))
        for link, target in (("/share", "/run/oae-vp/share"), ("/usr/lib/modules", "/run/oae-vp/modules"),
                             ("/usr/local/bin/oae", "/run/oae-vp/bin/oae")):
            self.assertIn(f'Fast link dest: "{target}"', self.debugfs(image, f"stat {link}"))

    def test_modules_of_a_package_stay(self):
        image = self.made("image", files=(*FILES, ("usr/lib/modules", 0o755, 0, 0, None), ("usr/lib/modules/a.ko", 0o644, 0, 0, b"m")))
        self.assertEqual(self.content(image, "/usr/lib/modules/a.ko"), "m")

    def test_systemd_has_no_unit_that_waits_for_a_device(self):
        image = self.made("image", init="systemd")
        units = "/etc/systemd/system"
        for unit in ("serial-getty@ttyS0.service", "apt-daily.timer"):
            self.assertIn('Fast link dest: "/dev/null"', self.debugfs(image, f"stat {units}/{unit}"))
        gettys = self.debugfs(image, f"ls -p {units}/getty.target.wants")
        self.assertIn("console-getty.service", gettys)
        self.assertNotIn("getty@tty1", gettys)
        self.assertEqual(self.content(image, "/etc/fstab").split()[-2:], ["0", "0"])

    def test_the_file_system_is_sound_and_as_large_as_was_asked(self):
        for size in ("", str(20 << 20)):
            image = self.made(f"image{size}", size=size)
            self.assertEqual(image.stat().st_size, int(size or 64 << 20))
            checked = subprocess.run(["e2fsck", "-f", "-n", image], env=dict(os.environ, PATH=PATH), capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stdout)


class Mistakes(Case):
    def expect_usage(self, text, *arguments):
        done = subprocess.run([MKIMAGE, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(text, done.stderr)

    def test_usage(self):
        out, deb = self.folder / "image", self.folder / "a.deb"
        deb.write_text("no package")
        self.expect_usage("--output is needed", deb)
        self.expect_usage("no package is named", "--output", out)
        self.expect_usage("needs a value", "--output")
        self.expect_usage("no such option: --colour", "--colour")
        self.expect_usage("/nowhere", "--output", out, "/nowhere")
        self.expect_usage("/nowhere", "--output", out, "--pci-ids", "/nowhere", deb)
        self.expect_usage("there are systemd and sysv", "--output", out, "--init", "runit", deb)
        self.expect_usage("there are systemd and sysv", "--output", out, "--init", "../debian", deb)
        for size in ("0M", "512", "-1G", "1K"):
            self.expect_usage(f"'{size}' is no size", "--output", out, "--size", size, deb)
        self.assertFalse(out.exists())

    def test_what_is_no_package_leaves_no_image(self):
        deb = self.folder / "a.deb"
        deb.write_text("no package")
        done = subprocess.run([MKIMAGE, "--output", self.folder / "image", deb], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["a.deb"])

    def test_what_does_not_fit(self):
        large = tuple((f"usr/large{number}", 0o644, 0, 0, os.urandom(1 << 20)) for number in range(20))
        _, done = self.pack("image", size=str(16 << 20), files=FILES + large)
        self.assertEqual(done.returncode, 1)
        self.assertIn("choose a larger --size", done.stderr)

    def test_help(self):
        done = subprocess.run([MKIMAGE, "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("usage: mkimage"))


if __name__ == "__main__":
    unittest.main()
