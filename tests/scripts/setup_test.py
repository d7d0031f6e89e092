#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/setup, run, test and their library. Nothing is downloaded and nothing is installed.

Usage: setup_test.py [GROUP[.CASE]]...
"""

import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
PYTHON = "/usr/bin/python3"

sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS / "lib"))
import bench  # noqa: E402


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
        for part in environment steps packages archive qemu; do source "$LIBRARY/$part.sh"; done
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


class Options(InFolder):
    def test_help(self):
        for script in ("setup", "run", "test", "bench", "kernel"):
            code, text = output_of(SCRIPTS / script, "--help", env={"OAE_VP_BUILD": str(self.folder / "build")})
            self.assertEqual(code, 0, text)
            self.assertTrue(text.startswith(f"Usage: scripts/{script}"), text)
            self.assertFalse((self.folder / "build").exists(), script)

    def test_mistakes_leave_with_2_and_start_nothing(self):
        build = self.folder / "build"
        for command, word in (
            (["setup", "--nope"], "--nope"),
            (["setup", "word"], "word"),
            (["setup", "--build"], "--build"),
            (["setup", "--until", "nope"], "packages"),
            (["setup", "--packages", "nope"], "no list of packages 'nope'"),
            (["setup", "--packages", "../x"], "no list of packages"),
            (["setup", "--kernel", "2.6"], "6.12, newest"),
            (["kernel"], "6.1, 6.12, newest"),
            (["kernel", "2.6"], "6.1, 6.12, newest"),
            (["run", "--kernel"], "--kernel"),
            (["run", "nope"], "no platform 'nope'"),
            (["run", "--append"], "--append"),
            (["test", "--nope"], "--nope"),
            (["test", ""], "may not be empty"),
            (["bench", "--nope"], "--nope"),
            (["bench", "--json"], "--json"),
            (["bench", "nope"], "nope"),
            (["bench", "--profile"], "--profile"),
            (["bench", "--profile=memory"], "swap mmio"),
            (["bench", "--profile", "swap", "mmio"], "exclude each other"),
            (["bench", "--profile", "swap", "--repeat", "2"], "exclude each other"),
        ):
            code, text = output_of(SCRIPTS / command[0], *command[1:], env={"OAE_VP_BUILD": str(build)})
            self.assertEqual(code, 2, f"{command}: {text}")
            self.assertIn(word, text)
            self.assertFalse(build.exists(), command)

    def test_path_that_build_systems_do_not_take(self):
        for name in ("a b", "a:b", "a'b"):
            code, text = output_of(SCRIPTS / "setup", "--build", self.folder / name)
            self.assertEqual(code, 2, text)
            self.assertIn("OAE_VP_BUILD", text)
            self.assertFalse((self.folder / name).exists())
            clone = self.folder / "clone" / name
            shutil.copytree(SCRIPTS, clone / "scripts")
            for arguments in ([], ["--build", self.folder / "good"]):
                code, text = output_of(clone / "scripts" / "setup", *arguments)
                self.assertEqual(code, 2, text)
                self.assertIn(str(clone), text)
                self.assertFalse((self.folder / "good").exists())

    def test_somebody_elses_folder_is_left_alone(self):
        self.write("mine/log/letter", "dear")
        for arguments in ([], ["--clean"]):
            code, text = output_of(SCRIPTS / "setup", "--build", self.folder / "mine", *arguments)
            self.assertEqual(code, 2, text)
            self.assertEqual([p.name for p in self.folder.rglob("*")], ["mine", "log", "letter"])

    def test_clean_removes_what_setup_made(self):
        code, _ = output_of(SCRIPTS / "setup", "--clean", "--build", self.folder / "never")
        self.assertEqual(code, 0)
        for name in ("CACHEDIR.TAG", "qemu/src/VERSION", "images/vmlinuz", "stamp/qemu", "lock"):
            self.write("build/" + name)
        self.write("build/letter")
        code, text = output_of(SCRIPTS / "setup", "--clean", "--build", self.folder / "build")
        self.assertEqual(code, 0, text)
        self.assertEqual([p.name for p in (self.folder / "build").iterdir()], ["letter"])


class Steps(WithLibrary):
    STEP = 'make() { echo ran >>"$FOLDER/ran"; cp "$FOLDER/in" "$FOLDER/out"; }\n'
    CALL = 'step one "The step" "$(hash_of_files "$FOLDER/in")" "Remedy." "$FOLDER/out" -- make\n'

    def runs(self):
        return (self.folder / "ran").read_text().count("ran")

    def test_done_once_for_the_same_inputs(self):
        self.write("in", "1")
        code, text = self.bash(self.STEP + self.CALL)
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"^\[ *\d+ s\] The step \.\.\. \d+ s\n$")
        self.assertEqual(self.bash(self.STEP + self.CALL), (0, ""))
        self.assertEqual(self.runs(), 1)
        self.write("in", "2")
        self.bash(self.STEP + self.CALL)
        self.assertEqual(self.runs(), 2)
        (self.folder / "out").unlink()
        self.bash(self.STEP + self.CALL)
        self.assertEqual(self.runs(), 3)

    def test_failure_shows_end_of_log_and_remedy_and_is_tried_again(self):
        self.write("in", "1")
        bad = "make() { seq 100; false; echo not reached; }\n"
        for _ in range(2):
            code, text = self.bash(bad + self.CALL)
            self.assertEqual(code, 1)
            lines = text.splitlines()
            self.assertIn("failed after", lines[0])
            self.assertEqual(lines[1], "72")
            self.assertIn("exit code 1 of: false", text)
            self.assertIn("Remedy.", lines[-2])
            self.assertIn("build/log/one.log", lines[-1])
            self.assertNotIn("not reached", text)
        self.bash(self.STEP + self.CALL)
        self.assertEqual(self.runs(), 1)

    def test_failure_of_ninja_shows_its_first_failure(self):
        self.write("in", "1")
        log = "seq 100; echo 'FAILED: x.o'; echo 'x.c:1: error'; seq 200 300; false"
        code, text = self.bash(f"make() {{ {log}; }}\n" + self.CALL)
        self.assertEqual(code, 1)
        self.assertEqual(text.splitlines()[1:3], ["FAILED: x.o", "x.c:1: error"])
        self.assertEqual(text.splitlines()[30], "227")
        self.assertEqual(len(text.splitlines()), 33)

    def test_failure_with_a_sentence_of_its_own(self):
        self.write("in", "1")
        code, text = self.bash("make() { seq 100; fail 'All is lost;' 'give up.'; }\n" + self.CALL)
        self.assertEqual(code, 1)
        self.assertIn("scripts/setup: All is lost; give up.\n", text)
        self.assertEqual(len(text.splitlines()), 3, text)

    def test_step_that_does_not_make_its_output(self):
        self.write("in", "1")
        code, text = self.bash("make() { :; }\n" + self.CALL)
        self.assertEqual(code, 1)
        self.assertIn(f"did not make {self.folder}/out", text)

    def test_hushed_step_shows_only_work_and_failure(self):
        hushed = "step_hushed=1\n" + 'step one "The step" "" "Remedy." -- make\n'
        self.assertEqual(self.bash("make() { :; }\n" + hushed), (0, ""))
        self.write("in", "1")
        code, text = self.bash("make() { sleep 3; }; rm -f $BUILD/stamp/*\n" + hushed)
        self.assertEqual(code, 0)
        self.assertIn("The step", text)
        code, text = self.bash("make() { return 3; }; rm -f $BUILD/stamp/*\n" + hushed)
        self.assertEqual(code, 1)
        self.assertIn("The step failed. Remedy.", text)

    def test_until_stops_there_done_or_not(self):
        self.write("in", "1")
        text = "until_step=one\n" + self.STEP + self.CALL + "echo later\n"
        for _ in range(2):
            code, out = self.bash(text)
            self.assertEqual(code, 0)
            self.assertNotIn("later", out)

    def start_slow(self, prologue=""):
        slow = 'make() { (sleep 30; echo late >>"$FOLDER/late") & echo $BASHPID >"$FOLDER/pid"; wait; }\n'
        process = subprocess.Popen(
            self.script(prologue + slow + 'step one "Slow" "" "" -- make\n'),
            env={**os.environ, **self.environment()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.wait_for(self.folder / "pid")
        return process

    def wait_for(self, path):
        for _ in range(200):
            if path.exists() and path.read_text():
                return
            time.sleep(0.05)
        self.fail(f"no {path}")

    def test_interruption_ends_the_step_and_the_next_run_goes_on(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            (self.folder / "pid").unlink(missing_ok=True)
            process = self.start_slow()
            group = int((self.folder / "pid").read_text())
            os.killpg(process.pid, number)
            text, _ = process.communicate(timeout=10)
            self.assertEqual(process.returncode, code, text)
            self.assertIn("the next run goes on from here", text)
            with self.assertRaises(ProcessLookupError):
                for _ in range(100):
                    os.killpg(group, 0)
                    time.sleep(0.02)
        self.write("in", "1")
        self.assertEqual(self.bash(self.STEP + self.CALL)[0], 0)

    def test_nobody_left_to_tell(self):
        for number in (signal.SIGTERM, signal.SIGPIPE):
            (self.folder / "pid").unlink(missing_ok=True)
            process = self.start_slow()
            group = int((self.folder / "pid").read_text())
            process.stdout.close()
            os.killpg(process.pid, number)
            process.wait(timeout=10)
            with self.assertRaises(ProcessLookupError):
                for _ in range(100):
                    os.killpg(group, 0)
                    time.sleep(0.02)

    def test_package_installation_is_let_end(self):
        quick = 'make() { echo x >"$FOLDER/pid"; sleep 1; echo done >"$FOLDER/done"; }\n'
        process = subprocess.Popen(
            self.script("step_patient=1\n" + quick + 'step one "Slow" "" "" -- make\necho later\n'),
            env={**os.environ, **self.environment()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.wait_for(self.folder / "pid")
        os.killpg(process.pid, signal.SIGINT)
        text, _ = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130, text)
        self.assertTrue((self.folder / "done").exists())
        self.assertNotIn("later", text)

    def test_second_setup_waits_for_the_first(self):
        process = self.start_slow("take_lock\n")
        second = subprocess.Popen(
            self.script("take_lock\necho mine\n"),
            env={**os.environ, **self.environment()},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertIn(f"(process {process.pid}); waiting", second.stdout.readline())
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=10)
        self.assertEqual(second.communicate(timeout=10)[0], "mine\n")

    def test_terminal_shows_seconds_and_how_far_ninja_is(self):
        master, slave = pty.openpty()
        process = subprocess.Popen(
            self.script("make() { echo '[7/9] x'; sleep 1.2; }\n" + 'step one "Work" "" "" -- make\n'),
            env={**os.environ, **self.environment()},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 4096):
                text += piece
        except OSError:  # Linux's end of a terminal
            pass
        os.close(master)
        self.assertEqual(process.wait(), 0)
        self.assertIn(b"Work ... 1 s [7/9]", text)
        # A loaded machine may take a second more.
        self.assertRegex(text, rb"\r\x1b\[K\[ +\d+ s\] Work \.\.\. [1-9]\d* s\r\n\Z")


class Source(WithLibrary):
    def test_archive_without_the_suite_or_not_reachable(self):
        (self.folder / "mirror").mkdir()
        for archive in (f"file://{self.folder}/mirror/", "http://127.0.0.1:9/debian"):
            code, text = self.bash(
                f'machine_archive() {{ echo "{archive}"; }}\n'
                'suite_apt() { "$1" -c "$BUILD/apt/apt.conf" -o Acquire::Retries=0 "${@:2}"; }\n'
                'step suite "Lists" "" "" -- fetch_suite_lists\n',
                OAE_VP_SUITE="sid-of-nowhere",
            )
            self.assertEqual(code, 1, text)
            for word in ("'sid-of-nowhere'", archive, "OAE_VP_SUITE", "OAE_VP_QEMU_SOURCE"):
                self.assertIn(word, text)
            self.assertEqual(len(text.splitlines()), 3, text)

    def test_archive_address_is_the_machines(self):
        lines = (
            "Debian|bookworm-security|main|http://a/",
            "Docker|bookworm|main|http://b/",
            "Debian|bookworm-updates|main|http://c/",
            "Debian Backports|bookworm-backports|main|http://d/",
            "Debian|bookworm|non-free|http://e/",
            "Debian|bookworm|main|http://f/",
            "Debian|bookworm|main|http://g/",
        )
        fake = "apt-get() { printf '%s\\n' " + " ".join(f"'{line}'" for line in lines) + "; }\n"
        self.assertEqual(self.bash(fake + "machine_archive\n"), (0, "http://f/\n"))

    def test_version_is_of_the_series(self):
        for version, good in (
            ("10.0", 1),
            ("10.0.2", 1),
            ("10.0.13", 1),
            ("10.0.50", 1),
            ("10.1.0", 0),
            ("10", 0),
            ("10.00.1", 0),
            ("110.0.1", 0),
            ("", 0),
        ):
            self.write("qemu/VERSION", version + "\n")
            code, text = self.bash(
                'STEP=q; rm -f $BUILD/stamp/*; step q "Source" "" "" -- fetch_qemu_source\n',
                OAE_VP_QEMU_SOURCE=str(self.folder / "qemu"),
            )
            self.assertEqual(code, 0 if good else 1, f"{version}: {text}")
            if not good:
                for word in ("10.0.x", self.TESTED, "Debian's snapshot archive", "OAE_VP_QEMU_SOURCE"):
                    self.assertIn(word, text)

    # An archive that has these versions, and writes down which one it was asked for.
    ARCHIVE = """
        suite_apt() {
          case $2 in
            showsrc) printf 'Package: qemu\\nVersion: %s\\n\\n' $VERSIONS ;;
            *)
              local asked=${@: -1}
              echo "$asked" >"$FOLDER/asked"
              printf '%s' "$DSC" >"qemu_${asked#*:}.dsc" ;;
          esac
        }
        step q "Source" "" "" -- fetch_qemu_source
        if qemu_is_tested; then echo tested; else echo "not tested: $(fetched_qemu)"; fi
    """

    def fetch(self, *versions, dsc=None):
        (self.folder / "build/stamp/q").unlink(missing_ok=True)
        return self.bash(self.ARCHIVE, VERSIONS=" ".join(versions), DSC=dsc or self.DSC)

    def test_the_version_that_was_tested_is_preferred_to_newer_ones(self):
        code, text = self.fetch("1:10.0.1+ds-1", "1:10.0.2+ds-1", "1:10.0.13+ds-0+deb13u1", "1:10.1.0+ds-2")
        self.assertEqual(code, 0, text)
        self.assertEqual((self.folder / "asked").read_text(), "qemu=1:10.0.2+ds-1\n")
        self.assertTrue(text.endswith("\ntested\n"), text)

    def test_another_version_of_the_series_is_taken_where_that_is_gone(self):
        code, text = self.fetch("1:10.0.9+ds-1", "1:10.0.13+ds-0+deb13u1", "1:10.1.0+ds-2", dsc="other")
        self.assertEqual(code, 0, text)
        self.assertEqual((self.folder / "asked").read_text(), "qemu=1:10.0.13+ds-0+deb13u1\n")
        self.assertTrue(text.endswith("\nnot tested: 10.0.13+ds-0+deb13u1\n"), text)

    def test_other_series_are_refused_and_the_tested_version_is_named(self):
        code, text = self.fetch("1:9.2.1+ds-1", "1:10.1.0+ds-2")
        self.assertEqual(code, 1, text)
        for word in ("10.1.0+ds-2", "10.0.x", self.TESTED, "Debian's snapshot archive"):
            self.assertIn(word, text)

    def test_other_contents_of_the_tested_version_are_refused(self):
        code, text = self.fetch("1:10.0.2+ds-1", dsc="forged")
        self.assertEqual(code, 1, text)
        for word in ("other contents", f"qemu_{self.TESTED}.dsc", "Debian's snapshot archive"):
            self.assertIn(word, text)

    def test_the_tests_of_the_embedding_run_with_a_version_that_is_new_to_it(self):
        run = (self.ARCHIVE + """
            build_and_run_embedding_tests() { echo ran >>"$FOLDER/ran"; $RESULT; }
            mkdir -p "$BUILD/cmake"; touch "$BUILD/cmake/build.ninja" "$BUILD"/images/libqemu-{x86_64,aarch64}.so
            step_embedding_tests
        """)
        for versions, result, code, ran in (("1:10.0.2+ds-1", "true", 0, False), ("1:10.0.3+ds-1", "true", 0, True),
                                            ("1:10.0.3+ds-1", "false", 1, True)):
            shutil.rmtree(self.folder / "build", ignore_errors=True)
            (self.folder / "ran").unlink(missing_ok=True)
            found, text = self.bash(run, VERSIONS=versions, DSC=self.DSC, RESULT=result)
            self.assertEqual(found, code, text)
            self.assertEqual((self.folder / "ran").exists(), ran, text)
            if code:
                for word in ("10.0.3+ds-1", self.TESTED, "Debian's snapshot archive"):
                    self.assertIn(word, text)

    def test_meson_is_fetched_where_there_is_none_or_an_old_one(self):
        for own, needed in (("", 1), ("0.64", 1), ("1.0.1", 1), ("1.4.9", 1), ("1.5.0", 0), ("1.10.0", 0), ("2.0", 0)):
            fake = f"meson() {{ echo {own}; }}\n" if own else "meson() { return 127; }\n"
            self.assertEqual(self.bash(fake + "if needs_meson; then echo 1; else echo 0; fi\n")[1], f"{needed}\n", own)
        self.write("qemu/python/wheels/meson-1.5.0-py3-none-any.whl")
        code, text = self.bash(
            "meson() { return 127; }; needs_meson || echo brought\n", OAE_VP_QEMU_SOURCE=str(self.folder / "qemu")
        )
        self.assertEqual(text, "brought\n")

    def test_source_that_is_none(self):
        code, text = self.bash(
            'step q "Source" "" "" -- fetch_qemu_source\n', OAE_VP_QEMU_SOURCE=str(self.folder / "nothing")
        )
        self.assertEqual(code, 1)
        self.assertIn("no unpacked source of QEMU", text)


class KernelSource(WithLibrary):
    """The few files of the kernel's source that tests need."""

    FILES = (
        "drivers/misc/pci_endpoint_test.c",
        "include/uapi/linux/pcitest.h",
        "scripts/checkpatch.pl",
        "scripts/const_structs.checkpatch",
        "scripts/spelling.txt",
        "tools/pci/pcitest.c",
        "tools/pci/pcitest.sh",
    )
    CALL = """
        source "$LIBRARY/kernel.sh"
        kernel_headers() { echo 6.1.0-9-cloud-amd64 6.1.9-1~deb; }
        download() { [[ $1 == linux-source-6.1=6.1.9-1~deb ]] && cp "$FOLDER/linux-source-6.1_6.1.9-1_all.deb" .; }
        step source "Source" "" "" "$(kernel_source_folder)/tools/pci/pcitest.sh" -- fetch_kernel_source
    """

    def package(self, files):
        source = self.folder / "linux-source-6.1"
        for name in files:
            self.write(f"linux-source-6.1/{name}", name)
        (source / "virt").mkdir(parents=True)
        (source / "virt" / "rest").write_bytes(os.urandom(1 << 20))  # more than a pipe holds
        tree = self.folder / "package" / "usr" / "src"
        tree.mkdir(parents=True)
        subprocess.run(["tar", "-C", self.folder, "--sort=name", "-cJf", tree / "linux-source-6.1.tar.xz", source.name],
                       check=True)
        control = "Package: linux-source-6.1\nVersion: 6.1.9-1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: c\n"
        self.write("package/DEBIAN/control", control)
        subprocess.run(["dpkg-deb", "-b", self.folder / "package",
                        self.folder / "linux-source-6.1_6.1.9-1_all.deb"], check=True,
                       stdout=subprocess.DEVNULL)

    def test_they_are_taken_out_and_nothing_else_is_left(self):
        self.package((*self.FILES, "drivers/misc/other.c", "tools/pci/Build"))
        code, text = self.bash(self.CALL)
        self.assertEqual(code, 0, text)
        tree = self.folder / "build/kernel-source/6.1.9-1_deb"
        self.assertEqual(sorted(str(f.relative_to(tree)) for f in tree.rglob("*") if f.is_file()), sorted(self.FILES))
        self.assertEqual((tree / self.FILES[0]).read_text(), self.FILES[0])
        self.assertEqual(list((self.folder / "build/debs").iterdir()), [])

    def test_a_source_without_one_of_them(self):
        for missing in (self.FILES[0], self.FILES[-1]):
            shutil.rmtree(self.folder)
            self.folder.mkdir()
            self.package([name for name in self.FILES if name != missing])
            code, text = self.bash(self.CALL)
            self.assertEqual(code, 1, text)
            self.assertIn(f"has no {missing}", text)
            self.assertEqual(list((self.folder / "build/kernel-source").iterdir()), [])

    def test_a_source_that_cannot_be_had(self):
        code, text = self.bash(self.CALL.replace("cp ", "false "))
        self.assertEqual(code, 1)
        self.assertIn("linux-source-6.1=6.1.9-1~deb cannot be fetched", text)


