# SPDX-License-Identifier: Apache-2.0
"""An image that is missing or damaged is reported before anything starts."""
import os
import pathlib
import shutil
import tempfile

import machine


class Images(machine.TestCase):
    """Each case damages one file in its own directory of images."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="oae-vp-")
        self.addCleanup(folder.cleanup)
        self.images = pathlib.Path(folder.name) / "images"
        shutil.copytree(machine.IMAGES, self.images)

    def expect_mistake(self, *texts):
        run = self.fail_with(2, images=self.images)
        self.assertEqual(run.console, "", "something was started")
        for text in (*texts, "remedy: ", "nothing was started"):
            self.assertIn(text, run.errors)
        self.assertRegex(run.errors, r"oae-mini\.yaml:\d+:\d+: ")

    def test_missing(self):
        for name in ("vmlinuz", "initramfs.cpio", "oae-fw.elf", "libqemu-x86_64.so", "libqemu-aarch64.so"):
            with self.subTest(name):
                (self.images / name).rename(self.images / "away")
                self.expect_mistake(name)
                (self.images / "away").rename(self.images / name)

    def test_changed_since_setup(self):
        for name in ("vmlinuz", "initramfs.cpio", "oae-fw.elf", "libqemu-x86_64.so"):
            with self.subTest(name):
                path = self.images / name
                right = path.read_bytes()
                path.write_bytes(right[:-1] + bytes([right[-1] ^ 1]))
                self.expect_mistake(name, "scripts/setup")
                path.write_bytes(right)

    def test_structure_of_the_users_own_files(self):
        broken = self.images / "broken"
        broken.write_bytes(b"not what it should be" * 1000)
        for option in ("--kernel", "--initrd", "--firmware"):
            with self.subTest(option):
                run = self.fail_with(2, option, broken)
                self.assertEqual(run.console, "")
                self.assertIn("broken", run.errors)
                self.assertIn("remedy: ", run.errors)


if __name__ == "__main__":
    machine.main()
