// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/pcie/access.h"
#include "models/pcie/capabilities/msi.h"
#include "models/pcie/capabilities/msi_x.h"
#include "models/pcie/capabilities/pci_express.h"
#include "models/pcie/capabilities/power_management.h"
#include "models/pcie/capabilities/sr_iov.h"
#include "models/pcie/config_space.h"
#include "models/pcie/error_reporting.h"
#include "models/pcie/header.h"
#include "models/pcie/link_capabilities.h"
#include "models/pcie/outstanding.h"
#include "models/pcie/ring.h"
#include "vp/statistics/latency.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"

namespace pcie {

/// The virtual functions of a physical one. They have its identity but for the device id, and its
/// reset and initialisation times.
struct VirtualFunctionsConfig {
  unsigned count = 0;           ///< most that software can enable; 0: no SR-IOV
  std::uint16_t device = 0;     ///< device id
  std::vector<BarConfig> bars;  ///< of each
  MsiXConfig msi_x;             ///< in these BARs; 0 vectors: none
};

struct FunctionConfig {
  Identity identity;
  std::vector<BarConfig> bars;
  MsiConfig msi;                               ///< 0 vectors: none
  MsiXConfig msi_x;                            ///< 0 vectors: none
  unsigned interrupt_pin = 0;                  ///< 1 to 4 for INTA to INTD, 0 for none
  std::optional<std::uint64_t> serial_number;  ///< EUI-64
  vp::Picoseconds initialisation = 0;          ///< answers configuration with a retry so long, from
                                               ///< power-up and from the training of the link on
  vp::Picoseconds reset_time = 0;  ///< and so long after a reset of its own, up to 100 ms
  bool no_soft_reset = true;       ///< the return from D3hot to D0 keeps all registers
  unsigned bar_reads = 32;         ///< reads that device logic works on at a time
  VirtualFunctionsConfig virtual_functions;
};

/// A function of an endpoint: its configuration space, its MSI-X table, and the way between TLPs
/// and device logic, by the protocol of access.h. Several reads may be outstanding on either
/// socket, told apart by their payload; timing annotations are not used.
///
/// A physical function has its virtual ones, which are functions in every respect but these (9.3):
/// they are there while its SR-IOV capability enables them, answer after `initialisation`, have
/// the ids and BARs that it gives them, obey the controls that 9.3.5 says it has for all, and are
/// in D3hot when it is. A reset of the physical function in any way takes them away.
class Function : public sc_core::sc_module, public InterruptModesIf, private tlm::tlm_mm_interface {
 public:
  /// To device logic, in pieces of up to 64 bytes that cross no multiple of 64; unbound, every
  /// access but those to the MSI-X table is an Unsupported Request.
  tlm_utils::simple_initiator_socket_optional<Function> bar;
  /// From device logic. A write or read while Bus Master is off, or outside of D0, or without a
  /// link, is refused at once by TLM_COMMAND_ERROR_RESPONSE, and so is an AtomicOp while AtomicOp
  /// Requester Enable is off; more than 4096 bytes, or none, or operands of a size that the
  /// AtomicOp does not have, by TLM_BURST_ERROR_RESPONSE; operands that are not aligned to their
  /// size by TLM_ADDRESS_ERROR_RESPONSE; a completion timeout, or a reset while the read or write
  /// is outstanding, is TLM_GENERIC_ERROR_RESPONSE. A write that finds the way up full is taken
  /// when those before it have left. Any number of initiators may bind.
  tlm_utils::multi_passthrough_target_socket<Function, 32, tlm::tlm_base_protocol_types, 0,
                                             sc_core::SC_ZERO_OR_MORE_BOUND>
      dma;
  sc_core::sc_export<InterruptModesIf> interrupt;

  /// What all functions of an endpoint share.
  struct Common {
    unsigned generation;
    unsigned lanes;
    unsigned max_payload;  ///< supported, bytes
    unsigned tags;         ///< outstanding DMA reads, 32 or 256
    vp::Picoseconds completion_timeout;
    bool multi_function;
    bool alternative_routing;  ///< ARI
  };
  /// Where a function is among those of its endpoint.
  struct Place {
    unsigned number = 0;
    unsigned next = 0;                       ///< function of the chain of ARI; 0: none
    Function* lowest_with_sr_iov = nullptr;  ///< unless this is it
    unsigned first_virtual = 1;  ///< routing id of its first virtual function less that of function
                                 ///< 0, where ARI is known
    unsigned first_virtual_without_ari = 256;  ///< and where it is not
  };
  /// The endpoint below.
  class Uplink {
   public:
    virtual ~Uplink() = default;
    virtual bool up() const = 0;
    virtual void transmit(TlpPtr tlp) = 0;
    /// Posted requests wait for credits; Function::unblocked() follows.
    virtual bool full() const = 0;
    /// Device logic has not yet taken a write, and then it has; between, none may follow.
    virtual void hold() = 0;
    virtual void let_go() = 0;
  };

