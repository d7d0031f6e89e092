# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Reads newer Debian suites through private apt configurations. The address and the access are those of the machine's own
# apt, whose lists and sources do not change.

SUITE=${OAE_VP_SUITE:-trixie}
DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints the address of the archive of the machine's Debian (not of its security archive, updates or foreign packages).
machine_archive() {
  # shellcheck disable=SC2016 # the format is apt's
  apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' |
    awk -F'|' '$1 == "Debian" && $2 !~ /[-\/]/ && $3 == "main" { print $4; exit }'
}

suite_apt() {
  local command=$1
  shift
  "$command" -c "$BUILD/apt/apt.conf" "$@"
}

# Prints the address of the archive. Reads the machine's package lists first if that has never been done. If there is no
# archive, fails with the REMEDY, which ends the sentence "or ...".
find_archive() {
  local archive remedy=$1
  archive=$(machine_archive)
  if [[ -z $archive ]]; then # lists were never read, as in a fresh container
    if can_be_root; then update_lists >&2; fi
    archive=$(machine_archive)
  fi
  if [[ -z $archive ]]; then
    fail "apt of this machine names no Debian archive to take packages from; run 'apt-get update' as root, or $remedy."
  fi
  printf '%s\n' "$archive"
}

# Prints settings with which apt finds nothing installed, and keeps its caches in the FOLDER.
nothing_installed() {
  mkdir -p "$1/archives/partial"
  : >"$1/status"
  cat <<END
Dir::State::status "$1/status";
Dir::State::extended_states "$1/extended_states";
Dir::Cache "$1";
Dir::Cache::archives "$1/archives";
END
}

# with_dependencies CONFIGURATION PACKAGE...: prints a line PACKAGE=VERSION for each package, and for all that they depend on
# and that is not installed.
with_dependencies() {
  local configuration=$1
  shift
  apt-get -c "$configuration" -q -s --no-install-recommends install "$@" |
    sed -nE 's/^Inst ([^ ]+) \(([^ ]+) .*/\1=\2/p'
}

# write_apt_configuration FOLDER ARCHIVE SUITES TYPE...: a private apt configuration for packages of these types (deb,
# deb-src) in these suites of the archive. The FOLDER is emptied first. It also gets the package lists.
write_apt_configuration() {
  local folder=$1 archive=$2 suites=$3 type
  shift 3
  rm -rf "$folder"
  mkdir -p "$folder/lists/partial"
  for type; do
    printf '%s\n' "Types: $type" "URIs: $archive" "Suites: $suites" "Components: main"
    case $type in
      deb) printf '%s\n' "Architectures: amd64" "Targets: Packages" ;;
      deb-src) printf '%s\n' "Targets: Sources" ;;
    esac
    if [[ -e $DEBIAN_KEYRING ]]; then printf '%s\n' "Signed-By: $DEBIAN_KEYRING"; fi
    echo
  done >"$folder/suite.sources"
  nothing_installed "$folder" >"$folder/apt.conf"
  cat >>"$folder/apt.conf" <<END
Dir::Etc::sourcelist "$folder/suite.sources";
Dir::Etc::sourceparts "-";
Dir::State::lists "$folder/lists";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Retries "3";
Acquire::Languages "none";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
}

# Downloads the package lists of the suite.
fetch_suite_lists() {
  local archive
  archive=$(find_archive "unpack QEMU 10.0.x and set OAE_VP_QEMU_SOURCE=DIR")
  write_apt_configuration "$BUILD/apt" "$archive" "$SUITE" deb deb-src
  if ! suite_apt apt-get -q update; then
    fail "Debian's '$SUITE', which QEMU 10.0's source comes from, cannot be read from this machine's archive" \
      "($archive); use an archive that has it, name another suite with OAE_VP_SUITE=NAME, or unpack QEMU 10.0.x" \
      "and set OAE_VP_QEMU_SOURCE=DIR."
  fi
}
