// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

#include "models/oae/rtl.h"
#include "vp/ring.h"
#include "vp/time/wakeup.h"

namespace oae {

/// Returns a bit for each byte of the payload's data that is to be transferred. The payload has at
/// most 64 bytes.
std::uint64_t enabled_bytes(const tlm::tlm_generic_payload& payload);
/// Copies those of `length` bytes that are enabled.
void copy_enabled(std::uint8_t* to, const std::uint8_t* from, unsigned length,
                  std::uint64_t enable);

/// Checks an access that has to lie within an aligned block of `boundary` bytes, and below `size`.
/// Returns TLM_OK_RESPONSE, or the response to a bad access.
tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload, unsigned boundary,
                               std::uint64_t size);

/// An access of the firmware to one word of 8 bytes over AXI4-Lite.
struct RegisterAccess {
  /// The payload has passed check(). `arrival` is in ps.
  RegisterAccess(const tlm::tlm_generic_payload& payload, vp::Picoseconds arrival);
  /// Puts the response into the payload. SLVERR becomes TLM_ADDRESS_ERROR_RESPONSE.
  void answer(tlm::tlm_generic_payload& payload) const;

  vp::Picoseconds arrival;
  bool write;
  std::uint32_t address;
  std::uint64_t data = 0;
  unsigned strobe = 0;
  bool done = false;
  bool error = false;
  vp::Wakeup* waiting = nullptr;  // of the process that waits for the answer
};

/// The accesses of the firmware to a verilated AXI4-Lite slave (pins axi_*), one after the other.
/// The order at an edge is: present(), the slave's low phase, sample(), its rising edge, release(),
/// finish().
class RegisterAccesses {
 public:
  /// Adds an access. The object must live until the access is done.
  void push(RegisterAccess& access) { waiting_.push(&access); }
  bool waiting() const { return !waiting_.empty(); }
  bool waits_alone() const { return waiting_.size() == 1 && access_ == nullptr; }
  /// Arrival of the first access that waits.
  vp::Picoseconds arrival() const { return waiting_.front()->arrival; }
  /// Whether an access is on the pins or being executed.
  bool in_work() const { return access_ != nullptr; }
  /// Waits until the access is done. An SC_THREAD must call this.
  void wait_for(RegisterAccess& access);

  /// Puts the next access on the pins if it arrived before the edge at `now`.
  void present(AxiPins& slave, vp::Picoseconds now) {
    if (access_ != nullptr || waiting_.empty() || waiting_.front()->arrival >= now) return;
    access_ = waiting_.pop();
    put(slave, *access_);
  }
  static void put(AxiPins& slave, const RegisterAccess& access) {
    slave.axi_awvalid = slave.axi_wvalid = access.write;
    slave.axi_arvalid = !access.write;
    slave.axi_awaddr = slave.axi_araddr = access.address;
    slave.axi_wdata = access.data;
    slave.axi_wstrb = access.strobe;
  }
  static void withdraw(AxiPins& slave) {
    slave.axi_awvalid = slave.axi_wvalid = slave.axi_arvalid = 0;
  }

  void sample(const AxiPins& slave, bool accepts) {
    accepts_ = accepts;
    responds_ = slave.axi_bvalid || slave.axi_rvalid;
    if (!responds_) return;
    access_->data = slave.axi_rdata;
    access_->error = (access_->write ? slave.axi_bresp : slave.axi_rresp) != 0;
  }

  void release(AxiPins& slave) const {
    if (accepts_) withdraw(slave);
  }

  void finish();

  /// Ends all accesses with an error: the slave has lost its power.
  void abandon(AxiPins& slave);

  /// Answers the only access that waits. A write has no data.
  void answer(std::uint64_t data, bool error) {
    RegisterAccess& access = *waiting_.pop();
    access.data = data;
    access.error = error;
    access.done = true;
  }

 private:
  vp::Ring<RegisterAccess*> waiting_;
  RegisterAccess* access_ = nullptr;
  bool accepts_ = false;  // whether the slave accepts at this edge
  bool responds_ = false;
  std::vector<std::unique_ptr<vp::Wakeup>> wakeups_;  // those that nobody uses
};

}  // namespace oae
