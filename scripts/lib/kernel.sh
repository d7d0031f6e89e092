# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The guest's kernel with its modules, and the machine's firmware, out of Debian's packages without installing them.

# "RELEASE VERSION" of the kernel headers installed, as "6.1.0-1-cloud-amd64 6.1.4-1".
kernel_headers() {
  # shellcheck disable=SC2016 # the format is dpkg's
  dpkg-query -W -f '${Depends}\n' linux-headers-cloud-amd64 2>/dev/null |
    sed -nE 's/.*linux-headers-([^ ]*) \(= ([^)]*)\).*/\1 \2/p'
}

# Downloads packages into the current folder; with the newest package lists if those that are there do not do.
download() {
  apt-get "${APT_OPTIONS[@]}" download "$@" || { can_be_root && update_lists && apt-get "${APT_OPTIONS[@]}" download "$@"; }
}

# The kernel has to match the headers that our module is built with. An archive keeps the newest version only.
download_kernel() {
  local release version
  read -r release version < <(kernel_headers)
  if ! download "linux-image-$release=$version"; then
    echo "The archive has no kernel for the headers that are installed; installing the newest headers."
    { can_be_root && install_packages linux-headers-cloud-amd64; } ||
      fail "The package linux-image-$release=$version cannot be fetched; is the archive reachable? If it is newer" \
        "there, run 'apt-get update && apt-get install linux-headers-cloud-amd64' as root."
    read -r release version < <(kernel_headers)
    download "linux-image-$release=$version"
  fi
}

# BUILD/kernel: the kernel package unpacked, and the file `release`.
fetch_kernel() {
  rm -rf "$BUILD/kernel" "$BUILD/debs/kernel"
  mkdir -p "$BUILD/kernel" "$BUILD/debs/kernel" "$BUILD/images"
  cd "$BUILD/debs/kernel"
  download_kernel
  dpkg-deb -x linux-image-*.deb "$BUILD/kernel"
  rm -r "$BUILD/debs/kernel"
  local release
  read -r release _ < <(kernel_headers)
  printf '%s\n' "$release" >"$BUILD/kernel/release"
  install -m 644 "$BUILD/kernel/boot/vmlinuz-$release" "$BUILD/images/vmlinuz"
}

# What QEMU's microvm machine loads: its BIOS and the ROMs that boot a kernel.
fetch_firmware() {
  local dir=$BUILD/debs/firmware
  rm -rf "$dir" "$BUILD/images/firmware"
  mkdir -p "$dir" "$BUILD/images/firmware"
  cd "$dir"
  download qemu-system-data seabios ||
    fail "The packages qemu-system-data and seabios cannot be fetched from the machine's archive; run 'apt-get" \
      "update' as root, then '$PROGRAM' again."
  local package
  for package in *.deb; do dpkg-deb -x "$package" .; done
  install -m 644 usr/share/seabios/bios-microvm.bin usr/share/qemu/{linuxboot_dma,pvh,kvmvapic}.bin \
    "$BUILD/images/firmware/"
  rm -r "$dir"
}

steps_kernel() {
  local again="Run '$PROGRAM' again."
  step kernel "Guest kernel" "$(kernel_headers)" "$again" "$BUILD/kernel/release" "$BUILD/images/vmlinuz" -- fetch_kernel
  step firmware "Machine firmware" "1" "$again" "$BUILD/images/firmware/bios-microvm.bin" -- fetch_firmware
}
