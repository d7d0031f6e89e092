# SPDX-License-Identifier: Apache-2.0
"""Applies deliberate defects, one at a time, to a copy of the sources, and expects that tests fail. Called by
scripts/mutations.

The copy is laid out like a clone, with its build directory in it, so that the compiler cache knows most of its files.
"""

import argparse
import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from typing import Dict, Iterator, List, Optional, Sequence, Set

LIBRARY = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
FOLDER = pathlib.Path("tests", "mutations")
QEMU_OVERLAY = "vp/qemu/overlay/"
# The images that a test needs besides programs: oae-vp boots what these folders build.
SYSTEM_FOLDERS = ("platforms", "firmware", "guest", "tests/firmware", "tests/system")
# The images of the build, and their names among the images of setup.
BUILT_IMAGES = {"guest/initramfs.cpio": "initramfs.cpio", "firmware/oae-fw.elf": "oae-fw.elf",
                "guest/initramfs-6.12.cpio": "kernels/6.12/initramfs.cpio",
                "guest/initramfs-newest.cpio": "kernels/newest/initramfs.cpio"}
SECONDS_AT_MOST = 300  # for one test


class Failure(Exception):
    """Nothing was proved; the message gives the reason and a remedy."""


@dataclasses.dataclass
class Mutation:
    name: str
    patch: pathlib.Path
    text: str  # what is broken
    tests: str  # a regular expression of ctest
    files: List[str]  # that it changes

    @classmethod
    def read(cls, patch: pathlib.Path) -> "Mutation":
        """Raises Failure if the file is incomplete."""
        head, diff, rest = patch.read_text().partition("\n--- a/")
        lines = [line for line in head.splitlines() if not line.startswith(("diff --git ", "index "))]
        tests = [line.partition(":")[2].strip() for line in lines if line.startswith("Caught by:")]
        text = [line for line in lines if line and not line.startswith(("SPDX-License-Identifier:", "Caught by:"))]
        for good, wanted in (
            (lines and lines[0].startswith("SPDX-License-Identifier:"), "begin with a line SPDX-License-Identifier"),
            (text, "say what is broken"),
            (len(tests) == 1 and tests[0], "have one line 'Caught by: REGEX'"),
            (diff, "hold a difference, as 'git diff' writes it"),
        ):
            if not good:
                raise Failure(f"{FOLDER / patch.name} has to {wanted}")
        files = re.findall(r"^\+\+\+ b/(\S+)", diff + rest, re.MULTILINE)
        return cls(patch.stem, patch, " ".join(text), tests[0], files)


class Stage:
    """A line with a name and its result. A terminal shows the progress meanwhile."""

    def __init__(self, name: str):
        self.name, self.start, self.begun = name, time.monotonic(), False

    @property
    def seconds(self) -> int:
        return round(time.monotonic() - self.start)

    def show(self, what: str) -> None:
        if sys.stdout.isatty():
            print(f"\r\033[K{self.name}  {what} ... {self.seconds} s", end="", flush=True)
        elif not self.begun:
            print(self.name, end="", flush=True)
        self.begun = True

    def end(self, text: str) -> None:
        begun = "\r\033[K" + self.name if sys.stdout.isatty() else "" if self.begun else self.name
        print(f"{begun}  {text}  {self.seconds} s", flush=True)

    def run(self, what: str, command: Sequence[str], log: pathlib.Path, **more) -> int:
        """Runs a command, which ends with this process, adds its output to the log, and returns its exit code."""
        with open(log, "ab") as output:
            more.update(stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
            process = subprocess.Popen(command, **more)
            try:
                while True:
                    self.show(what)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        return process.wait(timeout=0.5)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGTERM)
                    process.wait()


def files_of(root: pathlib.Path) -> Iterator[str]:
    """The names of a source tree's files, except those of git and of builds."""
    for folder, folders, files in os.walk(root):
        at = pathlib.Path(folder).relative_to(root)
        folders[:] = sorted(name for name in folders if name not in (".git", "__pycache__")
                            and not (at == pathlib.Path() and (name == "build" or name.startswith("build-"))))
        yield from ((at / name).as_posix() for name in sorted(files))


