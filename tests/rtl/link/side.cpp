// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/link/side.h"

#include <gtest/gtest.h>

#include <utility>

namespace window {

void Side::settle() {
  *bready = *rready = 1;
  if (accesses_.empty() || waits_) return;
  const Access& access = accesses_.front();
  *awvalid = *wvalid = access.write;
  *arvalid = !access.write;
  *awaddr = *araddr = access.address;
  *wdata = access.data;
  *wstrb = 0xff;
}

void Side::sample() {
  taken_ = (*awvalid && *awready) || (*arvalid && *arready);
  responded_ = *bvalid || *rvalid;
  result_ = *rdata;
  if (responded_) {
    EXPECT_EQ(*bvalid ? *bresp : *rresp, 0) << "no register at " << accesses_.front().address;
  }
}

void Side::rise() {
  if (taken_) {
    waits_ = true;
    *awvalid = *wvalid = *arvalid = 0;
  }
  if (!responded_) return;
  waits_ = false;
  const Done done = std::move(accesses_.front().done);
  accesses_.pop_front();
  if (done) done(result_);
}

Group Side::sent() const {
  Group group;
  group.kind = *kind_o;
  for (unsigned i = 0; i < slices; ++i) {
    group.data[i] = data_o[2 * i] | std::uint64_t{data_o[2 * i + 1]} << 32;
  }
  return group;
}

void Side::receive(const Group& group, bool carrier) {
  *carrier_i = carrier;
  *kind_i = group.kind;
  for (unsigned i = 0; i < slices; ++i) {
    data_i[2 * i] = static_cast<std::uint32_t>(group.data[i]);
    data_i[2 * i + 1] = static_cast<std::uint32_t>(group.data[i] >> 32);
  }
}

}  // namespace window
