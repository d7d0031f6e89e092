// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "system/oae-embed.h"
#include "vp/console/console.h"
#include "vp/interrupt_line.h"
#include "vp/qemu/cpu.h"
#include "vp/time/domain.h"

namespace vp::qemu {

/// The library cannot be used; says why and what to do.
struct LibraryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One QEMU: a machine with its vCPUs, its timers and its memory, as a model of a domain.
///
/// QEMU runs no thread: every vCPU is a SystemC process that calls it, and whatever QEMU wants of
/// the simulation comes back as a call on the same thread. Its virtual clock is the simulation's
/// time or, while a vCPU executes, that vCPU's local time.
class Instance : public sc_core::sc_module, public Actor, public InterruptLineIf {
 public:
  struct Config {
    std::string library;                 ///< path of libqemu-<target>.so
    std::vector<std::string> arguments;  ///< as for qemu-system-<target>, without argv[0]
    unsigned cpus = 1;                   ///< vCPUs; the arguments must say the same
    std::uint64_t ips = 1'000'000'000;   ///< instructions per second of simulated time, >= 1
    Picoseconds max_quantum = 1 * us;    ///< how far a vCPU may run ahead of the kernel's time
    Picoseconds slice = 1 * us;          ///< the same while a sibling is awake, whose memory it
                                         ///< shares; at most the domain's lookahead counts
    Picoseconds spin_slice = 1 * ms;     ///< how long it runs while a vCPU spins, if less than slice
    bool decoupled = false;              ///< targets know of accesses ahead of time, see Decoupled
    std::vector<Console*> consoles;      ///< console n is the argument "-chardev oae,id=consolen"
  };

  /// What the guest or GDB asks of the platform.
  struct Requests {
    std::function<void()> shutdown;  ///< the guest has powered off: no vCPU executes any more
    std::function<void()> reset;     ///< the guest's machine has been reset
    std::function<void()> stopped;   ///< GDB holds the machine: time must not go on
  };

  /// A handler of x86 I/O ports, 1, 2 or 4 bytes wide, called at the vCPU's exact local time. Takes
  /// no simulated time but that of the accesses that it makes for the vCPU.
  struct IoPorts {
    std::function<std::uint32_t(Cpu& cpu, std::uint64_t offset, unsigned size)> read;
    std::function<void(Cpu& cpu, std::uint64_t offset, unsigned size, std::uint32_t value)> write;
  };

  /// Where a machine has its PCI Express windows; sizes in bytes.
  struct PcieWindows {
    std::uint64_t ecam, ecam_size, mmio32, mmio32_size, mmio64, mmio64_size;
  };

  /// Loads the library and starts QEMU in it. Throws LibraryError.
  Instance(const sc_core::sc_module_name& name, Domain& domain, Config config);
  ~Instance() override;

  /// The vCPUs; each has a socket for the accesses that leave QEMU's machine.
  sc_core::sc_vector<Cpu> cpu;

  void on_requests(Requests requests) { requests_ = std::move(requests); }

  /// Accesses of this physical range go to the accessing vCPU's socket. The region of the higher
  /// priority wins; QEMU's own have priority 0.
  void map_memory(std::uint64_t base, std::uint64_t size, int priority);
  void map_io(std::uint64_t base, std::uint64_t size, IoPorts ports);
  /// Throws LibraryError if the machine has no PCI Express host bridge.
  PcieWindows pcie_windows() const;

  /// Physical memory as the machine's bus sees it, interrupt addresses included; false where there
  /// is none. The translator forgets code that is written over. From within the simulation this is
  /// an access at the present time; throws BrokenPromise if a vCPU has executed past it.
  bool read_memory(std::uint64_t address, void* data, std::uint64_t size);
  bool write_memory(std::uint64_t address, const void* data, std::uint64_t size);
  /// The same for a debugger, which sees the memory as it is, whatever the time.
  bool debug_read(std::uint64_t address, void* data, std::uint64_t size);
  bool debug_write(std::uint64_t address, const void* data, std::uint64_t size);
  /// RAM at `address` and how many bytes follow, or nullptr.
  void* ram(std::uint64_t address, std::uint64_t& size);

  /// Interrupt input `number` of the machine's controller (IPU: SPI number; host: 0 to 3 for INTA
  /// to INTD of its PCI Express hierarchy). Throws BrokenPromise if a vCPU has executed past the
  /// present time.
  void set_line(unsigned number, bool level) override;

  /// The machine loses its power: from now on no vCPU executes an instruction, and no access of one
  /// reaches a target. An access that has reached its target ends when that answers, and changes
  /// nothing in the machine.
  void lose_power();
  /// The machine has power again and begins anew, with empty memory but for its image; the clocks
  /// of its vCPUs have gone on. Returns false, without effect, while a vCPU is inside an access.
  bool power_up();

  Picoseconds floor() const override;

  /// Polls GDB and lets it act. Call it while the kernel is not running; returns false while GDB
  /// holds the machine.
  bool poll();

  /// The local time of the vCPU that executes, or the kernel's.
  Picoseconds present() const;

  /// How many vCPUs of a machine wait, and for what.
  struct Rest {
    unsigned halted = 0;    ///< sleep until an interrupt
    unsigned waiting = 0;   ///< have made an access that is not answered
    Picoseconds since = 0;  ///< the time at which the last of them began to wait
  };
  /// Valid while no event is left in the kernel. Nothing rests in a machine that is off.
  Rest rest() const;

  /// Instructions executed by all vCPUs.
  std::uint64_t instructions() const;

 private:
  friend class Cpu;

  struct Region {
    std::uint64_t base;
    IoPorts ports;  // empty: goes to the vCPU's socket
  };

  inline static std::vector<Instance*> all_;  // all instances

  /// Does the work that a vCPU requests. An exception must not cross QEMU's frames, so the vCPU's
  /// process throws it again.
  template <typename Work>
  void guard(int cpu, Work work);
  bool access(int region, int cpu, MemoryType type, tlm::tlm_command command, std::uint64_t offset,
              unsigned size, std::uint64_t& value);
  std::exception_ptr failure_of(int cpu) const;
  /// Checks that what a model does to this machine comes in time.
  void entered() const;
  void rearm_timers();
  void feed(unsigned console);
  /// Acts on requests, unless a vCPU is inside an access. Returns whether the machine may run.
  bool service(bool io);

  Domain& domain_;
  const Config config_;
  const bool gdb_;  // may attach
  const OaeQemuApi* api_;
  std::vector<Region> regions_;
  Requests requests_;
  Event timers_;
  Cpu* running_ = nullptr;
  const Cpu* ahead_ = nullptr;  // makes an access ahead of the kernel's time
  Cpu* waiting_ = nullptr;  // the last one whose turn is in the calendar
  unsigned awake_ = 0;      // vCPUs that run or are about to
  unsigned accesses_ = 0;   // vCPUs inside an access
  unsigned acting_ = 0;     // vCPUs that are about to act on their siblings
  Picoseconds spins_until_ = 0;  // until then, a vCPU is taken to wait for a sibling
  bool gathering_ = false;  // somebody needs a moment without one
  bool polled_ = false;     // GDB has been waiting for such a moment
  bool off_ = false;        // no vCPU executes: the guest has powered off, or has no power
  bool unpowered_ = false;
  std::exception_ptr failure_;
  sc_core::sc_event gathered_;
};

}  // namespace vp::qemu
