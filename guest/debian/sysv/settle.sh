# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # pack sources it, with the variables `here` and `root`
# Settings of a guest with sysvinit. Nothing waits: there is no network, no clock to read but the kernel's, and no udev, since
# Linux itself makes the devices' files.
cp "$here/sysv/inittab" "$root/etc/inittab"
for script in hwclock.sh brightness mountnfs.sh mountnfs-bootclean.sh; do
  rm -f "$root"/etc/rc?.d/[SK]??"$script"
done
