# SPDX-License-Identifier: Apache-2.0
# Compiles through ccache, if it is installed.
find_program(CCACHE ccache)
if(CCACHE)
  set(ccache env
    # Results count only for the exact text of all files that a file includes. By default, ccache also compares what the
    # preprocessor prints, which contains neither comments nor unused macros. A precompiled header from before a change of
    # these would be taken, in which GCC no longer recognizes the changed file, so that '#pragma once' does not hold.
    CCACHE_DEPEND=1
    # Results that were stored by other rules do not count.
    CCACHE_NAMESPACE=oae-vp-depend
    # Files that use a precompiled header are cached, too.
    CCACHE_SLOPPINESS=pch_defines,time_macros
    ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache})
endif()
