// SPDX-License-Identifier: Apache-2.0
// A plugin that says NOTE of itself.
#include "vp/plugin/note.h"

OAE_VP_NOTE(NOTE);
