#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/coverage: how it configures its build, what counts, what is excepted, and what it says. Nothing is
built, and no RTL runs.

Usage: coverage_test.py [GROUP[.CASE]]...
"""

import collections
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"

sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS / "lib"))
import coverage  # noqa: E402

SOURCE = """module part (input logic a);
  always_comb
    if (a) b = 1'b1;
    else b = 1'b0;
endmodule
"""


def line_of(page, file, line, what, times, hierarchy="top"):
    """A point as Verilator writes it."""
    keys = {"f": file, "l": str(line), "n": "3", "t": page.split("/")[0][2:], "page": page, "o": what, "h": hierarchy}
    return "C '" + "".join(f"\x01{key}\x02{value}" for key, value in keys.items()) + f"' {times}\n"


class Counting(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = pathlib.Path(self.folder.name) / "part.sv"
        self.source.write_text(SOURCE)

    def points(self, *lines):
        counted = collections.Counter()
        coverage.count(["# SystemC::Coverage-3\n", *lines], counted)
        return coverage.named(counted)

    def test_a_line_is_named_by_its_text_and_a_bit_by_its_signal(self):
        points = self.points(line_of("v_branch/part", str(self.source), 3, "if", 2),
                             line_of("v_branch/part", str(self.source), 3, "else", 0),
                             line_of("v_toggle/part", str(self.source), 1, "a[4]", 5))
        self.assertEqual(points, {coverage.Point("part.sv", "lines", 3, "if (a) b = 1'b1;"): 2,
                                  coverage.Point("part.sv", "lines", 3, "if (a) b = 1'b1; (else)"): 0,
                                  coverage.Point("part.sv", "bits", 1, "a[4]"): 5})

    def test_instances_and_runs_are_added_up(self):
        once = line_of("v_toggle/part", str(self.source), 1, "a", 0, "top.one")
        again = line_of("v_toggle/part__P2", str(self.source), 1, "a", 3, "top.two")
        self.assertEqual(list(self.points(once, again, once).values()), [3])

    def test_what_is_no_point_is_not_counted(self):
        self.assertEqual(self.points("", "C 'x' y\n", "anything\n"), {})


    def test_complete_files_are_counted_and_deleted(self):
        data = pathlib.Path(self.folder.name)
        (data / "7-0.counts").write_text(line_of("v_toggle/part", str(self.source), 1, "a", 2))
        (data / "7-1.counts").write_text(line_of("v_toggle/part", str(self.source), 1, "a", 3))
        (data / "7-2").write_text(line_of("v_toggle/part", str(self.source), 1, "a", 90))
        counted = collections.Counter()
        coverage.take(data, counted)
        self.assertEqual(list(coverage.named(counted).values()), [5])
        self.assertEqual(sorted(file.name for file in data.iterdir()), ["7-2", "part.sv"])


class Reports(unittest.TestCase):
    POINTS = {coverage.Point("a.sv", "lines", 1, "begin"): 1,
              coverage.Point("a.sv", "lines", 9, "default: ;"): 0,
              coverage.Point("a.sv", "bits", 2, "count[0]"): 7,
              coverage.Point("a.sv", "bits", 2, "count[63]"): 0,
              coverage.Point("b.sv", "bits", 2, "count[63]"): 0}

    @staticmethod
    def known(*each):
        return [coverage.Exempt(file, coverage.re.compile(what), "so") for file, what in each]

    def test_what_was_not_reached_is_missing(self):
        report = coverage.report(self.POINTS, [])
        self.assertEqual([(point.file, point.name) for point in report.missing],
                         [("a.sv", "count[63]"), ("a.sv", "default: ;"), ("b.sv", "count[63]")])
        self.assertEqual((report.total("lines"), report.total("bits")), ((1, 2), (1, 3)))
        self.assertFalse(report.good())

    def test_an_exception_is_of_its_file_and_of_the_whole_name(self):
        report = coverage.report(self.POINTS, self.known(("a.sv", r"count\[\d+\]"), ("a.sv", "default")))
        self.assertEqual([(point.file, point.name) for point in report.missing],
                         [("a.sv", "default: ;"), ("b.sv", "count[63]")])
        self.assertEqual(report.excepted, 1)
        self.assertEqual(report.total("bits"), (1, 2))  # what was reached counts, excepted or not
        self.assertEqual(len(report.wrong), 1)

    def test_an_exception_of_what_was_reached_is_wrong(self):
        every = self.known(("a.sv", "default: ;"), ("a.sv", r"count\[63\]"), ("b.sv", ".*"))
        self.assertTrue(coverage.report(self.POINTS, every).good())
        report = coverage.report(self.POINTS, every + self.known(("a.sv", r"count\[0\]")))
        self.assertEqual(report.wrong, [r"nothing is left for the exception 'count\[0\]' of a.sv"])
        self.assertFalse(report.good())

    def test_the_goal_is_of_lines_and_of_bits(self):
        for kind in coverage.KINDS:
            points = {coverage.Point("a.sv", each, number, "x"): 1 for each in coverage.KINDS for number in range(100)}
            for number in range(5):
                points[coverage.Point("a.sv", kind, number, "x")] = 0
            self.assertTrue(coverage.report(points, []).good(), kind)
            points[coverage.Point("a.sv", kind, 5, "x")] = 0
            self.assertFalse(coverage.report(points, []).good(), kind)

    def test_bits_that_follow_each_other_are_told_together(self):
        bits = [coverage.Point("a.sv", "bits", 2, f"count[{bit}]") for bit in (0, 5, 6, 7, 10, 11)]
        others = [coverage.Point("a.sv", "lines", 9, "default: ;"), coverage.Point("a.sv", "bits", 3, "one")]
        self.assertEqual(coverage.gathered(bits + others),
                         ["a.sv:9: default: ;", "a.sv:3: one", "a.sv:2: count[11:10,7:5,0]"])

    def test_the_table_ends_with_all(self):
        lines = coverage.report(self.POINTS, []).lines()
        self.assertEqual([line.split()[0] for line in lines], ["file", "a.sv", "b.sv", "all"])
        self.assertRegex(lines[-1], r"1 of +2 +50\.0% +1 of +3 +33\.3%$")


class Exceptions(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            return coverage.exceptions(pathlib.Path(file.name))

    def test_those_of_the_project_have_files_and_reasons(self):
        for each in coverage.exceptions(coverage.EXCEPTIONS):
            self.assertTrue(any((SCRIPTS.parent / "rtl").rglob(each.file)) or each.file.endswith(".svh"), each.file)
            self.assertGreater(len(each.reason), 10, each)

    def test_mistakes_are_reported(self):
        self.assertEqual(self.read("[]"), [])
        self.assertEqual([each.file for each in self.read("- {files: [a.sv, b.sv], what: x, reason: so}")], ["a.sv", "b.sv"])
        for text in ("- {files: [a.sv], what: x}", "- {files: [a.sv], what: '(', reason: so}", "- 5", "{"):
            with self.assertRaises(coverage.Failure, msg=text):
                self.read(text)


class Configuration(unittest.TestCase):
    def test_the_tests_can_be_built_with_counters(self):
        with tempfile.TemporaryDirectory() as folder:
            coverage.configure(pathlib.Path(folder))
            coverage.run(["ninja", "-C", folder, "-n", *coverage.TESTS])


class Options(unittest.TestCase):
    def run_script(self, *options):
        return subprocess.run([str(SCRIPTS / "coverage"), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_help(self):
        done = self.run_script("--help")
        self.assertEqual(done.returncode, 0)
        self.assertTrue(done.stdout.startswith("Usage: scripts/coverage "))

    def test_bad_options(self):
        for options in (["--nothing"], ["--json"], ["x"]):
            self.assertEqual(self.run_script(*options).returncode, 2, options)


if __name__ == "__main__":
    unittest.main()
