# SPDX-License-Identifier: Apache-2.0
"""Numbers for other programs."""

import json
import os
import pathlib


def write(path: pathlib.Path, numbers) -> None:
    """Whole, or not at all: who reads it meanwhile finds what was there before."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(numbers, indent=2) + "\n")
    os.replace(new, path)
