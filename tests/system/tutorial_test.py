# SPDX-License-Identifier: Apache-2.0
"""The tutorial of platforms/tutorial works when it is followed word by word, outside of the source tree.

OAE_VP_SOURCE and OAE_VP_CMAKE name the source tree and its build, and OAE_VP_TUTORIAL a folder that is made anew.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import machine

SOURCE = pathlib.Path(os.environ["OAE_VP_SOURCE"])
BUILD = pathlib.Path(os.environ["OAE_VP_CMAKE"])
HOME = pathlib.Path(os.environ["OAE_VP_TUTORIAL"])
SETUP = "scripts/setup\n"  # it has been done before tests run


def blocks(language):
    """The blocks of the tutorial in this language."""
    text = (SOURCE / "platforms/tutorial/README.md").read_text()
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)


class Tutorial(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(parents=True)
        commands = "".join(blocks("sh"))
        assert commands.startswith(SETUP), commands
        commands = commands[len(SETUP):].replace("build/cmake", str(BUILD), 1)
        run = subprocess.run(["bash", "-euc", commands], cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", timeout=500,
                             env={"HOME": str(HOME), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})
        cls.code, cls.output = run.returncode, run.stdout
        cls.project = HOME / "checksum"
        cls.program = HOME / "oae-vp/bin/oae-vp"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(HOME, ignore_errors=True)

    def test_works_word_by_word(self):
        self.assertEqual(self.code, 0, self.output[-4000:])
        for line in "".join(blocks("text")).splitlines():
            self.assertIn(line, self.output)
        self.assertIn("100% tests passed", self.output)
        # Of compilers, which name a place first, and of CMake. Kbuild itself warns of a compiler that is a little newer than
        # that of the kernel, which depends on Debian's updates alone.
        self.assertNotRegex(self.output, r": warning: |CMake Warning")

    def test_its_device_is_on_the_bus_and_its_library_in_the_trace(self):
        self.assertEqual(self.code, 0, self.output[-4000:])
        with open(self.project / "trace.jsonl", encoding="utf-8") as lines:
            head = json.loads(next(lines))
            reads = [each for each in map(json.loads, lines)
                     if each.get("link", "").endswith("host_crc") and each.get("dir") == "up" and each.get("type") == "MRd"]
        library = (self.project / "build/libchecksum.so").read_bytes()
        self.assertEqual(head["inputs"]["plugins[0]"], hashlib.sha256(library).hexdigest())
        # Reads of at most 512 bytes, and at least those of the 32 KiB
        self.assertGreaterEqual(len(reads), 64)

    def test_the_installed_program_has_its_own_files(self):
        self.assertEqual(self.code, 0, self.output[-4000:])
        said = subprocess.run([self.program, "check", "oae-mini"], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"{HOME}/oae-vp/share/oae-vp/platforms/oae-mini.yaml: no mistakes", said)
        libraries = subprocess.run(["ldd", self.program], capture_output=True, text=True, check=True).stdout
        self.assertRegex(libraries, rf"liboae-vp\.so\.\d+ => {HOME}/oae-vp/")
        # The plugin needs the core library, which is that of the program that loads it, and contains none.
        needed = subprocess.run(["ldd", self.project / "build/libchecksum.so"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(len(re.findall(r"(?m)^\s*liboae-vp\.so", needed)), 1)

    def test_its_device_goes_on_in_forks(self):
        self.assertEqual(self.code, 0, self.output[-4000:])
        (self.project / "commands").write_text("sh /share/test.sh\nsh /share/test.sh && exit 7\n")
        run = subprocess.run(
            [self.program, "run", "checksum.yaml", "--share", "build/share", "--snapshot-at", "booted", "--children", "commands",
             "--console", "host=off"], cwd=self.project, capture_output=True, text=True, timeout=machine.TIMEOUT)  # fmt: skip
        self.assertEqual(run.returncode, 1, run)
        summary = json.loads((self.project / "commands.out/summary.json").read_text())
        self.assertEqual([child["guest_code"] for child in summary["children"]], [0, 7], run)
        for number in (1, 2):
            self.assertIn("the checksums are right", (self.project / f"commands.out/{number}/host.log").read_text())

    def test_a_block_of_rtl_becomes_a_plugin(self):
        """The copier, elsewhere and by another name, since oae-vp has a kind `copier` already."""
        self.assertEqual(self.code, 0, self.output[-4000:])
        project = HOME / "duplicator"
        shutil.copytree(SOURCE / "models/copier", project)
        lists = project / "CMakeLists.txt"
        kind, count = re.subn(r"(?m)^oae_vp_add_rtl_kind\(copier$", "oae_vp_add_rtl_kind(duplicator", lists.read_text())
        self.assertEqual(count, 1)
        lists.write_text("cmake_minimum_required(VERSION 3.25)\nproject(duplicator LANGUAGES C CXX)\n"
                         f"find_package(OaeVp 0.1 REQUIRED)\n{kind}")
        for command in (["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={HOME}/oae-vp"],
                        ["cmake", "--build", "build"]):
            made = subprocess.run(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=300)
            self.assertEqual(made.returncode, 0, made.stdout[-4000:])
            self.assertNotRegex(made.stdout, r": warning: |%Warning|CMake Warning")
        plugin = project / "build/libduplicator_kind.so"
        keys = subprocess.run([self.program, "keys", "--plugin", plugin, "duplicator"], capture_output=True, text=True)
        self.assertEqual((keys.returncode, keys.stderr), (0, ""))
        without = subprocess.run([self.program, "keys", "duplicator"], capture_output=True, text=True)
        self.assertNotEqual(without.returncode, 0, without)
        # It has the block, and neither the core nor Verilator's run-time library.
        symbols = subprocess.run(["nm", "-DC", "--defined-only", plugin], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(symbols, r" [TDB] (Verilated|pcie::|device::|Vduplicator)")
        (project / "machine.yaml").write_text((project / "copier.yaml").read_text().replace("kind: copier", "kind: duplicator")
                                              + f"\nplugins: [{plugin}]\n")
        check = subprocess.run([self.program, "check", project / "machine.yaml"], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check)

    def test_no_installed_header_needs_another(self):
        self.assertEqual(self.code, 0, self.output[-4000:])
        folder = HOME / "oae-vp/include/oae-vp"
        headers = sorted(folder.rglob("*.h"))
        self.assertGreater(len(headers), 50)
        for header in headers:
            for name in re.findall(r'(?m)^#include "([^"]+)"', header.read_text()):
                self.assertTrue((folder / name).is_file(), f"{header} includes {name}")


if __name__ == "__main__":
    machine.main()
