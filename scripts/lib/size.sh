# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shows how much disk space setup uses, and for what.

size_of() { du -sk -- "$1" 2>/dev/null | readable_sizes | cut -f1; }

# Converts the kilobytes at the head of each line to MB or GB.
readable_sizes() {
  awk -F'\t' '{ print ($1 < 1e6 ? int($1 / 1000) " MB" : sprintf("%.1f GB", $1 / 1e6)) "\t" $2 }'
}

show_sizes() {
  local parts cache
  parts=$(cd "$BUILD" && { du -sk -- qemu cmake kernel images apt meson ccache 2>/dev/null || true; } | sort -rn |
    head -n 4 | readable_sizes | sed -E 's/(.*)\t(.*)/\2 \1/' | paste -sd, | sed 's/,/, /g')
  printf '%s: %s (%s)\n' "$BUILD" "$(size_of "$BUILD")" "$parts"
  cache=${CCACHE_DIR:-$(ccache --get-config cache_dir 2>/dev/null)} || return 0
  printf '%s: %s (compiler cache, shared by all that uses ccache)\n' "$cache" "$(size_of "$cache")"
}
