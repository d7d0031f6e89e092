# SPDX-License-Identifier: Apache-2.0
"""What tests of the scripts share: folders that go with the test, and functions of scripts/lib."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
PYTHON = "/usr/bin/python3"

sys.dont_write_bytecode = True


def output_of(*command, env=None, cwd=None):
    """Exit code and merged output of a command."""
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=60,
    )
    return done.returncode, done.stdout


class InFolder(unittest.TestCase):
    """A case with a folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="oae-vp-test."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class WithLibrary(InFolder):
    """A case that calls functions of scripts/lib in a build directory of its own."""

    PROLOGUE = """
        set -euo pipefail
        for part in environment steps packages archive qemu profile_guided; do source "$LIBRARY/$part.sh"; done
        BUILD=$FOLDER/build
        OVERLAY=$FOLDER/overlay
        mkdir -p "$BUILD"/{log,stamp,images}
    """

    DSC = "Source: qemu\n"
    TESTED = "10.0.2+ds-1"

    def setUp(self):
        super().setUp()
        digest = hashlib.sha256(self.DSC.encode()).hexdigest()
        self.write("overlay/tested", f"# Version and hash\n{self.TESTED} {digest}\n")

    def script(self, text):
        return ["bash", "-c", self.PROLOGUE + text, "scripts/setup"]

    def environment(self, **variables):
        library = {"LIBRARY": str(SCRIPTS / "lib"), "FOLDER": str(self.folder), "OAE_VP_BUILD": ""}
        return {**library, **variables}

    def bash(self, text, **variables):
        return output_of(*self.script(text), env=self.environment(**variables))