class Copy:
    """A copy of a source tree with its own build."""

    def __init__(self, root: pathlib.Path, build: pathlib.Path, jobs: int):
        self.root, self.original, self.jobs = root, build, jobs
        self.folder = build / "mutations"
        self.source = self.folder / "source"
        self.build = self.source / "build"
        self.cmake = self.build / "cmake"
        self.images = self.build / "images"
        self.images.mkdir(parents=True, exist_ok=True)
        self.logs = build / "log" / "mutations"
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self.digest = ""  # of the sources without any defect, and of the images of setup
        self.environment = {**os.environ, "CCACHE_BASEDIR": str(self.source)}

    def log(self, name: str) -> pathlib.Path:
        return self.logs / f"{name}.log"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        with open(self.folder / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"scripts/mutations: another run uses {self.folder}; waiting for it.", file=sys.stderr)
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def refresh(self) -> None:
        """Makes the copy equal to the clone. Unchanged files keep their time, so that ninja builds little. Changed files
        get a new time, also when they return to an earlier state."""
        present: Set[str] = set()
        digest = hashlib.sha256((self.original / "images" / "manifest.json").read_bytes())
        for name in files_of(self.root):
            origin, copy = self.root / name, self.source / name
            if not origin.is_file():  # a link that leads nowhere
                continue
            present.add(name)
            data, mode = origin.read_bytes(), origin.stat().st_mode
            if FOLDER.as_posix() not in name:
                digest.update(b"%s\0%d\0%s" % (os.fsencode(name), len(data), data))
            if not copy.is_file() or copy.read_bytes() != data:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(data)
            if copy.stat().st_mode != mode:
                copy.chmod(mode)
        for path in sorted(self.source.rglob("*"), reverse=True):
            name = path.relative_to(self.source).as_posix()
            if name != "build" and not name.startswith("build/") and name not in present:
                if not path.is_dir():
                    path.unlink()
                elif not any(path.iterdir()):
                    path.rmdir()
        self.digest = digest.hexdigest()

    def configure(self, stage: Stage) -> None:
        cache = (self.original / "cmake" / "CMakeCache.txt").read_text()
        same = ("CMAKE_BUILD_TYPE", "Python3_EXECUTABLE", "OAE_VP_KERNEL_RELEASE", "OAE_VP_KERNEL_SOURCE", "OAE_VP_KERNELS")
        options = re.findall(rf"^((?:{'|'.join(same)}):\w+=.*)$", cache, re.MULTILINE)
        command = ["cmake", "-G", "Ninja", "-S", str(self.source), "-B", str(self.cmake)]
        command += [f"-DOAE_VP_IMAGES={self.images}", *(f"-D{option}" for option in options)]
        if stage.run("configuring", command, self.log("unchanged"), env=self.environment) != 0:
            raise Failure(f"the copy cannot be configured; see {self.log('unchanged')}, and whether 'scripts/test' passes")

    def tests(self, pattern: str) -> Dict[str, List[str]]:
        """The tests that match and the targets that each needs, from the build of the original."""
        command = ["ctest", "--test-dir", str(self.original / "cmake"), "--show-only=json-v1", "-R", pattern]
        listing = subprocess.run(command, capture_output=True, check=False)
        if listing.returncode != 0:
            raise Failure(f"ctest does not accept '{pattern}': {listing.stderr.decode(errors='replace').strip()}")
        folder = f"{self.original / 'cmake'}/"
        everything = [f"{one}/all" for one in SYSTEM_FOLDERS if (self.source / one / "CMakeLists.txt").exists()]

        def programs(words: List[str]) -> List[str]:
            """Those of the build among the words."""
            built = [word for word in words if word.startswith(folder) and not pathlib.Path(word).is_dir()]
            return [word[len(folder) :] for word in built]

        def needed(test: dict) -> List[str]:
            """A test is a program, or its arguments name the programs that it runs. Others run whole machines, and their
            environment names what they need beside these."""
            variables = [one["value"] for one in test.get("properties", []) if one["name"] == "ENVIRONMENT"]
            words = [word for values in variables for value in values for word in value.partition("=")[2].split(":")]
            return programs(test["command"]) or [*everything, *programs(words)]

        return {test["name"]: needed(test) for test in json.loads(listing.stdout)["tests"] if test.get("command")}

    def known_to_pass(self) -> Set[str]:
        """Tests that have passed on the same sources without any defect."""
        try:
            known = json.loads((self.folder / "passed.json").read_text())
        except (OSError, ValueError):
            return set()
        return set(known["tests"]) if known["digest"] == self.digest else set()

    def pass_known(self, tests: Set[str]) -> None:
        known = {"digest": self.digest, "tests": sorted(tests)}
        (self.folder / "passed.json").write_text(json.dumps(known, indent=2) + "\n")

    def make(self, targets: List[str], stage: Stage, log: pathlib.Path) -> None:
        command = ["ninja", "-C", str(self.cmake), "-j", str(self.jobs), *targets]
        if stage.run("building", command, log, env=self.environment) != 0:
            raise Failure(f"it does not build; see {log}")
        self.place_images()

    def place_images(self) -> None:
        """Copies the images of the original, except those that the copy builds."""
        changed = False
        for origin in (self.original / "images").rglob("*"):
            name = origin.relative_to(self.original / "images").as_posix()
            image = self.images / name
            if not origin.is_file() or name in ("manifest.json", *BUILT_IMAGES.values()):
                continue
            if not image.exists() or not image.samefile(origin):
                image.parent.mkdir(parents=True, exist_ok=True)
                image.unlink(missing_ok=True)
                os.link(origin, image)
                changed = True
        for name, place in BUILT_IMAGES.items():
            built, image = self.cmake / name, self.images / place
            if built.exists() and (not image.exists() or built.read_bytes() != image.read_bytes()):
                image.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(built, image)
                changed = True
        if changed:
            subprocess.run([PYTHON, "-I", str(LIBRARY / "manifest.py"), str(self.images)], check=True)

    def failing(self, pattern: str, stage: Stage, log: pathlib.Path) -> List[str]:
        """Runs the tests that match, and returns those that fail."""
        results = self.folder / "results.xml"
        results.unlink(missing_ok=True)
        command = ["ctest", "--test-dir", str(self.cmake), "-R", pattern, "--parallel", str(self.jobs)]
        command += ["--timeout", str(SECONDS_AT_MOST), "--no-tests=error", "--output-on-failure"]
        command += ["--output-junit", str(results)]
        code = stage.run("testing", command, log, env=self.environment)
        try:
            cases = list(xml.parse(results).getroot().iter("testcase"))
        except (OSError, xml.ParseError) as error:
            raise Failure(f"ctest left no results ({error}); see {log}") from error
        # A test that could not run says nothing about the defect.
        missing = [case.get("name") for case in cases if case.get("status") == "notrun" and not skipped_itself(case)]
        failed = [case.get("name") for case in cases if case.get("status") == "fail"]
        if missing or (code != 0 and not failed):
            raise Failure(f"tests could not be run: {', '.join(missing) or f'ctest ended with {code}'}; see {log}")
        return failed

    def apply(self, mutation: Mutation, log: pathlib.Path) -> None:
        command = ["patch", "-d", str(self.source), "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-f", "-i"]
        done = subprocess.run([*command, str(mutation.patch)], capture_output=True, check=False)
        log.write_bytes(done.stdout + done.stderr)
        if done.returncode != 0:
            where = f"{FOLDER / mutation.patch.name} to {', '.join(mutation.files)}"
            raise Failure(f"it does not apply: adapt {where}; see {log}")


