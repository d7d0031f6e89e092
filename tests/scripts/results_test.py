#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what scripts/test prints, and of the list of images.

Usage: results_test.py [GROUP[.CASE]]...
"""

import json
import shutil
import unittest

from in_folder import InFolder, PYTHON, SCRIPTS, output_of


class Manifest(InFolder):
    def test_lists_all_but_itself(self):
        self.write("images/vmlinuz", "abc")
        self.write("images/firmware/bios.bin", "")
        for _ in range(2):
            code, text = output_of(PYTHON, SCRIPTS / "lib/manifest.py", self.folder / "images")
            self.assertEqual(code, 0, text)
            manifest = json.loads((self.folder / "images/manifest.json").read_text())
            abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            self.assertEqual(
                manifest,
                {
                    "files": {
                        "firmware/bios.bin": {"sha256": empty, "size": 0},
                        "vmlinuz": {"sha256": abc, "size": 3},
                    }
                },
            )


class Results(InFolder):
    PASSED = '<testcase name="a.Good" status="run"/>'

    def results(self, cases, code=0, *names):
        """Exit code and output for the test cases that ctest wrote; None stands for an empty file."""
        file = self.write("tests.xml", f"<testsuite>{cases}</testsuite>" if cases is not None else "")
        return output_of(PYTHON, SCRIPTS / "lib/results.py", file, code, *names)

    def expect(self, passed, failed, *arguments):
        code, text = self.results(*arguments)
        self.assertEqual(text.splitlines()[-1], f"{passed} passed, {failed} failed")
        self.assertEqual(code, 1 if failed else 0, text)

    def test_counts(self):
        failed = '<testcase name="a.Bad" status="fail"><failure message="Failed"/></testcase>'
        unbuilt = '<testcase name="b_NOT_BUILT" status="notrun"><skipped message="Unable to find executable"/></testcase>'
        for message in ("SKIP_REGULAR_EXPRESSION_MATCHED", "SKIP_RETURN_CODE=77"):
            skipped = f'<testcase name="a.Skip" status="notrun"><skipped message="{message}"/></testcase>'
            self.expect(1, 0, self.PASSED + skipped)
        self.expect(1, 0, self.PASSED)
        self.expect(1, 2, self.PASSED + failed + unbuilt, 8)
        self.expect(1, 1, self.PASSED, 0, "Good", "Nope")
        self.expect(1, 1, self.PASSED, 8)
        self.expect(0, 1, "")
        self.expect(0, 1, None)

    def test_the_slowest_ten_are_named_before_the_last_line(self):
        times = [0.01, 3.25, 0.3, 100, 2, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.05]
        cases = "".join(f'<testcase name="t{at}" status="run" time="{time}"/>' for at, time in enumerate(times))
        lines = self.results(cases)[1].splitlines()
        self.assertEqual(lines[0], "The slowest tests:")
        self.assertEqual([line.split() for line in lines[1:3]], [["100.0", "s", "t3"], ["3.2", "s", "t1"]])
        self.assertEqual([line.split()[-1] for line in lines[1:-1]], ["t3", "t1", *(f"t{at}" for at in range(4, 12))])
        self.assertEqual(len(self.results('<testcase name="a" status="run" time="0.05"/>')[1].splitlines()), 1)


class ScriptTest(InFolder):
    """scripts/test itself, with a setup that has nothing to do and a build whose tests are given here."""

    def run_tests(self, tests, *arguments):
        root = self.folder / "clone"
        shutil.copytree(SCRIPTS, root / "scripts")
        (root / "scripts/setup").write_text("#!/bin/sh\n")
        (root / "build/log").mkdir(parents=True)
        self.write("clone/build/cmake/CTestTestfile.cmake", "".join(
            f'add_test({name} "/bin/sh" "-c" "{command}")\n' for name, command in tests.items()))
        return output_of(root / "scripts/test", *arguments)

    def test_a_test_that_passes_is_one_line(self):
        code, text = self.run_tests({"good": "echo noise", "bad": "echo why; exit 3", "also_good": "true"})
        self.assertEqual(code, 1, text)
        self.assertNotIn("Start", text)
        self.assertNotIn("noise", text)
        for name, lines in (("good", 1), ("also_good", 1)):
            self.assertEqual(len([line for line in text.splitlines() if f": {name} " in line]), lines, text)
        self.assertIn("why\n", text)
        self.assertIn("FAILED bad: fail\n", text)
        self.assertEqual(text.splitlines()[-1], "2 passed, 1 failed")

    def test_the_exit_code_says_whether_all_passed(self):
        self.assertEqual(self.run_tests({"good": "true"})[0], 0)

    def test_a_name_selects(self):
        code, text = self.run_tests({"good": "true", "bad": "false"}, "^good$")
        self.assertEqual((code, text.splitlines()[-1]), (0, "1 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
