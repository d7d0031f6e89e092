# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Fetches Debian packages for the guest with all that they depend on, without installing them on the machine.
#
# BUILD/packages/NAMES holds `files.cpio`, an archive of their files that goes behind an initramfs, and `packages` (a line
# each: name, version, SHA-256).

# The packages that tests have in the guest, each in a folder of its own.
TESTED_GUEST_PACKAGES=(fio nvme-cli rocksdb-tools)

check_package_names() {
  local name
  for name; do
    if [[ ! $name =~ ^[a-z0-9][a-z0-9+.-]+$ ]]; then
      usage_error "'$name' is no name of a Debian package, which has small letters, digits and +.- only"
    fi
  done
}

# guest_packages_folder NAME...: the order of the names does not matter. A file name may have 255 characters.
guest_packages_folder() {
  local names
  names=$(printf '%s\n' "$@" | sort -u | paste -sd ,)
  if ((${#names} > 200)); then names=$(sha256sum <<<"$names" | cut -c 1-64); fi
  printf '%s\n' "$BUILD/packages/$names"
}

# Prints the errors among what apt has said as one line.
errors_of_apt() { sed -nE 's/^E: (.*[^.])\.?$/\1/p' <<<"$1" | paste -sd ';'; }

# Downloads packages into the current folder, with all that they depend on. The machine's own package lists say what there is.
download_with_dependencies() {
  local configuration=$1 said packages
  shift
  if ! said=$(with_dependencies "$configuration" "$@" 2>&1); then
    printf '%s\n' "$said"
    fail "apt cannot find these packages with all that they depend on ($*): $(errors_of_apt "$said")." \
      "'apt-cache search WORD' lists names; 'apt-get update' as root brings the machine's package lists up to date."
  fi
  mapfile -t packages < <(grep -E '^[^ =]+=[^ ]+$' <<<"$said")
  printf '%s\n' "${packages[@]}"
  apt-get -c "$configuration" "${APT_OPTIONS[@]}" download "${packages[@]}"
}

# fetch_packages FOLDER REMEDY NAME...: makes FOLDER/debs anew with these and all that they depend on, and goes there. The REMEDY
# is that of find_archive.
fetch_packages() {
  local folder=$1 archive
  archive=$(find_archive "$2")
  shift 2
  rm -rf "$folder"
  mkdir -p "$folder/debs"
  cd "$folder/debs"
  nothing_installed "$folder/apt" >"$folder/apt.conf"
  download_with_dependencies "$folder/apt.conf" "$@" ||
    { can_be_root && update_lists && download_with_dependencies "$folder/apt.conf" "$@"; } ||
    fail "The packages $*, or those that they depend on, cannot be fetched from this machine's archive ($archive)."
  rm -r "$folder"/apt{,.conf}
}

# fetch_guest_packages NAME...: makes their folder.
fetch_guest_packages() {
  local folder work=$BUILD/debs/packages
  folder=$(guest_packages_folder "$@")
  fetch_packages "$work" "do without these packages" "$@"
  rm -rf "$folder"
  mkdir -p "$folder"
  "$ROOT/guest/initramfs/mkpackages" --output "$folder/files.cpio" ./*.deb
  describe_packages ./*.deb >"$folder/packages"
  rm -r "$work"
}

# initramfs_with_packages FILE NAME...: prints the path of this initramfs with the packages behind it.
initramfs_with_packages() {
  local initramfs=$1 folder joined
  shift
  folder=$(guest_packages_folder "$@")
  joined=$folder/$(basename "$(dirname "$initramfs")")-${initramfs##*/}
  cat "$initramfs" "$folder/files.cpio" >"$joined.$$"
  mv "$joined.$$" "$joined" # another run may be reading the old one
  printf '%s\n' "$joined"
}

step_guest_packages() {
  local folder
  folder=$(guest_packages_folder "$@")
  step "guest-packages-${folder##*/}" "Guest packages $*" \
    "${folder##*/} $(hash_of_files "$ROOT/scripts/lib/guest_packages.sh" "$ROOT/guest/initramfs"/{mkpackages,archive.sh})" \
    "Run '$PROGRAM' again." "$folder"/{files.cpio,packages} -- fetch_guest_packages "$@"
}

# steps_guest_packages NAME...: these together, and for the tests theirs.
steps_guest_packages() {
  if (($# > 0)); then step_guest_packages "$@"; fi
  if [[ ${with_tests:-} ]]; then
    local name
    for name in "${TESTED_GUEST_PACKAGES[@]}"; do step_guest_packages "$name"; done
  fi
  stop_after guest-packages
}
