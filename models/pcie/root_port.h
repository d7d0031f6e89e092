// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <deque>
#include <optional>
#include <string>

#include "models/pcie/capabilities/access_control.h"
#include "models/pcie/capabilities/downstream_port_containment.h"
#include "models/pcie/capabilities/msi.h"
#include "models/pcie/capabilities/pci_express.h"
#include "models/pcie/capabilities/power_management.h"
#include "models/pcie/config_space.h"
#include "models/pcie/error_reporting.h"
#include "models/pcie/header.h"
#include "models/pcie/link_capabilities.h"
#include "models/pcie/outstanding.h"
#include "models/pcie/port.h"
#include "models/pcie/ring.h"
#include "vp/statistics/statistics.h"

namespace pcie {

/// What root ports need of the host behind them.
class HostIf {
 public:
  virtual ~HostIf() = default;
  /// A memory write of a device; false if nothing claims the address.
  virtual bool write(const Tlp& request) = 0;
  /// Fills the request's 4 x length bytes and adds the time that took to `delay`; false if nothing
  /// claims the address.
  virtual bool read(Tlp& request, vp::Picoseconds& delay) = 0;
  /// Carries out an AtomicOp at once: the first operand becomes the value before. Unsupported
  /// Request where there is no memory, Completer Abort if memory fails.
  virtual Status atomic(Tlp& request, vp::Picoseconds& delay) = 0;
  /// Whether all of it is RAM: a write takes it, and nothing but memory tells of it.
  virtual bool is_ram(std::uint64_t address, unsigned bytes) const = 0;
  /// INTA to INTD (`pin` 0 to 3) behind root port `port` goes to `level`.
  virtual void intx(unsigned port, unsigned pin, bool level) = 0;
};

struct RootPortConfig {
  Identity identity{0x1d9b, 0x0a01, 0x060400};  ///< class is PCI-to-PCI bridge
  unsigned generation = 5;
  unsigned lanes = 16;
  CreditConfig credits{};  ///< of its receive buffer; for completions always infinite
  SlotConfig slot{};
  bool containment = false;  ///< Downstream Port Containment
};

/// Root port: function 0 of a device on bus 0, a bridge to the bus of one link.
///
/// Downstream it is the requester of all that processors ask for; upstream it passes on what
/// devices ask for. Windows, Memory Space and Bus Master of its header gate both. It collects the
/// error messages of devices and its own, and tells the host of these and of its slot by MSI.
class RootPort : public sc_core::sc_module, public Port {
 public:
  /// What all root ports of a root complex share.
  struct Common {
    vp::Picoseconds latency;
    vp::Picoseconds completion_timeout;
    unsigned tags;           ///< 32 or 256
    unsigned max_payload;    ///< supported, bytes
    unsigned read_boundary;  ///< RCB, 64 or 128 bytes
  };

  /// `index` counts from 0; the port is device index + 1 of bus 0.
  RootPort(const sc_core::sc_module_name& name, unsigned index, const RootPortConfig& config,
           const Common& common, HostIf& host, vp::Domain& domain, vp::Statistics& statistics);

  Id id() const { return id_; }
  ConfigSpace& config_space() { return space_; }
  /// Whether a memory address, or a bus, is behind this port.
  bool claims(std::uint64_t address) const { return header_.claims(address) && power_.d0(); }
  bool routes(unsigned bus) const;
  unsigned secondary_bus() const { return header_.secondary_bus(); }
  unsigned max_payload() const { return express_.max_payload(); }
  bool retry_visible() const { return express_.retry_visible(); }
  bool forwards_ari() const { return express_.forwards_ari(); }

  /// Fundamental reset: of the port and, by its link, of all that is behind it. What is outstanding
  /// ends without a completion.
  void reset();

  /// Somebody at the slot, at any moment (6.7). Without its card the link is down at once, and what
  /// is outstanding ends; if the slot was not made for surprises, that is a Surprise Down error. A
  /// card comes back as after power-up. False, and nothing happens, if there is no card to remove,
  /// no room for one, or no button.
  bool remove_card();
  bool insert_card();
  bool press_attention_button();

