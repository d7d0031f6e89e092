#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what scripts/study compares by factor: differences of the same seed, crossovers, agreement, slopes by the latency
of the link, and shares of prestaged decisions.

Usage: study_differences_test.py [GROUP[.CASE]]...
"""

import math
import unittest

import study_data
from study_data import document, result, run

from study import matrix, rows, variants  # noqa: E402
from study.chapters import cells, crossings, differences, published, shares  # noqa: E402
from study.chapters.differences import MEASURES, PAIRS, Pair, Side  # noqa: E402
from study.estimate import Estimate  # noqa: E402
from study.samples import Samples  # noqa: E402

SWITCH, RATE, MEDIAN, P99 = MEASURES
ALL, NONE, PORTS, HOST, FLOOR = "wave-all", "wave-none", "ports-prestage", "host-prestage", "floor"
OF_PORTS = "swap ports, more than queues"
ONE_AND_OTHER = Pair(Side("ones", PORTS), Side("others", ALL))


def switch(variant, level, seeds):
    """Runs of the load ping at this latency of the link, by seed: the time of a switch."""
    where = () if level == 184 else ("link", level)
    return [run(variant, seed, result(time, agent=variant != FLOOR), *where) for seed, time in seeds.items()]


def by_link(times, difference):
    """Runs at latencies, of two variants whose times differ so much, at each latency by seed."""
    found = []
    for level, by_seed in difference.items():
        where = () if level == 184 else ("link", level)
        for seed, more in enumerate(by_seed):
            found.append(run(ALL, seed, result(times + 500 * seed), *where))
            found.append(run(PORTS, seed, result(times + 500 * seed + more), *where))
    return found


def served(variant, seed, rate, factor="", level=0.0):
    return run(variant, seed, {"rate": rate, "trials": [[rate, 0, 9]]}, factor, level, load="saturation")


def answered(variant, seed, factor="", level=0.0, **latency):
    counts = {"get": 9, "range": 0}
    found = {"requests": counts, "lost": {"get": 0, "range": 0}, "answers": counts, "measured": 9, "device": study_data.DEVICE,
             "latency_ns": latency, "read_ns": 750.0}  # fmt: skip
    return run(variant, seed, found, factor, level, load="requests")


def table_of(runs, measure, factor):
    return differences.difference_table(Samples(document(*runs), measure.load), measure, factor)


def row_of(runs, measure, factor, title=OF_PORTS):
    """Texts by column."""
    table = table_of(runs, measure, factor)
    return dict(zip(table.columns, dict(table.rows)[title]))


def crossover(*points, more_is_better=False, factor="link"):
    """Of a pair whose difference has these means and halves, by level."""
    measure = RATE if more_is_better else SWITCH
    course = [(level, value and Estimate(*value, 10)) for level, value in points]
    return differences.crossover(ONE_AND_OTHER, measure, factor, course)


class Differences(unittest.TestCase):
    def test_runs_of_the_same_seed_are_compared(self):
        # 3,000, 3,010 and 3,020: their standard deviation is 10. Seeds that one side lacks do not count, in any order.
        runs = switch(ALL, 184, {0: 4_000, 1: 4_100, 2: 4_200, 3: 9_000}) + switch(PORTS, 184, {2: 7_220, 0: 7_000, 1: 7_110})
        runs += switch(ALL, 100, {0: 3_000, 1: 3_500}) + switch(PORTS, 100, {1: 4_600, 0: 4_000})
        row = row_of(runs, SWITCH, "link")
        self.assertEqual(row["184 ns"], f"+3,010.0 ± {4.303 * 10 / math.sqrt(3):.1f}")
        self.assertEqual(row["100 ns"], f"+1,050.0 ± {12.706 * math.sqrt(5_000) / math.sqrt(2):.1f}")
        self.assertEqual(row["500 ns"], "-")

    def test_a_pair_that_was_run_at_one_level_has_no_row(self):
        runs = by_link(4_000, {184: (100, 110), 500: (200, 210)}) + switch(NONE, 184, {0: 14_000, 1: 14_500})
        self.assertEqual([title for title, _ in table_of(runs, SWITCH, "link").rows], [OF_PORTS])

    def test_each_pair_says_which_is_ahead(self):
        for pair in PAIRS:
            with self.subTest(pair.title()):
                runs = [run(side.variant, seed, result(time, agent=False), *where)
                        for side, time in ((pair.one, 9_000), (pair.other, 4_000))
                        for where in ((), ("link", 500)) for seed in (0, 1)]  # fmt: skip
                row = row_of(runs, SWITCH, "link", pair.title())
                self.assertEqual(row["184 ns"], "+5,000.0 ± 0.0")
                self.assertEqual(row["crossover"], f"none; ahead at all levels: {pair.other.name}")

    def test_rates_are_better_if_they_are_more(self):
        runs = [served(variant, seed, rate, *where) for variant, rate in ((ALL, 600_000), (PORTS, 140_000))
                for where in ((), ("workers", 4)) for seed in (0, 1)]  # fmt: skip
        row = row_of(runs, RATE, "workers")
        self.assertEqual((row["4"], row["crossover"]), ("-460.0 ± 0.0", "none; ahead at all levels: queues"))

    def test_a_factor_that_does_not_concern_a_variant_leaves_its_central_point(self):
        runs = [served(HOST, seed, 900_000 + 1_000 * seed) for seed in (0, 1)]
        runs += [served(ALL, seed, 700_000 + 1_000 * seed) for seed in (0, 1)]
        runs += [served(ALL, seed, 950_000 + 1_000 * seed, "cores", 13) for seed in (0, 1)]
        row = row_of(runs, RATE, "cores", "queues, more than an agent on the host")
        self.assertEqual((row["12"], row["13"]), ("-200.0 ± 0.0", "+50.0 ± 0.0"))
        self.assertEqual(row["crossover"], "at 12.8")
        for factor, unconcerned in differences.UNCONCERNED.items():
            for part in matrix.EXTENTS["whole"]:
                if factor in part.factors:
                    self.assertFalse(set(unconcerned) & set(part.swept), factor)

    def test_a_quantile_needs_enough_requests_in_each_run(self):
        runs = [answered(variant, seed, *where, median=1_000.0 * time, p99=2_000.0 * time)
                for variant, time in ((ALL, 12), (PORTS, 15))
                for where in ((), ("churn", 1_000), ("churn", 10_000)) for seed in (0, 1)]  # fmt: skip
        self.assertEqual(row_of(runs, P99, "churn")["10,000"], "+6.00 ± 0.00")
        del runs[-1]["result"]["latency_ns"]["p99"]
        row = row_of(runs, P99, "churn")
        self.assertEqual((row["0"], row["1,000"], row["10,000"]), ("+6.00 ± 0.00", "+6.00 ± 0.00", "-"))
        self.assertEqual(row_of(runs, MEDIAN, "churn")["10,000"], "+3.00 ± 0.00")

    def test_the_first_table_explains_the_others(self):
        runs = by_link(4_000, {184: (300, 320), 500: (-200, -180)}) + [
            run(variant, seed, result(5_000), "core", 5) for variant in (ALL, PORTS) for seed in (0, 1)]  # fmt: skip
        found = [table for table in differences.tables(document(*runs, extent="whole")) if table.rows]
        self.assertEqual([bool(table.notes) for table in found], [True, False])

    def test_plots_have_the_differences_and_their_intervals(self):
        made = document(*by_link(4_000, {184: (300, 320), 500: (-200, -180), 1000: (-700, -700)}), extent="whole")
        (plot,) = [each for each in differences.plots(made) if "Differences" in each]
        self.assertIn(f">{OF_PORTS}</text>", plot)
        self.assertEqual([plot.count(f'data-value="{value}"') for value in ("310.0", "-190.0", "-700.0")], [1, 1, 1])
        half = 12.706 * math.sqrt(200) / math.sqrt(2)
        self.assertEqual([round(float(each.split('"')[0]), 6) for each in plot.split('data-half="')[1:]], [round(half, 6)] * 2)


class Crossovers(unittest.TestCase):
    def test_between_opposite_signs_it_is_where_the_line_is_zero(self):
        # From 300 to -100 over 316 ns: three quarters of the way.
        row = row_of(by_link(4_000, {184: (299, 300, 301), 500: (-99, -100, -101)}), SWITCH, "link")
        self.assertEqual(row["crossover"], "at 421 ns")
        self.assertEqual(crossover((1_000, (-10, 1)), (2_000, (30, 1))), "at 1,250 ns")

    def test_there_is_none_if_one_is_ahead_everywhere(self):
        for more_is_better, names in ((False, ("others", "ones")), (True, ("ones", "others"))):
            for mean, name in zip((5, -5), names):
                found = crossover((184, (mean, 1)), (500, None), (1_000, (2 * mean, 9)), more_is_better=more_is_better)
                self.assertEqual(found, f"none; ahead at all levels: {name}")

    def test_it_is_not_resolved_where_an_interval_includes_zero(self):
        clear, unclear, below = (5, 1), (1, 2), (-5, 1)
        for values, told in (
            ((clear, unclear, below), "between 184 and 1,000 ns, not resolved"),
            ((clear, unclear, clear), "between 184 and 1,000 ns, not resolved"),
            ((clear, clear, unclear), "between 500 and 1,000 ns, not resolved"),
            ((unclear, clear, clear), "between 184 and 500 ns, not resolved"),
            ((unclear, unclear, unclear), "between 184 and 1,000 ns, not resolved"),
            ((unclear, clear, below), "between 184 and 500 ns, not resolved; at 750 ns"),
            ((below, clear, unclear), "at 342 ns; between 500 and 1,000 ns, not resolved"),
            ((clear, below, clear), "at 342 ns; at 750 ns"),
        ):
            with self.subTest(values):
                self.assertEqual(crossover(*zip((184, 500, 1_000), values)), told)

    def test_an_interval_that_ends_at_zero_includes_it(self):
        self.assertEqual(crossover((184, (5, 5)), (500, (7, 5))), "between 184 and 500 ns, not resolved")

    def test_one_run_decides_nothing(self):
        self.assertEqual(crossover((184, (5, 1)), (500, (7, math.inf))), "one run has no interval")


class Agreement(unittest.TestCase):
    def table(self, *more):
        runs = [run(ALL, seed, result(time)) for seed, time in enumerate((4_000, 4_100, 4_300))]
        runs += [run(ALL, seed, result(time), "slice", 100) for seed, time in enumerate(more)]
        table = differences.agreement_table(Samples(document(*runs), "ping"), SWITCH, "slice")
        self.assertEqual(table.columns, ["at 1,000 ns", "more at 100 ns", "includes 0"])
        return table.rows

    def test_a_level_is_compared_with_the_central_point_by_seed(self):
        # 10, -10 and 0
        self.assertEqual(self.table(4_010, 4_090, 4_300)[0][1][1:], [f"0.0 ± {4.303 * 10 / math.sqrt(3):.1f}", "yes"])
        # 1, 2 and 3: far less than the runs differ by seed
        self.assertEqual(self.table(4_001, 4_102, 4_303)[0][1][1:], [f"+2.0 ± {4.303 / math.sqrt(3):.1f}", "yes"])
        self.assertEqual(self.table(4_010, 4_120, 4_330)[0][1][1:], [f"+20.0 ± {4.303 * 10 / math.sqrt(3):.1f}", "yes"])
        self.assertEqual(self.table(4_020, 4_121, 4_322)[0][1][1:], [f"+21.0 ± {4.303 / math.sqrt(3):.1f}", "no"])
        self.assertEqual(self.table(4_000, 4_100, 4_300)[0][1][1:], ["0.0 ± 0.0", "yes"])
        self.assertEqual(self.table(4_100)[0][1][1:], ["+100.0 (one run)", "one run"])

    def test_a_variant_that_was_not_run_at_the_level_has_no_row(self):
        self.assertEqual(self.table(), [])

    def test_only_what_must_not_matter_has_to_agree(self):
        runs = [run(ALL, 0, result(4_000), *where) for where in ((), ("slice", 100), ("core", 5))]
        titles = [table.title for table in differences.tables(document(*runs, extent="whole")) if table.rows]
        self.assertEqual(titles, ["Agreement: time of a context switch, ns, by: " + matrix.FACTORS["slice"].title])


class Slopes(unittest.TestCase):
    def test_least_squares_of_each_seed(self):
        # By seed: 0, 1 and 5 at 0, 1 and 2; and 1, 3 and 5, after which seed 2 is missing at one point.
        values = {0: (10_000, 10_001, 10_005), 1: (20_001, 20_003, 20_005), 2: (5, 5, None)}
        runs = [run(ALL, seed, {**result(1), "ns": 1_000 * value}, "link", level)
                for seed, by_level in values.items() for level, value in zip((100, 500, 1_000), by_level) if value]  # fmt: skip
        found = Samples(document(*runs), "ping").slope(
            published.time_of_switch, {at: [(ALL, "link", level)] for at, level in enumerate((100, 500, 1_000))})  # fmt: skip
        self.assertAlmostEqual(found.mean, (2.5 + 2) / 2)
        self.assertEqual(found.count, 2)

    def test_one_point_has_no_slope(self):
        samples = Samples(document(*switch(ALL, 184, {0: 1})), "ping")
        self.assertIsNone(samples.slope(published.time_of_switch, {184: [(ALL, "", 0.0)]}))

    def test_a_switch_grows_by_its_crossings(self):
        def time(level, seed):
            return 3_000 + 2 * max(0, level - 184) + 700 * seed

        runs = [each for level in (100, 184, 500, 1_000, 2_000)
                for each in switch(ALL, level, {seed: time(level, seed) for seed in (0, 1)})]  # fmt: skip
        table = crossings.slope_table(Samples(document(*runs), "ping"))
        ((title, texts),) = table.rows
        self.assertEqual(title, "+ prestage: all optimisations")
        found = dict(zip(table.columns, texts))
        self.assertEqual([found[name] for name in ("reads", "counted", "interrupts", "crossings, short link", "long link")],
                         ["1", "2.00", "1.00", "0", "2"])  # fmt: skip
        self.assertEqual([found[name] for name in ("100 to 184 ns", "184 to 500 ns", "1,000 to 2,000 ns")],
                         ["0.00 ± 0.00", "2.00 ± 0.00", "2.00 ± 0.00"])  # fmt: skip
        # Deviations of the latencies from 756.8 are -656.8, -572.8, -256.8, 243.2 and 1,243.2. Their squares add up to 2,430,124.8,
        # and their products with 0, 0, 632, 1,632 and 3,632 to 4,749,907.2.
        self.assertEqual(found["slope, all latencies"], f"{4_749_907.2 / 2_430_124.8:.2f} ± 0.00")

    def test_gains_grow_by_the_crossings_that_are_saved(self):
        levels = (184, 500, 1_000)
        runs = [each for level in levels for each in switch(NONE, level, {seed: 9_000 + 14 * level + 90 * seed for seed in (0, 1)})]
        runs += [each for level in levels for each in switch(ALL, level, {seed: 3_000 + 2 * level + 50 * seed for seed in (0, 1)})]
        table = crossings.gain_table(Samples(document(*runs), "ping"))
        ((title, texts),) = table.rows
        self.assertEqual(title, ", ".join(variants.OPTIMISATIONS))
        self.assertEqual(texts, ["14", "12", "12.00 ± 0.00", "-", "12.00 ± 0.00", "12.00 ± 0.00", "-"])

    def test_the_rows_are_what_was_run_at_several_latencies(self):
        runs = [each for variant in matrix.RUNGS for level in (184, 500) for each in switch(variant, level, {0: 4_000})]
        runs += switch("wave-agent_cached", 184, {0: 4_000})
        samples = Samples(document(*runs), "ping")
        self.assertEqual({name for _, name in crossings.swept(samples)}, set(matrix.RUNGS))
        self.assertEqual([title for title, _ in crossings.gain_table(samples).rows],
                         ["agent_cached", "write_combining", "write_through", "prefetch_decisions", "prestage",
                          "agent_cached, as the last", "swap ports: events come with others", "swap ports: prestage",
                          "swap ports, prestage: events come with others",
                          "queues, all, instead of swap ports, prestage"])  # fmt: skip

    def test_paths_have_the_reads_that_runs_have_had(self):
        """Of guest/scheduling/WAVE.md, where some are those of the boot, and of the agent's start and end."""
        counted = {"wave-none": 7.3, "wave-agent_cached": 7.3, "wave-agent_cached-write_combining": 7.3,
                   "wave-agent_cached-write_combining-write_through": 2.2,
                   "wave-agent_cached-write_combining-write_through-prefetch_decisions": 2.3, "wave-all": 1.3,
                   "wave-write_combining-write_through-prefetch_decisions-prestage": 2.3,
                   "wave-agent_cached-write_through-prefetch_decisions-prestage": 1.3,
                   "wave-agent_cached-write_combining-prefetch_decisions-prestage": 6.3,
                   "wave-agent_cached-write_combining-write_through-prestage": 1.3, "ports-each_sent": 7.3, "ports": 5.3,
                   "ports-prestage-each_sent": 5.3, "ports-prestage": 3.3}  # fmt: skip
        for name, reads in counted.items():
            with self.subTest(name):
                self.assertEqual(crossings.PATHS[name].reads, int(reads))
        self.assertLessEqual(set(matrix.RUNGS), set(crossings.PATHS))
        self.assertLessEqual(set(crossings.PATHS), set(variants.VARIANTS))

    def test_crossings_of_some_paths(self):
        """By hand: what is read, there and back."""
        for name, short, long in (("floor", 0, 0), ("host", 0, 0), ("wave-none", 14, 14), ("wave-all", 0, 2), ("ports", 10, 10),
                                  ("ports-prestage", 6, 6), ("ports-each_sent", 12, 14), (rows.REMOVED[0][1], 2, 6)):  # fmt: skip
            with self.subTest(name):
                self.assertEqual((crossings.PATHS[name].short(), crossings.PATHS[name].long()), (short, long))

    def test_a_study_that_does_not_sweep_the_link_has_none(self):
        self.assertEqual(crossings.tables(document(*switch(ALL, 184, {0: 1}), extent="smallest")), [])
        self.assertNotIn("link", cells.factors_of("smallest", "ping"))


