// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>

#include "models/pcie/hierarchy/downstream_port.h"
#include "models/pcie/protocol/completion_queue.h"
#include "models/pcie/protocol/outstanding.h"
#include "vp/statistics/statistics.h"
#include "vp/time/wakeup.h"

namespace pcie {

class RootPort;

/// The services of the host that root ports use.
class HostIf {
 public:
  virtual ~HostIf() = default;
  /// Performs a memory write of a device. Returns false if nothing claims the address.
  virtual bool write(const Tlp& request) = 0;
  /// Fills the request's 4 x length bytes and sets `delay` to the time that this takes. Returns
  /// false if nothing claims the address.
  virtual bool read(Tlp& request, vp::Picoseconds& delay) = 0;
  /// Performs an AtomicOp at once and stores the value before in the first operand. Returns
  /// Unsupported Request where there is no memory, and Completer Abort if memory fails.
  virtual Status atomic(Tlp& request, vp::Picoseconds& delay) = 0;
  /// Performs a deferrable write. Returns Unsupported Request where there is no memory. `delay` is
  /// as for a read.
  virtual Status deferrable_write(const Tlp& request, vp::Picoseconds& delay) = 0;
  /// Whether all bytes are RAM. RAM accepts every write, and a write changes nothing else.
  virtual bool is_ram(std::uint64_t address, unsigned bytes) const = 0;
  /// INTA to INTD (`pin` 0 to 3) behind root port `port` has changed to `level`.
  virtual void intx(unsigned port, unsigned pin, bool level) = 0;

  // The remaining members serve peer-to-peer traffic.
  /// The root port whose windows contain the address, or nullptr.
  virtual RootPort* claiming(std::uint64_t address) = 0;
  /// The root port behind which the bus is, or nullptr.
  virtual RootPort* routing(unsigned bus) = 0;
  /// Must be called when RootPort::open() may have become true for a port.
  virtual void drain() = 0;
};

/// Credits for completions are always infinite.
struct RootPortConfig : DownstreamPortConfig {
  RootPortConfig() { identity = {0xf0ae, 0x0a01, 0x060400}; }
};

/// A root port: function 0 of a device on bus 0, and a bridge to the bus of one link.
///
/// Downstream, the port is the requester of all accesses by processors. Upstream, it forwards the
/// requests of devices. The windows, Memory Space and Bus Master of its header gate both. The port
/// collects the error messages of devices and its own errors, and signals them by MSI.
///
/// With peer-to-peer traffic, a packet goes to the root port that claims it. While the link of that
/// port has no credits, one packet of each class waits there, and the other devices' packets of
/// that class for that port stay in the receive buffers. Processors and devices take turns to send
/// posted requests.
class RootPort : public DownstreamPort {
 public:
  /// Properties that all root ports of a root complex share.
  struct Common {
    vp::Picoseconds latency;
    vp::Picoseconds completion_timeout;
    unsigned tags;               ///< 32 or 256
    unsigned max_payload;        ///< supported payload in bytes
    unsigned read_boundary;      ///< RCB, 64 or 128 bytes
    unsigned peers;              ///< root ports that can reach each other; 0 without peer to peer
    unsigned deferrable_writes;  ///< bytes of a DMWr that it completes: 64, 128 or 0
    CompletionConfig completions;
  };

  /// `index` counts from 0; the port is device index + 1 of bus 0.
  RootPort(const sc_core::sc_module_name& name, unsigned index, const RootPortConfig& config,
           const Common& common, HostIf& host, vp::Domain& domain, vp::Statistics& statistics);

  using Port::deliver_one;

  Id id() const override { return id_; }
  /// Whether peer-to-peer packets of that class may be forwarded to this port.
  bool open(CreditClass of) const { return !closed_[static_cast<unsigned>(of)]; }
  /// The root port to which a packet from below is forwarded, or nullptr if it ends here.
  const RootPort* exit(const Tlp& tlp) const;
  bool retry_visible() const { return express_.retry_visible(); }
  bool forwards_ari() const { return express_.forwards_ari(); }

  /// Fundamental reset of the port and, through its link, of all components behind it. Outstanding
  /// requests end without a completion.
  void reset();

  /// Sends a posted request, or drops it while the link is down. An SC_THREAD must call this; it
  /// waits while an earlier request waits for credits.
  void post(TlpPtr request);
  /// Sends a non-posted request and waits for its completion. An SC_THREAD must call this. A read
  /// stores its bytes, from the first to the last enabled one, in `into`. `answered` is false after
  /// a completion timeout. If there is no link, or the link goes down, the answer is Unsupported
  /// Request.
  struct Answer {
    bool answered;
    Status status;
    bool good() const { return answered && status == Status::success; }
  };
  Answer transact(TlpPtr request, std::uint8_t* into);

 private:
  // A thread that waits for a completion.
  struct Waiter {
    vp::Wakeup done;
    bool finished = false;
    bool abandoned = false;  // the thread was killed, so the completion is dropped
    HeaderWords header{};    // the request's header, if containment may log it
  };
  using Requests = Outstanding<Waiter>;
  // The place of a thread in a queue of waiting threads.
  class Turn;
  using Turns = std::deque<Turn*>;
  TagRange tags() const { return {0, express_.extended_tags() ? common_.tags : 32}; }
  void wait_for_tag();
  void send_posted(TlpPtr request);
  void finish(Requests::Request& request);
  void release(Requests::Request& request);
  // Logs how a request has failed. Returns whether containment handles the error instead of AER.
  bool failed(DownstreamPortContainment::RequestError error, const HeaderWords& request);
  void expire();

  void receive(TlpPtr tlp) override;
  bool ready(const Tlp& tlp) const override;
  bool binds(const Tlp& later, const Tlp& earlier) const override {
    return exit(later) == exit(earlier);
  }
  bool can_arrive_early(const Tlp& tlp) const override;
  void link_lost(Reset kind) override;
  void unblocked(CreditClass of) override;
  bool checks_digests() const override { return errors_.advanced().checks_digests(); }
  void send(TlpPtr tlp) override;
  void add_digest(Tlp& tlp) const;
  void send_error_message(Severity severity, Id source) override;
  void intx(unsigned pin, bool level) override { host_.intx(index_, pin, level); }
  void interrupt(TlpPtr message) override { host_.write(*message); }
  void answer_requester(TlpPtr completion) override;
  unsigned more_conditions() override;
  // The root port that claims a packet, or nullptr, and the route that access control selects.
  struct Claim {
    RootPort* port = nullptr;
    AccessControl::Route route = AccessControl::Route::none;
  };
  Claim claim(const Tlp& tlp) const;
  bool route(TlpPtr& tlp);
  TlpPtr forward_peer(TlpPtr tlp);
  void admit_peers();
  void receive_completion(const Tlp& completion);
  void receive_write(const Tlp& request);
  void receive_read(Tlp& request);
  void receive_atomic(Tlp& request);
  void receive_deferrable(const Tlp& request);

  const unsigned index_;
  const Id id_;
  const Common common_;
  HostIf& host_;

  Requests requests_;
  Turns for_tags_;
  Turns for_credits_;
  vp::Event timeout_;
  CompletionQueue completions_;  // of requests that memory has not answered yet

  // For each class, whether peer-to-peer packets must wait: another one is waiting here, or it is a
  // processor's turn.
  std::array<bool, credit_classes> closed_{};

  std::uint64_t timeouts_ = 0;
  std::uint64_t peer_to_peer_ = 0;
  std::uint64_t redirected_ = 0;
  std::uint64_t no_link_ = 0;
};

}  // namespace pcie