  /// Sends a posted request, or drops it while the link is down; called by an SC_THREAD, which
  /// stops here while one before it waits for credits of the device.
  void post(TlpPtr request);
  /// Sends a non-posted request and waits for its completion; called by an SC_THREAD. A read leaves
  /// its bytes, from the first to the last enabled, in `into`. False as `answered` means that no
  /// completion came in time; without a link, or if it is lost, the answer is Unsupported Request.
  struct Answer {
    bool answered;
    Status status;
    bool good() const { return answered && status == Status::success; }
  };
  Answer transact(TlpPtr request, std::uint8_t* into);

 private:
  // A thread that waits for a completion.
  struct Waiter {
    sc_core::sc_event done;
    bool finished = false;
    bool abandoned = false;  // the thread was killed; the completion is dropped
    HeaderWords header{};    // of the request, where containment logs it
  };
  using Requests = Outstanding<Waiter>;
  // A thread's turn, while it waits for what is not there.
  class Turn;
  using Turns = std::deque<Turn*>;
  struct Delayed {
    vp::Picoseconds when = 0;
    TlpPtr tlp;
  };

  // Why the link is held down; it trains once there is no reason left.
  enum Hold : unsigned {
    bus_reset = 1u << 0,
    no_card = 1u << 1,
    no_power = 1u << 2,
    contained = 1u << 3,
    disabled = 1u << 4,
  };
  // What the host is to be told of by MSI.
  enum Condition : unsigned {
    root_error = 1u << 0,
    slot_event = 1u << 1,
    containment_event = 1u << 2,
  };

  unsigned tags() const { return express_.extended_tags() ? common_.tags : 32; }
  void wait_for_tag();
  void send_posted(TlpPtr request);
  void finish(Requests::Request& request);
  void release(Requests::Request& request);
  // Whether containment takes care of how a request of the port has ended.
  bool failed(DownstreamPortContainment::RequestError error, const HeaderWords& request);
  void expire();

  void receive(TlpPtr tlp) override;
  bool timeless(const Tlp& tlp) const override;
  void trained(unsigned generation, unsigned lanes) override;
  void link_lost(Reset kind) override;
  void hold(Hold reason, Reset kind);
  void let_go(Hold reason);
  void bridge_controlled();
  void link_controlled();
  void slot_controlled();
  void containment_controlled();
  void contain();
  Status refusal() const;
  void detected(Error error, const Tlp* tlp) override;
  void unblocked(CreditClass of) override;
  bool checks_digests() const override { return errors_.advanced().checks_digests(); }
  void send(TlpPtr tlp);
  void receive_message(const Tlp& message);
  void receive_completion(const Tlp& completion);
  void receive_write(const Tlp& request);
  void receive_read(Tlp& request);
  void receive_atomic(Tlp& request);
  void unsupported(const Tlp& request);
  bool is_foreign(const Tlp& tlp) const;
  void report(Error error, const Tlp* tlp);
  void collect(Severity severity, Id source);
  void update_interrupt();
  void send_interrupt();
  void send_after(vp::Picoseconds delay, TlpPtr tlp);
  void send_due();

  const unsigned index_;
  const Id id_;
  const Common common_;
  HostIf& host_;
  spdlog::logger& log_;

  ConfigSpace space_;
  Type1Header header_;
  PowerManagement power_;
  PciExpress express_;
  Msi msi_;
  ErrorReporting errors_;
  LinkCapabilities link_capabilities_;
  AccessControl access_control_;
  std::optional<DownstreamPortContainment> containment_;
  unsigned holds_ = 0;       // of Hold
  unsigned conditions_ = 0;  // of Condition
  vp::Event interrupt_;

  Requests requests_;
  Turns for_tags_;
  Turns for_credits_;
  vp::Event timeout_;
  Ring<Delayed> delayed_;  // completions of reads, while memory takes its time
  vp::Picoseconds last_delayed_ = 0;
  vp::Event departure_;

  std::uint64_t timeouts_ = 0;
  std::uint64_t unexpected_ = 0;
  std::uint64_t unsupported_ = 0;
  std::uint64_t acs_violations_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t no_link_ = 0;
};

}  // namespace pcie