  /// Throws ConfigurationError if a value is impossible.
  Function(const sc_core::sc_module_name& name, const Place& place, const FunctionConfig& config,
           const Common& common, Uplink& uplink, vp::Domain& domain, vp::Statistics& statistics);

  /// Virtual function `index`, from 0, whether it is enabled or not.
  Function& virtual_function(unsigned index) { return *virtual_functions_.at(index); }
  /// Whether software can see it: a virtual function while it is enabled.
  bool exists() const { return exists_; }

  void signal(unsigned vector) override;
  InterruptMode interrupt_mode() const override;
  unsigned interrupt_vectors() const override;
  void set_intx(bool level) override;
  /// Calls `action` when the function is reset in any way, for the device logic behind it.
  void on_reset(std::function<void()> action) { on_reset_ = std::move(action); }

  /// As captured from the last configuration write; of a virtual function by its physical one.
  Id id() const { return id_; }
  ConfigSpace& config_space() { return space_; }
  bool may_master() const { return header_->master_enabled() && d0() && uplink_.up(); }

  // The endpoint's side.
  void reset(Reset kind);
  /// This function or a virtual one of it, or nullptr: in whose BAR a request is, or whose id it
  /// is.
  Function* claiming(const Tlp& request);
  Function* virtual_function_of(Id id);
  void receive_config(const Tlp& request);
  void receive_write(TlpPtr request);
  /// Posted requests can leave again.
  void unblocked();
  void receive_read(TlpPtr request);
  void receive_completion(const Tlp& completion);
  /// Sends a packet that this function is the origin of, with a digest where software wants that.
  void send(TlpPtr tlp);
  bool checks_digests() const { return errors_.advanced().checks_digests(); }
  /// Answers a request, which nothing in this function takes, by Unsupported Request.
  void refuse(const Tlp& request);
  void trained(unsigned generation, unsigned lanes, bool flits);
  void retrained(unsigned generation, unsigned lanes);
  void lane_failed(unsigned lane);
  unsigned max_payload() const { return express_.max_payload(); }
  /// An error of this function; `tlp` is at fault, if one is. Logged, and told of if software asks.
  void report(Error error, const Tlp* tlp);
  /// The same without telling, which is left to the caller.
  std::optional<Severity> log(Error error, const Tlp* tlp);
  void tell(Severity severity);

 private:
  Function(const sc_core::sc_module_name& name, const Place& place, Function* physical,
           unsigned index, const FunctionConfig& config, const Common& common, Uplink& uplink,
           vp::Domain& domain, vp::Statistics& statistics);

  // A payload with the extension of access.h, which it owns, as TLM-2.0 has it.
  struct BarPayload : tlm::tlm_generic_payload {
    BarPayload() : access(*new Access) { set_extension(&access); }
    Access& access;
  };
  // A BAR while it decodes.
  struct Range {
    std::uint64_t base;
    std::uint64_t size;
    unsigned bar;
  };
  // A read of a BAR that device logic works on; its data gathers in the request's own room.
  struct BarRead : BarPayload {
    TlpPtr request;
    unsigned at = 0;       // of its 4 x length bytes
    unsigned piece = 0;    // bytes asked for
    bool dropped = false;  // by a reset: the answer of device logic is for nobody
  };
  // A read of host memory by device logic, or an AtomicOp.
  struct DmaRead {
    tlm::tlm_generic_payload* payload = nullptr;
    int initiator = 0;  // of those bound to `dma`
    Access access;
    unsigned issued = 0;       // bytes
    unsigned outstanding = 0;  // requests
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    vp::Picoseconds start = 0;
  };
  // A write to host memory that waits for those before it to leave.
  struct DmaWrite {
    tlm::tlm_generic_payload* payload = nullptr;
    int initiator = 0;
    Access access;
    unsigned done = 0;  // bytes
  };
  enum class Region { logic, table, pending };
  using Requests = Outstanding<DmaRead*>;

