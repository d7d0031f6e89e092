// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "oae_registers.h"
#include "tests/campaign/card.h"
#include "tests/campaign/fiber.h"

extern "C" {
#include "guest/driver/oae_exchange.h"
}

/// The owner of a port. It does what the driver does for it (guest/driver/oae_port.c), with the
/// driver's own exchange.
class Owner {
 public:
  Owner(Card& card, unsigned port);

  /// Called after a reset of the function. Before its next swap, the owner settles and reopens its
  /// port.
  void reset() { reset_ = true; }
  /// The owner dies. Another one without any knowledge takes its place.
  void die();
  /// The port's interrupt: in the driver, its handler.
  void interrupt() { oae_exchange_confirm(&exchange_); }
  bool is(const Fiber* fiber) const { return fiber == fiber_.get(); }

  /// The number of swaps committed since the last call of demand().
  bool satisfied() const { return got_ >= wanted_ && idle_; }
  /// Reopens the port, and then demands so many swaps.
  void demand(unsigned swaps);

  // For an access of the driver: whether it is to this port's pages, its BAR and its address.
  bool owns(const volatile void* pointer, unsigned& bar, unsigned& address) const;

 private:
  void live();
  void start();
  void offer();
  void settle();
  void give_up();
  void note(oae_outcome outcome);

  static constexpr unsigned reads = 3;  // like settle_reads of the driver

  Card& card_;
  const unsigned port_;
  oae_exchange exchange_{};
  oae_answer answer_{};
  unsigned char page_[OAE_PORT_SIZE];
  unsigned char stream_[OAE_STREAM_SIZE];
  std::uint64_t buffer_[8]{};
  std::unique_ptr<Fiber> fiber_;
  std::vector<std::unique_ptr<Fiber>> dead_;
  bool reset_ = true;
  bool idle_ = false;
  std::uint64_t token_ = 0;  // the token of the present swap, or of the one in doubt
  unsigned got_ = 0;
  unsigned wanted_ = 0;
};
