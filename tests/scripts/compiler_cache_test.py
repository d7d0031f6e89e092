#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of compiler_cache.cmake: what the compiler cache takes for the same file. They build a small project.

Usage: compiler_cache_test.py [GROUP[.CASE]]...
"""

import re
import unittest

from in_folder import InFolder, SCRIPTS, output_of

LISTS = f"""
    cmake_minimum_required(VERSION 3.25)
    project(small LANGUAGES CXX)
    include({SCRIPTS}/lib/compiler_cache.cmake)
    add_library(small OBJECT first.cpp second.cpp)
    include_directories(${{CMAKE_SOURCE_DIR}})
    target_precompile_headers(small PRIVATE <both.h>)
"""
HEADER = "#pragma once\n// A comment\n#define INDEX 0\nstruct Both { int values[2]; };\n"


class WithProject(InFolder):
    """A case with a project of two files, a precompiled header, and an empty compiler cache."""

    def setUp(self):
        super().setUp()
        self.write_project("clone")

    def write_project(self, clone):
        self.write(f"{clone}/CMakeLists.txt", LISTS)
        self.write(f"{clone}/both.h", HEADER)
        for name in ("first", "second"):
            self.write_source(clone, name, "INDEX")

    def write_source(self, clone, name, index):
        function = f"int {name}(const Both& both) {{ return both.values[{index}]; }}"
        self.write(f"{clone}/{name}.cpp", f'#include "both.h"\n{function}\n')

    def environment(self, clone):
        return {
            "CCACHE_DIR": str(self.folder / "cache"),
            "CCACHE_BASEDIR": str(self.folder / clone),
            "CCACHE_NOHASHDIR": "1",
        }

    def build(self, clone="clone"):
        """Compiles the whole project; how many of its three compilations came from the cache."""
        source, build, environment = self.folder / clone, self.folder / clone / "build", self.environment(clone)
        commands = [("ccache", "--zero-stats"), ("ninja", "-C", build, "-t", "clean"), ("ninja", "-C", build)]
        if not build.exists():
            commands.insert(0, ("cmake", "-G", "Ninja", "-S", source, "-B", build))
        for command in commands:
            code, output = output_of(*command, env=environment)
            self.assertEqual(code, 0, output)
        statistics = output_of("ccache", "--print-stats", env=environment)[1]
        counts = {name: int(count) for name, count in re.findall(r"^(\S+)\t(\d+)$", statistics, re.MULTILINE)}
        hits = counts["direct_cache_hit"] + counts["preprocessed_cache_hit"]
        self.assertEqual(hits + counts["cache_miss"], 3, statistics)
        return hits


class Rebuilt(WithProject):
    def test_what_did_not_change_comes_from_the_cache(self):
        self.assertEqual(self.build(), 0)
        self.assertEqual(self.build(), 3)

    def test_another_comment_or_macro_makes_another_precompiled_header(self):
        self.build()
        for old, new in (("A comment", "B comment"), ("INDEX 0", "INDEX 1"), ("struct Both", "struct  Both")):
            self.write("clone/both.h", HEADER.replace(old, new))
            self.assertEqual(self.build(), 0, f"{old}, {new}")

    def test_a_file_compiles_that_changes_after_a_comment_of_the_header(self):
        self.build()
        self.write("clone/both.h", HEADER.replace("A comment", "B comment"))
        self.build()
        self.write_source("clone", "first", 1)
        self.assertEqual(self.build(), 2)


class Clones(WithProject):
    def test_share_what_they_compile(self):
        self.build()
        self.write_project("second")
        self.assertEqual(self.build("second"), 3)


if __name__ == "__main__":
    unittest.main()
