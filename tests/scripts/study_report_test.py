#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what scripts/study makes of results: estimates, tables, and the page with its plots.

Usage: study_report_test.py [GROUP[.CASE]]...
"""

import math
import re
import unittest
import xml.etree.ElementTree

import study_data
from study_data import document, result, run

from study import page, plot, report, variants  # noqa: E402
from study.chapters import cells, published, serving, switches  # noqa: E402
from study.chapters.published import time_of_switch  # noqa: E402
from study.estimate import Estimate, estimate  # noqa: E402
from study.samples import Samples  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
NONE, ALL = variants.LADDER[0].name, variants.LADDER[-1].name
TIMES = {"floor": (2_000, 2_100), "host-prestage": (3_000, 3_200), NONE: (14_000, 14_400), ALL: (4_000, 4_100)}


def some(**more):
    return document(*(run(name, seed, result(time, agent=name != "floor"))
                      for name, times in TIMES.items() for seed, time in enumerate(times)), **more)  # fmt: skip


def ping(*runs):
    return Samples(document(*runs), "ping")


def texts(table):
    return dict(table.rows)


class Estimates(unittest.TestCase):
    def test_mean_and_interval(self):
        found = estimate([1, 2, 3, 4, 5])
        self.assertEqual(found.mean, 3)
        self.assertAlmostEqual(found.half, 2.776 * math.sqrt(2.5) / math.sqrt(5))
        self.assertAlmostEqual(estimate([0, 1]).half, 12.706 * math.sqrt(0.5) / math.sqrt(2))
        many = estimate([0, 1] * 50)
        self.assertAlmostEqual(many.half, 2.042 * math.sqrt(0.25 * 100 / 99) / 10)

    def test_text(self):
        self.assertEqual(estimate([1234, 1234]).text(), "1,234 ± 0")
        self.assertEqual(Estimate(1.26, 0.04, 3).text(1), "1.3 ± 0.0")
        self.assertEqual(estimate([7]).text(), "7 (one run)")

    def test_differences_are_of_the_same_seed(self):
        runs = [run(ALL, seed, result(1000 + 100 * seed)) for seed in (0, 1, 2)]
        runs += [run(NONE, seed, result(5000 + 100 * seed)) for seed in (2, 1, 0, 7)]
        found = ping(*runs).difference(time_of_switch, NONE, ALL)
        self.assertEqual((found.mean, found.half, found.count), (4000, 0, 3))
        self.assertIsNone(ping(*runs).difference(time_of_switch, "floor", ALL))

    def test_a_run_that_fell_back_does_not_count(self):
        runs = [run(NONE, 0, result(5_000)), run(NONE, 1, result(90_000, fallbacks=1))]
        samples = ping(*runs)
        self.assertEqual(samples.mean(time_of_switch, NONE).mean, 5_000)
        self.assertEqual((samples.counted(NONE), len(samples.all(NONE))), ("1 of 2", 2))
        self.assertIsNone(ping(runs[1]).mean(time_of_switch, NONE))


class Tables(unittest.TestCase):
    def test_published_beside_simulated(self):
        found = texts(published.tables(some())[0])
        self.assertEqual(found["host's read of the device"][:3], ["750 ns", "750.0 ± 0.0 ns", "1.00"])
        self.assertEqual(found["context switch, no optimisation"][0], "13,300 ns")
        self.assertEqual(found["context switch, no optimisation"][2], f"{14_200 / 13_300:.2f}")
        self.assertEqual(found["context switch, all optimisations"][:3:2],
                         ["3,300 to 4,000 ns", f"{4_050 / 4_000:.2f} to {4_050 / 3_300:.2f}"])  # fmt: skip
        self.assertRegex(found["what all optimisations save"][1], "^10,150.0 ± ")
        self.assertEqual(found["all optimisations, more than the fair class"][2], f"{2_000 / 4_000:.2f} to {2_000 / 3_300:.2f}")
        slower = 50 * (14_000 / 13_000 + 14_100 / 13_200 - 2)
        self.assertRegex(found["FIFO, slower than on the host, requests of 10 us"][1], f"^{slower:.1f} ± .* %$")
        self.assertEqual(found["requests served, all optimisations"][1], "no run counts")
        self.assertEqual(texts(published.tables(document())[0])["what all optimisations save"][1], "no run counts")

    def test_each_row_is_compared_with_the_floor_and_the_row_above(self):
        steps = [variant.name for variant in variants.LADDER]
        runs = [run(name, 0, result(10_000 - 1_000 * index)) for index, name in enumerate(steps)]
        table = switches.switch_table(ping(run("floor", 0, result(2_000, agent=False)), *runs))
        self.assertEqual([row[1] for _, row in table.rows],
                         ["-"] + [f"{8_000 - 1_000 * index:,}.0 (one run)" for index in range(len(steps))])  # fmt: skip
        self.assertEqual([row[2] for _, row in table.rows], ["-", "-"] + ["-1,000.0 (one run)"] * (len(steps) - 1))

    def test_what_crosses_the_link(self):
        (row,) = switches.counts_table(ping(run(NONE, 0, result(5_000)))).rows
        self.assertEqual(row[1], ["2.00", "1,500", "5.00", "1.00", "500", "200", "4.00", "75.0", "1.00"])

    def test_a_variant_with_two_rows_is_drawn_once(self):
        twice = variants.WITHOUT["prestage"].name
        self.assertEqual(twice, variants.LADDER[-2].name)
        samples = ping(run(twice, 0, result(7_000)), run(ALL, 0, result(4_000)), run("floor", 0, result(2_000)))
        self.assertEqual([name for _, name in cells.every(samples)], ["floor", twice, ALL])
        self.assertEqual([title for title, _ in switches.removed_table(samples).rows], ["all but prestage"])

    def test_levels_of_a_factor_are_in_order_with_the_central_one(self):
        runs = [run(ALL, 0, result(3_000)), run(ALL, 0, result(2_000), "link", 100), run(ALL, 0, result(9_000), "link", 1000)]
        mean = cells.mean_of(ping(*runs), time_of_switch)
        (table,) = cells.factor_tables(ping(*runs), "whole", "ping", "Time", mean)
        self.assertEqual(table.title, "Time, by: latency of the link, one way")
        self.assertEqual(table.columns, ["100 ns", "184 ns", "500 ns", "1,000 ns", "2,000 ns"])
        self.assertEqual(table.rows[0][1], ["2,000.0 (one run)", "3,000.0 (one run)", "-", "9,000.0 (one run)", "-"])

    def test_requests_served(self):
        rates = {"floor": (1_000_000, 1_100_000), "host-prestage": (900_000, 1_000_000), NONE: (200_000, 250_000), ALL: (800_000, 1_000_000)}
        made = document(*(run(name, seed, {"rate": rate, "trials": [[rate, 0, 9]]}, load="saturation")
                          for name, both in rates.items() for seed, rate in enumerate(both)))  # fmt: skip
        found = texts(published.tables(made)[0])
        self.assertEqual(found["requests served, no optimisation"][::2], ["258 K/s", f"{225 / 258:.2f}"])
        self.assertRegex(found["all by none"][1], "^4.0 ± 0.0 times$")
        fewer = 50 * (2 - 8 / 9 - 1)
        self.assertRegex(found["all optimisations, fewer than on the host"][1], f"^{fewer:.1f} ± .* %$")
        table = texts(serving.saturation_table(Samples(made, "saturation")))
        row = table["+ prestage: all optimisations"]
        self.assertRegex(row[0], "^900.0 ± ")
        self.assertRegex(row[1], f"^{50 * (8 / 10 + 10 / 11):.1f} ± ")
        self.assertRegex(row[2], f"^{50 * (8 / 9 + 1):.1f} ± ")
        self.assertRegex(row[3], "^2,812 ± ")  # of 2.5 GIPS, a core has 3,125 and 2,500 for each request
        self.assertEqual([table[title][3] for title in ("floor: the fair class, no agent", "agent on the host, prestage")], ["-", "-"])

    def test_bytes_for_a_decision_that_is_carried_out(self):
        device = {**study_data.DEVICE, "bytes_down": 300, "bytes_up": 100}
        some, none = {"COMPLETE": 8, "ABORTED": 2}, {"ABORTED": 2}

        def found(variant, *outcomes):
            made = document(*(run(variant, seed, {"device": device, "outcomes": each}, load="requests")
                              for seed, each in enumerate(outcomes)))  # fmt: skip
            return serving.bytes_for_a_decision(Samples(made, "requests"), variant)

        self.assertEqual(found(ALL, some, {"COMPLETE": 4}).mean, 75)
        self.assertIsNone(found(ALL, some, none))
        self.assertIsNone(found("host-prestage", some, some), "no decision crosses the link")

    def test_a_quantile_needs_enough_requests_in_each_run(self):
        def requests(p99):
            latency = {"median": 12_000.0, **({"p99": p99} if p99 else {})}
            return {"requests": {"get": 9, "range": 0}, "lost": {"get": 0, "range": 0}, "answers": {"get": 9, "range": 0},
                    "measured": 9, "latency_ns": latency, "device": study_data.DEVICE, "read_ns": 750.0}  # fmt: skip

        full = document(*(run("floor", seed, requests(p99), load="requests") for seed, p99 in enumerate((20_000.0, 30_000.0))))
        (row,) = serving.latency_table(Samples(full, "requests")).rows
        self.assertRegex(row[1][0], "^12.0 ± 0.0$")
        self.assertRegex(row[1][1], "^25.0 ± ")
        self.assertEqual(row[1][2], "-")
        part = document(*(run("floor", seed, requests(p99), load="requests") for seed, p99 in enumerate((20_000.0, None))))
        (row,) = serving.latency_table(Samples(part, "requests")).rows
        self.assertEqual(row[1][1], "-")
        self.assertIn("Time of an answer", "".join(table.title for table in report.tables(document(
            run("floor", 0, requests(20_000.0), load="requests"),
            run("floor", 0, requests(40_000.0), "churn", 1_000, load="requests"), extent="whole"))))

    def test_the_head_says_what_all_runs_were_given(self):
        made = some()
        self.assertNotIn("all runs with", report.text(made))
        for each in made["runs"]:
            each["more"] = ["simulation.max_quantum=10us"]
        self.assertIn("\nall runs with simulation.max_quantum=10us\n", report.text(made))

    def test_failures_are_in_the_text(self):
        self.assertIn("FAILED: wave-all, seed 3: exit code 4", report.text(some(failures=["wave-all, seed 3: exit code 4"])))
        self.assertNotIn("FAILED", report.text(some()))


class Page(unittest.TestCase):
    def marks(self, svg, kind):
        root = xml.etree.ElementTree.fromstring(svg)
        return [mark for mark in root.iter() if mark.get("class") == kind]

    def test_bars_are_as_long_as_their_values(self):
        bars = [plot.Bar("a", Estimate(3_000, 100, 5), (2_500, 3_500)), plot.Bar("b", Estimate(12_345.5, math.inf, 1)),
                plot.Bar("c", None)]  # fmt: skip
        svg = plot.bars("x", bars)
        drawn = self.marks(svg, "bar")
        self.assertEqual([float(mark.get("data-value")) for mark in drawn], [3_000, 12_345.5])
        scale = float(drawn[1].get("width")) / 12_345.5
        self.assertAlmostEqual(float(drawn[0].get("width")), 3_000 * scale, delta=0.01)
        (band,) = self.marks(svg, "published")
        self.assertEqual((band.get("data-low"), band.get("data-high")), ("2500", "3500"))
        self.assertAlmostEqual(float(band.get("width")), 1_000 * scale, delta=0.01)
        self.assertAlmostEqual(float(band.get("x")), plot.LABELS + 2_500 * scale, delta=0.01)
        self.assertLessEqual(plot.LABELS + float(drawn[1].get("width")), plot.WIDTH - plot.RIGHT)
        self.assertIn("no run counts", svg)

    def test_points_are_where_their_values_are(self):
        line = plot.Line("a", [(50, Estimate(1_000, 0, 2)), (1_000, Estimate(8_000, 0, 2))])
        points = self.marks(plot.lines("x", "link", "ns", [line]), "point")
        self.assertEqual([(float(p.get("data-x")), float(p.get("data-value"))) for p in points], [(50, 1_000), (1_000, 8_000)])
        bottom, left = plot.HEIGHT - plot.BOTTOM, plot.LEFT
        (x0, y0), (x1, y1) = [(float(p.get("cx")) - left, bottom - float(p.get("cy"))) for p in points]
        self.assertAlmostEqual(x1 / x0, 20, delta=0.05)
        self.assertAlmostEqual(y1 / y0, 8, delta=0.05)

    def test_intervals_of_bars_are_around_their_ends_and_begin_at_zero(self):
        svg = plot.bars("x", [plot.Bar("a", Estimate(3_000, 1_000, 5)), plot.Bar("b", Estimate(500, 1_500, 5))])
        scale = (plot.WIDTH - plot.LABELS - plot.RIGHT) / 4_000
        first, second = [mark.get("d") for mark in self.marks(svg, "interval")]
        low, high = re.search(r"^M(\S+) \S+v8m0 -4H([^m]+)m", first).groups()
        self.assertAlmostEqual(float(low), plot.LABELS + 2_000 * scale, delta=0.01)
        self.assertAlmostEqual(float(high), plot.LABELS + 4_000 * scale, delta=0.01)
        low, high = re.search(r"^M(\S+) [^vH]+H([^m]+)m", second).groups()
        self.assertAlmostEqual(float(low), plot.LABELS, delta=0.01)
        self.assertAlmostEqual(float(high), plot.LABELS + 2_000 * scale, delta=0.01)

    def test_levels_that_span_decades_are_placed_by_their_logarithms(self):
        line = plot.Line("a", [(level, Estimate(1, 0, 2)) for level in (0, 1_000, 10_000, 100_000)])
        chart = plot.lines("x", "churn", "us", [line])
        places = [float(mark.get("cx")) for mark in self.marks(chart, "point")]
        third = (plot.WIDTH - plot.RIGHT - plot.LEFT) / 3
        for index, place in enumerate(places):
            self.assertAlmostEqual(place, plot.LEFT + index * third, delta=0.01)
        for label in ("0", "1,000", "10,000", "100,000"):
            self.assertIn(f">{label}</text>", chart)
        near = plot.Line("a", [(level, Estimate(1, 0, 2)) for level in (25, 100, 2_000)])
        x0, x1, x2 = [float(mark.get("cx")) - plot.LEFT for mark in self.marks(plot.lines("x", "link", "ns", [near]), "point")]
        self.assertAlmostEqual(x2 / x0, 80, delta=0.1)
        self.assertAlmostEqual(x1 / x0, 4, delta=0.01)

    def test_values_below_zero_and_intervals_are_where_they_belong(self):
        line = plot.Line("a", [(100, Estimate(-40, 10, 5)), (200, Estimate(100, 30, 5)), (300, Estimate(20, math.inf, 1))])
        chart = plot.lines("x", "link", "ns", [line])
        y = [float(mark.get("cy")) for mark in self.marks(chart, "point")]
        for value in (-50, 0, 50, 100, 150):
            self.assertIn(f">{value}</text>", chart)
        scale = (plot.HEIGHT - plot.BOTTOM - plot.HEAD) / 200
        self.assertAlmostEqual(y[0] - y[1], 140 * scale, delta=0.02)
        self.assertAlmostEqual(plot.HEIGHT - plot.BOTTOM - y[0], 10 * scale, delta=0.02)
        bars = [mark.get("d") for mark in self.marks(chart, "interval")]
        ends = [[float(each) for each in re.search(r"^M\S+ (\S+)h8m-4 0V([^m]+)m", bar).groups()] for bar in bars]
        self.assertEqual(len(ends), 2)
        for (low, high), middle, half in zip(ends, y, (10, 30)):
            self.assertAlmostEqual(low - middle, half * scale, delta=0.02)
            self.assertAlmostEqual(middle - high, half * scale, delta=0.02)

    def test_marks_of_an_axis_are_round_and_hold_all_values(self):
        for values, ticks in (([0.0, 7_600.0], [0, 2_000, 4_000, 6_000, 8_000]), ([-3.0, 4.0], [-4, -2, 0, 2, 4]),
                              ([120.0], [0, 20, 40, 60, 80, 100, 120]), ([0.0], [0, 0.2, 0.4, 0.6, 0.8, 1.0][:2]),
                              ([-70.0, -20.0], [-80, -60, -40, -20, 0])):  # fmt: skip
            with self.subTest(values):
                self.assertEqual([round(each, 6) for each in plot.vertical(values).ticks], ticks)

    def test_a_label_in_the_way_of_the_one_before_is_left_out(self):
        levels = [100, 110, 1_000, 9_000]
        chart = plot.lines("x", "link", "ns", [plot.Line("a", [(level, Estimate(1, 0, 2)) for level in levels])])
        for label, shown in (("100", True), ("110", False), ("1,000", True), ("9,000", True)):
            self.assertEqual(f">{label}</text>" in chart, shown, label)

    def test_the_axis_ends_at_or_after_the_largest(self):
        for value, end in ((1, 1), (1.01, 1.5), (9_999, 10_000), (14_200, 15_000), (0.3, 0.3), (0, 0)):
            self.assertAlmostEqual(plot.axis_end(value), end)

    def test_the_page_is_whole_well_formed_and_has_the_data(self):
        text = page.page(some(failures=["a <b> & c"]))
        root = xml.etree.ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
        values = [float(mark.get("data-value")) for mark in root.iter() if mark.get("class") == "bar"]
        self.assertEqual(values, [2_050, 3_100, 14_200, 4_050])
        bands = [(float(mark.get("data-low")), float(mark.get("data-high")))
                 for mark in root.iter() if mark.get("class") == "published"]  # fmt: skip
        self.assertEqual(bands, [(row.low, row.high) for row in published.ROWS[1:3]])
        self.assertIsNone(re.search(r"(?:src|href)=|url\(|@import", text))
        for table in report.tables(some()):
            for name, texts in table.rows:
                for cell in (name, *texts):
                    self.assertIn(f">{cell.replace('&', '&amp;')}<", text)

    def test_factors_get_a_plot_each(self):
        runs = [run(ALL, 0, result(3_000))]
        runs += [run(ALL, 0, result(5_000), factor, level) for factor, level in (("link", 1000), ("core", 1), ("core", 5))]
        root = xml.etree.ElementTree.fromstring(page.page(document(*runs, extent="whole")).removeprefix("<!DOCTYPE html>\n"))
        charts = [[float(mark.get("data-x")) for mark in svg.iter() if mark.get("class") == "point"]
                  for svg in root.iter(f"{SVG}svg")]  # fmt: skip
        self.assertEqual(charts, [[], [184, 1000], [1, 2.5, 5]])


if __name__ == "__main__":
    unittest.main(verbosity=2)