def skipped_itself(case: xml.Element) -> bool:
    reason = case.find("skipped")
    return reason is not None and (reason.get("message") or "").startswith("SKIP_R")


def shown(tests: List[str], most: int = 3) -> str:
    tests = [test.partition("  #")[0] for test in tests]  # without the parameters of GoogleTest
    return ", ".join(tests[:most]) + (f" and {len(tests) - most} more" if len(tests) > most else "")


def check(copy: Copy, mutation: Mutation, targets: List[str]) -> bool:
    """Returns whether the mutation is caught, and prints its line."""
    stage, log = Stage(mutation.name), copy.log(mutation.name)
    caught = False
    try:
        copy.apply(mutation, log)
        copy.make(targets, stage, log)
        failed = copy.failing(mutation.tests, stage, log)
        caught = bool(failed)
        stage.end(f"caught by {shown(failed)}" if caught else f"SURVIVED {mutation.tests}; see {log}")
    except Failure as failure:
        stage.end(f"PROVES NOTHING: {failure}")
    finally:
        copy.refresh()
    return caught


def check_unchanged(copy: Copy, tests: Dict[str, Set[str]], targets: List[str]) -> bool:
    """Returns whether all tests that match the patterns pass without a defect, and prints the line."""
    stage, log = Stage("unchanged"), copy.log("unchanged")
    try:
        copy.configure(stage)
        copy.make(targets, stage, log)
        known = copy.known_to_pass()
        for pattern, names in tests.items():  # one by one, since ctest's expressions must be small
            if names <= known:
                continue
            failed = copy.failing(pattern, stage, log)
            if failed:
                raise Failure(f"without any defect, {shown(failed)} fails too; see {log}")
            known |= names
            copy.pass_known(known)
    except Failure as failure:
        stage.end(f"PROVES NOTHING: {failure}")
        return False
    stage.end(f"passes the {len(set().union(*tests.values()))} tests that should catch a mutation")
    return True