class Shares(unittest.TestCase):
    def table(self, *found):
        return shares.line_table(Samples(document(*found), "ping"))

    def test_a_share_is_compared_with_the_line_of_the_same_seed(self):
        # Seed 0: from 8,000 to 4,000, so that a quarter is at 7,000 and a half at 6,000. Seed 1: 9,000 to 5,000.
        times = {0: (8_000, 9_000), 25: (7_030, 8_010), 50: (6_000, 7_000), 100: (4_000, 5_000)}
        found = [run(ALL, seed, result(time), *(() if level == 100 else ("hits", level)))
                 for level, by_seed in times.items() for seed, time in enumerate(by_seed)]  # fmt: skip
        # A run whose line is not known
        found.append(run(ALL, 7, result(99_000), "hits", 25))
        for each in found:
            if each["level"] == 25:
                each["result"]["decisions"] = {"RUN": 750, "PRESTAGE": 250}
        table = self.table(*found)
        ((_, texts),) = table.rows
        self.assertEqual(table.columns[:4], ["0 %: ns", "100 %: ns", "25 %: prestaged, %", "more than the line, ns"])
        self.assertRegex(texts[0], "^8,500.0 ± ")
        self.assertRegex(texts[1], "^4,500.0 ± ")
        # 30 and 10, and 0 and 0
        self.assertEqual(texts[2:4], ["25.0 ± 0.0", f"20.0 ± {12.706 * math.sqrt(200) / math.sqrt(2):.1f}"])
        self.assertEqual(texts[4:], ["75.0 ± 0.0", "0.0 ± 0.0", "-", "-"])

    def test_a_line_needs_both_ends(self):
        ends = [run(ALL, 0, result(4_000)), run(ALL, 0, result(8_000), "hits", 0)]
        between = run(ALL, 0, result(6_000), "hits", 50)
        self.assertEqual(len(self.table(*ends, between).rows), 1)
        for some in (ends, [ends[0], between], [ends[1], between]):
            self.assertEqual(self.table(*some).rows, [])

    def test_a_whole_study_has_them(self):
        for extent, there in (("whole", 1), ("quick", 0)):
            self.assertEqual(len(shares.tables(document(extent=extent))), there)


if __name__ == "__main__":
    unittest.main(verbosity=2)