class Overlay(WithLibrary):
    PATCH = "--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"

    def setUp(self):
        super().setUp()
        self.write("qemu/VERSION", "10.0.2\n")
        self.write("qemu/roms/keep")
        self.write("qemu/roms/bios/big")
        self.write("qemu/a.c", "one\ntwo\nthree\n")
        self.write("qemu/b.c", "b\n")
        self.write("overlay/files/new/c.c", "c\n")
        self.write("overlay/patches/0001-a.patch", self.PATCH)

    def apply(self):
        return self.bash(
            'step q "Source" "" "" -- fetch_qemu_source\n'
            'step o "Overlay" "$(hash_of_files "$OVERLAY/files" "$OVERLAY/patches")" "" -- apply_overlay\n',
            OAE_VP_QEMU_SOURCE=str(self.folder / "qemu"),
        )

    def source(self, name):
        return self.folder / "build/qemu/src" / name

    def test_files_and_patches(self):
        code, text = self.apply()
        self.assertEqual(code, 0, text)
        self.assertEqual(self.source("a.c").read_text(), "one\nTWO\nthree\n")
        self.assertEqual(self.source("new/c.c").read_text(), "c\n")
        self.assertTrue(self.source("roms/keep").exists())
        self.assertFalse(self.source("roms/bios").exists())
        self.assertEqual((self.folder / "qemu/a.c").read_text(), "one\ntwo\nthree\n")
        self.assertFalse((self.folder / "build/qemu/src.new").exists())

    def test_changed_overlay_touches_only_what_it_changes(self):
        self.apply()
        for name in ("a.c", "b.c", "new/c.c"):
            os.utime(self.source(name), (1, 1))
        self.write("overlay/files/new/c.c", "C\n")
        self.assertEqual(self.apply()[0], 0)
        self.assertEqual(self.source("a.c").stat().st_mtime, 1)
        self.assertEqual(self.source("b.c").stat().st_mtime, 1)
        self.assertNotEqual(self.source("new/c.c").stat().st_mtime, 1)

        (self.folder / "overlay/patches/0001-a.patch").unlink()
        shutil.rmtree(self.folder / "overlay/files/new")
        self.assertEqual(self.apply()[0], 0)
        self.assertEqual(self.source("a.c").read_text(), "one\ntwo\nthree\n")
        self.assertNotEqual(self.source("a.c").stat().st_mtime, 1)
        self.assertFalse(self.source("new").exists())
        self.assertEqual(self.source("b.c").stat().st_mtime, 1)

    def test_patch_that_does_not_fit(self):
        for source, word in (("one\n2\nthree\n", "a.c"), (None, "a.c"), ("zero\none\n2\nthree\n", "a.c")):
            if source is None:
                (self.folder / "qemu/a.c").unlink()
            else:
                self.write("qemu/a.c", source)
            code, text = self.apply()
            self.assertEqual(code, 1)
            for part in ("0001-a.patch", word, "QEMU 10.0.2", "adapt", "OAE_VP_QEMU_SOURCE", self.TESTED,
                         "Debian's snapshot archive"):
                self.assertIn(part, text)
            self.assertFalse(self.source("VERSION").exists())

    def test_context_has_to_fit_but_may_move(self):
        self.write("qemu/a.c", "zero\none\ntwo\nthree\n")
        self.assertEqual(self.apply()[0], 0)
        self.assertEqual(self.source("a.c").read_text(), "zero\none\nTWO\nthree\n")
        self.write("qemu/a.c", "one \ntwo\nthree\n")
        self.write("overlay/files/d.c")
        self.assertEqual(self.apply()[0], 1)


