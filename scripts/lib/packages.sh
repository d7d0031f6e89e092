# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Finds the missing Debian packages of the machine, and installs them as root or with sudo.

APT_OPTIONS=(-o APT::Sandbox::User=root -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -q)

package_lists=() # lists beside `packages`: of tests, bench, profile

listed_packages() {
  sed -E 's/[[:space:]]*#.*//; /^$/d' "$ROOT/scripts/lib/packages" \
    "${package_lists[@]/#/$ROOT/scripts/lib/packages-}"
}

missing_packages() {
  local listed installed
  listed=$(listed_packages | sort)
  # shellcheck disable=SC2086,SC2016 # one word a package; the format is dpkg's
  installed=$(dpkg-query -W -f '${binary:Package} ${db:Status-Abbrev}\n' $listed 2>/dev/null |
    sed -nE 's/^([^ :]+)(:[a-z0-9]+)? .i $/\1/p' | sort) || true
  comm -23 <(printf '%s\n' "$listed") <(printf '%s\n' "$installed")
}

package_version() {
  # shellcheck disable=SC2016 # the format is dpkg's
  dpkg-query -W -f '${Version}' "$1" 2>/dev/null
}

# Runs a command as root, also in the background. sudo must need no password at that time.
as_root() {
  if ((EUID == 0)); then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
  fi
}

# Asks for the password of sudo once, in the foreground. Fails if the user cannot become root.
can_be_root() {
  if ((EUID == 0)); then return; fi
  command -v sudo >/dev/null || return 1
  if [[ -t 0 ]]; then sudo -v; else sudo -n true 2>/dev/null; fi
}

# apt waits for another apt that installs packages, but not for one that reads package lists.
update_lists() {
  local try output
  for ((try = 0; try < 60; try++)); do
    if output=$(as_root apt-get "${APT_OPTIONS[@]}" update {lock}>&- 2>&1); then return; fi
    printf '%s\n' "$output"
    if [[ $output != *lock* ]]; then return 1; fi
    sleep 5
  done
  return 1
}

install_packages() {
  if [[ -n $(dpkg --audit) ]]; then as_root dpkg --configure -a {lock}>&-; fi # an installation was interrupted
  update_lists || echo "The package lists could not be brought up to date; trying with those that are there."
  as_root apt-get "${APT_OPTIONS[@]}" install -y --no-install-recommends "$@" {lock}>&-
}

step_packages() {
  if ! command -v apt-get dpkg-query >/dev/null; then
    say "$PROGRAM: this machine has no apt; OAE-VP is made for Debian 12 on x86-64."
    exit 1
  fi
  if [[ $(dpkg --print-architecture) != amd64 ]]; then
    say "$PROGRAM: this is a $(dpkg --print-architecture) machine; OAE-VP is made for Debian 12 on x86-64 (amd64)."
    exit 1
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    stop_after packages
    return
  fi
  if ! can_be_root; then
    say "$PROGRAM: packages are missing, and installing them takes root or sudo. As root:"
    say "  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    exit 1
  fi
  step_patient=1
  step packages "Debian packages (${#missing[@]})" "${missing[*]} $(date +%s)" \
    "Is the machine's package archive reachable ('apt-get update')?" -- install_packages "${missing[@]}"
  step_patient=
  rm -f "$BUILD/stamp/configure" # CMake looks for programs again
}