  bool ready() const { return vp::now() >= ready_; }
  bool may_request(const Access& access) const {
    return may_master() && (access.atomic == AtomicOperation::none || express_.requests_atomics());
  }
  bool d0() const { return power_.d0() && (physical_ == nullptr || physical_->power_.d0()); }
  void update_virtual_functions();
  void appear();
  void vanish();
  void map();
  const Range* hit(const Tlp& request) const;
  Region region(unsigned bar, std::uint64_t offset, unsigned& bytes) const;
  void continue_write();
  void note(const Tlp& request, Status answer);
  void resume_write();
  tlm::tlm_sync_enum write_piece(const Tlp& request, const Range& range, unsigned begin,
                                 unsigned bytes);

  BarRead* take_bar_read();
  void free(tlm::tlm_generic_payload* payload) override;
  void start(TlpPtr request);
  void start_waiting();
  void advance(BarRead& read);
  bool piece_done(BarRead& read);
  void finish(BarRead& read, Status status);
  void drop(BarRead& read);
  void end_bar_reads();
  void resume();
  tlm::tlm_sync_enum bar_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);

  tlm::tlm_sync_enum dma_request(int initiator, tlm::tlm_generic_payload& payload,
                                 tlm::tlm_phase& phase, sc_core::sc_time& delay);
  bool transmit(DmaWrite& write);
  void attributes(TlpHeader& header, const Access& access) const;
  unsigned tags() const { return express_.extended_tags() ? common_.tags : 32; }
  static tlm::tlm_response_status atomic_refusal(const tlm::tlm_generic_payload& payload,
                                                 AtomicOperation operation);
  void issue();
  TlpPtr next_request(DmaRead& read) const;
  void finish(Requests::Request& request);
  void respond(DmaRead& read);
  void respond(const DmaWrite& write);
  void expire();
  void end_dma();

  bool send_message_interrupt(std::uint64_t address, std::uint32_t data);
  void update_intx();

  const unsigned number_;
  Function* const physical_;  // of a virtual function
  const unsigned index_;      // of a virtual function, from 0
  bool exists_;
  const FunctionConfig config_;
  const Common common_;
  Uplink& uplink_;
  std::function<void()> on_reset_;
  spdlog::logger& log_;
  Id id_;
  vp::Picoseconds ready_ = 0;  // configuration is answered with a retry until then

  ConfigSpace space_;
  std::optional<SrIov> sr_iov_;
  const std::unique_ptr<EndpointHeader> header_;
  PowerManagement power_;
  PciExpress express_;
  ErrorReporting errors_;
  std::optional<LinkCapabilities> link_capabilities_;  // of function 0
  std::optional<Msi> msi_;
  std::optional<MsiX> msi_x_;
  std::vector<std::unique_ptr<Function>> virtual_functions_;
  std::vector<Range> ranges_;  // those that decode now
  bool intx_level_ = false;
  bool intx_told_ = false;

  BarPayload write_;
  TlpPtr written_;            // the request that it is of; none after a reset
  unsigned written_at_ = 0;   // of its 4 x length bytes
  Status write_status_{};     // the first that was no success
  bool write_taken_ = false;  // by device logic, which had no room for it at first
  std::vector<std::unique_ptr<BarRead>> bar_reads_;
  std::vector<BarRead*> free_bar_reads_;
  Ring<TlpPtr> waiting_reads_;  // while device logic works on as many as it can
  bool starting_ = false;       // keeps start_waiting() from calling itself
  Ring<BarRead*> resumed_;      // that go on with their next piece
  vp::Event resume_;

  Requests requests_;
  std::vector<std::unique_ptr<DmaRead>> dma_reads_;
  std::vector<DmaRead*> free_dma_reads_;
  Ring<DmaRead*> unissued_;    // the first may be partly issued
  Ring<DmaWrite> dma_writes_;  // that wait; the first may have left in part
  vp::Event timeout_;

  vp::Latency dma_latency_;
  std::uint64_t bar_read_count_ = 0;
  std::uint64_t bar_write_count_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t dma_refused_ = 0;
  std::uint64_t atomics_ = 0;
  std::uint64_t timeouts_ = 0;
  std::uint64_t unexpected_ = 0;
  std::uint64_t interrupts_ = 0;
  std::uint64_t interrupts_ignored_ = 0;
};

}  // namespace pcie