class Packages(WithLibrary):
    def test_lists_name_packages_once(self):
        code, text = self.bash("package_lists=(tests bench profile); listed_packages\n")
        names = text.split()
        self.assertEqual(code, 0)
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 20)
        for name in names:
            self.assertRegex(name, r"^[a-z0-9][a-z0-9+.-]+$")

    def test_missing_ones_are_found(self):
        fake = """
            listed_packages() { printf '%s\\n' good removed half held libmulti never; }
            dpkg-query() {
              printf '%s\\n' 'good ii ' 'removed rc ' 'half iF ' 'held hi ' 'libmulti:amd64 ii ' 'never un '
              return 1
            }
        """
        self.assertEqual(self.bash(fake + "missing_packages\n"), (0, "half\nnever\nremoved\n"))

    def test_without_root(self):
        fake = "missing_packages() { echo libx-dev; }; can_be_root() { return 1; }\n"
        code, text = self.bash(fake + "step_packages\n")
        self.assertEqual(code, 1)
        self.assertIn("apt-get install --no-install-recommends libx-dev", text)


class Manifest(InFolder):
    def test_lists_all_but_itself(self):
        self.write("images/vmlinuz", "abc")
        self.write("images/firmware/bios.bin", "")
        for _ in range(2):
            code, text = output_of(PYTHON, SCRIPTS / "lib/manifest.py", self.folder / "images")
            self.assertEqual(code, 0, text)
            manifest = json.loads((self.folder / "images/manifest.json").read_text())
            abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            self.assertEqual(
                manifest,
                {
                    "files": {
                        "firmware/bios.bin": {"sha256": empty, "size": 0},
                        "vmlinuz": {"sha256": abc, "size": 3},
                    }
                },
            )


