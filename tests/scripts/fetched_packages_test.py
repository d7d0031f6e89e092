#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of how setup fetches packages for the guest. apt is the machine's, and the archive is a folder of the test.

Usage: fetched_packages_test.py [GROUP[.CASE]]...
"""

import hashlib
import shutil
import subprocess
import unittest

from in_folder import WithLibrary

CONTROL = "Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: a <a@b>\nDescription: c\n{fields}"
# Its packages: version, fields, and the file that each holds
PACKAGES = {
    "tool": ("1:2.0-1", "Depends: libtool-own (>= 3)\nRecommends: extra\n", "usr/bin/tool"),
    "libtool-own": ("3.1", "", "usr/lib/x86_64-linux-gnu/tool.txt"),
    "extra": ("1", "Provides: thing\n", "usr/bin/extra"),
    "another": ("1", "Provides: thing\n", "usr/bin/another"),
    # This machine has dpkg, but the test's archive has not.
    "needy": ("1", "Depends: dpkg\n", "usr/bin/needy"),
}
APT = """
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferencesparts "-";
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
"""


class WithArchive(WithLibrary):
    def setUp(self):
        super().setUp()
        for folder in ("archive", "lists/partial", "cache/archives/partial"):
            (self.folder / folder).mkdir(parents=True)
        self.write("apt.conf", APT.format(folder=self.folder))
        self.write("sources.list", f"deb [trusted=yes] copy:{self.folder}/archive ./\n")
        self.hashes = {name: self.package(name, *about) for name, about in PACKAGES.items()}
        self.update()

    def update(self):
        subprocess.run(["apt-get", "-q", "update"], env={"APT_CONFIG": str(self.folder / "apt.conf"), "PATH": "/usr/bin:/bin"},
                       check=True, stdout=subprocess.DEVNULL)

    def package(self, name, version, fields, file):
        """Adds it to the archive. Returns its hash."""
        control = CONTROL.format(name=name, version=version, fields=fields)
        self.write(f"tree/{name}/DEBIAN/control", control)
        self.write(f"tree/{name}/{file}", name)
        deb = self.folder / "archive" / f"{name}.deb"
        subprocess.run(["dpkg-deb", "-b", self.folder / "tree" / name, deb], check=True, stdout=subprocess.DEVNULL)
        digest = hashlib.sha256(deb.read_bytes()).hexdigest()
        with open(self.folder / "archive/Packages", "a", encoding="utf-8") as index:
            index.write(f"{control}Filename: ./{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\n\n")
        return digest


class Archive(WithArchive):
    CALL = """
        for part in kernel guest_packages; do source "$LIBRARY/$part.sh"; done
        machine_archive() { echo "copy:$FOLDER/archive"; }
        can_be_root() { return 1; }
        export APT_CONFIG=$FOLDER/apt.conf
        steps_guest_packages $NAMES
    """

    def fetch(self, *names):
        return self.bash(self.CALL, NAMES=" ".join(names))

    def made(self, names):
        return self.folder / "build/packages" / names

    def files(self, names):
        with open(self.made(names) / "files.cpio", "rb") as archive:
            listed = subprocess.run(["cpio", "-t", "--quiet"], stdin=archive, stdout=subprocess.PIPE, text=True, check=True)
        return {file for _, _, file in PACKAGES.values()} & set(listed.stdout.splitlines())

    def test_a_package_comes_with_what_it_depends_on_and_not_more(self):
        code, text = self.fetch("tool")
        self.assertEqual(code, 0, text)
        self.assertEqual((self.made("tool") / "packages").read_text(),
                         f"libtool-own 3.1 {self.hashes['libtool-own']}\ntool 1:2.0-1 {self.hashes['tool']}\n")
        self.assertEqual(self.files("tool"), {"usr/bin/tool", "usr/lib/x86_64-linux-gnu/tool.txt"})
        self.assertEqual({file.name for file in self.made("tool").iterdir()}, {"files.cpio", "packages"})

    def test_what_is_there_is_not_fetched_again(self):
        self.assertEqual(self.fetch("tool", "another")[0], 0)
        self.assertEqual(self.files("another,tool"), {"usr/bin/tool", "usr/lib/x86_64-linux-gnu/tool.txt", "usr/bin/another"})
        shutil.rmtree(self.folder / "archive")
        self.assertEqual(self.fetch("another", "tool"), (0, ""))
        (self.made("another,tool") / "packages").unlink()
        self.assertEqual(self.fetch("another", "tool")[0], 1)

    def test_names_that_the_archive_does_not_have(self):
        for name, said in (("tol", "(another tol): Unable to locate package tol. "),
                           ("thing", "'thing' has no installation candidate. ")):
            code, text = self.fetch("another", name)
            self.assertEqual(code, 1, text)
            for part in (said, "apt-cache search WORD", "apt-get update"):
                self.assertIn(part, text)
            self.assertEqual(len(text.splitlines()), 3, text)
            self.assertFalse(self.made(f"another,{name}").exists())

    def test_what_the_machine_has_installed_does_not_count(self):
        code, text = self.fetch("needy")
        self.assertEqual(code, 1, text)
        self.assertIn("apt cannot find these packages with all that they depend on (needy)", text)

    def test_an_archive_that_cannot_be_reached_or_has_changed(self):
        (self.folder / "archive/libtool-own.deb").write_text("forged")
        code, text = self.fetch("tool")
        self.assertEqual(code, 1, text)
        shutil.rmtree(self.folder / "archive")
        for names in (("tool",), ("another",)):
            code, text = self.fetch(*names)
            self.assertEqual(code, 1, text)
            self.assertIn(f"{names[0]}, or those that they depend on, cannot be fetched", text)
            self.assertIn(f"copy:{self.folder}/archive", text)

    def test_a_machine_without_an_archive(self):
        self.CALL = self.CALL.replace('echo "copy:$FOLDER/archive"', "true")
        code, text = self.fetch("tool")
        self.assertEqual(code, 1, text)
        self.assertIn("names no Debian archive", text)
        self.assertIn("do without these packages", text)

    def test_many_names_have_a_folder_too(self):
        names = [f"package-{number}" for number in range(100)]
        code, text = self.bash('source "$LIBRARY/guest_packages.sh"; guest_packages_folder $NAMES', NAMES=" ".join(names))
        self.assertEqual(code, 0, text)
        self.assertRegex(text, rf"^{self.folder}/build/packages/[0-9a-f]{{64}}\n$")


class DebianGuest(WithArchive):
    """The disk of a Debian guest. How it is made is not the subject here."""

    CALL = """
        for part in kernel guest_packages debian_guest; do source "$LIBRARY/$part.sh"; done
        machine_archive() { echo "copy:$FOLDER/archive"; }
        can_be_root() { return 1; }
        make_debian_image() { echo "$* $(cd "$BUILD/debian/debs" && ls | sed 's/_.*//' | paste -sd ' ')" >"$BUILD/images/debian.img"; }
        export APT_CONFIG=$FOLDER/apt.conf
        check_package_names ${NAMES-}
        if [[ ${INIT-} ]]; then steps_debian_guest "$INIT" "${SIZE-}" ${NAMES-}; else steps_debian_guest_again; fi
    """
    BASE = "base e2fsprogs kmod login mount passwd pciutils procps usr-is-merged"

    def setUp(self):
        super().setUp()
        for name in f"{self.BASE} systemd-sysv sysvinit-core".split():
            self.package(name, "1", "Essential: yes\n" if name == "base" else "", f"usr/bin/{name}")
        self.update()

    def make(self, **variables):
        """Returns what is on the disk: init, size and names."""
        code, text = self.bash(self.CALL, **variables)
        self.assertEqual(code, 0, text)
        return (self.folder / "build/images/debian.img").read_text().strip()

    def on(self, init, *more):
        return " ".join(sorted([*self.BASE.split(), init, *more]))

    def test_it_has_the_essential_packages_an_init_and_what_is_asked_for(self):
        self.assertEqual(self.make(INIT="systemd"), f"systemd  {self.on('systemd-sysv')}")
        self.assertEqual(self.make(INIT="sysv", SIZE="2G", NAMES="tool"), f"sysv 2G {self.on('sysvinit-core', 'tool', 'libtool-own')}")
        recorded = (self.folder / "build/debian/packages").read_text()
        self.assertIn(f"tool 1:2.0-1 {self.hashes['tool']}\n", recorded)
        self.assertEqual(len(recorded.splitlines()), 12)

    def test_what_was_asked_for_last_is_made_again(self):
        self.assertEqual(self.make(), f"systemd  {self.on('systemd-sysv')}")
        asked = self.make(INIT="sysv", NAMES="another")
        self.assertEqual(self.make(), asked)
        (self.folder / "build/images/debian.img").unlink()
        self.assertEqual(self.make(), asked)
        shutil.rmtree(self.folder / "archive")
        self.assertEqual(self.bash(self.CALL, INIT="sysv", NAMES="another"), (0, ""), "everything is there")

    def test_names_that_the_archive_does_not_have(self):
        code, text = self.bash(self.CALL, INIT="systemd", NAMES="tol")
        self.assertEqual(code, 1, text)
        for part in ("Unable to locate package tol", "apt-cache search WORD"):
            self.assertIn(part, text)
        self.assertFalse((self.folder / "build/images/debian.img").exists())


if __name__ == "__main__":
    unittest.main()
