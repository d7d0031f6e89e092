// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "models/pcie/endpoint/endpoint.h"
#include "models/pcie/hierarchy/root_complex.h"
#include "models/pcie/link/link.h"
#include "vp/interrupt_line.h"

namespace pcie {

/// The value of Command that lets a function answer memory requests and send its own.
inline constexpr std::uint32_t memory_and_master =
    Header::CommandBit::memory_space | Header::CommandBit::bus_master;

/// Bytes of a transmit queue in which a device's transfers have room when they start.
inline constexpr std::uint64_t roomy = 0x100000;

/// INTA to INTD of the host, and the changes of their levels.
struct Lines : sc_core::sc_module, vp::InterruptLineIf {
  using Changes = std::vector<std::pair<unsigned, bool>>;
  Changes changes;
  std::vector<vp::Picoseconds> times;  // of the changes
  explicit Lines(const sc_core::sc_module_name& name) : sc_module(name) {}
  void set_line(unsigned number, bool level) override {
    changes.push_back({number, level});
    times.push_back(vp::now());
  }
  /// The levels of all changes, without the line numbers.
  std::vector<bool> levels() const;
  /// The number of changes of one line.
  unsigned count(unsigned number) const;
  bool level(unsigned number) const;
};

/// Waits for that span of simulated time; for scripts.
inline void pause(vp::Picoseconds span) {
  sc_core::wait(vp::to_sc_time(span));
}

/// Host memory that records the accesses of devices in order.
struct HostMemory : sc_core::sc_module {
  struct Write {
    vp::Picoseconds when;
    std::uint64_t address;
    std::vector<std::uint8_t> data;
  };

  tlm_utils::passthrough_target_socket<HostMemory> socket;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(0x100000);
  std::uint64_t base = 0;  // address of the first byte
  std::vector<Write> writes;
  bool keep_writes = true;
  unsigned refused = 0;
  std::vector<Write> messages;    // writes to addresses from 0xfee00000
  vp::Picoseconds read_time = 0;  // delay that a read annotates

  explicit HostMemory(const sc_core::sc_module_name& name);
  /// Fills the memory with a pattern.
  void fill();
  std::vector<std::uint8_t> at(std::uint64_t address, unsigned length) const;

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
};

/// Device logic whose BARs are memory. It records accesses, and tests control its answers.
struct Logic : sc_core::sc_module {
  struct Use {
    bool write;
    unsigned bar;
    std::uint64_t offset;
    unsigned bytes;
    Id requester;
  };
  struct Dma : tlm::tlm_generic_payload {
    Access* access = new Access;  // owned by the payload
    std::vector<std::uint8_t> data;
    bool done = false;
    vp::Picoseconds when = 0;
    sc_core::sc_event finished;
  };

  tlm_utils::passthrough_target_socket<Logic> bar;
  tlm_utils::simple_initiator_socket<Logic> dma;

  std::vector<std::uint8_t> memory[6];
  std::vector<Use> uses;
  vp::Picoseconds latency = 0;  // latency of reads; 0 answers at once
  tlm::tlm_response_status answer = tlm::TLM_OK_RESPONSE;
  bool silent = false;  // never answers a read
  bool full = false;    // accepts no write until accept()
  bool keep_uses = true;
  unsigned outstanding = 0, most_outstanding = 0;
  std::function<void(const Use&)> on_use;
  std::function<void(const Dma&)> on_done;  // a transfer that had to wait is done

  Logic(const sc_core::sc_module_name& name, vp::Domain& domain);

  /// Starts a transfer. A write is done on return if there is room; otherwise wait for `done`.
  std::unique_ptr<Dma> dma_write(std::uint64_t address, const std::vector<std::uint8_t>& data);
  std::unique_ptr<Dma> dma_read(std::uint64_t address, unsigned bytes);
  void start(Dma& transfer);
  /// Accepts the waiting write, if there is one.
  void accept();
  bool holds_write() const { return untaken_ != nullptr; }