class Results(InFolder):
    PASSED = '<testcase name="a.Good" status="run"/>'

    def results(self, cases, code=0, *names):
        """Exit code and output for the test cases that ctest wrote; None stands for an empty file."""
        file = self.write("tests.xml", f"<testsuite>{cases}</testsuite>" if cases is not None else "")
        return output_of(PYTHON, SCRIPTS / "lib/results.py", file, code, *names)

    def expect(self, passed, failed, *arguments):
        code, text = self.results(*arguments)
        self.assertEqual(text.splitlines()[-1], f"{passed} passed, {failed} failed")
        self.assertEqual(code, 1 if failed else 0, text)

    def test_counts(self):
        failed = '<testcase name="a.Bad" status="fail"><failure message="Failed"/></testcase>'
        unbuilt = '<testcase name="b_NOT_BUILT" status="notrun"><skipped message="Unable to find executable"/></testcase>'
        for message in ("SKIP_REGULAR_EXPRESSION_MATCHED", "SKIP_RETURN_CODE=77"):
            skipped = f'<testcase name="a.Skip" status="notrun"><skipped message="{message}"/></testcase>'
            self.expect(1, 0, self.PASSED + skipped)
        self.expect(1, 0, self.PASSED)
        self.expect(1, 2, self.PASSED + failed + unbuilt, 8)
        self.expect(1, 1, self.PASSED, 0, "Good", "Nope")
        self.expect(1, 1, self.PASSED, 8)
        self.expect(0, 1, "")
        self.expect(0, 1, None)

    def test_the_slowest_ten_are_named_before_the_last_line(self):
        times = [0.01, 3.25, 0.3, 100, 2, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.05]
        cases = "".join(f'<testcase name="t{at}" status="run" time="{time}"/>' for at, time in enumerate(times))
        lines = self.results(cases)[1].splitlines()
        self.assertEqual(lines[0], "The slowest tests:")
        self.assertEqual([line.split() for line in lines[1:3]], [["100.0", "s", "t3"], ["3.2", "s", "t1"]])
        self.assertEqual([line.split()[-1] for line in lines[1:-1]], ["t3", "t1", *(f"t{at}" for at in range(4, 12))])
        self.assertEqual(len(self.results('<testcase name="a" status="run" time="0.05"/>')[1].splitlines()), 1)


