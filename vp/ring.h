// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace vp {

/// First in, first out; allocates only when it holds more than it ever held.
template <typename T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }
  /// The item before which `place` others came.
  const T& operator[](std::size_t place) const { return items_[index(place)]; }
  T& operator[](std::size_t place) { return items_[index(place)]; }

  void push(T value) {
    if (size_ == items_.size()) grow();
    items_[index(size_++)] = std::move(value);
  }

  /// Adds an item before which `place` others come.
  void insert(std::size_t place, T value) {
    push(std::move(value));
    for (std::size_t at = size_ - 1; at > place; --at) {
      std::swap(items_[index(at)], items_[index(at - 1)]);
    }
  }

  void clear() {
    while (!empty()) pop();
  }

  T pop() {
    T value = std::move(items_[head_]);
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
    return value;
  }

  /// Removes an item that may not be the first one. The order of the others stays.
  T remove(std::size_t place) {
    for (; place > 0; --place) std::swap(items_[index(place)], items_[index(place - 1)]);
    return pop();
  }

 private:
  std::size_t index(std::size_t place) const { return (head_ + place) & (items_.size() - 1); }

  void grow() {
    std::vector<T> larger(2 * items_.size());
    for (std::size_t i = 0; i < size_; ++i) {
      larger[i] = std::move(items_[index(i)]);
    }
    items_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> items_ = std::vector<T>(16);  // a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace vp
