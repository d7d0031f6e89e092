// SPDX-License-Identifier: Apache-2.0
#include "models/device/kind.h"
#include "models/nvme/kind/description.h"
#include "models/nvme/kind/disk_device.h"

namespace nvme {
namespace {

const device::Registration<Description, DiskDevice> kind(
    "nvme", "An NVMe disk, which Linux's own driver serves", keys);

}  // namespace
}  // namespace nvme
