// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sysc/kernel/sc_ver.h>

#include <cstdint>

#include "vp/plugin/api_version.h"

/// The ELF note by which a plugin says what it was built for. It can be read without loading the
/// plugin, which would run its code. note.cpp puts it into a plugin, and check.h reads it.
///
///     owner        `OAE-VP`
///     type         1
///     description  lines of a key and a value, and a NUL: `api 1`, `compiler gcc 12`,
///                  `systemc 2.3.4`
#define OAE_VP_NOTE_OWNER "OAE-VP"
#define OAE_VP_NOTE_TYPE 1

#define OAE_VP_TEXT_OF(number) OAE_VP_TEXT(number)
#define OAE_VP_TEXT(number) #number

// The compilers' interfaces of C++ agree for most code. What the parts of a process share here are
// templates of SystemC and of the standard library, which are not worth the risk.
#if defined(__clang__)
#define OAE_VP_COMPILER "clang " OAE_VP_TEXT_OF(__clang_major__)
#else
#define OAE_VP_COMPILER "gcc " OAE_VP_TEXT_OF(__GNUC__)
#endif
#define OAE_VP_SYSTEMC             \
  OAE_VP_TEXT_OF(SC_VERSION_MAJOR) \
  "." OAE_VP_TEXT_OF(SC_VERSION_MINOR) "." OAE_VP_TEXT_OF(SC_VERSION_PATCH)

/// The description of what is being compiled.
#define OAE_VP_NOTE_TEXT                                                  \
  "api " OAE_VP_TEXT_OF(OAE_VP_API_VERSION) "\ncompiler " OAE_VP_COMPILER \
                                            "\nsystemc " OAE_VP_SYSTEMC "\n"

/// Defines a note with this description, which is a string literal.
#define OAE_VP_NOTE(text)                                                                        \
  __attribute__((section(".note.oae-vp"), used, aligned(4))) static const struct {               \
    std::uint32_t owner_size, description_size, type;                                            \
    alignas(4) char owner[sizeof(OAE_VP_NOTE_OWNER)];                                            \
    alignas(4) char description[sizeof(text)];                                                   \
  } oae_vp_note = {sizeof(OAE_VP_NOTE_OWNER), sizeof(text), OAE_VP_NOTE_TYPE, OAE_VP_NOTE_OWNER, \
                   text}
