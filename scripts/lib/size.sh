# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Where setup's disk space is.

size_of() { du -sk -- "$1" 2>/dev/null | awk '{ printf $1 < 1000000 ? "%d MB" : "%.1f GB", $1 / ($1 < 1000000 ? 1000 : 1e6) }'; }

show_sizes() {
  local parts
  parts=$(cd "$BUILD" && du -sk -- qemu cmake kernel images apt meson ccache 2>/dev/null | sort -rn | head -n 4 |
    awk '{ printf "%s%s %s", NR > 1 ? ", " : "", $2, $1 < 1000000 ? int($1 / 1000) " MB" : sprintf("%.1f GB", $1 / 1e6) }')
  printf '%s: %s (%s)\n' "$BUILD" "$(size_of "$BUILD")" "$parts"
  local cache
  cache=${CCACHE_DIR:-$(ccache --get-config cache_dir 2>/dev/null)} || return 0
  printf '%s: %s (compiler cache, shared by all that uses ccache)\n' "$cache" "$(size_of "$cache")"
}
