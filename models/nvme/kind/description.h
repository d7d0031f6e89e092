// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/device/description.h"
#include "models/nvme/controller.h"

namespace nvme {

/// What a platform file says about a namespace. The values here are the defaults.
struct NamespaceDescription {
  std::optional<vp::config::File> image;
  std::int64_t size = 0;  ///< bytes of a namespace without an image
  unsigned block_size = 512;
  std::int64_t cache = 0;  ///< bytes of the volatile write cache, 0 without one
  bool write_through = false;
  std::int64_t overlay_memory = std::int64_t{256} << 20;  ///< bytes
};

/// What a platform file says about an NVMe disk. The values here are the defaults.
struct Description : device::Description {
  vp::config::PciId id{0xf0ae, 0x0ae5};
  std::string serial_number;  ///< empty: the name of the device
  std::string model_number = "OAE-VP NVMe disk";
  std::vector<NamespaceDescription> namespaces;
  std::int64_t read_latency = 80 * vp::us;
  std::int64_t write_latency = 20 * vp::us;
  std::int64_t admin_latency = 10 * vp::us;
  std::int64_t rate = 24'000'000'000;  ///< bit/s
  std::int64_t ready_time = 1 * vp::ms;
  unsigned queue_pairs = 64;
  unsigned queue_entries = 1024;
  unsigned commands = 128;
  unsigned max_transfer = 1u << 18;  ///< bytes

  void check(const std::string& path, vp::config::Reading& reading) const override;
  std::vector<device::InputFile> inputs() const override;
  std::string forbids_forks() const override;
  unsigned storages() const override { return static_cast<unsigned>(namespaces.size()); }
  bool has_faults() const override { return true; }
  std::string check_fault(const std::vector<std::string_view>& words) const override {
    return Controller::check_fault(words);
  }
  std::string summary() const override;
};

/// The keys of an NVMe disk.
std::vector<vp::config::Key<Description>> keys();

}  // namespace nvme
