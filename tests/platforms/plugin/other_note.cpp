// SPDX-License-Identifier: Apache-2.0
// A plugin that says of itself that it was built for something else: API, COMPILER or SYSTEMC.
#include "vp/plugin/note.h"

#ifndef API
#define API OAE_VP_TEXT_OF(OAE_VP_API_VERSION)
#endif
#ifndef COMPILER
#define COMPILER OAE_VP_COMPILER
#endif
#ifndef SYSTEMC
#define SYSTEMC OAE_VP_SYSTEMC
#endif

#ifdef SHORT
OAE_VP_NOTE("api " API "\n");
#else
OAE_VP_NOTE("api " API "\ncompiler " COMPILER "\nsystemc " SYSTEMC "\n");
#endif
