#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guest/initramfs/mkpackages: what is in its archive, the same bytes each time, and mistakes."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from mkinitramfs_test import ROOT, entries  # noqa: E402

MKPACKAGES = ROOT / "guest/initramfs/mkpackages"
LIBRARY = Path("/lib/x86_64-linux-gnu/libz.so.1")  # any; the list of libraries has real ones only


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def package(self, name, files):
        """A package with these files: a text, bytes, or the Path that a symbolic link has."""
        tree = self.folder / f"{name}.tree"
        for path, contents in {"DEBIAN/control": f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\n"
                               "Description: c\n", **files}.items():
            file = tree / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(contents, Path):
                file.symlink_to(contents)
            else:
                file.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
                file.chmod(0o755 if "bin" in path else 0o644)
        deb = self.folder / f"{name}_1_all.deb"
        subprocess.run(["dpkg-deb", "-b", tree, deb], check=True, stdout=subprocess.DEVNULL)
        return deb

    def make(self, *debs, name="archive", **options):
        output = self.folder / name
        done = subprocess.run([MKPACKAGES, "--output", output, *debs], capture_output=True, text=True, **options)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        return output


class Contents(Case):
    def test_all_programs_are_in_one_folder_and_links_keep_their_meaning(self):
        found = entries(self.make(self.package("tools", {
            "bin/one": "1", "sbin/two": "2", "usr/bin/three": Path("../share/tools/three"), "usr/sbin/four": "4",
            "usr/share/tools/three": "3", "lib/tools/five": "5", "usr/lib/tools/six": "6"})))
        for name in ("usr/bin/one", "usr/bin/two", "usr/bin/four", "usr/lib/tools/five", "usr/lib/tools/six"):
            self.assertIn(name, found)
        self.assertEqual(found["usr/bin/one"][0], 0o100755)
        self.assertEqual(found["usr/bin/three"][2], b"../share/tools/three")
        self.assertEqual(found["usr/share/tools/three"][2], b"3")
        for name, place in (("bin", b"usr/bin"), ("sbin", b"usr/bin"), ("usr/sbin", b"bin"), ("lib", b"usr/lib")):
            self.assertEqual(found[name][2], place)

    def test_documentation_and_translations_are_left_out(self):
        found = entries(self.make(self.package("tools", {
            "usr/share/doc/tools/copyright": "c", "usr/share/man/man1/tool.1.gz": "m", "usr/share/info/tool.info": "i",
            "usr/share/locale/de/LC_MESSAGES/tool.mo": "l", "usr/share/lintian/overrides/tools": "o",
            "usr/share/manual/kept": "k", "opt/usr/share/doc/kept": "k"})))
        kept = {name for name in found if name.startswith(("usr/share/", "opt/")) and found[name][0] >> 12 == 0o10}
        self.assertEqual(kept, {"usr/share/manual/kept", "opt/usr/share/doc/kept"})

    def test_libraries_are_listed_wherever_they_are(self):
        found = entries(self.make(self.package("library", {
            "etc/ld.so.conf.d/library.conf": "/opt/library\n", "opt/library/libz.so.1": LIBRARY.read_bytes(),
            "var/cache/kept": "k"})))
        self.assertIn(b"/opt/library/libz.so.1", found["etc/ld.so.cache"][2])
        self.assertNotIn("var/cache/ldconfig/aux-cache", found)

    def test_the_order_of_packages_and_the_time_leave_no_trace(self):
        first, second = self.package("first", {"bin/one": "1"}), self.package("second", {"bin/two": "2"})
        there = self.make(first, second).read_bytes()
        os.utime(first, (1, 1))
        self.assertEqual(self.make(second, first, name="other", umask=0o077).read_bytes(), there)
        self.assertEqual(len(there) % 512, 0)


class Mistakes(Case):
    def expect(self, code, text, *arguments):
        done = subprocess.run([MKPACKAGES, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stdout + done.stderr)

    def test_usage(self):
        out = self.folder / "archive"
        self.expect(0, "usage: mkpackages", "--help")
        self.expect(2, "--output is needed", "/dev/null")
        self.expect(2, "needs a file", "--output")
        self.expect(2, "no package is named", "--output", out)
        self.expect(2, "no such option: --colour", "--colour")
        self.expect(2, "cannot be read: /nowhere.deb", "--output", out, "/nowhere.deb")
        self.assertFalse(out.exists())

    def test_a_file_that_is_no_package_leaves_no_archive(self):
        (self.folder / "bad.deb").write_text("no package")
        out = self.folder / "archive"
        self.expect(1, "bad.deb", "--output", out, self.folder / "bad.deb")
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
