# SPDX-License-Identifier: Apache-2.0
"""Makes a study, or its report and page from a file. Called by scripts/study."""

import argparse
import contextlib
import fnmatch
import os
import pathlib
import signal
import sys
from typing import Callable, Iterable, List

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])
import json_file  # noqa: E402
from study import document, page, report, runner  # noqa: E402
from study.inputs import Inputs  # noqa: E402
from study.loads import LOADS  # noqa: E402
from study.matrix import EXTENTS, runs  # noqa: E402
from study.variants import VARIANTS  # noqa: E402


def some_of(what: str, known: Iterable[str]) -> Callable[[str], List[str]]:
    """Finds what is meant by names with commas between them, where `*` stands for any characters."""

    def found(names: str) -> List[str]:
        patterns = names.split(",")
        for pattern in patterns:
            if not fnmatch.filter(known, pattern):
                raise argparse.ArgumentTypeError(f"there is no {what} '{pattern}'; there are: {', '.join(known)}")
        return [name for name in known if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]

    return found


def is_wanted(options: argparse.Namespace, load: str, variant: str) -> bool:
    return load in options.only and variant in options.variants


def made(options: argparse.Namespace) -> dict:
    inputs = Inputs(options.build)
    folder = options.build / "study"
    wanted = [run for run in runs(options.extent, tuple(options.set)) if is_wanted(options, run.load, run.variant)]
    results, failures = runner.make(inputs, wanted, folder, options.jobs)
    return document.make(options.study, options.extent, inputs, results, failures)


def write(path: pathlib.Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    os.replace(new, path)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/study", usage=argparse.SUPPRESS, add_help=False)
    parser.add_argument("study")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--extent", default="whole", choices=EXTENTS)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--html", type=pathlib.Path)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--only", type=some_of("load", LOADS), default=list(LOADS))
    parser.add_argument("--variants", type=some_of("variant", VARIANTS), default=list(VARIANTS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    try:
        found = document.read(options.source) if options.source else made(options)
        found["runs"] = [run for run in found["runs"] if is_wanted(options, run["load"], run["variant"])]
        if options.json:
            json_file.write(options.json, found)
        if options.html:
            write(options.html, page.page(found))
    except document.BadDocument as mistake:
        print(f"scripts/study: {options.source}: {mistake}", file=sys.stderr)
        return 2
    except OSError as failure:
        print(f"scripts/study: {failure}", file=sys.stderr)
        return 1
    print(report.text(found), end="")
    return 1 if found["failures"] else 0


def leave(number: int, _) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, leave)
    with contextlib.suppress(BrokenPipeError):
        try:
            sys.exit(main())
        except KeyboardInterrupt:
            print("\nscripts/study: interrupted; the next one goes on from here.", file=sys.stderr)
            sys.exit(130)
