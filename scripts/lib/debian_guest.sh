# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Makes the disk of a Debian guest from Debian's packages, which are not installed on the machine.
#
# BUILD/images/debian.img is the disk. BUILD/debian holds `debs`, the packages in it, and `packages` (a line each: name, version,
# SHA-256).

DEBIAN_INITS=(systemd sysv)

# What each init is called by Debian, and what every guest has beside Debian's essential packages. With usr-is-merged, none
# converts what is right from the beginning.
declare -A DEBIAN_INIT_PACKAGE=([sysv]=sysvinit-core [systemd]=systemd-sysv)
DEBIAN_BASE=(e2fsprogs kmod login mount passwd pciutils procps usr-is-merged)

check_debian_init() {
  if [[ " ${DEBIAN_INITS[*]} " != *" $1 "* ]]; then
    usage_error "there is no init '$1'; there are: ${DEBIAN_INITS[*]}"
  fi
}

check_image_size() {
  if [[ $1 && ! $1 =~ ^[1-9][0-9]{0,6}[MG]$ ]]; then usage_error "'$1' is no size of a disk, such as 512M or 2G"; fi
}

# fetch_debian_guest NAME...: downloads these and the essential packages, with all that they depend on.
fetch_debian_guest() {
  fetch_packages "$BUILD/debian" "do without a Debian guest" '?essential' "$@"
  describe_packages ./*.deb >"$BUILD/debian/packages"
}

# make_debian_image INIT SIZE: SIZE may be empty.
make_debian_image() {
  local options=(--init "$1" --output "$BUILD/images/debian.img" --pci-ids "$ROOT/guest/initramfs/pci.ids")
  if [[ $2 ]]; then options+=(--size "$2"); fi
  "$ROOT/guest/debian/mkimage" "${options[@]}" "$BUILD"/debian/debs/*.deb
}

# steps_debian_guest INIT SIZE NAME...: makes the disk with these packages and all that they depend on. BUILD/debian/asked holds
# what was asked for, a word in each line.
steps_debian_guest() {
  local asked=("$@") init=$1 size=$2 names
  shift 2
  mapfile -t names < <(printf '%s\n' "${DEBIAN_INIT_PACKAGE[$init]}" "${DEBIAN_BASE[@]}" "$@" | sort -u)
  step debian-packages "Packages of the Debian guest" \
    "${names[*]} $(hash_of_files "$ROOT/scripts/lib"/{debian_guest,guest_packages}.sh)" \
    "Run '$PROGRAM' again." "$BUILD/debian"/{debs,packages} -- fetch_debian_guest "${names[@]}"
  printf '%s\n' "${asked[@]}" >"$BUILD/debian/asked"
  step debian-guest "Disk of the Debian guest" \
    "$init $size $(<"$BUILD/debian/packages") $(hash_of_files "$ROOT/guest/debian" "$ROOT/guest/initramfs/pci.ids")" \
    "The log says what Debian's programs said. As an ordinary user, mmdebstrap needs user namespaces: see 'man mmdebstrap'." \
    "$BUILD/images/debian.img" -- make_debian_image "$init" "$size"
}

# Makes the disk that was asked for last, or one without further packages.
steps_debian_guest_again() {
  local asked=(systemd '')
  if [[ -e $BUILD/debian/asked ]]; then mapfile -t asked <"$BUILD/debian/asked"; fi
  steps_debian_guest "${asked[@]}"
}
