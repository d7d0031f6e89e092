# SPDX-License-Identifier: Apache-2.0
"""What determines the result of a run: the machine, the images, and the files that its guest has."""

import hashlib
import json
import pathlib
import sys
from typing import Dict, List

from study.loads import LOADS, traces
from study.loads.load import Load
from study.matrix import KERNEL, PLATFORM, Run
from study.variants import VARIANTS

ROOT = pathlib.Path(__file__).resolve().parents[3]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def release_of(image: bytes) -> str:
    """The release of a Linux for x86, which its header refers to (Documentation/arch/x86/boot.rst)."""
    if image[0x202:0x206] != b"HdrS":
        raise OSError("the kernel's image is no bzImage")
    text = image[0x200 + int.from_bytes(image[0x20E:0x210], "little") :].split(b"\0", 1)[0]
    return text.split(b" ", 1)[0].decode()


def readers(load: Load) -> List[pathlib.Path]:
    """The modules that say what the guest of a load does, and that read what comes of it."""
    names = {each.__module__ for each in type(load).__mro__ if each.__module__.startswith("study.loads.")}
    if load.tools:
        names.add(traces.__name__)
    return [pathlib.Path(sys.modules[name].__file__) for name in sorted(names)]


class Inputs:
    """The files of a build, and their hashes."""

    def __init__(self, build: pathlib.Path):
        self.build = build / "cmake"
        self.images = build / "images"
        self.program = self.build / "platforms" / "oae-vp"
        self.core = sorted(self.program.parent.glob("liboae-vp.so.*"))  # the program's own code
        self.platform = ROOT / "platforms" / f"{PLATFORM}.yaml"
        self.kernel = self.images / "kernels" / KERNEL / "vmlinuz"
        self.initramfs = self.images / "kernels" / KERNEL / "initramfs.cpio"
        self.release = release_of(self.kernel.read_bytes())
        guest_build = self.build / "guest" / "scheduling"
        # All machines have the files of all variants, since a guest's boot depends on what it has to unpack.
        modules = sorted({module for variant in VARIANTS.values() for module, _ in variant.modules})
        self.guest_files: List[pathlib.Path] = [guest_build / KERNEL / f"{module}.ko" for module in modules]
        programs = sorted({program for load in LOADS.values() for program in load.programs})
        self.guest_files += [self.build / program for program in programs]
        tools = sorted({tool for load in LOADS.values() for tool in load.tools})
        self.tools = {tool: sha256((self.build / tool).read_bytes()) for tool in tools}
        firmware = sorted({load.firmware for load in LOADS.values() if load.firmware})
        self.firmware = {each: sha256((self.build / each).read_bytes()) for each in firmware}
        self.hashes = self._hashes()

    def _hashes(self) -> Dict[str, str]:
        common = [path for path in sorted(self.images.iterdir())
                  if path.is_file() and path.name not in ("manifest.json", "vmlinuz", "initramfs.cpio")]  # fmt: skip
        common += sorted((self.images / "firmware").iterdir())
        common += [self.program, *self.core, self.platform, *self.guest_files]
        found = {path.name: sha256(path.read_bytes()) for path in common}
        found[f"linux {self.release}"] = sha256(self.kernel.read_bytes())
        found["initramfs"] = sha256(self.initramfs.read_bytes())
        return found

    def key(self, run: Run) -> str:
        """Another key stands for another result, as far as files and options say."""
        load = LOADS[run.load]
        determined_by = {
            "hashes": self.hashes,
            "values": run.values(),
            "boot": load.boot(),
            "command": load.command(run),
            "tools": [self.tools[tool] for tool in load.tools],
            "firmware": self.firmware.get(load.firmware),
            "read by": [sha256(path.read_bytes()) for path in readers(load)],
        }
        return sha256(json.dumps(determined_by, sort_keys=True).encode())
