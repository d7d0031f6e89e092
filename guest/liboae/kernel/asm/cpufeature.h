// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#pragma once

#define X86_FEATURE_XMM4_1 "sse4.1"
#define cpu_feature_enabled(feature) __builtin_cpu_supports(feature)
