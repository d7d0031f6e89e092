# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds QEMU: applies the overlay to Debian's source (or the user's), configures and builds it once for both targets, and
# links one library for each.

QEMU_SERIES=10.0
MESON_NEEDED=1.5.0
OVERLAY=$ROOT/vp/qemu/overlay

# shellcheck disable=SC2054 # the comma is in a value
QEMU_CONFIGURE=(
  --python="$PYTHON"
  --cc="ccache gcc"
  --target-list=x86_64-softmmu,aarch64-softmmu
  --without-default-features
  --without-default-devices
  --with-devices-x86_64=oae
  --with-devices-aarch64=oae
  --enable-system
  --enable-tcg
  --enable-fdt=system
  --disable-download
  --disable-docs
  --disable-tools
  --disable-guest-agent
  --disable-install-blobs
  --disable-pie
  --disable-qom-cast-debug # checks of QEMU's own casts, a twentieth of a boot
  # -g1: lines for a backtrace; all of -g takes a fifth longer to compile. Clearing registers at the end of each function
  # hinders attackers of a QEMU that serves strangers, and takes a twentieth of a short turn of a vCPU.
  --extra-cflags="-fPIC -g1 -fzero-call-used-regs=skip"
)

# The version of Debian's source package that the overlay was last tested with.
tested_qemu() { awk '!/^#/ { print $1 }' "$OVERLAY/tested"; }
tested_qemu_hash() { awk '!/^#/ { print $2 }' "$OVERLAY/tested"; }

# Where that version is kept after the archive has dropped it.
remedy_for_qemu() {
  echo "Debian's snapshot archive keeps $(tested_qemu), which the overlay was last tested with: unpack that" \
    "('dpkg-source -x') and set OAE_VP_QEMU_SOURCE=DIR."
}

of_series() {
  case $1 in
    "$QEMU_SERIES" | "$QEMU_SERIES"[.+-]*) ;;
    *) false ;;
  esac
}

# Prints the version of QEMU if the overlay supports it; if not, the step fails.
check_qemu_version() {
  local version=$1 where=$2
  of_series "$version" || fail "$where holds QEMU ${version:-of unknown version}, and the overlay is for" \
    "$QEMU_SERIES.x. $(remedy_for_qemu)"
}

# Prints one of the versions on the input: the tested one, or else the newest of the series, or else the newest.
choose_qemu_version() {
  local version chosen='' newest=''
  while read -r version; do
    if [[ $version == "$(tested_qemu)" ]]; then
      echo "$version"
      return
    fi
    if of_series "$version"; then chosen=$version; fi
    newest=$version
  done < <(sort -V)
  echo "${chosen:-$newest}"
}

