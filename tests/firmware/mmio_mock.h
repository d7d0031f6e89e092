// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

/// A mock that answers the accesses of firmware/base/mmio.h for as long as it exists.
class MmioDevice {
 public:
  MmioDevice(std::uintptr_t base, std::uintptr_t size);
  virtual ~MmioDevice();
  MmioDevice(const MmioDevice&) = delete;

  virtual std::uint64_t read(std::uintptr_t offset) = 0;
  virtual void write(std::uintptr_t offset, std::uint64_t value) = 0;

 private:
  friend struct MmioBus;
  std::uintptr_t base_;
  std::uintptr_t size_;
};