def check_all(copy: Copy, mutations: List[Mutation]) -> bool:
    """Returns whether all mutations are caught."""
    copy.refresh()
    sound, targets, tests, good = [], {}, {}, True
    for mutation in mutations:
        needed = copy.tests(mutation.tests)
        why: Optional[str] = None
        if not needed:
            why = f"no test matches '{mutation.tests}'; 'scripts/test --list' lists them"
        elif any(name.startswith(QEMU_OVERLAY) for name in mutation.files):
            why = f"changes {QEMU_OVERLAY}, and QEMU is not built anew here; break what calls it instead"
        if why:
            Stage(mutation.name).end(f"PROVES NOTHING: {why}")
            good = False
            continue
        sound.append(mutation)
        targets[mutation.name] = sorted({target for one in needed.values() for target in one})
        tests[mutation.tests] = set(needed)
    if not sound or not check_unchanged(copy, tests, sorted({one for some in targets.values() for one in some})):
        return False
    for mutation in sound:
        good &= check(copy, mutation, targets[mutation.name])
    return good


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/mutations", add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()

    folder = options.root / FOLDER
    patches = [folder / f"{name}.patch" for name in options.names] or sorted(folder.glob("*.patch"))
    if not patches:
        raise Failure(f"there are no mutations in {folder}")
    mutations = [Mutation.read(patch) for patch in patches]
    if options.list:
        for mutation in mutations:
            print(f"{mutation.name}\n    {mutation.text}\n    caught by {mutation.tests}")
        return 0
    copy = Copy(options.root, options.build, options.jobs)
    with copy.locked():
        good = check_all(copy, mutations)
    return 0 if good else 1


def leave(number: int, _) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, leave)  # what it has started ends with it
    signal.signal(signal.SIGHUP, leave)
    with contextlib.suppress(BrokenPipeError):
        try:
            sys.exit(main())
        except Failure as failure:
            print(f"scripts/mutations: {failure}", file=sys.stderr)
            sys.exit(1)
        except KeyboardInterrupt:
            print("\nscripts/mutations: interrupted; the next run puts the copy right.", file=sys.stderr)
            sys.exit(130)
