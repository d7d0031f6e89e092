# SPDX-License-Identifier: Apache-2.0
"""Runs platforms for the full-system tests. It starts oae-vp as a user does, and collects the results.

The environment says where the program (OAE_VP) and the images that setup made (OAE_VP_IMAGES) are. OAE_VP_KERNEL names the
kernel that the guest boots instead of its usual one, as in OAE_VP_KERNEL=newest (scripts/kernel).
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
PACKAGES = IMAGES.parent / "packages"
KERNEL = os.environ.get("OAE_VP_KERNEL")
TIMEOUT = 300  # seconds of wall time, which a run never needs


class Result:
    """The results of a run: `console`, `errors`, `code`, the guest's files and the trace."""

    share = trace_file = None

    def file(self, name):
        """Returns a file that the guest has sent back."""
        return (self.share / name).read_text()

    @property
    def trace_bytes(self):
        return self.trace_file.read_bytes()

    @property
    def trace(self):
        """Returns the lines of the trace without its head."""
        with open(self.trace_file, encoding="utf-8") as lines:
            next(lines)
            return [json.loads(line) for line in lines]

    def __str__(self):
        return f"exit code {getattr(self, 'code', '-')}\n{self.console[-4000:]}\n{self.errors[-4000:]}"


class Run(Result):
    """One run of oae-vp. `script` is a shell script for the guest. The guest's files in /share come back. `packages` names
    Debian packages whose files the guest has, as setup has fetched them. The assertions of the RTL are checked unless
    `check_rtl` says otherwise."""

    def __init__(self, *options, platform="oae-mini", script=None, append="", trace=False, images=IMAGES, packages=None,
                 check_rtl=True):
        self._folder = tempfile.TemporaryDirectory(prefix="oae-vp-")
        self.folder = pathlib.Path(self._folder.name)
        command = [PROGRAM, "run", platform, "--images", str(images)]
        if check_rtl:
            command.append("--check-rtl")
        if script is not None:
            self.share.mkdir()
            (self.share / "script").write_text("set -e\n" + script)
            command += ["--share", str(self.share)]
            append += " vp.run=/share/script"
        self.trace_file = self.folder / "trace"
        if trace:
            command += ["--trace", str(self.trace_file)]
        if append:
            command += ["--append", append.strip()]
        initramfs = IMAGES / "initramfs.cpio"
        if KERNEL:
            initramfs = IMAGES / "kernels" / KERNEL / "initramfs.cpio"
            command += ["--kernel", str(IMAGES / "kernels" / KERNEL / "vmlinuz")]
        if packages:
            joined = self.folder / "initramfs.cpio"
            joined.write_bytes(initramfs.read_bytes() + (PACKAGES / packages / "files.cpio").read_bytes())
            initramfs = joined
        if KERNEL or packages:
            command += ["--initrd", str(initramfs)]
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


class Child(Result):
    """The results of a child that was forked from a booted machine."""

    def __init__(self, folder, summary, host):
        self.folder = folder
        self.console = self.log(host)
        self.errors = (folder / "messages.txt").read_text(errors="replace")
        self.share = folder / "share"
        self.trace_file = folder / "trace.jsonl"
        self.code = summary.get("exit_code")
        self.signal = summary.get("signal")
        self.guest_code = summary["guest_code"]
        self.time_ps = summary["time_ps"]

    def log(self, name):
        """Returns what a console has shown, from the boot on."""
        return (self.folder / f"{name}.log").read_text(errors="replace")


class Children(Run):
    """Many scripts for one boot. A child is forked for each and goes on alone. `children[name]` is the Child of
    `scripts[name]`. Each of `commands` is used unchanged, and its text is its name. `host` is the one that comes to the
    mark."""

    def __init__(self, *options, scripts=None, commands=(), mark="booted", host="host", script=None, **more):
        super().__init__(*options, script=script, **more)
        self.host = host
        if script is None:
            self.share.mkdir()
            self.command += ["--share", str(self.share)]
        self.output = self.folder / "children"
        self.commands = dict.fromkeys(commands)
        for number, (name, script) in enumerate((scripts or {}).items()):
            (self.share / f"script{number}").write_text("set -e\n" + script)
            self.commands[name] = f"sh /share/script{number}"
        (self.folder / "commands").write_text(
            "".join(f"{command or name}\n" for name, command in self.commands.items()))
        self.command += ["--snapshot-at", mark, "--console", f"{host}=off", "--children", str(self.folder / "commands"),
                         "--children-output", str(self.output)]

    def wait(self, process):
        super().wait(process)
        self.children = {}
        if (self.output / "summary.json").exists():
            names = list(self.commands)
            for child in json.loads((self.output / "summary.json").read_text())["children"]:
                number = child["number"]
                self.children[names[number - 1]] = Child(self.output / str(number), child, self.host)
        return self


class TestCase(unittest.TestCase):
    """A test of whole runs. A failure shows the end of the run's output."""

    def succeed(self, *options, **more):
        run = Run(*options, **more).finish()
        self.assertEqual(run.code, 0, run)
        return run

    def assertListEqual(self, first, second, msg=None):
        """Shows the first difference. For a trace, unittest would take minutes to list all of them."""
        if first == second:
            return
        at = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
        self.fail(self._formatMessage(msg, f"lists of {len(first)} and {len(second)} differ from [{at}] on: "
                                           f"{first[at:at + 1]} and {second[at:at + 1]}"))

    def fail_with(self, code, *options, **more):
        run = Run(*options, **more).finish()
        self.assertEqual(run.code, code, run)
        return run


def kernel_messages(raw, level):
    """Returns the texts of `dmesg -r` with this level (4 warning, 3 error) or a worse one."""
    found = []
    for line in raw.splitlines():
        priority, text = re.fullmatch(r"<(\d+)>(.*)", line).groups()
        if int(priority) & 7 <= level:
            found.append(text)
    return found


# Debian 12's lspci knows only the names of these. tests/models/pcie/config/link_capabilities_test.cpp checks their bytes.
NAMED_ONLY = ("Data Link Feature", "Physical Layer 16.0 GT/s", "Lane Margining at the Receiver")


def undecoded(listing):
    """Returns the capabilities that `lspci -vvv` does not decode although this version could."""
    names = re.findall(r"(?m)^\s*Capabilities: \[[^]]*\] (.*<\?>.*)$", listing)
    assert listing.count("<?>") == len(names), "undecoded, and no capability"
    return [name for name in names if name.rstrip() not in {f"{known} <?>" for known in NAMED_ONLY}]


def round_trips(trace, address):
    """Returns (departure of the read, arrival of its answer) of each host read of `address`, in ps."""
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
    """Runs the test cases that the command line names, or all."""
    unittest.main(verbosity=2)
