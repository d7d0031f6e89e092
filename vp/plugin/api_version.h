// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of the interface between oae-vp and its plugins, which consists of the installed
/// headers. README.md says when it has to be raised. CMake reads it from here.
#define OAE_VP_API_VERSION 1
