# SPDX-License-Identifier: Apache-2.0
"""Coverage of the RTL by its tests. Called by scripts/coverage.

Verilator counts each line (a block of statements without a branch within it) and each bit of a signal that changed.
A point is a line or bit of a file: modules that are built more than once, or with other parameters, share it.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from typing import Dict, Iterable, List, Tuple

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXCEPTIONS = ROOT / "tests" / "rtl" / "coverage_exceptions.yaml"
TESTS = ("rtl_test", "campaign_test", "rtl_link_transitions_test",
         "rtl_link_1_test", "rtl_link_2_test", "rtl_link_4_test", "rtl_link_8_test",
         "rtl_bridge_2_test", "rtl_bridge_ring_test", "rtl_relay_2_test", "rtl_relay_store_test",
         "rtl_link_100g_test", "rtl_link_ring_of_16_test", "rtl_link_csr_test", "rtl_link_intake_test", "rtl_link_memory_test",
         "rtl_link_phases_test", "rtl_link_receive_2_test", "rtl_link_transmit_test", "rtl_link_window_test")
MACHINES = r"^campaign_test\.Cases"  # those of tests/system that are named alike
CAMPAIGN = 4_000  # runs; in fewer, rare faults may not occur
GOAL = 0.95
KINDS = ("lines", "bits")


class Failure(Exception):
    """No numbers are available; the message says why."""


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    file: str
    kind: str  # one of KINDS
    line: int
    name: str  # of a bit: signal and index; of a line: its text


@dataclasses.dataclass
class Exempt:
    file: str
    what: "re.Pattern"  # the whole name
    reason: str

    def fits(self, point: Point) -> bool:
        return point.file == self.file and self.what.fullmatch(point.name) is not None


def run(command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}")
    return done.stdout


def configure(folder: pathlib.Path) -> None:
    run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCOVERAGE=ON",
         f"-DPython3_EXECUTABLE={sys.executable}"])


def build(folder: pathlib.Path, jobs: int) -> None:
    """Builds the tests with counters. Announces that, since it takes a few minutes."""
    print("Building the RTL's tests with counters ...", flush=True)
    configure(folder)
    run(["ninja", "-C", folder, "-j", jobs, *TESTS])


def count(lines: Iterable[str], counts: Dict[str, int]) -> None:
    """Adds the counts of one of Verilator's files, by the keys of their points."""
    for line in lines:
        if line.startswith("C '"):
            keys, _, times = line[3:].rpartition("' ")
            if keys and times.strip().isdigit():
                counts[keys] += int(times)


def named(counts: Dict[str, int]) -> Dict[Point, int]:
    """Sums the counts of all instances, by names that do not change when lines are added to a file."""
    texts: Dict[str, List[str]] = {}
    result: Dict[Point, int] = collections.Counter()
    for text, times in counts.items():
        keys = dict(part.split("\x02", 1) for part in text.split("\x01") if "\x02" in part)
        path, line, what = keys["f"], int(keys["l"]), keys["o"]
        kind = "bits" if keys["page"].startswith("v_toggle") else "lines"
        if kind == "lines":
            if path not in texts:
                texts[path] = pathlib.Path(path).read_text().splitlines()
            what = texts[path][line - 1].strip() + (" (else)" if what == "else" else "")
        result[Point(pathlib.Path(path).name, kind, line, what)] += times
    return result


def take(data: pathlib.Path, counts: Dict[str, int]) -> None:
    """Adds the counts of all files that are complete, and deletes the files: those of all tests together take many GB."""
    for file in data.glob("*.counts"):
        with file.open(errors="replace") as lines:
            count(lines, counts)
        file.unlink()


def measure(folder: pathlib.Path, jobs: int) -> Dict[Point, int]:
    """The counts of all tests together."""
    print("Running them ...", flush=True)
    counts: Dict[str, int] = collections.Counter()
    command = ["ctest", "--test-dir", str(folder), "-j", str(jobs), "-R", "^(" + "|".join(TESTS) + r")\.",
               "-E", MACHINES, "--no-tests=error"]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="oae-vp-coverage.") as name:
        data = pathlib.Path(name)
        environment = {**os.environ, "OAE_VP_COVERAGE": name, "OAE_VP_CAMPAIGN_RUNS": str(CAMPAIGN)}
        with open(data / "log", "w+", errors="replace") as log, \
                subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT) as tests:
            try:
                while tests.poll() is None:
                    take(data, counts)
                    time.sleep(0.1)
            except BaseException:
                tests.kill()
                raise
            take(data, counts)
            if tests.returncode:
                log.seek(0)
                raise Failure(f"{' '.join(command)}:\n{log.read()[-4000:]}")
    if not counts:
        raise Failure("the tests counted nothing")
    return named(counts)


