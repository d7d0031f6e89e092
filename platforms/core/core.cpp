// SPDX-License-Identifier: Apache-2.0

/// The version of the core library. A process that has this symbol has the library, and may load
/// plugins.
extern "C" const char oae_vp_core[];
extern "C" const char oae_vp_core[] = OAE_VP_VERSION;
