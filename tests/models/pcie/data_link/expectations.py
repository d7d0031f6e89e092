# SPDX-License-Identifier: Apache-2.0
"""What the scripts that print tables of expectations share."""
import pathlib
import sys


def print_or_check(made, script):
    """Prints a table, or with --check ends with 1 unless the file `.inc` beside the script holds it."""
    script = pathlib.Path(script)
    table = script.with_suffix(".inc")
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if made == table.read_text() else f"{table.name} is not what {script.name} prints")
    sys.stdout.write(made)
