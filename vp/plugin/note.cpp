// SPDX-License-Identifier: Apache-2.0
// A part of each plugin, which oae_vp_add_plugin() adds to its sources; no part of the core.
#include "vp/plugin/note.h"

OAE_VP_NOTE(OAE_VP_NOTE_TEXT);
