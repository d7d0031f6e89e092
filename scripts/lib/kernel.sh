# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The guest's kernel with its modules, its own test of PCI endpoints, and the machine's firmware, out of Debian's packages
# without installing them.

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

# The kernel's driver and program for tests of PCI endpoints, in the folders that they have in its source.
ENDPOINT_TEST=(drivers/misc/pci_endpoint_test.c include/uapi/linux/pcitest.h tools/pci/pcitest.c tools/pci/pcitest.sh)

# Where they are, for the headers that are installed.
endpoint_test_folder() {
  local version
  read -r _ version < <(kernel_headers)
  printf '%s\n' "$BUILD/kernel-source/${version//[^[:alnum:].+-]/_}"
}

# BUILD/kernel-source/VERSION: the few files of the kernel's source that the tests need.
fetch_endpoint_test() {
  local release version series file dir=$BUILD/debs/kernel-source
  read -r release version < <(kernel_headers)
  series=$(cut -d. -f1,2 <<<"$release")
  rm -rf "$dir" "$BUILD/kernel-source"
  mkdir -p "$dir/tree" "$BUILD/kernel-source"
  cd "$dir"
  download "linux-source-$series=$version" ||
    fail "The package linux-source-$series=$version cannot be fetched from the machine's archive; if a newer kernel is" \
      "there, run 'apt-get update && apt-get install linux-headers-cloud-amd64' as root, then '$PROGRAM' again."
  # tar ends at the last of the files, and what feeds it fails then; whether all are there is seen below.
  dpkg-deb --fsys-tarfile linux-source-*.deb | tar -xO "./usr/src/linux-source-$series.tar.xz" | xz -dc |
    tar -x -C tree --strip-components=1 --occurrence=1 "${ENDPOINT_TEST[@]/#/linux-source-$series/}" || true
  for file in "${ENDPOINT_TEST[@]}"; do
    [[ -s tree/$file ]] || fail "The package linux-source-$series=$version has no $file."
  done
  mv tree "$(endpoint_test_folder)"
  rm -r "$dir"
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
  if [[ ${with_tests:-} ]]; then
    step kernel-source "Kernel's endpoint test" "$(kernel_headers) ${ENDPOINT_TEST[*]}" "$again" \
      "${ENDPOINT_TEST[@]/#/$(endpoint_test_folder)/}" -- fetch_endpoint_test
  fi
  stop_after kernel-source
  step firmware "Machine firmware" "1" "$again" "$BUILD/images/firmware/bios-microvm.bin" -- fetch_firmware
}