def exceptions(path: pathlib.Path) -> List[Exempt]:
    """Raises Failure if an exception is incomplete."""
    try:
        return [Exempt(file, re.compile(each["what"]), each["reason"])
                for each in yaml.safe_load(path.read_text()) or [] for file in each["files"]]
    except (KeyError, TypeError, re.error, yaml.YAMLError) as error:
        raise Failure(f"{path}: {error}") from error


@dataclasses.dataclass
class Report:
    table: Dict[str, Dict[str, List[int]]]  # of each file and kind: how many were reached, of how many
    missing: List[Point]
    excepted: int
    wrong: List[str]  # exceptions that there is no need of

    def total(self, kind: str) -> Tuple[int, int]:
        return (sum(kinds[kind][0] for kinds in self.table.values()), sum(kinds[kind][1] for kinds in self.table.values()))

    def share(self, kind: str) -> float:
        reached, of = self.total(kind)
        return reached / max(1, of)

    def good(self) -> bool:
        return not self.wrong and all(self.share(kind) >= GOAL for kind in KINDS)

    def lines(self) -> List[str]:
        result = [f"{'file':26} {'lines':>14}          {'bits':>16}"]
        rows = [(file, [kinds[kind] for kind in KINDS]) for file, kinds in sorted(self.table.items())]
        rows.append(("all", [list(self.total(kind)) for kind in KINDS]))
        for file, counts in rows:
            texts = [f"{reached:6} of {of:6} {reached / of if of else 1:6.1%}" for reached, of in counts]
            result.append(f"{file:26} {texts[0]}   {texts[1]}")
        return result


def gathered(missing: List[Point]) -> List[str]:
    """Joins consecutive bits of a signal into one line."""
    result: List[str] = []
    spans: Dict[Tuple[str, int, str], List[int]] = collections.defaultdict(list)
    for point in missing:
        found = re.fullmatch(r"(.*)\[(\d+)\]", point.name) if point.kind == "bits" else None
        if found:
            spans[point.file, point.line, found[1]].append(int(found[2]))
        else:
            result.append(f"{point.file}:{point.line}: {point.name}")
    for (file, line, signal), bits in spans.items():
        bits.sort()
        starts = [bit for bit in bits if bit - 1 not in bits]
        ends = [bit for bit in bits if bit + 1 not in bits]
        ranges = ",".join(str(low) if low == high else f"{high}:{low}" for low, high in reversed(list(zip(starts, ends))))
        result.append(f"{file}:{line}: {signal}[{ranges}]")
    return result


def report(points: Dict[Point, int], known: List[Exempt]) -> Report:
    """Leaves out the points that no test reaches and an exception names."""
    made = Report(collections.defaultdict(lambda: {kind: [0, 0] for kind in KINDS}), [], 0, [])
    used = set()
    for point, times in sorted(points.items()):
        fitting = [number for number, each in enumerate(known) if each.fits(point)] if not times else []
        if fitting:
            used.update(fitting)
            made.excepted += 1
            continue
        counts = made.table[point.file][point.kind]
        counts[0] += times > 0
        counts[1] += 1
        if not times:
            made.missing.append(point)
    made.wrong = [f"nothing is left for the exception '{each.what.pattern}' of {each.file}"
                  for number, each in enumerate(known) if number not in used]
    return made


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/coverage", add_help=False)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    known = exceptions(EXCEPTIONS)
    folder = options.build / "coverage"
    build(folder, options.jobs)
    found = report(measure(folder, options.jobs), known)
    print("\n".join(found.lines()))
    print(f"{found.excepted} points excepted, for the reasons in {EXCEPTIONS.relative_to(ROOT)}")
    if options.missing:
        print("\n".join(gathered(found.missing)))
    for line in found.wrong:
        print(line)
    if options.json:
        total = {kind: found.total(kind) for kind in KINDS}
        options.json.write_text(json.dumps({"total": total, "files": found.table, "excepted": found.excepted}, indent=2) + "\n")
    return 0 if found.good() else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"scripts/coverage: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
