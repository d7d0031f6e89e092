#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guest/initramfs/mkinitramfs: the same bytes each time, what is in them, and mistakes."""

import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MKINITRAMFS = ROOT / "guest/initramfs/mkinitramfs"
INIT = ROOT / "guest/initramfs/init"
SESSION = ROOT / "guest/initramfs/session"
OWN_IDS = ROOT / "guest/initramfs/pci.ids"
DEBIAN_IDS = Path("/usr/share/misc/pci.ids")


def run(*arguments, **options):
    command = [MKINITRAMFS, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def entries(archive):
    """Name -> (mode, mtime, data) of a cpio archive (newc)."""
    data, at, found = archive.read_bytes(), 0, {}
    while True:
        assert data[at : at + 6] == b"070701", f"no header at {at}"
        field = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        size, name_size = field[6], field[11]
        name = data[at + 110 : at + 110 + name_size - 1].decode()
        body = (at + 110 + name_size + 3) & ~3
        if name == "TRAILER!!!":
            return found
        assert field[2] == 0 and field[3] == 0, f"{name} is not root's"
        found[name] = (field[1], field[5], data[body : body + size])
        at = (body + size + 3) & ~3


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "tool"
        self.program.write_text("a program\n")

    def make(self, name="archive", **options):
        output = self.folder / name
        result = run("--output", output, "--init", INIT, "--script", SESSION, "--program", self.program, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout + result.stderr, "")
        return output


class Same(Case):
    def test_time_place_mask_and_locale_leave_no_trace(self):
        first = self.make()
        os.utime(self.program, (time.time() + 90, time.time() + 90))
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        environment = dict(os.environ, TMPDIR=str(elsewhere), LC_ALL="C.UTF-8", TZ="Asia/Tokyo")
        second = self.make("other", env=environment, umask=0o077, cwd=elsewhere)
        self.assertEqual(first.read_bytes(), second.read_bytes())
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_size_allows_another_archive_behind(self):
        self.assertEqual(self.make().stat().st_size % 4, 0)


class Contents(Case):
    def test_files_modes_and_times(self):
        found = entries(self.make())
        self.assertEqual(found["init"][0], 0o100755)
        self.assertEqual(found["init"][2], INIT.read_bytes())
        self.assertEqual(found["usr/bin/tool"][2], b"a program\n")
        self.assertEqual(found["usr/bin/tool"][0], 0o100755)
        self.assertEqual(found["usr/lib/oae-vp/session"][2], SESSION.read_bytes())
        self.assertEqual(found["usr/lib/oae-vp/session"][0], 0o100755)
        self.assertEqual(found["usr/bin/busybox"][0], 0o100755)
        self.assertEqual(found["usr/bin/sh"][0], 0o120777)
        self.assertEqual({mtime for _, mtime, _ in found.values()}, {0})
        for folder in ("dev", "proc", "sys", "tmp", "share", "root"):
            self.assertEqual(found[folder][0] >> 12, 0o4, folder)

    def test_programs_and_libraries_are_where_debian_has_them(self):
        found = entries(self.make())
        links = {"bin": b"usr/bin", "sbin": b"usr/bin", "usr/sbin": b"bin", "lib": b"usr/lib", "lib64": b"usr/lib64"}
        self.assertEqual({name: found[name][2] for name in links}, links)

    def test_folders_come_before_what_is_in_them(self):
        seen = set()
        for name in entries(self.make()):
            parent = os.path.dirname(name)
            self.assertTrue(not parent or parent in seen, name)
            seen.add(name)

    def test_names_are_in_order(self):
        names = list(entries(self.make()))
        self.assertEqual(names, sorted(names))

    def test_lspci_has_its_libraries_and_loader(self):
        found = entries(self.make())
        self.assertIn("usr/bin/lspci", found)
        self.assertIn("usr/lib64/ld-linux-x86-64.so.2", found)
        self.assertIn("usr/lib/x86_64-linux-gnu/libc.so.6", found)
        self.assertIn("usr/lib/x86_64-linux-gnu/libpci.so.3", found)
        names = found["usr/share/misc/pci.ids"][2].decode(errors="replace")
        self.assertIn("\nC 12  Processing accelerators\n", "\n" + names)
        self.assertIn("\n8086  Intel Corporation\n", names)
        self.assertNotIn("\n\t0008", names.split("\nC 00")[0])

    def test_lspci_knows_the_platforms_own_ids(self):
        output = self.folder / "archive"
        self.assertEqual(run("--output", output, "--init", INIT, "--own-ids", OWN_IDS).returncode, 0)
        names = self.folder / "pci.ids"
        names.write_bytes(entries(output)["usr/share/misc/pci.ids"][2])
        dump = self.folder / "dump"  # of a function: vendor, device, command, status, revision and class
        dump.write_text("01:00.0 0000: 0000\n00: ae f0 e0 0a 00 00 00 00 01 00 00 12\n")
        said = subprocess.run(["/usr/bin/lspci", "-i", names, "-F", dump], capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout,
                         "01:00.0 Processing accelerators: OAE-VP Open Atomic Ethernet block (rev 01)\n")

    def test_nobody_owns_their_vendor(self):
        vendors = [line.split()[0] for line in OWN_IDS.read_text().splitlines() if line[0] not in "#\t"]
        self.assertEqual(len(vendors), 1)
        for line in DEBIAN_IDS.read_text(errors="replace").splitlines():
            self.assertFalse(line.startswith(vendors[0]), line)

    def test_programs_that_init_calls_are_there(self):
        found = entries(self.make())
        for name in ("mount umount findfs switch_root cp mv seq touch find sort grep modprobe sh setsid cttyhack poweroff "
                     "xargs").split():
            self.assertIn(f"usr/bin/{name}", found)


class Mistakes(Case):
    def expect_usage(self, text, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(text, result.stderr)

    def test_usage(self):
        out = self.folder / "archive"
        self.expect_usage("--output is needed", "--init", INIT)
        self.expect_usage("--init is needed", "--output", out)
        self.expect_usage("needs a file", "--output")
        self.expect_usage("no such option: --colour", "--colour")
        self.expect_usage("/nowhere", "--output", out, "--init", "/nowhere")
        self.expect_usage("/nowhere", "--output", out, "--init", INIT, "--program", "/nowhere")
        self.expect_usage("/nowhere", "--output", out, "--init", INIT, "--script", "/nowhere")
        self.expect_usage("a folder", "--output", out, "--init", INIT, "--module", "/a folder")
        self.assertFalse(out.exists())

    def test_a_failure_leaves_no_archive(self):
        out = self.folder / "archive"
        result = run("--output", out, "--init", INIT, "--module", self.program)
        self.assertEqual(result.returncode, 1)
        self.assertFalse(out.exists())

    def test_half_an_archive_is_none(self):
        out = self.folder / "archive"
        cpio = self.folder / "cpio"
        cpio.write_text("#!/bin/sh\necho half\nexit 1\n")
        cpio.chmod(0o755)
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")
        result = run("--output", out, "--init", INIT, env=environment)
        self.assertEqual(result.returncode, 1)
        self.assertFalse(out.exists())

    def test_help(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("usage: mkinitramfs", result.stdout)


if __name__ == "__main__":
    unittest.main()
