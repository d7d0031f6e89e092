# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Used by every script of this folder: an environment that does not depend on the caller, and the paths of the project.

# A user's environment (conda, pyenv, a cross SDK) may select other compilers, interpreters and flags than Debian's.
export LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset CC CXX CPP LD AR NM AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS MAKELEVEL MFLAGS NINJA_STATUS \
  PYTHONPATH PYTHONHOME VIRTUAL_ENV PKG_CONFIG_PATH PKG_CONFIG_LIBDIR LD_LIBRARY_PATH LD_PRELOAD \
  CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH CROSS_COMPILE ARCH DESTDIR CDPATH GREP_OPTIONS \
  CMAKE_PREFIX_PATH CMAKE_GENERATOR CMAKE_BUILD_TYPE CMAKE_TOOLCHAIN_FILE APT_CONFIG TAR_OPTIONS
# SystemC prints a banner unless this variable is set.
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1
umask 022

PROGRAM=scripts/${0##*/}
ROOT=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
BUILD=${OAE_VP_BUILD:-$ROOT/build}
# shellcheck disable=SC2034 # used by scripts that source this
PYTHON=/usr/bin/python3

# The keys of the compiler cache contain no paths of the clone, so that clones share it.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$ROOT} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}

say() { printf '%s\n' "$*" >&2; }

# Reports a mistake of the caller before anything has started.
usage_error() {
  say "$PROGRAM: $1"
  say "Try '$PROGRAM --help'."
  exit 2
}

# Sets BUILD to an absolute path that the build systems accept, or exits with 2.
settle_paths() {
  BUILD=$(realpath -m -- "$BUILD")
  local path
  for path in "$ROOT" "$BUILD"; do
    if [[ $path =~ [^A-Za-z0-9/._+@~,=-] ]]; then
      say "$PROGRAM: the path '$path' holds '${BASH_REMATCH[0]}', which the build systems of QEMU and Linux do not" \
        "take; move it to a path of letters, digits and /._+@~,=- (the build directory alone: OAE_VP_BUILD=DIR)."
      exit 2
    fi
  done
  # Without a home directory, the compiler cache is in the build directory.
  if [[ -z ${CCACHE_DIR:-} && ! -w ${HOME:-/nonexistent} ]]; then export CCACHE_DIR=$BUILD/ccache; fi
}

# Prints how many compilers may run at once: one per core, if each has 1.5 GB of memory.
jobs_at_once() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemTotal:/ { print int($2 / 1500000) }' /proc/meminfo)
  if ((memory < 1)); then memory=1; fi
  printf '%d\n' "${OAE_VP_JOBS:-$((cores < memory ? cores : memory))}"
}
