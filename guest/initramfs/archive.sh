# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Used by the programs of this folder: the folders of the guest's file system, and how they become an archive.

# make_folders ROOT: as in Debian, the programs and libraries are in /usr, and the other places are links. All programs are
# in /usr/bin.
make_folders() {
  local root=$1
  mkdir -p "$root"/usr/{bin,lib/x86_64-linux-gnu,lib64}
  ln -s usr/bin "$root/bin"
  ln -s usr/bin "$root/sbin"
  ln -s bin "$root/usr/sbin"
  ln -s usr/lib "$root/lib"
  ln -s usr/lib64 "$root/lib64"
}

# write_archive ROOT FILE: the same contents give the same bytes. The size is a multiple of 512, so that another archive can
# follow. ROOT.cpio exists meanwhile, so that FILE is whole or does not exist.
write_archive() {
  local root=$1 file=$2
  find "$root" -exec touch -h -d @0 {} +
  (cd "$root" && find . -mindepth 1 -print0 | sort -z |
    cpio -o -0 -H newc -R +0:+0 --reproducible --quiet) > "$root.cpio"
  mv "$root.cpio" "$file"
}
