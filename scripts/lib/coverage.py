# SPDX-License-Identifier: Apache-2.0
"""Coverage of the RTL by its tests. Called by scripts/coverage."""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXCEPTIONS = ROOT / "tests" / "rtl" / "coverage_exceptions.yaml"
TESTS = ("rtl_test", "campaign_test", *(f"rtl_link_{slices}_test" for slices in (1, 2, 4, 8)), "rtl_link_transitions_test")
CAMPAIGN = 200  # runs
GOAL = 0.95
POINT = re.compile(r"C '(.*)' (\d+)$")


class Failure(Exception):
    """Something without which there are no numbers."""


def run(command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}:\n{done.stdout[-4000:]}")
    return done.stdout


def build(folder):
    """The tests, with counters; told as it goes on, since it takes a minute or two."""
    print("Building the RTL's tests with counters ...", flush=True)
    run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCOVERAGE=ON",
         f"-DPython3_EXECUTABLE={sys.executable}"])
    run(["ninja", "-C", folder, *TESTS])


def take(folder):
    """How often each point was reached by all tests together: {(file, kind, line, name): count}."""
    print("Running them ...", flush=True)
    points = collections.Counter()
    with tempfile.TemporaryDirectory() as data:
        environment = {**os.environ, "OAE_VP_COVERAGE": data, "OAE_VP_CAMPAIGN_RUNS": str(CAMPAIGN)}
        run(["ctest", "--test-dir", folder, "-j", os.cpu_count(), "-R", "^(" + "|".join(TESTS) + r")\.", "--no-tests=error",
             "--timeout", "600"], env=environment)
        for file in pathlib.Path(data).iterdir():
            for line in file.read_text(errors="replace").splitlines():
                found = POINT.match(line)
                if not found:
                    continue
                keys = dict(part.split("\x02", 1) for part in found[1].split("\x01") if "\x02" in part)
                kind = "lines" if "line" in keys["page"] else "bits"
                points[pathlib.Path(keys["f"]).name, kind, int(keys["l"]), keys["o"]] += int(found[2])
    if not points:
        raise Failure("the tests have counted nothing")
    return points


def exceptions():
    found = yaml.safe_load(EXCEPTIONS.read_text()) or []
    return [(each["file"], re.compile(each["what"]), each["reason"], each.get("line")) for each in found]


def main():
    parser = argparse.ArgumentParser(prog="scripts/coverage", add_help=False)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    folder = options.build / "coverage"
    build(folder)
    points = take(folder)
    table = collections.defaultdict(lambda: {"lines": [0, 0], "bits": [0, 0]})
    used, missing, excepted = collections.Counter(), [], 0
    known = exceptions()
    for (file, kind, line, name), count in sorted(points.items()):
        matching = [i for i, (where, what, _, _) in enumerate(known) if where == file and what.fullmatch(name)]
        if matching and not count:
            used.update(matching)
            excepted += 1
            continue
        table[file][kind][1] += 1
        table[file][kind][0] += count > 0
        if not count:
            missing.append(f"{file}:{line}: {name} ({kind})")

    print(f"{'file':24} {'lines':>14} {'bits':>16}")
    total = {"lines": [0, 0], "bits": [0, 0]}
    for file, kinds in sorted(table.items()):
        cells = []
        for kind, (reached, all_of) in kinds.items():
            total[kind][0] += reached
            total[kind][1] += all_of
            cells.append(f"{reached:6} of {all_of:6}")
        print(f"{file:24} {cells[0]:>14} {cells[1]:>16}")
    shares = {kind: reached / max(1, all_of) for kind, (reached, all_of) in total.items()}
    print(f"lines {shares['lines']:.1%}, bits {shares['bits']:.1%}; {excepted} points excepted, for the reasons in "
          f"{EXCEPTIONS.relative_to(ROOT)}")
    if options.missing:
        print("\n".join(missing))
    wrong = [f"nothing is left for the exception '{what.pattern}' of {file}"
             for i, (file, what, _, _) in enumerate(known) if not used[i]]
    print("\n".join(wrong), end="\n" if wrong else "")
    if options.json:
        options.json.write_text(json.dumps({"total": total, "files": table, "excepted": excepted}, indent=2) + "\n")
    return 1 if wrong or min(shares.values()) < GOAL else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"scripts/coverage: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
