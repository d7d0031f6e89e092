// SPDX-License-Identifier: Apache-2.0
#include <asm/barrier.h>
#include <gtest/gtest.h>
#include <linux/io.h>
#include <linux/ktime.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "oae_registers.h"
#include "tests/campaign/card.h"
#include "tests/campaign/fiber.h"
#include "tests/campaign/hosts.h"

extern "C" {
#include "firmware/base/mmio.h"
#include "firmware/services/swap_service.h"
#include "guest/driver/oae_crc.h"
}

namespace {

/// The parts of a run: the card, the owners of its ports, and its firmware.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : card_(seed, 1 + seed % 3) {
    current = this;
    for (unsigned port = 0; port < card_.fixture.reference.ports.size(); ++port) {
      owners_.push_back(std::make_unique<Owner>(card_, port));
    }
    card_.on_reset = [this] {
      for (auto& owner : owners_) owner->reset();
    };
    card_.on_death = [this] {
      for (auto& owner : owners_) {
        if (owner->is(Fiber::running())) return owner->die();
      }
    };
    card_.on_restart = [this] { restart_firmware(); };
    card_.on_power_loss = [this] {
      restart_firmware();
      stop(adder_);
      start(adder_, [this] { add_to_words(); });
    };
    card_.on_interrupt = [this](unsigned port) { owners_[port]->interrupt(); };
    boot_firmware();
    start(adder_, [this] { add_to_words(); });
    const unsigned count = 1 + static_cast<unsigned>(card_.pick(4));
    for (unsigned i = 0; i < count; ++i) {
      const auto at = static_cast<unsigned>(card_.pick(horizon));
      const auto fault = static_cast<Fault>(card_.pick(fault_kinds));
      plan(at, fault);
      // A late offer matters if a later one is lost.
      if (fault == Fault::offer_late || fault == Fault::offer_again) {
        plan(at + static_cast<unsigned>(card_.pick(40)),
             card_.pick(2) ? Fault::offer_late : Fault::write_lost);
      }
      // A state is read when a port is opened.
      if (fault == Fault::state_lost || fault == Fault::state_delayed ||
          fault == Fault::state_damaged) {
        plan(at, card_.pick(2) ? Fault::function_reset : Fault::owner_dies);
      }
    }
  }
  ~Machine() { current = nullptr; }

  void run() {
    const std::uint64_t end = card_.fixture.now + 2'000 + card_.pick(4'000);
    card_.run_until([&] { return card_.fixture.now >= end; });
    // There are no more faults from here on, so all demands must be met.
    card_.stop_faults();
    for (auto& owner : owners_) owner->demand(2);
    card_.run_until([&] {
      for (auto& owner : owners_) {
        if (!owner->satisfied()) return false;
      }
      return true;
    });
    adding_ = false;
    card_.run_until([&] { return adder_->over(); });
    const std::uint64_t quiet = card_.fixture.now + 500;  // time for the firmware to take slots
    card_.run_until([&] { return card_.fixture.now >= quiet; });
    if (!testing::Test::HasFailure()) card_.ledger.conclude();
  }

  static Machine* current;
  Card& card() { return card_; }

  bool find(const volatile void* pointer, unsigned& bar, unsigned& address) {
    for (auto& owner : owners_) {
      if (owner->owns(pointer, bar, address)) return true;
    }
    return false;
  }

 private:
  static constexpr unsigned horizon = 400;  // accesses within which faults occur

  void plan(unsigned at, Fault fault) {
    const char* const without = std::getenv("OAE_VP_CAMPAIGN_WITHOUT");
    if (without != nullptr && std::strstr(without, name(fault)) != nullptr) return;
    card_.plan(at, fault);
  }

  void start(std::unique_ptr<Fiber>& fiber, std::function<void()> body) {
    fiber = std::make_unique<Fiber>(std::move(body));
    card_.start(*fiber);
  }
  void stop(std::unique_ptr<Fiber>& fiber) {
    card_.abandon(*fiber);
    dead_.push_back(std::move(fiber));
  }
  void boot_firmware() {
    start(firmware_, [this] { serve(); });
  }
  void restart_firmware() {
    stop(firmware_);
    boot_firmware();
  }
  void serve() {
    static swap_service service;
    EXPECT_TRUE(swap_service_init(&service, 0, nullptr));
    card_.put(OAE_FIRMWARE_HOLD_LIMIT, card_.pick(3) ? 300 + card_.pick(3'000) : 0);
    for (unsigned round = 1;; ++round) {
      swap_service_serve(&service, ~std::uint64_t{0});
      card_.pause(static_cast<unsigned>(card_.pick(30)));
      if (round % 50 == 0) {
        swap_service_tick(&service, 1);
        swap_service_retry(&service, ~std::uint64_t{0});
      }
    }
  }
  /// Another core, which takes no part in swaps.
  void add_to_words() {
    while (adding_) {
      const std::uint64_t addend = card_.pick(100);
      card_.put(OAE_FIRMWARE_WORD_OPERAND, addend);
      card_.put(OAE_FIRMWARE_WORD_COMMAND,
                OAE_PUT(OAE_FIRMWARE_WORD_COMMAND_ACCESS, OAE_WORD_ACCESS_ADD) | Ledger::counter);
      const std::uint64_t outcome = card_.get(OAE_FIRMWARE_WORD_OUTCOME);
      if (outcome & OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK) card_.ledger.firmware_added(addend);
      card_.pause(static_cast<unsigned>(card_.pick(400)));
    }
  }

  Card card_;
  std::vector<std::unique_ptr<Owner>> owners_;
  std::unique_ptr<Fiber> firmware_;
  std::unique_ptr<Fiber> adder_;
  std::vector<std::unique_ptr<Fiber>> dead_;
  bool adding_ = true;
};

Machine* Machine::current = nullptr;

struct Place {
  unsigned bar = 0;
  unsigned address = 0;
};

Place place(const volatile void* pointer) {
  Place found;
  if (!Machine::current->find(pointer, found.bar, found.address)) {
    throw std::logic_error("access beside the pages");
  }
  return found;
}

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

bool is_set(const char* name) {
  return std::getenv(name) != nullptr;
}

constexpr unsigned parts = 4;

class Campaign : public testing::TestWithParam<unsigned> {};

TEST_P(Campaign, Seeds) {
  oae_crc_init();
  const std::uint64_t only = setting("OAE_VP_CAMPAIGN_SEED", 0);
  const std::uint64_t runs = setting("OAE_VP_CAMPAIGN_RUNS", 10'000) / parts;
  std::uint64_t committed = 0;
  std::uint64_t reversed = 0;
  std::uint64_t damaged_slots = 0;
  std::uint64_t refused_at_once = 0;
  std::uint64_t refused_late = 0;
  Evidence evidence;
  const std::uint64_t first = only ? only : 1 + GetParam() * runs;
  for (std::uint64_t seed = first; seed < (only ? only + 1 : first + runs); ++seed) {
    SCOPED_TRACE("OAE_VP_CAMPAIGN_SEED=" + std::to_string(seed) + " repeats it");
    Machine machine(seed);
    machine.run();
    committed += machine.card().ledger.committed;
    reversed += machine.card().ledger.reversed;
    damaged_slots += machine.card().slots_damaged;
    refused_at_once += machine.card().fixture.refused_at_once;
    refused_late += machine.card().fixture.refused_late;
    evidence.add(machine.card().evidence());
    if (HasFailure()) return;
  }
  // All runs together must have reached each of these events often enough.
  if (!only) {
    EXPECT_GT(committed, 10 * runs);
    EXPECT_GT(reversed, runs / 100);
    EXPECT_GT(damaged_slots, runs / 100);
    EXPECT_GT(refused_at_once, runs / 100);
    EXPECT_GT(refused_late, runs / 100);
    for (unsigned i = 0; i < fault_kinds && !is_set("OAE_VP_CAMPAIGN_WITHOUT"); ++i) {
      const auto fault = static_cast<Fault>(i);
      if (!possible(fault)) continue;
      EXPECT_GE(evidence.injected(fault), runs / 50) << name(fault);
      EXPECT_GE(evidence.injected(fault, Moment::tentative), runs / 250) << name(fault);
    }
  }
  std::cout << evidence.table() << damaged_slots << " slots were damaged, " << refused_at_once
            << " were refused at once and " << refused_late << " after they had waited\n";
  RecordProperty("committed", std::to_string(committed));
  RecordProperty("reversed", std::to_string(reversed));
}

INSTANTIATE_TEST_SUITE_P(Part, Campaign, testing::Range(0u, parts));

}  // namespace

// ---- The accesses of both sides to the card ----

u64 readq(const volatile void* address) {
  const Place at = place(address);
  return Machine::current->card().read(at.bar, at.address);
}
void writeq(u64 value, volatile void* address) {
  const Place at = place(address);
  Machine::current->card().write(at.bar, at.address, value);
}
void mb() {}
u64 ktime_get_ns() {
  return Machine::current->card().fixture.now;
}
std::uint64_t mmio_read64(std::uintptr_t address) {
  return Machine::current->card().get(static_cast<unsigned>(address));
}
void mmio_write64(std::uintptr_t address, std::uint64_t value) {
  Card& card = Machine::current->card();
  const auto at = static_cast<unsigned>(address);
  if (at >= OAE_FIRMWARE_OFFER &&
      at % OAE_FIRMWARE_OFFER_STRIDE == OAE_FIRMWARE_COMMAND % OAE_FIRMWARE_OFFER_STRIDE &&
      value & OAE_FIRMWARE_COMMAND_TAKE_MASK) {
    card.ledger.firmware_takes((at - OAE_FIRMWARE_OFFER) / OAE_FIRMWARE_OFFER_STRIDE);
  }
  card.put(at, value);
}
