# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Extracts images and headers of further kernels from Debian's packages, without installing them.
#
# BUILD/kernels/NAME holds `vmlinuz`, `headers` (a folder with which a module can be built), `options` (make variables
# for that, one in each line), `release` (the kernel's version) and `packages` (a line each: name, version, SHA-256).

FURTHER_KERNELS=(6.12 newest)

# The suites that have a kernel.
kernel_suites() {
  if [[ $1 == newest ]]; then echo "$SUITE $SUITE-backports"; else echo "$SUITE"; fi
}

kernel_apt() {
  local name=$1 command=$2
  shift 2
  "$command" -c "$BUILD/kernels/$name/apt/apt.conf" "$@"
}

# Prints RELEASE and VERSION of the newest cloud kernel among Debian's descriptions of packages (stdin) whose release begins
# with SERIES. An empty SERIES accepts all.
newest_kernel() {
  sed -nE 's/^Depends: .*linux-headers-([0-9][^ ]*) \(= ([^)]*)\).*/\1 \2/p' | { grep "^${1//./\\.}" || true; } |
    sort -V -k 2 | tail -n 1
}

# Prints a line PACKAGE=VERSION for each package with the image and the headers of a release. Newer kernels split both.
kernel_packages() {
  local name=$1 release=$2 version=$3 package
  local todo=("linux-image-$release" "linux-headers-$release") done=' '
  while ((${#todo[@]} > 0)); do
    package=${todo[0]}
    todo=("${todo[@]:1}")
    if [[ $done == *" $package "* ]]; then continue; fi
    done+="$package "
    printf '%s\n' "$package=$version"
    mapfile -t -O "${#todo[@]}" todo < <(kernel_apt "$name" apt-cache show "$package=$version" | sed -n 's/^Depends: //p' |
      grep -oE "linux-(headers|kbuild|binary)-[^ ,]*" || true)
  done
}

# pahole makes the BTF of a module, and bpftool prints that of the kernel as C. With all that they depend on, they also bring
# the loader and the libraries that the programs of newer headers need.
NEWER_PROGRAMS=(pahole bpftool)

# libbpf loads BPF programs. Only its headers and the static library are wanted, not the compiler's files it depends on.
NEWER_LIBRARIES=(libbpf-dev)

# fetch_kernel_named NAME: makes BUILD/kernels/NAME.
fetch_kernel_named() {
  local name=$1 series=$1 folder=$BUILD/kernels/$1 release version archive package packages newer
  if [[ $name == newest ]]; then series=; fi
  archive=$(find_archive "do without this kernel")
  mkdir -p "$folder"
  find "$folder" -mindepth 1 -delete
  write_apt_configuration "$folder/apt" "$archive" "$(kernel_suites "$name")" deb
  kernel_apt "$name" apt-get -q update ||
    fail "Debian's '$(kernel_suites "$name")', which this kernel comes from, cannot be read from this machine's archive" \
      "($archive)."
  read -r release version < <(kernel_apt "$name" apt-cache show linux-headers-cloud-amd64 | newest_kernel "$series") ||
    fail "Debian's '$(kernel_suites "$name")' has no cloud kernel $series."
  mkdir "$folder/debs" "$folder/libraries"
  cd "$folder/debs"
  newer=$(with_dependencies "$folder/apt/apt.conf" "${NEWER_PROGRAMS[@]}") ||
    fail "Debian's '$(kernel_suites "$name")' lacks ${NEWER_PROGRAMS[*]}, or something that this depends on."
  mapfile -t packages < <(kernel_packages "$name" "$release" "$version" && echo "$newer")
  kernel_apt "$name" apt-get -q download "${packages[@]}" "${NEWER_LIBRARIES[@]}" ||
    fail "The packages ${packages[*]} cannot be fetched from this machine's archive ($archive)."
  for package in *.deb; do
    case $package in
      linux-*) dpkg-deb -x "$package" "$folder" ;;
      *) dpkg-deb -x "$package" "$folder/libraries" ;;
    esac
  done
  describe_packages ./*.deb >"$folder/packages"
  cd "$folder"
  rm -r debs apt lib/modules usr/lib/modules/*/kernel 2>/dev/null || true
  cp "$(compgen -G 'boot/vmlinuz-*' || compgen -G 'usr/lib/modules/*/vmlinuz')" vmlinuz
  prepare_headers "$folder" "$release"
  printf '%s\n' "$release" >release
}

# Adapts unpacked headers to their folder, and to the compiler and sparse of an older Debian.
prepare_headers() {
  local folder=$1 release=$2 headers=usr/src/linux-headers-$2 common
  cd "$folder"
  ln -s "$headers" headers
  sed -i "s|/usr/src|$folder/usr/src|g" "$headers/Makefile"
  run_by_newer_loader "$folder"

  # These options exist since gcc 13. They change speed and checks of the kernel, but not its interface to modules.
  cat >gcc <<'END'
#!/bin/bash
arguments=()
for argument; do
  case $argument in
    -fmin-function-alignment=*) arguments+=("-falign-functions=${argument#*=}") ;;
    -fstrict-flex-arrays=3) ;;
    *) arguments+=("$argument") ;;
  esac
