// SPDX-License-Identifier: Apache-2.0
#include "models/device/kind.h"
#include "models/ipu/kind/description.h"
#include "models/ipu/kind/ipu_device.h"
#include "models/ipu/kind/oae_links.h"

namespace ipu {
namespace {

device::Traits traits() {
  device::Traits traits;
  traits.noun = "IPU";
  traits.list = "ipus";
  traits.list_text = "Infrastructure processing units";
  traits.most = 8;
  traits.library_text = "QEMU library of the IPUs";
  traits.firmware = "firmware";
  traits.components = {"oae"};
  traits.sections = sections;
  return traits;
}

const device::Registration<Description, IpuDevice> kind(
    "ipu", "An infrastructure processing unit, with Arm cores and an Open Atomic Ethernet block",
    keys, traits());

}  // namespace
}  // namespace ipu