# Prints the version of the fetched source: that of Debian's package, or the one that a user's own source states.
fetched_qemu() {
  local dsc
  if [[ -L $BUILD/qemu/archive ]]; then
    cat "$BUILD/qemu/archive/VERSION"
  else
    dsc=$(compgen -G "$BUILD/qemu/archive/qemu_*.dsc")
    dsc=${dsc##*/qemu_}
    echo "${dsc%.dsc}"
  fi
}

# Whether the overlay was tested with the fetched source. A user's own source states only QEMU's version.
qemu_is_tested() {
  local fetched
  fetched=$(fetched_qemu)
  [[ $fetched == "$(tested_qemu)" || $fetched == "$(tested_qemu | sed 's/[+-].*//')" ]]
}

# BUILD/qemu/archive: Debian's source package, or a link to the user's source.
fetch_qemu_source() {
  local version
  rm -rf "$BUILD/qemu/archive"
  mkdir -p "$BUILD/qemu"
  if [[ -n ${OAE_VP_QEMU_SOURCE:-} ]]; then
    [[ -r $OAE_VP_QEMU_SOURCE/VERSION ]] ||
      fail "OAE_VP_QEMU_SOURCE=$OAE_VP_QEMU_SOURCE is no unpacked source of QEMU (it has no file VERSION)."
    check_qemu_version "$(<"$OAE_VP_QEMU_SOURCE/VERSION")" "$OAE_VP_QEMU_SOURCE"
    ln -s "$(realpath -- "$OAE_VP_QEMU_SOURCE")" "$BUILD/qemu/archive"
    return
  fi
  version=$(suite_apt apt-cache showsrc --only-source qemu | sed -nE 's/^Version: //p' | sed 's/^[0-9]*://' |
    choose_qemu_version)
  check_qemu_version "$version" "Debian's '$SUITE'"
  mkdir "$BUILD/qemu/archive"
  cd "$BUILD/qemu/archive"
  # The names of files lack the epoch of the version.
  suite_apt apt-get -q source --download-only --only-source "qemu=$(epoch_of_qemu "$version")$version" ||
    fail "QEMU's source package cannot be fetched from this machine's archive; if it is reachable, run" \
      "'$PROGRAM' again. $(remedy_for_qemu)"
  if [[ $version == "$(tested_qemu)" && $(sha256sum <"qemu_$version.dsc") != "$(tested_qemu_hash)  -" ]]; then
    fail "This machine's archive has other contents under the version that the overlay was tested with: the SHA-256 of" \
      "qemu_$version.dsc is not $(tested_qemu_hash). $(remedy_for_qemu)"
  fi
}

epoch_of_qemu() {
  suite_apt apt-cache showsrc --only-source qemu | sed -nE "s/^Version: ([0-9]+:)?${1//[+.]/[&]}$/\\1/p" | head -n 1
}

# Whether meson has to be fetched. A release of QEMU includes one, and the machine may have one that is new enough, but
# Debian 12's is not.
needs_meson() {
  local own
  if compgen -G "${OAE_VP_QEMU_SOURCE:-/nonexistent}/python/wheels/meson-*.whl" >/dev/null; then return 1; fi
  own=$(meson --version 2>/dev/null) || return 0
  [[ $(printf '%s\n' "$MESON_NEEDED" "$own" | sort -V | head -n 1) != "$MESON_NEEDED" ]]
}

# BUILD/meson: meson of the same suite.
fetch_meson() {
  local package
  rm -rf "$BUILD/meson"
  mkdir -p "$BUILD/meson"
  cd "$BUILD/meson"
  suite_apt apt-get -q download meson ||
    fail "The package meson of Debian's '$SUITE' cannot be fetched from this machine's archive; run '$PROGRAM' again."
  package=$(compgen -G 'meson_*.deb')
  dpkg-deb -x "$package" .
  rm "$package"
}

# BUILD/qemu/src: the source with the overlay. Unchanged files keep their time, so that ninja rebuilds little.
apply_overlay() {
  local new=$BUILD/qemu/src.new patch output rejected
  rm -rf "$new" "$BUILD"/qemu/*.tmp-extract.* # of an interrupted dpkg-source
  if [[ -n ${OAE_VP_QEMU_SOURCE:-} ]]; then
    rsync -a --exclude=/.git --exclude=/build --exclude='/roms/*/' "$BUILD/qemu/archive/" "$new/"
  else
    dpkg-source --no-check -q -x "$BUILD"/qemu/archive/*.dsc "$new"
    find "$new/roms" -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} + # firmware of other machines, two thirds of it all
  fi
  if [[ -d $OVERLAY/files ]]; then rsync -rlp "$OVERLAY/files/" "$new/"; fi
  for patch in "$OVERLAY"/patches/*.patch; do
    if [[ ! -e $patch ]]; then continue; fi
    echo "== ${patch##*/}"
    if ! output=$(patch -d "$new" -p1 --fuzz=0 --no-backup-if-mismatch -f <"$patch"); then
      printf '%s\n' "$output"
      rejected=$(printf '%s\n' "$output" | awk '
        /^patching file / { file = $3 }
        /^\|--- a\// { file = substr($2, 3) }
        /FAILED|No file to patch/ { print file; exit }')
      fail "${patch##*/} of the overlay does not fit ${rejected:-a file it changes} of QEMU $(<"$new/VERSION"), which" \
        "has changed there: adapt $patch to the source in $new, or take a source that it fits." \
        "$(remedy_for_qemu)"
    fi
    printf '%s\n' "$output"
  done
  mkdir -p "$BUILD/qemu/src"
  rsync -rlp --checksum --delete "$new/" "$BUILD/qemu/src/"
  rm -rf "$new"
}

# QEMU's generators write sets in the order of their hashes. A fixed seed gives all clones the same code, which the compiler
# cache then has.
HASH_SEED=PYTHONHASHSEED=0

with_meson() {
  env "$HASH_SEED" PATH="$BUILD/meson/usr/bin:$PATH" PYTHONPATH="$BUILD/meson/usr/lib/python3/dist-packages" "$@"
}

# configure_qemu FOLDER [OPTION]...: the folder is in BUILD/qemu, beside the source.
configure_qemu() {
  local folder=$BUILD/qemu/$1
  rm -rf "$folder"
  mkdir -p "$folder"
  cd "$folder"
  with_meson ../src/configure "${QEMU_CONFIGURE[@]}" "${@:2}"
}

# build_qemu FOLDER: in BUILD/qemu
build_qemu() {
  with_meson ninja -C "$BUILD/qemu/$1" -j "$(jobs_at_once)" qemu-system-x86_64 qemu-system-aarch64
}

# link_qemu FOLDER IMAGES: the libraries of the objects in BUILD/qemu/FOLDER
link_qemu() {
  mkdir -p "$2"
  bash "$OVERLAY/link" "$BUILD/qemu/$1" "$2"
}

# Leaves in qemu_inputs what all builds of QEMU depend on.
steps_qemu() {
  local origin overlay compiler configuration folder=build again="Run '$PROGRAM' again; '$PROGRAM --clean' makes it start afresh."
  if [[ -n ${OAE_VP_QEMU_SOURCE:-} ]]; then
    origin="$OAE_VP_QEMU_SOURCE $(find "$OAE_VP_QEMU_SOURCE/" -type f -printf '%P %s %T@\n' 2>/dev/null | sort | sha256sum)"
  else
    origin=$SUITE
  fi
  if [[ -z ${OAE_VP_QEMU_SOURCE:-} ]] || needs_meson; then
    step suite "Package lists of Debian $SUITE" "$SUITE $BUILD" \
      "Is the machine's package archive reachable ('apt-get update')?" "$BUILD/apt/apt.conf" -- fetch_suite_lists
  fi
  stop_after suite
  step qemu-source "QEMU source" "$origin $(tested_qemu)" "$again" "$BUILD/qemu/archive" -- fetch_qemu_source
  if needs_meson; then
    step meson "Meson" "$SUITE" "$again" "$BUILD/meson/usr" -- fetch_meson
  fi
  stop_after meson

  if ! qemu_is_tested; then
    say "$PROGRAM: QEMU $(fetched_qemu) is tried, though the overlay was tested with $(tested_qemu) only; the tests of" \
      "the embedding decide whether it fits."
  fi

  overlay=$(hash_of_files "$OVERLAY/files" "$OVERLAY/patches")
  step qemu-overlay "QEMU overlay" "$origin $overlay $(ls "$BUILD/qemu/archive/")" "$again" "$BUILD/qemu/src/VERSION" \
    -- apply_overlay

  compiler="$(package_version gcc-12) $(package_version libglib2.0-dev) $(package_version libfdt-dev)"
  configuration="$BUILD $(<"$BUILD/qemu/src/VERSION") $HASH_SEED ${QEMU_CONFIGURE[*]} $compiler"
  step qemu-configure "QEMU configuration" "$configuration" "$again" "$BUILD/qemu/build/build.ninja" -- configure_qemu build
  qemu_inputs="$configuration $overlay $origin"
  step qemu-build "QEMU" "$qemu_inputs" "$again" "$BUILD"/qemu/build/qemu-system-{x86_64,aarch64} -- build_qemu build
  if profile_has_qemu; then
    folder=profiled
    step qemu-profiled "QEMU by the profile" "$qemu_inputs $(profile_name)" "$again" \
      "$BUILD"/qemu/profiled/qemu-system-{x86_64,aarch64} -- build_qemu_by_profile
  fi
  if [[ -e $OVERLAY/link ]]; then
    step qemu-libraries "QEMU libraries" "$qemu_inputs $(hash_of_files "$OVERLAY/link") $folder $(profile_name)" "$again" \
      "$BUILD"/images/libqemu-{x86_64,aarch64}.so -- link_qemu "$folder" "$BUILD/images"
  fi
  stop_after qemu-libraries
}

build_and_run_embedding_tests() {
  ninja -C "$BUILD/cmake" -j "$(jobs_at_once)" tests/vp/qemu/all
  # Tests with a debugger need a package that --tests installs.
  ctest --test-dir "$BUILD/cmake/tests/vp/qemu" --parallel "$(nproc)" --exclude-regex gdb --no-tests=error \
    --output-on-failure
}

# If the overlay was not tested with this QEMU, the tests of the embedding must pass, or setup fails.
step_embedding_tests() {
  if qemu_is_tested; then return; fi
  step qemu-tests "Tests of the embedding" \
    "$(fetched_qemu) $(sha256sum "$BUILD"/images/libqemu-*.so) $(hash_of_files "$ROOT/vp/qemu" "$ROOT/tests/vp/qemu")" \
    "QEMU $(fetched_qemu) does not do what the overlay needs. $(remedy_for_qemu)" "$BUILD/cmake/build.ninja" \
    -- build_and_run_embedding_tests
}