class ScriptTest(InFolder):
    """scripts/test itself, with a setup that has nothing to do and a build whose tests are given here."""

    def run_tests(self, tests, *arguments):
        root = self.folder / "clone"
        shutil.copytree(SCRIPTS, root / "scripts")
        (root / "scripts/setup").write_text("#!/bin/sh\n")
        (root / "build/log").mkdir(parents=True)
        self.write("clone/build/cmake/CTestTestfile.cmake", "".join(
            f'add_test({name} "/bin/sh" "-c" "{command}")\n' for name, command in tests.items()))
        return output_of(root / "scripts/test", *arguments)

    def test_a_test_that_passes_is_one_line(self):
        code, text = self.run_tests({"good": "echo noise", "bad": "echo why; exit 3", "also_good": "true"})
        self.assertEqual(code, 1, text)
        self.assertNotIn("Start", text)
        self.assertNotIn("noise", text)
        for name, lines in (("good", 1), ("also_good", 1)):
            self.assertEqual(len([line for line in text.splitlines() if f": {name} " in line]), lines, text)
        self.assertIn("why\n", text)
        self.assertIn("FAILED bad: fail\n", text)
        self.assertEqual(text.splitlines()[-1], "2 passed, 1 failed")

    def test_the_exit_code_says_whether_all_passed(self):
        self.assertEqual(self.run_tests({"good": "true"})[0], 0)

    def test_a_name_selects(self):
        code, text = self.run_tests({"good": "true", "bad": "false"}, "^good$")
        self.assertEqual((code, text.splitlines()[-1]), (0, "1 passed, 0 failed"))


