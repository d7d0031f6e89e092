// SPDX-License-Identifier: Apache-2.0
#include "vp/statistics/latency.h"

#include <algorithm>

namespace vp {

Latency::Summary Latency::summary() const {
  merge();
  Summary summary;
  if (count_ == 0) return summary;
  summary.count = count_;
  summary.min = min_;
  summary.median = at_rank(count_ - count_ / 2);
  summary.p99 = at_rank(count_ - count_ / 100);
  summary.p99_5 = at_rank(count_ - count_ / 200);
  summary.p99_9 = at_rank(count_ - count_ / 1000);
  summary.max = max_;
  summary.resolution = resolution_;
  return summary;
}

void Latency::merge() const {
  if (recent_.empty()) return;
  std::sort(recent_.begin(), recent_.end());
  count_ += recent_.size();
  min_ = std::min(min_, recent_.front());
  max_ = std::max(max_, recent_.back());

  std::vector<Value> merged;
  merged.reserve(values_.size() + recent_.size());
  auto add = [&merged](Picoseconds span, std::uint64_t count) {
    if (!merged.empty() && merged.back().span == span) {
      merged.back().count += count;
    } else {
      merged.push_back({span, count});
    }
  };
  auto known = values_.begin();
  for (const Picoseconds exact : recent_) {
    const Picoseconds span = exact & -resolution_;
    for (; known != values_.end() && known->span <= span; ++known) add(known->span, known->count);
    add(span, 1);
  }
  for (; known != values_.end(); ++known) add(known->span, known->count);
  recent_.clear();
  values_ = std::move(merged);
  while (values_.size() > max_values_) coarsen();
  max_recent_ = std::max(max_recent_, values_.size() / 4);
}

void Latency::coarsen() const {
  resolution_ *= 2;
  std::size_t kept = 0;
  for (const Value& value : values_) {
    const Picoseconds span = value.span & -resolution_;
    if (kept > 0 && values_[kept - 1].span == span) {
      values_[kept - 1].count += value.count;
    } else {
      values_[kept++] = {span, value.count};
    }
  }
  values_.resize(kept);
}

Picoseconds Latency::at_rank(std::uint64_t rank) const {
  for (const Value& value : values_) {
    // Rounding down must not go below the exact minimum.
    if (rank <= value.count) return std::max(value.span, min_);
    rank -= value.count;
  }
  return max_;
}

}  // namespace vp
