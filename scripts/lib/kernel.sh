# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Extracts from Debian's packages, without installing them: the guest's kernel with its modules, a few files of its source,
# and the machine's firmware.

# Prints RELEASE and VERSION of the installed kernel headers, such as "6.1.0-1-cloud-amd64 6.1.4-1".
kernel_headers() {
  # shellcheck disable=SC2016 # the format is dpkg's
  dpkg-query -W -f '${Depends}\n' linux-headers-cloud-amd64 2>/dev/null |
    sed -nE 's/.*linux-headers-([^ ]*) \(= ([^)]*)\).*/\1 \2/p'
}

# Downloads packages into the current folder. If that fails, it tries again with the newest package lists.
download() {
  apt-get "${APT_OPTIONS[@]}" download "$@" || { can_be_root && update_lists && apt-get "${APT_OPTIONS[@]}" download "$@"; }
}

# Prints a line for each package file: its name, its version and its SHA-256.
describe_packages() {
  local file
  for file; do
    # shellcheck disable=SC2016 # the format is dpkg's
    printf '%s %s\n' "$(dpkg-deb -W --showformat='${Package} ${Version}' "$file")" "$(sha256sum <"$file" | cut -c 1-64)"
  done
}

# The kernel must match the headers with which the driver is built. An archive keeps only the newest version.
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

# BUILD/kernel: the kernel package unpacked, and the files `release` and `packages`.
fetch_kernel() {
  rm -rf "$BUILD/kernel" "$BUILD/debs/kernel"
  mkdir -p "$BUILD/kernel" "$BUILD/debs/kernel" "$BUILD/images"
  cd "$BUILD/debs/kernel"
  download_kernel
  dpkg-deb -x linux-image-*.deb "$BUILD/kernel"
  describe_packages linux-image-*.deb >"$BUILD/kernel/packages"
  rm -r "$BUILD/debs/kernel"
  local release
  read -r release _ < <(kernel_headers)
  printf '%s\n' "$release" >"$BUILD/kernel/release"
  install -m 644 "$BUILD/kernel/boot/vmlinuz-$release" "$BUILD/images/vmlinuz"
}

# The files that tests need from the kernel's source, by their paths there: the kernel's driver and program for tests of
# PCI endpoints, checkpatch with its data, and what self-tests of drivers include.
KERNEL_SOURCE=(drivers/misc/pci_endpoint_test.c include/uapi/linux/pcitest.h scripts/checkpatch.pl
  scripts/const_structs.checkpatch scripts/spelling.txt tools/pci/pcitest.c tools/pci/pcitest.sh
  tools/testing/selftests/kselftest.h tools/testing/selftests/kselftest_harness.h tools/testing/selftests/lib.mk)

# Prints their folder, for the installed headers.
kernel_source_folder() {
  local version
  read -r _ version < <(kernel_headers)
  printf '%s\n' "$BUILD/kernel-source/${version//[^[:alnum:].+-]/_}"
}

# BUILD/kernel-source/VERSION: the few files of the kernel's source that the tests need.
fetch_kernel_source() {
  local release version series file dir=$BUILD/debs/kernel-source
  read -r release version < <(kernel_headers)
  series=$(cut -d. -f1,2 <<<"$release")
  rm -rf "$dir" "$BUILD/kernel-source"
  mkdir -p "$dir/tree" "$BUILD/kernel-source"
  cd "$dir"
  download "linux-source-$series=$version" ||
    fail "The package linux-source-$series=$version cannot be fetched from the machine's archive; if a newer kernel is" \
      "there, run 'apt-get update && apt-get install linux-headers-cloud-amd64' as root, then '$PROGRAM' again."
  # tar ends after the last file, which makes the programs before it fail. The check below finds out whether all files exist.
  dpkg-deb --fsys-tarfile linux-source-*.deb | tar -xO "./usr/src/linux-source-$series.tar.xz" | xz -dc |
    tar -x -C tree --strip-components=1 --occurrence=1 "${KERNEL_SOURCE[@]/#/linux-source-$series/}" || true
  for file in "${KERNEL_SOURCE[@]}"; do
    [[ -s tree/$file ]] || fail "The package linux-source-$series=$version has no $file."
  done
  mv tree "$(kernel_source_folder)"
  rm -r "$dir"
}

# The files that QEMU's microvm machine loads: its BIOS and the ROMs that boot a kernel.
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
  step kernel "Guest kernel" "$(kernel_headers)" "$again" "$BUILD/kernel"/{release,packages} "$BUILD/images/vmlinuz" -- fetch_kernel
  if [[ ${with_tests:-} ]]; then
    step kernel-source "Files of the kernel's source" "$(kernel_headers) ${KERNEL_SOURCE[*]}" "$again" \
      "${KERNEL_SOURCE[@]/#/$(kernel_source_folder)/}" -- fetch_kernel_source
  fi
  stop_after kernel-source
  step firmware "Machine firmware" "1" "$again" "$BUILD/images/firmware/bios-microvm.bin" -- fetch_firmware
}
