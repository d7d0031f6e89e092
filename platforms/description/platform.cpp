// SPDX-License-Identifier: Apache-2.0
#include "platforms/description/platform.h"

namespace platform {

const File* Qemu::library_of(const std::string& kind) const {
  const auto found = libraries.find(kind);
  return found != libraries.end() && found->second ? &*found->second : nullptr;
}

std::vector<device::DescriptionPtr> Platform::all_devices() const {
  std::vector<device::DescriptionPtr> all;
  for (const auto& [key, list] : lists) all.insert(all.end(), list.begin(), list.end());
  all.insert(all.end(), devices.begin(), devices.end());
  return all;
}

std::vector<device::DescriptionPtr> Platform::devices_of(const std::string& kind) const {
  std::vector<device::DescriptionPtr> found;
  for (const device::DescriptionPtr& each : all_devices()) {
    if (each->kind == kind) found.push_back(each);
  }
  return found;
}

}  // namespace platform
