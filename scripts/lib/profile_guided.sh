# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Profile-guided compilation. An oae-vp that counts what it executes runs the benchmarks, and GCC arranges the code by these
# counts. Each later build takes them, until BUILD/profile is removed.

PROFILED_BY=(mmio swap dma1 dma4 poll compute boot) # benchmarks

# Prints the name of the profile in BUILD/profile, which is a hash of its counts, or nothing.
profile_name() {
  if [[ -e $BUILD/profile/name ]]; then cat "$BUILD/profile/name"; fi
}

# Puts the counts beside the objects of the build, where GCC looks for them. A profile that was removed leaves none.
take_counts() {
  find "$BUILD/cmake" -name '*.gcda' -delete
  if [[ -n $(profile_name) ]]; then
    rsync -a --prune-empty-dirs --include='*/' --include='*.gcda' --exclude='*' "$BUILD/profile/cmake/" "$BUILD/cmake/"
  fi
}

build_counting() {
  rm -rf "$BUILD/profile"
  cmake -G Ninja -S "$ROOT" -B "$BUILD/profile/cmake" "${project_options[@]}" -DTESTS=OFF -DPROFILE=record
  ninja -C "$BUILD/profile/cmake" -j "$(jobs_at_once)" oae-vp
}

count() {
  rm -f "$BUILD/profile/name"
  find "$BUILD/profile" -name '*.gcda' -delete
  "$PYTHON" -I "$ROOT/scripts/lib/bench.py" --build "$BUILD" --counting "$BUILD/profile/cmake/platforms/oae-vp" --repeat 1 \
    "${PROFILED_BY[@]}"
  (cd "$BUILD/profile" && find . -name '*.gcda' -print0 | sort -z | xargs -0 sha256sum) | sha256sum | cut -c1-16 \
    >"$BUILD/profile/name"
}

steps_profile() {
  local sources
  sources=$(hash_of_files "$ROOT"/{CMakeLists.txt,rtl,vp,models,platforms})
  step profile-build "An oae-vp that counts" "$sources ${project_options[*]}" "Run '$PROGRAM' again." \
    "$BUILD/profile/cmake/platforms/oae-vp" -- build_counting
  step profile "Counts of the benchmarks" "$sources" "Run '$PROGRAM' again." "$BUILD/profile/name" -- count
}
