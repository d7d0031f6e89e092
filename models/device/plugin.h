// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace device {

/// Loads a plugin: a shared library that registers kinds of devices, which are known from then on.
/// Loading the same file again has no effect. A plugin stays loaded until the process ends.
///
/// Throws vp::images::Mistake if the file is no plugin for this program (vp/plugin), if its static
/// constructors fail, or if it registers no kind or one that exists already. Then no code of the
/// plugin has run in this process. Throws std::logic_error if this program is linked with the
/// static parts of the core library instead of the library itself.
void load_plugin(const std::filesystem::path& file);

}  // namespace device
