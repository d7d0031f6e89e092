#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The driver's module builds against a kernel without a warning of gcc (W=1) or sparse, and checkpatch has no complaint.

The environment says where things are: OAE_VP_HEADERS (the kernel's headers), OAE_VP_OPTIONS (make variables to use them
with, separated by semicolons), OAE_VP_REGISTERS (the folder of the generated headers), OAE_VP_KERNEL_SOURCE (checkpatch.pl).
"""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DRIVER = ROOT / "guest/driver"
SCHEDULING = ROOT / "guest/scheduling"
SELFTESTS = ROOT / "tests/guest/driver/selftests"
UAPI = ROOT / "guest/include/uapi/linux"

# What the compiler notices with W=1 only, and what sparse notices only.
DEFECTS = """
int oae_not_declared(int __user *pointer);
int oae_not_declared(int __user *pointer) { unsigned int unused = 1; return *pointer; }
"""


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="oae-vp-module.")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        generated = Path(os.environ["OAE_VP_REGISTERS"])
        for file in (*DRIVER.glob("*.[ch]"), DRIVER / "Kbuild", generated / "oae_registers.h", generated / "oae_memory_map.h"):
            shutil.copy(file, self.folder)
        (self.folder / "include/uapi/linux").mkdir(parents=True)
        shutil.copy(UAPI / "oae.h", self.folder / "include/uapi/linux")

    def make(self, target):
        """Exit code and all that a build with all checks says."""
        options = [option for option in os.environ["OAE_VP_OPTIONS"].split(";") if option]
        command = ["make", "-s", "-C", os.environ["OAE_VP_HEADERS"], f"M={self.folder}", "W=1", "C=2", *options, target]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment, timeout=300)
        return done.returncode, done.stdout

    def test_the_module_is_for_this_kernel_and_nothing_is_said(self):
        self.assertEqual(self.make("modules"), (0, ""))
        magic = subprocess.run(["/sbin/modinfo", "-F", "vermagic", self.folder / "oae.ko"], capture_output=True, text=True,
                               check=True).stdout
        self.assertEqual(magic.split()[0], os.environ["OAE_VP_RELEASE"])

    def test_gcc_and_sparse_notice_defects(self):
        file = self.folder / "oae_crc.c"
        file.write_text(file.read_text() + DEFECTS)
        code, text = self.make("oae_crc.o")
        self.assertEqual(code, 0, text)
        self.assertIn("unused variable", text)
        self.assertIn("dereference of noderef expression", text)


class Style(unittest.TestCase):
    def check(self, *files):
        """Exit code and complaints of checkpatch."""
        script = Path(os.environ["OAE_VP_KERNEL_SOURCE"]) / "scripts/checkpatch.pl"
        done = subprocess.run(["perl", script, "--no-tree", "--terse", "--no-summary", "--quiet", "-f", *files],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout

    def test_checkpatch_has_no_complaint(self):
        self.assertEqual(self.check(*sorted(DRIVER.glob("*.[ch]")), *sorted(SCHEDULING.glob("oae_*.[ch]")),
                                    *sorted(SELFTESTS.glob("*.c")), *sorted(UAPI.glob("*.h"))), (0, ""))

    def test_checkpatch_notices_a_defect(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "file.c"
            file.write_text("// SPDX-License-Identifier: GPL-2.0\nstatic int a = LINUX_VERSION_CODE;\nint f() { return a; }\n")
            code, text = self.check(file)
        self.assertEqual(code, 1)
        self.assertIn("WARNING: LINUX_VERSION_CODE", text)
        self.assertIn("ERROR: Bad function definition", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
