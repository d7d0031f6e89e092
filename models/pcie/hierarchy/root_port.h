// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>

#include "models/pcie/hierarchy/downstream_port.h"
#include "models/pcie/protocol/outstanding.h"
#include "vp/ring.h"
#include "vp/statistics/statistics.h"

namespace pcie {

class RootPort;

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
  /// A deferrable write: Unsupported Request where there is no memory. `delay` as of a read.
  virtual Status deferrable_write(const Tlp& request, vp::Picoseconds& delay) = 0;
  /// Whether all of it is RAM: a write takes it, and nothing but memory tells of it.
  virtual bool is_ram(std::uint64_t address, unsigned bytes) const = 0;
  /// INTA to INTD (`pin` 0 to 3) behind root port `port` goes to `level`.
  virtual void intx(unsigned port, unsigned pin, bool level) = 0;

  // Where peers reach each other:
  /// The root port whose windows hold the address, or behind which the bus is; null: none.
  virtual RootPort* claiming(std::uint64_t address) = 0;
  virtual RootPort* routing(unsigned bus) = 0;
  /// Whether what devices send to each other may go on to any root port.
  virtual bool open(CreditClass of) const = 0;
  /// It may again.
  virtual void drain() = 0;
};

struct RootPortConfig : DownstreamPortConfig {  // credits for completions are always infinite
  RootPortConfig() { identity = {0xf0ae, 0x0a01, 0x060400}; }
};

/// Root port: function 0 of a device on bus 0, a bridge to the bus of one link.
///
/// Downstream it is the requester of all that processors ask for; upstream it passes on what
/// devices ask for. Windows, Memory Space and Bus Master of its header gate both. It collects the
/// error messages of devices and its own, and tells the host of these by MSI.
///
/// Where peers reach each other, what a root port claims goes there. For a port whose link has no
/// credits one packet of each class waits, and while it does, all that devices send of that class
/// stays in the receive buffers; processors and devices take turns to send posted requests.
class RootPort : public DownstreamPort {
 public:
  /// What all root ports of a root complex share.
  struct Common {
    vp::Picoseconds latency;
    vp::Picoseconds completion_timeout;
    unsigned tags;               ///< 32 or 256
    unsigned max_payload;        ///< supported, bytes
    unsigned read_boundary;      ///< RCB, 64 or 128 bytes
    unsigned peers;              ///< root ports that reach each other; 0: none does
    unsigned deferrable_writes;  ///< bytes of a DMWr that it completes: 64, 128, or 0 for none
  };

  /// `index` counts from 0; the port is device index + 1 of bus 0.
  RootPort(const sc_core::sc_module_name& name, unsigned index, const RootPortConfig& config,
           const Common& common, HostIf& host, vp::Domain& domain, vp::Statistics& statistics);

  using Port::drain;

  Id id() const override { return id_; }
  /// Whether what devices send of that class may go on to this port.
  bool open(CreditClass of) const { return !taken_[static_cast<unsigned>(of)]; }
  bool retry_visible() const { return express_.retry_visible(); }
  bool forwards_ari() const { return express_.forwards_ari(); }

  /// Fundamental reset: of the port and, by its link, of all that is behind it. What is outstanding
  /// ends without a completion.
  void reset();

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

  TagRange tags() const { return {0, express_.extended_tags() ? common_.tags : 32}; }
  void wait_for_tag();
  void send_posted(TlpPtr request);
  void finish(Requests::Request& request);
  void release(Requests::Request& request);
  // Whether containment takes care of how a request of the port has ended.
  bool failed(DownstreamPortContainment::RequestError error, const HeaderWords& request);
  void expire();

  void receive(TlpPtr tlp) override;
  bool ready(CreditClass of) const override { return common_.peers == 0 || host_.open(of); }
  bool timeless(const Tlp& tlp) const override;
  void link_lost(Reset kind) override;
  void unblocked(CreditClass of) override;
  bool checks_digests() const override { return errors_.advanced().checks_digests(); }
  void send(TlpPtr tlp) override;
  void add_digest(Tlp& tlp) const;
  void tell(Severity severity, Id source) override;
  void intx(unsigned pin, bool level) override { host_.intx(index_, pin, level); }
  void interrupt(TlpPtr message) override { host_.write(*message); }
  unsigned more_conditions() override;
  bool route(TlpPtr& tlp);
  TlpPtr take(TlpPtr tlp);
  void let_peers_go();
  void receive_completion(const Tlp& completion);
  void receive_write(const Tlp& request);
  void receive_read(Tlp& request);
  void receive_atomic(Tlp& request);
  void receive_deferrable(const Tlp& request);
  void send_after(vp::Picoseconds delay, TlpPtr tlp);
  void send_due();

  const unsigned index_;
  const Id id_;
  const Common common_;
  HostIf& host_;

  Requests requests_;
  Turns for_tags_;
  Turns for_credits_;
  vp::Event timeout_;
  vp::Ring<Delayed> delayed_;  // completions of reads, while memory takes its time
  vp::Picoseconds last_delayed_ = 0;
  vp::Event departure_;

  // Of each class: devices' packets do not go on to this port, since one waits, or a processor's
  // turn has come.
  std::array<bool, credit_classes> taken_{};

  std::uint64_t timeouts_ = 0;
  std::uint64_t peer_to_peer_ = 0;
  std::uint64_t redirected_ = 0;
  std::uint64_t no_link_ = 0;
};

}  // namespace pcie
