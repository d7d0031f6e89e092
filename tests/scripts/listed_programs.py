# SPDX-License-Identifier: Apache-2.0
"""The programs that a bare Debian has once the packages of some lists of scripts/lib are installed on it."""

import pathlib
import re
import subprocess

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "lib"
FOLDERS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin")


def listed(*lists):
    """The packages of `packages` and of packages-LIST for each list."""
    found = []
    for name in ("packages", *(f"packages-{one}" for one in lists)):
        lines = (line.partition("#")[0].strip() for line in (LIBRARY / name).read_text().splitlines())
        found += [line for line in lines if line]
    return found


def packages(*lists):
    """Those with all that they depend on, and what every Debian has. Of alternatives, the one that is installed counts."""
    fields = ("Package", "db:Status-Status", "Essential", "Priority", "Pre-Depends", "Depends", "Provides")
    form = "\\t".join(f"${{{field}}}" for field in fields) + "\\n"
    installed = subprocess.run(["dpkg-query", "-W", "-f", form], check=True, stdout=subprocess.PIPE, text=True).stdout
    needs, providers, todo = {}, {}, ["apt", *listed(*lists)]
    for line in installed.splitlines():
        name, status, essential, priority, before, depends, provides = line.split("\t")
        if status != "installed":
            continue
        needs[name] = re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]+)", f"{before}, {depends}")
        for one in re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]+)", provides):
            providers.setdefault(one, []).append(name)
        if essential == "yes" or priority == "required":
            todo.append(name)
    found = set()
    while todo:
        name = todo.pop()
        if name in found:
            continue
        if name in needs:
            found.add(name)
            todo += needs[name]
        else:
            todo += [one for one in providers.get(name, []) if one not in found]
    return found


def programs(*lists):
    """Their names, each with its path."""
    found, wanted = {}, packages(*lists)
    for file in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
        if file.stem.partition(":")[0] not in wanted:
            continue
        for path in map(pathlib.Path, file.read_text().splitlines()):
            if str(path.parent) in FOLDERS and path.exists():
                found[path.name] = path
    for link in pathlib.Path("/etc/alternatives").iterdir():
        if link.exists() and link.resolve().name in found and link.name not in found:
            found[link.name] = link
    return found


def folder_of(folder, *lists):
    """Fills a folder with links to them, which is then a PATH."""
    folder.mkdir()
    for name, path in programs(*lists).items():
        (folder / name).symlink_to(path)
    return folder
