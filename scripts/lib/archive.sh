# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The newer Debian that QEMU's source and meson come from, by a private apt configuration: the address and the access
# are those of the machine's own apt, whose lists and sources stay as they are.

SUITE=${OAE_VP_SUITE:-trixie}
DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Address of the archive that the machine's Debian comes from (not security, updates or somebody else's packages).
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

# Private apt configuration and the package lists of the suite.
fetch_suite_lists() {
  local archive signed=
  archive=$(machine_archive)
  if [[ -z $archive ]]; then # lists were never read, as in a fresh container
    if can_be_root; then update_lists; fi
    archive=$(machine_archive)
  fi
  if [[ -z $archive ]]; then
    fail "apt of this machine names no Debian archive to take QEMU's source from; run 'apt-get update' as root," \
      "or unpack QEMU 10.0.x and set OAE_VP_QEMU_SOURCE=DIR."
  fi
  if [[ -e $DEBIAN_KEYRING ]]; then signed="Signed-By: $DEBIAN_KEYRING"; fi

  rm -rf "$BUILD/apt"
  mkdir -p "$BUILD"/apt/{lists,archives}/partial
  cat >"$BUILD/apt/suite.sources" <<END
Types: deb-src
URIs: $archive
Suites: $SUITE
Components: main
Targets: Sources
$signed

Types: deb
URIs: $archive
Suites: $SUITE
Components: main
Architectures: amd64
Targets: Packages
$signed
END
  cat >"$BUILD/apt/apt.conf" <<END
Dir::Etc::sourcelist "$BUILD/apt/suite.sources";
Dir::Etc::sourceparts "-";
Dir::State::lists "$BUILD/apt/lists";
Dir::Cache "$BUILD/apt";
Dir::Cache::archives "$BUILD/apt/archives";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Retries "3";
Acquire::Languages "none";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
  if ! suite_apt apt-get -q update; then
    fail "Debian's '$SUITE', which QEMU 10.0's source comes from, cannot be read from this machine's archive" \
      "($archive); use an archive that has it, name another suite with OAE_VP_SUITE=NAME, or unpack QEMU 10.0.x" \
      "and set OAE_VP_QEMU_SOURCE=DIR."
  fi
}
