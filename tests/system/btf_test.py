# SPDX-License-Identifier: Apache-2.0
"""A further kernel accepts the BTF of modules: the driver's, and that of a module whose function BPF programs call.

OAE_VP_KFUNC_PROBE names that module, which is built from tests/system/kfunc_probe for the kernel of OAE_VP_KERNEL, and
OAE_VP_KFUNC_CALL the program that has BPF call its function.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

import machine

PROBE = pathlib.Path(os.environ.get("OAE_VP_KFUNC_PROBE", ""))
SCRIPT = """
cat /sys/kernel/btf/oae > /share/oae.btf
insmod /share/kfunc_probe.ko
cat /sys/kernel/btf/kfunc_probe > /share/kfunc_probe.btf
/share/call kfunc_probe kfunc_probe_twice 21 > /share/result
# The kernel frees a BPF program a moment after it ended.
for try in $(seq 20); do rmmod kfunc_probe && break; sleep 0.1; done
test ! -e /sys/module/kfunc_probe
dmesg -r > /share/dmesg
"""

FUNC, DECL_TAG = 12, 17
# Bytes behind a type's first 12, by its kind: so many, and so many for each member
FIXED = {1: 4, 3: 12, 14: 4, DECL_TAG: 4}
EACH = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}


class Btf:
    """The types of a section .BTF as (name, kind, type that it is about). Those of `base` come first."""

    def __init__(self, data, base=None):
        magic, _, _, head, types, types_size, strings, strings_size = struct.unpack_from("<HBBIIIII", data)
        assert magic == 0xEB9F
        self.strings = (base.strings if base else b"") + data[head + strings:][:strings_size]
        self.types = list(base.types) if base else [("", 0, 0)]
        at, end = head + types, head + types + types_size
        while at < end:
            name, info, about = struct.unpack_from("<III", data, at)
            kind = info >> 24 & 31
            self.types.append((self.string(name), kind, about))
            at += 12 + FIXED.get(kind, 0) + EACH.get(kind, 0) * (info & 0xFFFF)
        assert at == end

    def string(self, offset):
        return self.strings[offset:self.strings.index(b"\0", offset)].decode()

    def tags(self):
        """(name of the function, tag) of each tag that a function has."""
        return {(self.types[about][0], name) for name, kind, about in self.types
                if kind == DECL_TAG and self.types[about][1] == FUNC}


def section(module, name):
    """The bytes of a section of an object file."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["objcopy", f"--dump-section={name}={file.name}", module, "/dev/null"], check=True)
        return pathlib.Path(file.name).read_bytes()


class Modules(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SCRIPT)
        for file in (PROBE, os.environ.get("OAE_VP_KFUNC_CALL", "")):
            shutil.copy(file, cls.run_.share)
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def test_the_guest_has_their_btf(self):
        for name in ("oae", "kfunc_probe"):
            self.assertEqual((self.run_.share / f"{name}.btf").read_bytes()[:2], b"\x9f\xeb", name)

    def test_the_kernel_has_no_complaint(self):
        # Without BTF it complains as the module registers its function.
        said = machine.kernel_messages(self.run_.file("dmesg"), 4)
        self.assertEqual([line for line in said if "BTF" in line or "BPF" in line], [])

    def test_a_bpf_program_calls_the_function(self):
        self.assertEqual(self.run_.file("result"), "42\n")

    def test_functions_for_bpf_are_tagged_and_found(self):
        btf = Btf(section(PROBE, ".BTF"), Btf(section(PROBE, ".BTF.base")))
        self.assertEqual(btf.tags(), {("kfunc_probe_twice", "bpf_kfunc")})
        # What is registered: a set of one pair, for functions; without resolve_btfids the set is empty, and nobody complains.
        count, functions, found, flags = struct.unpack("<4I", section(PROBE, ".BTF_ids"))
        self.assertEqual((count, functions, btf.types[found][:2], flags), (1, 1, ("kfunc_probe_twice", FUNC), 0))


if __name__ == "__main__":
    machine.main()
