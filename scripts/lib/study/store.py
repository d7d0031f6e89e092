# SPDX-License-Identifier: Apache-2.0
"""The results of runs that were made already: one file for each, named by the key of the run."""

import json
import pathlib
from typing import Optional

import json_file


class Store:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> Optional[dict]:
        """The result, or None if there is none. A file that cannot be read counts as none."""
        try:
            found = json.loads((self.folder / f"{key}.json").read_text())
        except (OSError, ValueError):
            return None
        return found["result"] if isinstance(found, dict) and found.get("key") == key and "result" in found else None

    def put(self, key: str, result: dict) -> None:
        json_file.write(self.folder / f"{key}.json", {"key": key, "result": result})