 private:
  std::unique_ptr<Dma> start(tlm::tlm_command command, std::uint64_t address,
                             std::vector<std::uint8_t> data);
  void perform(tlm::tlm_generic_payload& payload);
  void respond();
  tlm::tlm_sync_enum bar_access(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay);
  tlm::tlm_sync_enum dma_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);

  std::deque<std::pair<vp::Picoseconds, tlm::tlm_generic_payload*>> pending_;
  tlm::tlm_generic_payload* untaken_ = nullptr;
  vp::Event response_;
};

/// A host with a root complex, a link, and an endpoint with device logic. A test is a script that
/// runs as a processor, which is an SC_THREAD of the host.
///
///     Fixture fixture;
///     fixture.run([&] {
///       fixture.enumerate();
///       EXPECT_EQ(fixture.read(Fixture::bar0, 4), 0u);
///     });
class Fixture : public sc_core::sc_module {
 public:
  struct Config {
    RootComplexConfig root_complex;
    LinkConfig link;
    EndpointConfig endpoint;
    std::string trace;  ///< name of the trace file, empty without a trace
    Config();
  };
  static constexpr std::uint64_t ecam = 0xe0000000;
  static constexpr std::uint64_t bar0 = 0xc0000000;    // 64 KiB
  static constexpr std::uint64_t bar2 = 0x4000000000;  // 32 KiB, prefetchable
  static constexpr std::uint64_t bar4 = 0xc0100000;    // 4 KiB, 32-bit
  static constexpr std::uint64_t msi_x_table = bar0 + 0x8000;
  static constexpr std::uint64_t msi_x_pending = bar0 + 0xc000;
  static constexpr Id root_port = make_id(0, 1, 0);
  static constexpr Id device = make_id(1, 0, 0);

  explicit Fixture(const Config& config = Config(),
                   const sc_core::sc_module_name& name = "fixture");

  /// Runs `script` as a processor until no event is left, or if the link has bit errors until the
  /// scripts have ended. Fails if a script has not ended.
  void run(std::function<void()> script);
  /// Starts another processor, from a script or before run().
  void spawn(std::function<void()> script);

  // For scripts. Addresses are system physical; values little-endian.
  std::uint64_t read(std::uint64_t address, unsigned bytes);
  void write(std::uint64_t address, std::uint64_t value, unsigned bytes);
  std::vector<std::uint8_t> read_bytes(std::uint64_t address, unsigned bytes);
  void write_bytes(std::uint64_t address, const std::vector<std::uint8_t>& data);
  std::uint32_t config_read(Id id, unsigned offset, unsigned bytes);
  void config_write(Id id, unsigned offset, std::uint32_t value, unsigned bytes);
  tlm::tlm_response_status access(tlm::tlm_generic_payload& payload);
  /// The offset of a capability, by walking the chain as software does; 0 if there is none.
  unsigned find_capability(Id id, std::uint8_t capability);
  unsigned find_extended_capability(Id id, std::uint16_t capability);

  /// Enables the reporting of all errors.
  void enable_errors(Id id);
  /// Enables the first vector of MSI, whose message is for 0xfee01000.
  void enable_msi(Id id);

  /// Sets bus numbers and the addresses of windows and BARs, and enables both functions.
  void enumerate();
  /// Sets Max_Payload_Size and Max_Read_Request_Size, in bytes, at both ends.
  void set_sizes(unsigned payload, unsigned read_request);
  void wait_for(Logic::Dma& dma);
  /// Expects that the device works in both directions.
  void expect_work();

  std::uint64_t counter(const std::string& name) const;

  vp::Domain host;
  vp::Domain card;
  vp::Trace trace;
  vp::Statistics statistics;
  RootComplex root_complex;
  Endpoint endpoint;
  Link link;
  HostMemory memory;
  Lines lines;
  Logic logic;
  tlm_utils::simple_initiator_socket<Fixture> processor;

 private:
  const bool has_bit_errors_;
  unsigned running_ = 0;
};

}  // namespace pcie
