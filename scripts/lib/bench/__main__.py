# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks and prints their table. Called by scripts/bench."""

import argparse
import contextlib
import dataclasses
import pathlib
import sys
import tempfile

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])
import json_file  # noqa: E402
from bench import synthesis  # noqa: E402
from bench.benchmarks import BENCHMARKS  # noqa: E402
from bench.machines import Bench, Failure  # noqa: E402
from bench.result import HEAD, line  # noqa: E402


def report_synthesis(build: pathlib.Path, results: dict) -> bool:
    """Prints the results of the synthesis. Returns whether all designs synthesize without a warning."""
    good, results["synthesis"] = True, {}
    for name, design in synthesis.DESIGNS.items():
        try:
            found = synthesis.synthesise(build, design)
        except synthesis.Failure as failure:
            print(f"{'synthesis':10}failed: {failure}", flush=True)
            good = False
            continue
        print(f"{'synthesis':10}{found.line()}", flush=True)
        results["synthesis"][name] = dataclasses.asdict(found)
        good &= not found.warnings
    return good


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    # An oae-vp that counts what it executes is run instead of the build's, and is not judged.
    parser.add_argument("--counting", type=pathlib.Path)
    options = parser.parse_args()

    results, failed = {}, False
    profile = options.build / "profile" / "name"
    if profile.exists() and not options.counting:
        print(f"oae-vp is compiled by the profile {profile.read_text().strip()} (scripts/setup --profile-guided)\n")
    names = options.names or [*BENCHMARKS, "synthesis"]
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(prefix="oae-vp-bench.") as folder:
        bench = Bench(options.build, pathlib.Path(folder), options.repeat, options.counting)
        for name in names:
            if name == "synthesis":
                failed |= not report_synthesis(options.build, results)
                continue
            try:
                result = BENCHMARKS[name](bench)
            except Failure as failure:
                print(f"{name:10}failed: {failure}", flush=True)
                failed = True
                continue
            print(line(name, result), flush=True)
            results[name] = {
                **dataclasses.asdict(result),
                "ratio": result.ratio,
                "judged": result.judged,
                "met": result.met,
                "text": " ".join(BENCHMARKS[name].__doc__.split()),
            }
            failed |= result.met is False and not options.counting
    if options.json:
        json_file.write(options.json, {"repeat": options.repeat, "benchmarks": results})
    return 1 if failed else 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        try:
            sys.exit(main())
        except Failure as failure:
            print(f"scripts/bench: {failure}", file=sys.stderr)
            sys.exit(1)
        except KeyboardInterrupt:
            sys.exit(130)
