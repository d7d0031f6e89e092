#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of how setup fetches the sources of QEMU and of the kernel. Nothing is downloaded.

Usage: sources_test.py [GROUP[.CASE]]...
"""

import os
import shutil
import subprocess
import unittest

from in_folder import WithLibrary


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
        "tools/testing/selftests/kselftest.h",
        "tools/testing/selftests/kselftest_harness.h",
        "tools/testing/selftests/lib.mk",
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


if __name__ == "__main__":
    unittest.main()
