// SPDX-License-Identifier: Apache-2.0
#include "models/host/combining_buffers.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace host {
namespace {

constexpr unsigned chunk = 8;
constexpr std::uint64_t full = ~std::uint64_t{0};

}  // namespace

CombiningBuffers::CombiningBuffers(unsigned count, Write write)
    : buffers_(count), write_(std::move(write)) {
  assert(count > 0);
}

void CombiningBuffers::store(std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
  const std::uint64_t line = line_of(address);
  unsigned index = find(line);
  if (index == used_) {
    if (used_ == buffers_.size()) evict_buffer(0);
    index = used_++;
    buffers_[index].line = line;
    buffers_[index].written = 0;
  }
  Buffer& buffer = buffers_[index];
  std::memcpy(buffer.data.data() + offset_in_line(address), data, bytes);
  buffer.written |= byte_mask(address, bytes);
  if (buffer.written == full) evict_buffer(index);
}

void CombiningBuffers::evict(std::uint64_t address) {
  const unsigned index = find(line_of(address));
  if (index < used_) evict_buffer(index);
}

void CombiningBuffers::drain() {
  for (unsigned i = 0; i < used_; ++i) write_out(buffers_[i]);
  used_ = 0;
}

unsigned CombiningBuffers::find(std::uint64_t line) const {
  unsigned index = 0;
  while (index < used_ && buffers_[index].line != line) ++index;
  return index;
}

void CombiningBuffers::evict_buffer(unsigned index) {
  write_out(buffers_[index]);
  const auto first = buffers_.begin() + index;
  std::move(first + 1, buffers_.begin() + used_, first);
  --used_;
}

void CombiningBuffers::write_out(const Buffer& buffer) {
  if (buffer.written == full) return write_(buffer.line, buffer.data.data(), line_size);
  for (unsigned begin = 0; begin < line_size; begin += chunk) {
    for (unsigned i = begin; i < begin + chunk; ++i) {
      const unsigned first = i;
      while (i < begin + chunk && (buffer.written >> i & 1) != 0) ++i;
      if (i > first) write_(buffer.line + first, buffer.data.data() + first, i - first);
    }
  }
}

}  // namespace host
