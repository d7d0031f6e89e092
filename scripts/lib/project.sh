# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The project itself: CMake configuration, build, and the images that a platform boots, listed in images/manifest.json.

configure_project() {
  if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT" "$BUILD/cmake/CMakeCache.txt"; then
    rm -rf "$BUILD/cmake" # made by a clone elsewhere
  fi
  cmake -G Ninja -S "$ROOT" -B "$BUILD/cmake" "$@"
}

# What setup builds: all of the folders that a run needs, or with the tests too.
project_targets() {
  local folder
  if [[ ${with_tests:-} ]]; then
    echo all
    return
  fi
  for folder in platforms firmware guest; do
    if [[ -e $ROOT/$folder/CMakeLists.txt ]]; then echo "$folder/all"; fi
  done
}

build_project() {
  local targets
  mapfile -t targets < <(project_targets)
  if ((${#targets[@]} > 0)); then
    ninja -C "$BUILD/cmake" -j "$(jobs_at_once)" "${targets[@]}"
  fi
}

# Images made by the build take their place next to those that were fetched.
place_images() {
  local from to
  while read -r from to; do
    if [[ -e $BUILD/cmake/$from ]]; then cp -p --remove-destination "$BUILD/cmake/$from" "$BUILD/images/$to"; fi
  done <<<"guest/initramfs.cpio initramfs.cpio
firmware/oae-fw.elf oae-fw.elf"
  "$PYTHON" -I "$ROOT/scripts/lib/manifest.py" "$BUILD/images"
}

steps_project() {
  local options=(
    -DCMAKE_BUILD_TYPE=RelWithDebInfo
    -DPython3_EXECUTABLE="$PYTHON"
    -DOAE_VP_IMAGES="$BUILD/images"
    -DOAE_VP_KERNEL_RELEASE="$(<"$BUILD/kernel/release")"
  )
  # Once it is there it stays, so that the images are the same with and without --tests.
  if [[ -d $(endpoint_test_folder) ]]; then options+=(-DOAE_VP_ENDPOINT_TEST="$(endpoint_test_folder)"); fi
  step configure "Configuration" "$ROOT $BUILD ${options[*]}" "'$PROGRAM --clean' makes it start afresh." \
    "$BUILD/cmake/build.ninja" -- configure_project "${options[@]}"
  rm -f "$BUILD/stamp/build" # whether there is something to build is ninja's to say
  step_hushed=1
  step build "Build" "" "The first error is the one to look at." -- build_project
  step_hushed=
  step images "Images" "$(find "$BUILD/images/" "$BUILD/cmake"/{guest/initramfs.cpio,firmware/oae-fw.elf} -type f \
    ! -name manifest.json -printf '%p %s %T@\n' 2>/dev/null | sort)" "" "$BUILD/images/manifest.json" -- place_images
}
