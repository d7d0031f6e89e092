// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/campaign/cables.h"
#include "tests/firmware/mmio_mock.h"
#include "tests/rtl/block/fixture.h"

extern "C" {
#include "firmware/services/link_service.h"
#include "firmware/services/swap_service.h"
}

inline constexpr unsigned joined_ports = 6;  ///< 2 i and 2 i + 1 are joined over cable i

/// The firmware of a cell is stopped in the middle of its work.
struct Stopped {};

/// Stops the firmware with a later access, if that is asked for.
struct Stop {
  void access() {
    if (in != 0 && --in == 0) throw Stopped{};
  }
  unsigned in = 0;  ///< accesses until then; 0: never
};

/// The registers of a link's end. An access takes the clocks that it takes.
class LinkRegisters : public MmioDevice {
 public:
  LinkRegisters(std::uintptr_t base, LinkEnd& end, Cables& cables, Stop& stop)
      : MmioDevice(base, OAE_LINK_SIZE), end_(end), cables_(cables), stop_(stop) {}

  std::uint64_t read(std::uintptr_t offset) override;
  void write(std::uintptr_t offset, std::uint64_t value) override;

 private:
  void finish();
  LinkEnd& end_;
  Cables& cables_;
  Stop& stop_;
};

/// A cell: the verilated block, the ends of two verilated links, and the firmware that is their
/// master.
class Cell : public MmioDevice {
 public:
  Cell(unsigned number, Cables& cables);

  /// The firmware starts. Nothing of it is left but what its memory keeps.
  void start();
  /// All is gone: block, links, memory.
  void lose_power();
  /// Serves, and is stopped by the access of this number, if it comes to that. Then it starts
  /// again.
  void serve_until(unsigned access);
  void serve();
  void tick();

  // The block, as the firmware sees it
  std::uint64_t read(std::uintptr_t offset) override;
  void write(std::uintptr_t offset, std::uint64_t value) override;
  // and as a host does
  std::uint64_t host_read(unsigned bar, unsigned address);
  void host_write(unsigned bar, unsigned address, std::uint64_t value);

  const ReferencePort& port(unsigned n) const { return block.reference.ports[n]; }
  bool is_up() const;

  /// A swap is committed at a port: the words of the host and of its answer.
  std::function<void(unsigned port, std::uint64_t given, std::uint64_t got)> on_commit;
  /// Before an access of the firmware to the block: what else may happen in the meantime.
  std::function<void()> meanwhile;

  const unsigned number;
  Cables& cables;
  Fixture block{joined_ports};
  std::array<unsigned, joined_ports> taken{};  ///< slots that the firmware has taken
  Stop stop;
  std::array<link_place, 2> places{};
  link_service_memory memory;
  std::array<LinkEnd*, 2> ends;
  std::array<std::unique_ptr<LinkRegisters>, 2> registers;
  swap_service swaps{};
  link_service links{};

 private:
  struct Pair {
    Slot slot;
    Slot answer;
  };
  void record_transitions();

  const std::uintptr_t base_;
  std::array<Pair, joined_ports> tentative_{};
};
