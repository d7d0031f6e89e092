#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/mutations, on a small tree of its own whose build takes no time.

Usage: mutations_test.py [GROUP[.CASE]]...
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from in_folder import InFolder, PYTHON, ROOT, SCRIPTS, output_of
import listed_programs

COMMAND = SCRIPTS / "mutations"
WORKER = SCRIPTS / "lib" / "mutations.py"

sys.path.insert(0, str(WORKER.parent))
import mutations  # noqa: E402

CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(small NONE)
enable_testing()
add_subdirectory(platforms)
add_test(NAME value.IsOne COMMAND grep -qx 1 ${CMAKE_SOURCE_DIR}/value)
add_test(NAME value.IsThere COMMAND test -e ${CMAKE_SOURCE_DIR}/value)
add_test(NAME value.IsZero COMMAND grep -qx 0 ${CMAKE_SOURCE_DIR}/value)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/program DEPENDS value
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/value ${CMAKE_BINARY_DIR}/program)
add_custom_target(aside DEPENDS ${CMAKE_BINARY_DIR}/program)
add_test(NAME aside.Test COMMAND sh -c "grep -qx 1 $PROGRAM")
set_property(TEST aside.Test PROPERTY ENVIRONMENT PROGRAM=${CMAKE_BINARY_DIR}/program)
add_test(NAME slow.Test COMMAND sh -c "grep -qx 1 ${CMAKE_SOURCE_DIR}/value || sleep 60")
"""
PLATFORMS = "add_custom_target(compiled ALL COMMAND grep -qx sound ${CMAKE_SOURCE_DIR}/source)"
SPDX = "SPDX-License-Identifier: Apache-2.0\n"


def patch(tests, file="value", before="1", after="2", text="The value is wrong."):
    diff = f"--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{before}\n+{after}\n"
    return f"{SPDX}{text}\nCaught by: {tests}\n\n{diff}"


class Options(InFolder):
    def run_command(self, *arguments):
        build = self.folder / "build"
        found = output_of(COMMAND, *arguments, env={"OAE_VP_BUILD": str(build)})
        self.assertFalse(build.exists(), "nothing was started")
        return found

    def test_mistakes_leave_with_2_and_start_nothing(self):
        for arguments, word in ((["--nope"], "--nope"), (["nope"], "no mutation 'nope'"), (["../README"], "../README"),
                                ([""], "no mutation ''")):
            code, text = self.run_command(*arguments)
            self.assertEqual(code, 2, text)
            self.assertIn(word, text)

    def test_help(self):
        code, text = self.run_command("--help")
        self.assertEqual(code, 0)
        self.assertTrue(text.startswith("Usage: scripts/mutations"), text)

    def test_all_of_the_project_are_listed(self):
        code, text = self.run_command("--list")
        self.assertEqual(code, 0, text)
        patches = sorted(file.stem for file in (ROOT / "tests" / "mutations").glob("*.patch"))
        self.assertEqual([line for line in text.splitlines() if not line.startswith(" ")], patches)


class Run(InFolder):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="oae-vp-test.")
        cls.addClassCleanup(folder.cleanup)
        cls.path = listed_programs.folder_of(pathlib.Path(folder.name) / "bin", "tests", "bench")

    def setUp(self):
        super().setUp()
        self.build = self.folder / "build"
        for name, text in (("CMakeLists.txt", CMAKE), ("platforms/CMakeLists.txt", PLATFORMS), ("value", "1\n"),
                           ("source", "sound\n"), ("vp/qemu/overlay/file", "1\n"), ("build/images/manifest.json", "{}"),
                           ("build/images/kernel", "kernel")):
            self.write(name, text)
        subprocess.run(["cmake", "-G", "Ninja", "-B", "build/cmake", "."], cwd=self.folder, check=True, capture_output=True)

    def mutation(self, name, text):
        self.write(f"tests/mutations/{name}.patch", text)

    def command(self, *names):
        return [PYTHON, "-I", str(WORKER), "--root", str(self.folder), "--build", str(self.build), *names]

    def run_all(self, *names):
        return output_of(*self.command(*names), env={"PATH": str(self.path)})

    def copied(self, name="value"):
        return (self.build / "mutations" / "source" / name).read_text()

    def test_a_defect_that_a_test_sees_is_caught(self):
        self.mutation("wrong", patch(r"^value\.Is(One|There)$"))
        code, text = self.run_all()
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"^unchanged  passes the 2 tests .* \d+ s\nwrong  caught by value.IsOne  \d+ s\n$")
        self.assertEqual(self.copied(), "1\n")
        self.assertEqual((self.folder / "value").read_text(), "1\n")

    def test_what_the_environment_of_a_test_names_is_built(self):
        self.mutation("wrong", patch(r"^aside\."))
        code, text = self.run_all()
        self.assertEqual(code, 0, text)
        self.assertIn("wrong  caught by aside.Test", text)

    def test_one_that_none_sees_survives_and_the_others_go_on(self):
        self.mutation("a-survivor", patch(r"value\.IsThere"))
        self.mutation("wrong", patch(r"value\.IsOne"))
        code, text = self.run_all()
        self.assertEqual(code, 1, text)
        self.assertIn(r"a-survivor  SURVIVED value\.IsThere; see ", text)
        self.assertIn("wrong  caught by value.IsOne", text)
        self.assertEqual(self.run_all("wrong")[0], 0, "only those that are named")

    def test_what_proves_nothing_is_reported(self):
        self.mutation("absent", patch("nope"))
        self.mutation("expression", patch(r"value\.IsOne", before="7"))
        self.mutation("overlay", patch(r"value\.IsOne", file="vp/qemu/overlay/file"))
        self.mutation("syntax", patch(r"value\.IsOne", file="source", before="sound", after="unsound"))
        code, text = self.run_all()
        self.assertEqual(code, 1, text)
        for line in (r"absent  PROVES NOTHING: no test matches 'nope'", r"expression  PROVES NOTHING: it does not apply",
                     r"overlay  PROVES NOTHING: changes vp/qemu/overlay/", r"syntax  PROVES NOTHING: it does not build"):
            self.assertRegex(text, rf"(?m)^{line}.*  \d+ s$")
        self.assertEqual((self.copied("source"), self.copied()), ("sound\n", "1\n"))

    def test_tests_that_fail_anyway_prove_nothing(self):
        self.mutation("wrong", patch(r"value\."))
        code, text = self.run_all()
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"^unchanged  PROVES NOTHING: without any defect, value.IsZero fails too; see .*\.log  \d+ s$")
        self.assertNotIn("caught", text)

    def test_files_that_are_no_mutations(self):
        sound = patch("value")
        for text, word in ((sound.replace(SPDX, ""), "SPDX"), (sound.replace("The value is wrong.\n", ""), "what is broken"),
                           (sound.replace("Caught by:", "By:"), "Caught by"), (sound.split("---")[0], "difference")):
            self.mutation("bad", text)
            code, output = self.run_all()
            self.assertEqual(code, 1, output)
            self.assertIn("tests/mutations/bad.patch has to", output)
            self.assertIn(word, output)

    def test_the_copy_follows_the_clone(self):
        self.mutation("wrong", patch(r"value\.IsOne"))
        self.assertEqual(self.run_all()[0], 0)
        self.write("value", "0\n")
        code, text = self.run_all()
        self.assertEqual(code, 1, text)
        self.assertIn("without any defect, value.IsOne fails too", text)
        self.write("value", "1\n")
        shutil.rmtree(self.folder / "vp")
        for name in ("new", ".git/HEAD", "build-elsewhere/cmake/CMakeCache.txt", "__pycache__/value.pyc"):
            self.write(name, "")
        self.assertEqual(self.run_all()[0], 0)
        self.assertEqual(sorted(path.name for path in (self.build / "mutations" / "source").iterdir()),
                         ["CMakeLists.txt", "build", "new", "platforms", "source", "tests", "value"])

    def test_what_passed_is_remembered_until_a_file_changes(self):
        log = self.build / "log" / "mutations" / "unchanged.log"
        self.mutation("wrong", patch(r"value\.IsOne"))
        for again, tested in ((False, True), (True, False)):
            self.assertEqual(self.run_all()[0], 0)
            self.assertEqual("value.IsOne" in log.read_text(), tested, again)
        self.write("value", "0\n")
        self.assertEqual(self.run_all()[0], 1)
        self.assertIn("value.IsOne", log.read_text())

    def test_images_are_those_of_the_build(self):
        self.mutation("wrong", patch(r"value\.IsOne"))
        self.assertEqual(self.run_all()[0], 0)
        images = self.build / "mutations" / "source" / "build" / "images"
        self.assertEqual((images / "kernel").read_text(), "kernel")
        self.assertIn('"kernel"', (images / "manifest.json").read_text())
        self.assertEqual((self.build / "images" / "manifest.json").read_text(), "{}")

    def test_an_interruption_ends_the_tests_and_the_next_run_goes_well(self):
        self.mutation("slow", patch(r"slow\.Test"))
        log = self.build / "log" / "mutations" / "slow.log"
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for _ in range(200):
                if log.exists() and "Start" in log.read_text():
                    break
                time.sleep(0.05)
            time.sleep(0.2)
            process.send_signal(number)
            begin = time.monotonic()
            text, _ = process.communicate(timeout=30)
            self.assertEqual(process.returncode, code, text)
            self.assertLess(time.monotonic() - begin, 10)
            log.unlink()
        self.mutation("wrong", patch(r"value\.IsOne"))
        self.assertEqual(self.run_all("wrong")[0], 0)


class Patches(unittest.TestCase):
    def test_each_still_fits_the_project(self):
        for patch in sorted((ROOT / "tests" / "mutations").glob("*.patch")):
            with self.subTest(patch.stem):
                done = subprocess.run(["patch", "-p1", "--dry-run", "--fuzz=0", "-f", "-i", str(patch)], cwd=ROOT,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(done.returncode, 0, done.stdout)


class Lines(unittest.TestCase):
    def test_many_tests_are_shortened(self):
        self.assertEqual(mutations.shown(["a", "b  # GetParam() = 1", "c"]), "a, b, c")
        self.assertEqual(mutations.shown(["a", "b", "c", "d", "e"]), "a, b, c and 2 more")


if __name__ == "__main__":
    unittest.main()
