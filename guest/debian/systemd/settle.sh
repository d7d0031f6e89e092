# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # pack sources it, with the variables `here` and `root`
# Settings of a guest with systemd. There is no udev, since Linux itself makes the devices' files, and so no unit may wait for a
# device. What is of no use in a guest that lives for seconds is masked: each start of a program is millions of instructions.
units=$root/etc/systemd/system
mkdir -p "$units"/{getty.target,multi-user.target}.wants "$root"/etc/{systemd/journald.conf.d,modprobe.d}
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
  systemd-tmpfiles-clean.timer serial-getty@ttyS0.service getty-static.service systemd-logind.service systemd-random-seed.service \
  systemd-update-utmp.service systemd-update-utmp-runlevel.service systemd-journal-flush.service systemd-tmpfiles-setup-dev.service \
  systemd-sysusers.service systemd-firstboot.service systemd-binfmt.service systemd-pstore.service ldconfig.service \
  dev-hugepages.mount dev-mqueue.mount sys-kernel-tracing.mount sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount; do
  ln -sf /dev/null "$units/$unit"
done
rm -f "$units/getty.target.wants/getty@tty1.service"
ln -sf /lib/systemd/system/multi-user.target "$units/default.target"
ln -sf /lib/systemd/system/console-getty.service "$units/getty.target.wants/console-getty.service"
cp "$here/systemd/oae-vp-session.service" "$units/"
ln -sf ../oae-vp-session.service "$units/multi-user.target.wants/oae-vp-session.service"
# Its group depends on who makes the image, and nothing is kept there.
rm -rf "$root/var/log/journal"
printf '%s\n' '[Journal]' 'Storage=volatile' 'RuntimeMaxUse=8M' >"$root/etc/systemd/journald.conf.d/oae-vp.conf"
# The package has these made by systemd-tmpfiles, which does not work where /proc cannot be mounted, as in many containers.
install -d -m 700 "$root"/root/.ssh "$root"/var/{cache,lib,log}/private
install -d -m 755 "$root"/var/lib/systemd/{coredump,pstore}
rm -f "$root/var/log/README"
# systemd warns of this module if it is missing.
printf '%s\n' 'install autofs4 /bin/true' >"$root/etc/modprobe.d/oae-vp.conf"
# Its check of the root file system would ask udev. Linux replays the journal by itself.
sed -i 's/ 0 1$/ 0 0/' "$root/etc/fstab"
