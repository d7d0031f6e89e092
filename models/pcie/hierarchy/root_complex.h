// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <vector>

#include "models/pcie/hierarchy/arbiter.h"
#include "models/pcie/hierarchy/root_port.h"
#include "vp/interrupt_line.h"
#include "vp/ring.h"
#include "vp/statistics/latency.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"

namespace pcie {

struct AddressRange {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  bool contains(std::uint64_t address) const { return address - base < size; }
};

struct RootComplexConfig {
  AddressRange ecam{0xe0000000, 0x10000000};      ///< 1 MiB for each bus, up to 256 buses
  AddressRange memory32{0xc0000000, 0x20000000};  ///< must end below 4 GiB
  AddressRange memory64{};                        ///< prefetchable; size 0 without such a window
  /// Memory that accepts every write; size 0 if unknown. It affects wall time only, see Link.
  AddressRange ram{};
  vp::Picoseconds latency = 0;         ///< traversal time in each direction
  vp::Picoseconds memory_latency = 0;  ///< time of a device's read, added to what memory annotates
  /// Time of a message interrupt from here through the local APIC into the processor.
  vp::Picoseconds interrupt_latency = 0;
  vp::Picoseconds completion_timeout = 50 * vp::ms;  ///< greater than 0
  unsigned tags = 256;                               ///< outstanding requests per port, 32 or 256
  unsigned max_payload = 256;                        ///< supported payload in bytes
  unsigned read_boundary = 64;                       ///< RCB, 64 or 128 bytes
  CompletionConfig completions{};  ///< how each port completes the reads of devices
  unsigned deferrable_writes = 0;  ///< bytes of a DMWr to memory, 64 or 128; 0 without support
  /// Whether devices below different root ports can reach each other. If not, their requests for
  /// each other are Unsupported Requests.
  bool peer_to_peer = false;
  bool host_bridge = true;  ///< whether function 00:00.0 exists
  Identity host_bridge_identity{0xf0ae, 0x0a00, 0x060000};
  std::vector<RootPortConfig> ports = {RootPortConfig{}};  ///< 00:01.0 and following, at most 31
};

/// A root complex. Accesses of processors become TLPs, and TLPs of devices become memory accesses.
///
///     host --- ECAM ------------- bus 0: host bridge, root ports
///          |                  `-- config TLPs by bus number
///          `-- 32/64-bit window - memory TLPs by the root ports' windows
///     memory <------------------ memory TLPs of devices, MSI among them
///     root port <--------------- memory TLPs of devices for its windows, with peer to peer
///
/// Reads without a target return all ones, and writes without a target have no effect.
class RootComplex : public sc_core::sc_module, private HostIf {
 public:
  /// Accesses of processors: b_transport from SC_THREADs at system physical addresses, 1 to 64
  /// bytes, with optional byte enables. Reads and configuration writes wait for their completion;
  /// memory writes do not. An address outside of all ranges gets TLM_ADDRESS_ERROR_RESPONSE.
  tlm_utils::multi_passthrough_target_socket<RootComplex> host;
  /// Accesses of devices at host bus addresses. The target of this b_transport must not wait. The
  /// delay that a read annotates precedes its completion.
  tlm_utils::simple_initiator_socket<RootComplex> memory;
  /// INTA to INTD as lines 0 to 3, after the swizzle by device number; binding is optional.
  sc_core::sc_port<vp::InterruptLineIf, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt;

  /// Throws ConfigurationError if a value is impossible.
  RootComplex(const sc_core::sc_module_name& name, const RootComplexConfig& config,
              vp::Domain& domain, vp::Statistics& statistics);

  /// Root port `index`, from 0, at which a link begins.
  RootPort& port(unsigned index) { return *ports_.at(index); }

  /// Fundamental reset of the hierarchy, for example with the host's machine. Outstanding reads end
  /// with all ones.
  void reset();

  /// The round trips of memory reads as processors observe them.
  const vp::Latency& read_latency() const { return read_latency_; }

 private:
  void transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_response_status access(bool write, std::uint64_t address, std::uint8_t* data,
                                  unsigned bytes);
  void access_memory(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes);
  void access_config(bool write, std::uint64_t offset, std::uint8_t* data, unsigned bytes);
  void config_read(Id target, unsigned offset, std::uint8_t* data, unsigned bytes);
  void config_write(Id target, unsigned offset, const std::uint8_t* data, unsigned bytes);
  ConfigSpace* internal(Id target);
  RootPort* port_of_bus(Id target);
  RootPort* port_of_address(std::uint64_t address);

  bool write(const Tlp& request) override;
  bool read(Tlp& request, vp::Picoseconds& delay) override;
  Status atomic(Tlp& request, vp::Picoseconds& delay) override;
  Status deferrable_write(const Tlp& request, vp::Picoseconds& delay) override;
  bool is_memory(std::uint64_t address, unsigned bytes) const;
  bool is_ram(std::uint64_t address, unsigned bytes) const override;
  void intx(unsigned port, unsigned pin, bool level) override;
  RootPort* claiming(std::uint64_t address) override;
  RootPort* routing(unsigned bus) override;
  void drain() override;
  void deliver_interrupts();
  bool own_address(std::uint64_t address) const;
  bool access_host_memory(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data,
                          unsigned bytes, sc_core::sc_time& delay);

  // A message interrupt that has not reached its processor.
  struct Interrupt {
    vp::Picoseconds when = 0;
    std::uint64_t address = 0;
    std::uint8_t data[4] = {};
  };

  const RootComplexConfig config_;
  vp::Domain& domain_;
  ConfigSpace host_bridge_space_;
  std::unique_ptr<Type0Header> host_bridge_;
  std::vector<std::unique_ptr<RootPort>> ports_;
  tlm::tlm_generic_payload memory_access_;
  vp::Ring<Interrupt> interrupts_;
  vp::Event interrupts_due_;
  std::uint32_t intx_levels_[4] = {};  // for each line, one bit for each root port
  Arbiter arbiter_;                    // the last exit is the host

  vp::Latency read_latency_;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t config_reads_ = 0;
  std::uint64_t config_writes_ = 0;
  std::uint64_t reads_all_ones_ = 0;
  std::uint64_t writes_dropped_ = 0;
};

}  // namespace pcie
