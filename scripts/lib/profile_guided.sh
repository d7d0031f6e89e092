# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Profile-guided compilation. An oae-vp that counts what it executes, with libraries of QEMU that count, too, runs the
# benchmarks, and GCC arranges the code by these counts. Each later build takes them, until BUILD/profile is removed. The
# QEMU with which benchmarks compare is compiled as usual.

PROFILED_BY=(mmio swap dma1 dma4 poll compute boot) # benchmarks

# Prints the name of the profile in BUILD/profile, which is a hash of its counts, or nothing.
profile_name() {
  if [[ -e $BUILD/profile/name ]]; then cat "$BUILD/profile/name"; fi
}

# Whether the profile has counts of QEMU, too. One that was made without them remains good for oae-vp.
profile_has_qemu() { [[ -n $(profile_name) && -d $BUILD/qemu/counting ]]; }

# copy_counts FROM TO: puts the counts of one build beside the objects of another, where GCC looks for them.
copy_counts() {
  rsync -a --prune-empty-dirs --include='*/' --include='*.gcda' --exclude='*' "$1/" "$2/"
}

# The counts of the project's own build. A profile that was removed leaves none.
take_counts() {
  find "$BUILD/cmake" -name '*.gcda' -delete
  if [[ -n $(profile_name) ]]; then copy_counts "$BUILD/profile/cmake" "$BUILD/cmake"; fi
}

# BUILD/profile/qemu: libraries that count
build_counting_qemu() {
  configure_qemu counting --extra-cflags=-fprofile-generate --extra-ldflags=-fprofile-generate
  build_qemu counting
  link_qemu counting "$BUILD/profile/qemu"
}

# BUILD/profile/images: all images of the build, with these libraries
place_counting_images() {
  rm -rf "$BUILD/profile/images"
  cp -rl "$BUILD/images" "$BUILD/profile/images"
  cp -l --force "$BUILD"/profile/qemu/libqemu-*.so "$BUILD/profile/images/"
  "$PYTHON" -I "$ROOT/scripts/lib/manifest.py" "$BUILD/profile/images"
}

# Code without counts is compiled as usual. Another profile compiles anew.
build_qemu_by_profile() {
  configure_qemu profiled --extra-cflags="-fprofile-use -fprofile-partial-training -Wno-missing-profile -Wno-coverage-mismatch \
    -frandom-seed=$(profile_name)"
  copy_counts "$BUILD/qemu/counting" "$BUILD/qemu/profiled"
  build_qemu profiled
}

build_counting() {
  rm -rf "$BUILD/profile/cmake"
  cmake -G Ninja -S "$ROOT" -B "$BUILD/profile/cmake" "${project_options[@]}" -DOAE_VP_IMAGES="$BUILD/profile/images" \
    -DTESTS=OFF -DPROFILE=record
  ninja -C "$BUILD/profile/cmake" -j "$(jobs_at_once)" oae-vp
}

count() {
  place_counting_images
  rm -f "$BUILD/profile/name"
  find "$BUILD/profile/cmake" "$BUILD/qemu/counting" -name '*.gcda' -delete
  "$PYTHON" -I "$ROOT/scripts/lib/bench" --build "$BUILD" --counting "$BUILD/profile/cmake/platforms/oae-vp" --repeat 1 \
    "${PROFILED_BY[@]}"
  (cd "$BUILD" && find profile/cmake qemu/counting -name '*.gcda' -print0 | sort -z | xargs -0 sha256sum) | sha256sum |
    cut -c1-16 >"$BUILD/profile/name"
}

# Needs qemu_inputs (steps_qemu) and project_options (steps_project).
steps_profile() {
  local sources again="Run '$PROGRAM' again."
  sources=$(hash_of_files "$ROOT"/{CMakeLists.txt,rtl,vp,models,platforms})
  step profile-qemu "A QEMU that counts" "$qemu_inputs" "$again" \
    "$BUILD"/profile/qemu/libqemu-{x86_64,aarch64}.so -- build_counting_qemu
  step profile-build "An oae-vp that counts" "$sources ${project_options[*]}" "$again" \
    "$BUILD/profile/cmake/platforms/oae-vp" -- build_counting
  step profile "Counts of the benchmarks" "$sources $qemu_inputs" "$again" "$BUILD/profile/name" -- count
}
