#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest: loads the driver and has the device compute three checksums, which are known from elsewhere. The exit
# code becomes that of oae-vp.
set -e
insmod /share/checksum_driver.ko

# expect CHECKSUM: compares it with that of the last write
expect() {
  read -r found </dev/checksum
  if [ "$found" != "$1" ]; then
    echo "the device says $found and not $1"
    exit 1
  fi
}

printf 123456789 >/dev/checksum
expect cbf43926
printf 'The quick brown fox jumps over the lazy dog' >/dev/checksum
expect 414fa339
dd if=/dev/zero of=/dev/checksum bs=32768 count=1
expect 011ffca6

# The device goes while its file is open, and comes back.
driver=/sys/bus/pci/drivers/checksum_driver
for device in "$driver"/0000:*; do
  address=${device##*/}
done
exec 3<>/dev/checksum
printf '%s' "$address" >"$driver"/unbind
if printf 123456789 >&3; then
  echo "a device that is removed still computes"
  exit 1
fi
exec 3>&-
printf '%s' "$address" >"$driver"/bind
printf 123456789 >/dev/checksum
expect cbf43926

rmmod checksum_driver
echo "the checksums are right"
