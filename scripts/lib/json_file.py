# SPDX-License-Identifier: Apache-2.0
"""Numbers for other programs."""

import json
import os
import pathlib


def write(path: pathlib.Path, numbers) -> None:
    """Writes the whole file or nothing. A reader finds the old file until the new one is complete."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(numbers, indent=2) + "\n")
    os.replace(new, path)
