// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/ipu/memory.h"
#include "vp/qemu/instance.h"

namespace ipu {

/// The bytes of a memory from which the IPU's processors execute. Reads are direct. Writes go
/// through QEMU, which discards the code that it has translated from those bytes.
class QemuStorage : public Storage {
 public:
  QemuStorage(vp::qemu::Instance& qemu, std::uint64_t base, std::uint64_t size)
      : qemu_(qemu), base_(base), size_(size) {}

  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::uint8_t* bytes, std::uint64_t length) override {
    qemu_.read_memory(base_ + offset, bytes, length);
  }
  void write(std::uint64_t offset, const std::uint8_t* bytes, std::uint64_t length) override {
    qemu_.write_memory(base_ + offset, bytes, length);
  }
  std::uint8_t* bytes() override {
    std::uint64_t left = 0;
    return static_cast<std::uint8_t*>(qemu_.ram(base_, left));
  }
  bool direct_writes() const override { return false; }

 private:
  vp::qemu::Instance& qemu_;
  const std::uint64_t base_;
  const std::uint64_t size_;
};

}  // namespace ipu
