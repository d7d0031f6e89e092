# SPDX-License-Identifier: Apache-2.0
"""Sums up the results that ctest wrote: the failed tests and the slowest ones, and in the last line 'N passed, N failed'.

Usage: results.py JUNIT_FILE CTEST_EXIT_CODE [NAME...]

A test that did not run counts as failed unless it skipped itself. So does a NAME that matches no test, a file that is
missing or empty, and an exit code of ctest that says more failed than the file does.

Exit code: 0 nothing failed; 1 something did.
"""

import re
import sys
import xml.etree.ElementTree as xml
from typing import List

# The text of ctest for a test that skipped itself. Any other reason for not running is a failure.
SKIPPED_ITSELF = re.compile(r"^SKIP_(REGULAR_EXPRESSION_MATCHED|RETURN_CODE=\d+)$")


def outcome(case: xml.Element) -> str:
    """Returns 'passed', 'skipped', or the reason of the failure."""
    status = case.get("status")
    if status == "run":
        return "passed"
    reason = case.find("skipped" if status in ("notrun", "disabled") else "failure")
    message = (reason.get("message") if reason is not None else None) or status or "no result"
    if SKIPPED_ITSELF.match(message):
        return "skipped"
    return "disabled" if status == "disabled" else message


SLOWEST = 10
QUICK_SECONDS = 0.1  # a test that takes less is never called slow


def slowest(cases: List[xml.Element]) -> List[str]:
    """A line for each of the slowest tests, the slowest first."""
    times = sorted(((float(case.get("time") or 0), case.get("name") or "") for case in cases), reverse=True)
    return [f"{seconds:8.1f} s  {name}" for seconds, name in times[:SLOWEST] if seconds >= QUICK_SECONDS]


def main() -> int:
    file, code, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    try:
        cases = list(xml.parse(file).getroot().iter("testcase"))
    except (OSError, xml.ParseError) as error:
        print(f"There are no results of the tests: {error}")
        cases = []
    passed = skipped = 0
    failures = []
    for case in cases:
        result = outcome(case)
        if result == "passed":
            passed += 1
        elif result == "skipped":
            skipped += 1
        else:
            failures.append(f"{case.get('name')}: {result}")
    for name in names:
        if not any(re.search(name, case.get("name", "")) for case in cases):
            failures.append(f"{name}: there is no such test")
    if not failures and (code != 0 or not cases):
        failures.append(f"ctest: exit code {code} with {len(cases)} tests")
    for failure in failures:
        print(f"FAILED {failure}")
    if lines := slowest(cases):
        print("The slowest tests:", *lines, sep="\n")
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


sys.exit(main())
