#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each command of scripts/ calls only programs that it has installed: those of a bare Debian and of its package lists.

Usage: programs_test.py [GROUP[.CASE]]...
"""

import ast
import os
import pathlib
import re
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import listed_programs  # noqa: E402

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"

# The files of each command, and the package lists that it has setup install beside `packages`.
SETUP = ("setup", "kernel", "run", *(f"lib/{path.name}" for path in (SCRIPTS / "lib").glob("*.sh")), "lib/manifest.py",
         "generate-memory-map", "generate-registers", "generate-transitions")
FIGURES = tuple(f"lib/figures/{path.name}" for path in (SCRIPTS / "lib" / "figures").glob("*.py"))
BENCH = tuple(f"lib/bench/{path.name}" for path in (SCRIPTS / "lib" / "bench").glob("*.py") if path.name != "profile.py")
STUDY = tuple(str(path.relative_to(SCRIPTS)) for path in (SCRIPTS / "lib" / "study").rglob("*.py"))
COMMANDS = {
    "setup": (SETUP, ()),
    "guest": (("guest",), ("debian",)),
    "test": (("test", "lib/results.py"), ("tests", "bench")),
    "bench": (("bench", "lib/joined_hosts.py", "lib/json_file.py", *BENCH), ("bench",)),
    "bench --profile": (("bench", "lib/bench/profile.py"), ("bench", "profile")),
    "figures": (("figures", "lib/joined_hosts.py", *FIGURES), ("tests", "bench")),
    "study": (("study", "lib/json_file.py", "lib/figures/table.py", *STUDY), ("tests", "bench")),
    "latency": (("latency", "lib/latency.py"), ("tests", "bench")),
    "coverage": (("coverage", "lib/coverage.py"), ("tests", "bench")),
    "mutations": (("mutations", "lib/mutations.py"), ("tests", "bench")),
}
OF_SHELL = {"cd", "echo", "printf", "read", "test", "true", "false", "kill", "wait", "exec", "pwd", "bash", "sh", "time"}
BEFORE = r"if|then|else|elif|do|while|until|exec|env|as_root|with_meson"
OTHER = r"fi|done|for|case|esac|in|local|function|return"
AT_COMMAND = re.compile(rf"(?:^|\||&&|\$\(|<\(|;|\b(?:{BEFORE})\s|!)\s*(?!(?:{BEFORE}|{OTHER})\b)"
                        r"([a-z][a-z0-9+_.-]*)(?=\s|\)|$)", re.MULTILINE)
# Of the machine that an OAE_VP_QEMU_SOURCE or a meson of one's own is for
OPTIONAL = {"meson", "sudo"}


def called_by_shell(text):
    """Words where a command's name stands, in a script without its help and its comments."""
    text = re.sub(r"(?ms)<<-?'?END'?$.*?^END$", "", text)
    text = re.sub(r"(?m)(^|\s)#.*$", "", text)
    text = re.sub(r"(?ms)'[^']*'", "''", text)
    return set(AT_COMMAND.findall(text)) - OF_SHELL


def called_by_python(text):
    """First words of lists that could be commands, and what shutil.which looks for."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        first = None
        if isinstance(node, ast.List) and node.elts:
            first = node.elts[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "which":
            first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            found.add(first.value)
    return found


def called(file):
    text = (SCRIPTS / file).read_text()
    shell = text.startswith("#!/bin/bash") or file.endswith(".sh")
    return (called_by_shell if shell else called_by_python)(text)


class Lists(unittest.TestCase):
    def test_every_file_belongs_to_a_command(self):
        known = {file for files, _ in COMMANDS.values() for file in files}
        ours = {path.relative_to(SCRIPTS).as_posix() for path in (*SCRIPTS.glob("*"), *SCRIPTS.glob("lib/**/*"))
                if path.is_file() and (path.suffix in (".py", ".sh") or path.parent == SCRIPTS and path.suffix != ".md")}
        self.assertEqual(ours - known, set())

    def test_words_are_found(self):
        text = "if ! apt-get update; then x=$(sort -u <a | uniq); fi # not this\ncat <<END\nnor this\nEND\njq '. | no' && perl x\n"
        self.assertEqual(called_by_shell(text), {"apt-get", "sort", "uniq", "cat", "jq", "perl"})
        self.assertEqual(called_by_python("run(['perf', a])\nx = shutil.which('yosys')"), {"perf", "yosys"})

    def test_what_a_command_calls_is_in_its_packages(self):
        for command, (files, lists) in COMMANDS.items():
            there, words = listed_programs.programs(*lists), set().union(*map(called, files)) - OPTIONAL
            # A word is a program if this machine has one of that name; what the lists do not bring may not be called.
            path = os.pathsep.join(listed_programs.FOLDERS)
            missing = {word for word in words if word not in there and shutil.which(word, path=path)}
            if "profile" in lists and "linux-perf" not in listed_programs.packages("profile"):
                missing.discard("perf")
            self.assertEqual(missing, set(), command)

    def test_programs_that_are_known_to_be_called(self):
        for lists, names in (((), "gcc aarch64-linux-gnu-gcc ninja cmake ctest patch xz flock rsync ccache python3 modinfo"),
                             (("bench",), "yosys c++filt"), (("tests", "bench"), "spin sparse perl gdb-multiarch yosys chromium")):
            there = listed_programs.programs(*lists)
            for name in names.split():
                self.assertIn(name, there, lists)
        self.assertNotIn("yosys", listed_programs.programs())


if __name__ == "__main__":
    unittest.main()
