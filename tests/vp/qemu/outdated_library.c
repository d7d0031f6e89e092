// SPDX-License-Identifier: Apache-2.0
// A library whose interface has another version.
#include "system/oae-embed.h"

const OaeQemuApi* oae_qemu_api(void) {
  static const OaeQemuApi api = {.version = OAE_QEMU_API_VERSION + 1};
  return &api;
}
