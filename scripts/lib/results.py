# SPDX-License-Identifier: Apache-2.0
"""Counts the results that ctest wrote, as 'PASSED FAILED' on the standard output; tells the failed ones on the other.

Usage: results.py JUNIT_FILE CTEST_EXIT_CODE [NAME...]

A test that was not run for any reason but its own wish counts as failed, and so does a NAME that matches no test, a file
that is missing or empty, and an exit code of ctest that says more failed than the file does.
"""

import re
import sys
import xml.etree.ElementTree as xml

# What ctest says of a test that skipped itself; any other reason for not running is a failure.
SKIPPED_ITSELF = re.compile(r"^SKIP_(REGULAR_EXPRESSION_MATCHED|RETURN_CODE=\d+)$")


def outcome(case: xml.Element) -> str:
    """'passed', 'skipped', or why it failed."""
    status = case.get("status")
    if status == "run":
        return "passed"
    reason = case.find("skipped" if status in ("notrun", "disabled") else "failure")
    message = (reason.get("message") if reason is not None else None) or status or "no result"
    if SKIPPED_ITSELF.match(message):
        return "skipped"
    return "disabled" if status == "disabled" else message


def main() -> None:
    file, code, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    try:
        cases = list(xml.parse(file).getroot().iter("testcase"))
    except (OSError, xml.ParseError) as error:
        print(f"No results of the tests: {error}", file=sys.stderr)
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
        print(f"FAILED {failure}", file=sys.stderr)
    if skipped:
        print(f"{skipped} skipped", file=sys.stderr)
    print(passed, len(failures))


main()
