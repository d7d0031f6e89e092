# SPDX-License-Identifier: Apache-2.0
"""Runs platforms for the full-system tests: oae-vp as a user starts it, and what it leaves behind.

The environment says where things are: OAE_VP (the program) and OAE_VP_IMAGES (what setup made).
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("OAE_VP", "oae-vp")
IMAGES = pathlib.Path(os.environ.get("OAE_VP_IMAGES", "build/images"))
TIMEOUT = 300  # seconds of wall time that no run comes near


class Run:
    """One run of oae-vp. `script` is a shell script for the guest, whose files in /share come back."""

    def __init__(self, *options, platform="oae-mini", script=None, append="", trace=False, images=IMAGES):
        self._folder = tempfile.TemporaryDirectory(prefix="oae-vp-")
        self.folder = pathlib.Path(self._folder.name)
        command = [PROGRAM, "run", platform, "--images", str(images)]
        if script is not None:
            self.share.mkdir()
            (self.share / "script").write_text("set -e\n" + script)
            command += ["--share", str(self.share)]
            append += " vp.run=/share/script"
        if trace:
            command += ["--trace", str(self.folder / "trace")]
        if append:
            command += ["--append", append.strip()]
        self.command = command + [str(option) for option in options]

    @property
    def share(self):
        return self.folder / "share"

    def start(self, **more):
        return subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", **more)

    def finish(self):
        return self.wait(self.start())

    def wait(self, process):
        try:
            self.console, self.errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            self.console, self.errors = process.communicate()
            raise AssertionError(f"{self.command} did not end:\n{self}") from None
        self.code = process.returncode
        return self

    def file(self, name):
        """A file that the guest has sent back."""
        return (self.share / name).read_text()

    @property
    def trace_bytes(self):
        return (self.folder / "trace").read_bytes()

    @property
    def trace(self):
        """The trace's lines, without its head."""
        with open(self.folder / "trace", encoding="utf-8") as lines:
            next(lines)
            return [json.loads(line) for line in lines]

    def __str__(self):
        return f"exit code {getattr(self, 'code', '-')}\n{self.console[-4000:]}\n{self.errors[-4000:]}"


class TestCase(unittest.TestCase):
    """A test of whole runs; a failure shows the end of the run's output."""

    def succeed(self, *options, **more):
        run = Run(*options, **more).finish()
        self.assertEqual(run.code, 0, run)
        return run

    def fail_with(self, code, *options, **more):
        run = Run(*options, **more).finish()
        self.assertEqual(run.code, code, run)
        return run


def kernel_messages(raw, level):
    """The texts of `dmesg -r` of this level (4 warning, 3 error) and worse."""
    found = []
    for line in raw.splitlines():
        priority, text = re.fullmatch(r"<(\d+)>(.*)", line).groups()
        if int(priority) & 7 <= level:
            found.append(text)
    return found


def round_trips(trace, address):
    """(departure of the read, arrival of its answer) of each host read of `address`, in ps."""
    open_reads = {}
    found = []
    for line in trace:
        if line.get("type") == "MRd" and line["dir"] == "down" and line["addr"] == hex(address):
            open_reads[line["tag"]] = line["t"]
        elif line.get("type") == "CplD" and line["dir"] == "up" and line["tag"] in open_reads:
            found.append((open_reads.pop(line["tag"]), line["arr"]))
    return found


def median_latency(pairs):
    return statistics.median(end - begin for begin, end in pairs)


def main():
    """Runs the test cases named on the command line, or all."""
    unittest.main(verbosity=2)
