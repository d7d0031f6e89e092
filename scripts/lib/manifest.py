# SPDX-License-Identifier: Apache-2.0
"""Writes DIR/manifest.json: the SHA-256 and the size of every file below DIR, by its path from there.

Usage: manifest.py DIR
"""

import hashlib
import json
import os
import pathlib
import sys

MANIFEST = "manifest.json"


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.startswith(MANIFEST):
            with open(path, "rb") as file:  # which may be larger than memory
                files[name] = {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "size": path.stat().st_size}
    new = folder / (MANIFEST + ".new")
    new.write_text(json.dumps({"files": files}, indent=2) + "\n")
    os.replace(new, folder / MANIFEST)


main()