class Bench(InFolder):
    def result(self, value, baseline, more_is_better, **goals):
        return bench.Result(value, baseline, "u", "v", "it", more_is_better, **goals)

    def test_a_goal_is_met_on_its_edge(self):
        self.assertIsNone(self.result(1, 1, True).met)
        for value, more, met in ((9, True, False), (10, True, True), (10, False, True), (11, False, False)):
            self.assertIs(self.result(value, 5, more, goal=2).met, met)
        self.assertEqual(self.result(10, 4, True).ratio, 2.5)

    def run_shell(self, text, lines):
        return bench.run_machine(["bash", "-c", text], lines, self.folder / "log")

    def test_times_of_lines(self):
        run = self.run_shell("echo noise; echo '[1.2] one'; sleep 0.2; echo one; printf 'two\\r\\n'", ["one", "two"])
        self.assertGreater(run.between("one", "two"), 0.19)
        self.assertLess(run.at["two"], 5)
        self.assertGreater(run.memory_mb, 0.5)
        self.assertIn("noise", (self.folder / "log").read_text())

    def test_machine_that_does_not_do_its_work(self):
        for text, word in (
            ("echo one; exit 3", "exit code 3"),
            ("echo two", "['one']"),
            ("echo bench: failed: no device; echo one; sleep 20", "no device"),
        ):
            with self.assertRaisesRegex(bench.Failure, re.escape(word)):
                self.run_shell(text, ["one"])

    def test_machine_that_does_not_end(self):
        limit, bench.SECONDS_AT_MOST = bench.SECONDS_AT_MOST, 0.3
        try:
            with self.assertRaisesRegex(bench.Failure, "did not end within 0.3 s"):
                self.run_shell("echo one; exec sleep 20", ["one"])
        finally:
            bench.SECONDS_AT_MOST = limit

    def test_archive_of_the_guest(self):
        entries = [("dev", 0o40755, (0, 0), b""), ("dev/console", 0o20600, (5, 1), b""), ("init", 0o100755, (0, 0), b"12345")]
        listing = subprocess.run(
            ["cpio", "-tv", "--quiet"], input=bench.cpio(entries), capture_output=True, check=True
        ).stdout.decode()
        self.assertRegex(listing, r"^drwxr-xr-x .* dev\ncrw------- .* 5,  *1 .* dev/console\n-rwxr-xr-x .* 5 .* init\n$")

    def test_memory_and_command_line_of_the_host(self):
        for text, mib in (("512MiB", 512), ("2GiB", 2048), ("512MB", None), ("", None)):
            file = self.write("platform.yaml", f"hosts:\n  - memory: {text}\n    append: console=ttyS0 panic=-1\n")
            if mib:
                self.assertEqual(bench.host_of(file), (mib, "console=ttyS0 panic=-1"))
            else:
                self.assertRaises(bench.Failure, bench.host_of, file)
        file = self.write("platform.yaml", "hosts:\n  - memory: 1GiB\n")
        self.assertRaises(bench.Failure, bench.host_of, file)

    def test_guest_program_compiles(self):
        command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", SCRIPTS / "lib/bench-init.c"]
        self.assertEqual(output_of(*command), (0, ""))


if __name__ == "__main__":
    unittest.main()
