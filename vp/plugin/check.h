// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/images/file.h"

namespace vp::plugin {

/// Checks a plugin without running any of its code: it has to be a shared library for x86-64 whose
/// note (note.h) names this API version, this compiler and this SystemC, and it must not define
/// functions or objects of the core library a second time. Throws images::Mistake.
void check(images::Bytes& file);

/// Checks the last of these alone, for a library that has come along with a plugin. Throws
/// images::Mistake.
void check_for_second_core(images::Bytes& file);

}  // namespace vp::plugin
