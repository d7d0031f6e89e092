#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs and modules of the guest do not depend on the folder in which they are built: how long a guest takes to load one
would depend on it, too. The environment says where things are: OAE_VP_GUEST_FILES (a file with a path in each line) and
OAE_VP_CMAKE (the build)."""

import os
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = [Path(line) for line in Path(os.environ["OAE_VP_GUEST_FILES"]).read_text().splitlines()]


class Places(unittest.TestCase):
    def test_lists_programs_and_modules(self):
        names = {file.name for file in FILES}
        self.assertLessEqual({"oae", "vpctl", "joined", "oae.ko", "memory_probe.ko"}, names)

    def test_no_file_has_debug_information_or_a_module_its_hash(self):
        for file in FILES:
            with self.subTest(file.name):
                sections = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, check=True).stdout
                self.assertIn(".text", sections)
                self.assertNotIn(".debug_", sections)
                if file.suffix == ".ko":
                    self.assertNotIn(".note.gnu.build-id", sections)

    def test_no_file_names_a_folder_of_the_build(self):
        folders = [str(ROOT).encode(), os.environ["OAE_VP_CMAKE"].encode()]
        for file in FILES:
            content = file.read_bytes()
            for folder in folders:
                with self.subTest(file.name, folder=folder):
                    self.assertNotIn(folder + b"/", content)


if __name__ == "__main__":
    unittest.main()
