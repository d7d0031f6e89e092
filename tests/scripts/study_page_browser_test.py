#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the page of scripts/study as a browser draws it: nothing leaves a plot, no text covers another one, and the page is
whole without any other file. Chromium draws it without a display, and a script that is added to a copy of the page measures.

Usage: study_page_browser_test.py [GROUP[.CASE]]...
"""

import html
import itertools
import json
import re
import subprocess
import unittest

import in_folder
import study_data
from study_data import document, result, run

from study import matrix, page, plot, report  # noqa: E402
from study.estimate import Estimate  # noqa: E402

SECONDS = 60  # at most; it takes two
SLACK = 0.5  # of a pixel: what boxes are rounded by

# What the page may load: nothing. Its own styles and the measuring script are in it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
MEASURE = """
const found = {plots: [], mistakes: [], refused: []};
addEventListener("error", event => found.mistakes.push(String(event.message)));
addEventListener("securitypolicyviolation", event => found.refused.push(event.blockedURI));
addEventListener("load", () => {
  const box = mark => { const {x, y, width, height} = mark.getBBox(); return [x, y, x + width, y + height]; };
  for (const svg of document.querySelectorAll("svg")) {
    const view = svg.viewBox.baseVal, drawn = svg.getBoundingClientRect();
    found.plots.push({
      label: svg.getAttribute("aria-label"), view: [view.x, view.y, view.x + view.width, view.y + view.height],
      drawn: [drawn.width, drawn.height],
      marks: [...svg.querySelectorAll("*")].map(mark => ({kind: mark.tagName, text: mark.textContent, box: box(mark)})),
    });
  }
  found.loaded = performance.getEntriesByType("resource").map(entry => entry.name);
  found.wide = document.documentElement.scrollWidth - innerWidth;
  const told = document.createElement("pre");
  told.id = "found";
  told.textContent = JSON.stringify(found);
  document.body.append(told);
});
"""
# Chromium by itself asks for updates and the like. It gets no answer to any name, and keeps all it writes in the test's folder.
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1280,800",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
           "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--dump-dom"]  # fmt: skip


def made_up(each, time):
    """A result of a run of the matrix, or None if its load is not in plots."""
    if each.load == "ping":
        return result(time, agent=each.variant != "floor")
    if each.load == "saturation":
        return {"rate": 20 * time, "trials": [[20 * time, 0, 9]]}
    if each.load == "requests":
        counts = {"get": 9, "range": 0}
        return {"requests": counts, "lost": {"get": 0, "range": 0}, "answers": counts, "measured": 9, "read_ns": 750.0,
                "device": study_data.DEVICE, "latency_ns": {"median": time, "p99": 70.0 * time}}  # fmt: skip
    return None


def whole():
    """A document of a whole study: of each variant at each point two runs, between 1 and 60 us, in no order."""
    found = []
    for index, each in enumerate(each for each in matrix.runs("whole") if each.seed < 2):
        made = made_up(each, 1_000 + 7_919 * index % 59_000)
        if made:
            found.append(run(each.variant, each.seed, made, each.factor, each.level, load=each.load))
    return document(*found, extent="whole")


def overlap(one, other):
    return (min(one[2], other[2]) - max(one[0], other[0]) > SLACK) and (min(one[3], other[3]) - max(one[1], other[1]) > SLACK)


def outside(box, view):
    return box[0] < view[0] - SLACK or box[1] < view[1] - SLACK or box[2] > view[2] + SLACK or box[3] > view[3] + SLACK


class Browser(in_folder.InFolder):
    def drawn(self, text):
        """What the browser has measured of a page, and what it has said on its console."""
        added = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/><script>{MEASURE}</script>'
        self.assertEqual(text.count("<head>"), 1)
        copy = self.write("page.html", text.replace("<head>", f"<head>{added}"))
        command = ["chromium", *OPTIONS, f"--user-data-dir={self.folder / 'profile'}", copy.as_uri()]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False)
        told = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
        self.assertTrue(told, (done.returncode, done.stderr[-2_000:]))
        console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
        return json.loads(html.unescape(told[1])), console


class Plots(Browser):
    def faults(self, found):
        """Of each plot: texts that cover each other, marks that leave it, and plots that are not to be seen."""
        told = []
        for each in found["plots"]:
            marks, view = each["marks"], each["view"]
            if min(each["drawn"]) < 20 or not any(mark["kind"] == "text" for mark in marks):
                told.append(f"{each['label']}: not to be seen")
            told += [f"{each['label']}: {mark['kind']} '{mark['text']}' leaves it" for mark in marks if outside(mark["box"], view)]
            texts = [mark for mark in marks if mark["kind"] == "text"]
            told += [f"{each['label']}: '{text['text']}' has no size" for text in texts
                     if text["box"][0] == text["box"][2] or text["box"][1] == text["box"][3]]  # fmt: skip
            told += [f"{each['label']}: '{one['text']}' covers '{other['text']}'"
                     for one, other in itertools.combinations(texts, 2) if overlap(one["box"], other["box"])]  # fmt: skip
        return told

    def test_a_whole_study_is_drawn_well(self):
        made = whole()
        # Levels that are closer than their labels are wide, and values that need much room
        line = plot.Line("a", [(level, Estimate(1_400_000 * sign, 90_000, 5)) for level, sign in
                               ((100_000, 1), (104_000, -1), (190_000, 1), (800_000, -1))])  # fmt: skip
        close = plot.lines("close", "requests a second", "ns", [line])
        found, console = self.drawn(page.page(made).replace("</body>", f"{close}</body>"))
        self.assertEqual([each["label"] for each in found["plots"]],
                         [re.search('aria-label="([^"]*)"', each)[1] for each in (*report.plots(made), close)])  # fmt: skip
        self.assertGreater(len(found["plots"]), 40)
        self.assertEqual(self.faults(found), [])
        self.assertLessEqual(found["wide"], 0)
        self.assertEqual((console, found["mistakes"], found["refused"], found["loaded"]), ([], [], [], []))

    def test_what_is_drawn_badly_is_found(self):
        """So that the other test says something."""
        wide = plot.bars("wide", [plot.Bar("a label that begins far to the left of the plot, where nobody can see it", None)])
        line = plot.Line("a", [(1, Estimate(1, 0, 2)), (2, Estimate(2, 0, 2))])
        crowded = plot.lines("crowded", "across", "ns", [line]).replace("</svg>", '<text x="5" y="14">b</text></svg>')
        empty = '<svg viewBox="0 0 900 10" aria-label="empty"></svg>'
        other = '<img src="http://192.0.2.1/logo.png"/>'
        text = page.page(document()).replace("</body>", f"{wide}{crowded}{empty}{other}<script>nothing()</script></body>")
        found, console = self.drawn(text)
        kinds = [re.sub(r"'[^']*'", "x", each) for each in self.faults(found)]
        self.assertEqual(kinds, ["wide: text x leaves it", "crowded: x covers x", "empty: not to be seen"])
        self.assertEqual(found["refused"], ["http://192.0.2.1/logo.png"])
        self.assertEqual(len(found["mistakes"]), 1)
        self.assertEqual(len(console), 2, console)


if __name__ == "__main__":
    unittest.main(verbosity=2)