done
# A warning names the file in which it is. No path of the machine may come into a module by that.
exec gcc "${arguments[@]}" "-fmacro-prefix-map=${0%/*}/="
END
  chmod +x gcc
  # sparse 0.6.4 does not know these, and Debian omits the script with which newer kernels test sparse.
  cat >sparse.h <<'END'
#define __typeof_unqual__ __typeof__
#define __builtin_strlen(string) (sizeof(string) - 1)
END
  common=$(compgen -G 'usr/src/linux-headers-*-common')
  if [[ ! -e $common/scripts/checker-valid.sh ]]; then
    printf '%s\n' '#!/bin/sh' 'echo 1' >"$common/scripts/checker-valid.sh"
    chmod +x "$common/scripts/checker-valid.sh"
  fi
  # What UBSAN adds to a module names files by their paths on this machine.
  # The headers' vmlinux holds the kernel's BTF, which that of a module refers to. With a time stamp, pahole writes the same
  # BTF each time, however many threads it has.
  cat >options <<END
CC=$folder/gcc
CF=-include $folder/sparse.h
PAHOLE=$folder/libraries/usr/bin/pahole
PAHOLE_VERSION=$(sed -n 's/^CONFIG_PAHOLE_VERSION=//p' "$headers/.config")
KBUILD_BUILD_TIMESTAMP=@0
UBSAN_SANITIZE=n
END
}

# pahole, bpftool, and programs among the headers, that need a newer libc are run by the loader and the libraries of that libc.
run_by_newer_loader() {
  local folder=$1 program loader
  loader=$(find "$folder/libraries" -name 'ld-linux-x86-64.so.2' -type f -print -quit)
  find "$folder/usr/lib" "$folder"/libraries/usr/{bin/pahole,sbin/bpftool} -type f -perm -1 | while read -r program; do
    if [[ $(head -c 4 "$program" | tr -d '\0') == $'\x7fELF' && $(ldd "$program" 2>&1) == *'not found'* ]]; then
      mv "$program" "$program.elf"
      printf '%s\n' '#!/bin/sh' "exec $loader --library-path ${loader%/*} $program.elf \"\$@\"" >"$program"
      chmod +x "$program"
    fi
  done
}

# Prints the requested kernels and those that exist already.
kernels_at_hand() {
  local name
  for name in "${FURTHER_KERNELS[@]}"; do
    if [[ -e $BUILD/kernels/$name/release ]]; then echo "$name"; fi
  done
}

# steps_kernels NAME...
steps_kernels() {
  local name
  for name; do
    step "kernel-$name" "Kernel $name" "$name $(kernel_suites "$name") $BUILD $(hash_of_files "$ROOT/scripts/lib/kernels.sh")" \
      "Run '$PROGRAM' again." "$BUILD/kernels/$name"/{vmlinuz,headers,options,release,packages} -- fetch_kernel_named "$name"
  done
  stop_after kernels
}
