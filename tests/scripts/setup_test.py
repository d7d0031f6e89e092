#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of how scripts/setup and the commands that call it behave. Nothing is downloaded and nothing is installed.

Usage: setup_test.py [GROUP[.CASE]]...
"""

import os
import pty
import shutil
import signal
import subprocess
import time
import unittest

from in_folder import InFolder, SCRIPTS, WithLibrary, output_of


class Options(InFolder):
    def test_help(self):
        for script in ("setup", "run", "test", "bench", "kernel", "guest"):
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
            (["setup", "--guest-package"], "--guest-package"),
            (["setup", "--guest-package", "No Name"], "'No Name' is no name"),
            (["run", "--package"], "--package"),
            (["run", "--package", "--help"], "'--help' is no name"),
            (["run", "--package=bash/sid"], "'bash/sid' is no name"),
            (["run", "--package", "bash", "--initrd", "x"], "exclude each other"),
            (["run", "--initrd=x", "--package=bash"], "exclude each other"),
            (["run", "debian", "--package", "bash"], "scripts/guest debian --package bash"),
            (["guest"], "there is: debian"),
            (["guest", "ubuntu"], "no guest 'ubuntu'"),
            (["guest", "debian", "--init", "runit"], "systemd sysv"),
            (["guest", "debian", "--size", "512"], "'512' is no size"),
            (["guest", "debian", "--package=No Name"], "'No Name' is no name"),
            (["guest", "debian", "--package"], "--package"),
            (["guest", "debian", "--nope"], "--nope"),
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


class ProfileGuided(WithLibrary):
    """A program of one file stands for the project."""

    COUNTED = """
        mkdir -p "$BUILD"/{profile/cmake,cmake}/sub
        compile() { (cd "$BUILD/$1" && gcc -O2 "${@:2}" -c "$FOLDER/code.c" -o sub/code.o) }
        compile profile/cmake -fprofile-generate
        (cd "$BUILD/profile/cmake" && gcc -fprofile-generate sub/code.o -o code && ./code)
        [[ -s $BUILD/profile/cmake/sub/code.gcda ]]
        echo some >"$BUILD/profile/name"
    """
    USED = 'compile cmake -fprofile-use -Wmissing-profile\n'

    def setUp(self):
        super().setUp()
        self.write("code.c", "int main(int count, char** words) { return count > 1 ? words[1][0] : 0; }\n")

    def test_counts_are_where_the_compiler_looks(self):
        self.assertEqual(self.bash(self.COUNTED + "take_counts\n" + self.USED), (0, ""))

    def test_without_counts_the_compiler_misses_them(self):
        code, text = self.bash(self.COUNTED + self.USED)
        self.assertEqual(code, 0, text)
        self.assertIn("profile count data file not found", text)

    def test_a_profile_that_was_removed_leaves_no_counts(self):
        removed = """
            take_counts
            rm -r "$BUILD/profile"
            echo "name: $(profile_name)"
            take_counts
            find "$BUILD" -name '*.gcda'
        """
        self.assertEqual(self.bash(self.COUNTED + removed), (0, "name: \n"))

    def test_qemu_is_compiled_by_its_own_counts(self):
        code, text = self.bash("""
            with_meson() { if [[ $1 == */configure ]]; then echo "$@" >configured; else ls "$BUILD/qemu/profiled/sub"; fi; }
            mkdir -p "$BUILD"/{profile,qemu/counting/sub}
            touch "$BUILD"/qemu/counting/sub/code.{o,gcda}
            echo some >"$BUILD/profile/name"
            build_qemu_by_profile
            grep -o -- '-fprofile-use' "$BUILD/qemu/profiled/configured"
        """)
        self.assertEqual((code, text), (0, "code.gcda\n-fprofile-use\n"))

    def test_the_program_that_counts_has_all_images_and_libraries_of_its_own(self):
        code, text = self.bash("""
            mkdir -p "$BUILD"/{images/firmware,profile/qemu}
            echo usual | tee "$BUILD/images/firmware/bios" >"$BUILD/images/libqemu-aarch64.so"
            echo counts >"$BUILD/profile/qemu/libqemu-aarch64.so"
            PYTHON=python3
            place_counting_images
            cd "$BUILD"
            cat images/libqemu-aarch64.so profile/images/{firmware/bios,libqemu-aarch64.so}
            grep -o '"size": .' profile/images/manifest.json
        """)
        self.assertEqual((code, text), (0, 'usual\nusual\ncounts\n"size": 6\n"size": 7\n'))

    LINKED = """
        step() { if [[ $1 == qemu-libraries ]]; then echo "${@: -2:1}"; fi; }
        fetched_qemu() { tested_qemu; }
        needs_meson() { false; }
        mkdir -p "$BUILD"/{profile,qemu/archive,qemu/src} "$OVERLAY"
        touch "$OVERLAY/link" "$BUILD/qemu/src/VERSION"
        steps_qemu
        echo some >"$BUILD/profile/name"
        steps_qemu
        mkdir "$BUILD/qemu/counting"
        steps_qemu
    """

    def test_the_libraries_are_of_the_objects_that_a_profile_of_qemu_made(self):
        self.assertEqual(self.bash(self.LINKED), (0, "build\nbuild\nprofiled\n"))


if __name__ == "__main__":
    unittest.main()
