// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/mmio_mock.h"

#include <gtest/gtest.h>

#include <algorithm>

struct MmioBus {
  std::vector<MmioDevice*> devices;

  static MmioBus& instance() {
    static MmioBus bus;
    return bus;
  }
  MmioDevice* find(std::uintptr_t address, std::uintptr_t& offset) {
    for (MmioDevice* device : devices) {
      offset = address - device->base_;
      if (offset < device->size_) return device;
    }
    ADD_FAILURE() << "no device at " << std::hex << address;
    return nullptr;
  }
};

MmioDevice::MmioDevice(std::uintptr_t base, std::uintptr_t size) : base_(base), size_(size) {
  MmioBus::instance().devices.push_back(this);
}

MmioDevice::~MmioDevice() {
  auto& devices = MmioBus::instance().devices;
  devices.erase(std::remove(devices.begin(), devices.end(), this), devices.end());
}

extern "C" std::uint64_t mmio_read64(std::uintptr_t address) {
  std::uintptr_t offset;
  MmioDevice* device = MmioBus::instance().find(address, offset);
  return device ? device->read(offset) : ~std::uint64_t{0};
}

extern "C" void mmio_write64(std::uintptr_t address, std::uint64_t value) {
  std::uintptr_t offset;
  if (MmioDevice* device = MmioBus::instance().find(address, offset)) device->write(offset, value);
}
