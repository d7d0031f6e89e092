# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The project itself: CMake configuration, build, and the images that a platform boots, listed in images/manifest.json.

configure_project() {
  if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT" "$BUILD/cmake/CMakeCache.txt"; then
    rm -rf "$BUILD/cmake" # made by a clone elsewhere
  fi
  cmake -G Ninja -S "$ROOT" -B "$BUILD/cmake" "$@"
  take_counts
}

# Prints the targets that setup builds: all for the tests, or those that a run needs.
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

# Copies the images of the build to the images that were fetched.
place_images() {
  local from to
  while read -r from to; do
    if [[ -e $BUILD/cmake/$from ]]; then cp -p --remove-destination "$BUILD/cmake/$from" "$BUILD/images/$to"; fi
  done <<<"guest/initramfs.cpio initramfs.cpio
firmware/oae-fw.elf oae-fw.elf"
  local name
  rm -rf "$BUILD/images/kernels"
  for name in $(kernels_at_hand); do
    mkdir -p "$BUILD/images/kernels/$name"
    cp -p "$BUILD/kernels/$name/vmlinuz" "$BUILD/images/kernels/$name/vmlinuz"
    cp -p "$BUILD/cmake/guest/initramfs-$name.cpio" "$BUILD/images/kernels/$name/initramfs.cpio"
  done
  "$PYTHON" -I "$ROOT/scripts/lib/manifest.py" "$BUILD/images"
}

steps_project() {
  project_options=(
    -DCMAKE_BUILD_TYPE=RelWithDebInfo
    -DPython3_EXECUTABLE="$PYTHON"
    -DOAE_VP_IMAGES="$BUILD/images"
    -DOAE_VP_KERNEL_RELEASE="$(<"$BUILD/kernel/release")"
  )
  # If it exists it is used, so that the images are the same with and without --tests.
  if [[ -d $(kernel_source_folder) ]]; then project_options+=(-DOAE_VP_KERNEL_SOURCE="$(kernel_source_folder)"); fi
  local name kernels=()
  for name in $(kernels_at_hand); do kernels+=("$BUILD/kernels/$name"); done
  project_options+=(-DOAE_VP_KERNELS="$(IFS=';' && echo "${kernels[*]}")")
  local options=("${project_options[@]}" -DPROFILE="$(profile_name)")
  step configure "Configuration" "$ROOT $BUILD ${options[*]}" "'$PROGRAM --clean' makes it start afresh." \
    "$BUILD/cmake/build.ninja" -- configure_project "${options[@]}"
  rm -f "$BUILD/stamp/build" # ninja decides whether there is something to build
  step_hushed=1
  step build "Build" "" "The first error is the one to look at." -- build_project
  step_hushed=
  step images "Images" "$(find "$BUILD/images/" "$BUILD/cmake"/{guest/initramfs*.cpio,firmware/oae-fw.elf} -type f \
    ! -name manifest.json -printf '%p %s %T@\n' 2>/dev/null | sort)" "" "$BUILD/images/manifest.json" -- place_images
}
