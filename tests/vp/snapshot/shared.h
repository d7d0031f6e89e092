// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <new>

namespace vp {

/// An object that forked processes share.
template <typename T>
class Shared {
 public:
  Shared()
      : memory_(
            ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        object_(new (memory_) T()) {}
  ~Shared() { ::munmap(memory_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T& operator*() { return *object_; }
  T* operator->() { return object_; }

 private:
  void* memory_;
  T* object_;
};

}  // namespace vp
