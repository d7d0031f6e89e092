# SPDX-License-Identifier: Apache-2.0
"""Costs of the protocol in simulated time, and the requirements for them. Called by scripts/figures."""

import argparse
import contextlib
import pathlib
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])
import json_file  # noqa: E402
from figures import failures, hosts, joined, link, ports, swap  # noqa: E402
from figures.table import Failure, required_text  # noqa: E402

# Each function takes the build folder and a function that shows progress. It returns tables, requirements and numbers.
PARTS = {
    "swap": swap.results,
    "ports": ports.results,
    "failures": failures.results,
    "link": link.results,
    "hosts": hosts.results,
    "joined": joined.results,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/figures", add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()

    names = [name for name in PARTS if name in options.names or not options.names]
    failed, required, numbers = False, [], {}
    for name in names:
        try:
            tables, requirements, numbers[name] = PARTS[name](
                options.build, lambda text, name=name: print(f"{name}: {text}", file=sys.stderr, flush=True)
            )
        except Failure as failure:
            print(f"{name}: failed: {failure}\n", flush=True)
            failed = True
            continue
        required += requirements
        for table in tables:
            print(table.text() + "\n", flush=True)
    if required:
        print(required_text(required), flush=True)
    if options.json:
        json_file.write(options.json, numbers)
    return 1 if failed else 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        try:
            sys.exit(main())
        except KeyboardInterrupt:
            sys.exit(130)
