// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "models/pcie/data_link/data_link.h"
#include "models/pcie/link/credit_return.h"
#include "models/pcie/link/fault_injection.h"
#include "models/pcie/link/link_config.h"
#include "models/pcie/link/link_mode.h"
#include "models/pcie/link/port.h"
#include "models/pcie/link/transmit_queue.h"
#include "models/pcie/protocol/flow_control.h"
#include "vp/ring.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace pcie {

class Recovery;

/// What the two directions of a link have in common.
struct LinkContext {
  const char* name;  ///< name of the link
  const LinkConfig& config;
  const LinkMode& mode;
  vp::Trace& trace;
  const bool sleeps;  ///< whether both ports support ASPM
};

/// One direction of a link: sender, transmit queue, wire, credits and receive buffer.
///
/// The TLPs are serialised one after the other and arrive in order. All TLPs in flight share one
/// appointment in the receiving domain, for the first to arrive; an idle direction has no
/// appointment unless the link has bit errors. Their cost is known when a TLP is sent (see
/// DataLink), and the ends report them when they observe them. In a burst of writes to memory that
/// no one can read before the last write has arrived, all writes end together with the first. That
/// saves their appointments and changes no other result.
///
/// A TLP waits while its receiver has no credits for it or the transmit queue is full. The ordering
/// table decides which later TLPs may pass it. The same rule holds in the receive buffer of a port
/// that is not ready. Credits return to the sender in an UpdateFC, which takes as long as a packet.
///
/// The receiver sends its ACKs and UpdateFCs on the wire of the opposite direction. Their times
/// follow from those of the packets, so they need no appointment.
///
///     departure                    arrival            received
///        |<- wire bytes at rate ->|                      |
///     ---+------------------------+---- latency ----+----+--->
///   sender's port latency before                     receiver's port latency
class HalfLink {
 public:
  /// The direction that leads `from` one port `to` another. `opposite` may be constructed later.
  HalfLink(const LinkContext& link, LinkMode& mode, Recovery& recovery, HalfLink& opposite,
           Direction direction, Port& from, Port& to);

  const char* name() const { return direction_ == Direction::down ? "down" : "up"; }
  Port& from() const { return from_; }
  Port& to() const { return to_; }
  HalfLink& opposite() const { return opposite_; }
  /// Whether the ports are in different domains.
  bool crosses() const { return crosses_; }
  /// The least time from send() to Port::receive(), at the highest speed and width.
  vp::Picoseconds min_latency() const { return min_latency_; }

  /// Sends a packet, or lets it wait for credits and for room in the transmit queue.
  void send(TlpPtr tlp);
  /// Whether packets of that class wait.
  bool blocked(CreditClass of) const { return waiting_of_[index(of)] > 0; }
  /// Whether the receiver's buffer is large enough for the packet when it is empty.
  bool fits(const Tlp& tlp) const { return advertised_.enough_for(tlp); }
  /// Delivers what the receive buffer holds and the port is ready for.
  void drain();
  /// Delivers one packet of these, see Port::deliver_one().
  bool deliver_one(const std::function<bool(const Tlp&)>& wanted);

  /// Brings the link up for the sender after that time.
  void come_up_after(vp::Picoseconds span) { trained_.after(span); }
  /// The sender is down: neither training nor Recovery ends.
  void cancel_training();
  /// Drops the packets that wait, and returns them.
  std::vector<TlpPtr> drop_waiting();
  /// Drops everything: the receiver's end is down.
  void clear();
  /// Begins anew in the present mode, with an idle wire.
  void restart();

  /// Ends Recovery for the sender at that time.
  void recovered_at(vp::Picoseconds end) { recovered_.at(end); }
  /// Sends the packets again that Recovery has stopped. `first` is the port that knows of Recovery
  /// first, and `end` the time at which Recovery ends.
  void recover(const Port& first, vp::Picoseconds end);
  /// Delays the credits that have not come back to the sender. The parameters are those of
  /// recover().
  void delay_credits(const Port& first, vp::Picoseconds end);

  /// The direction does not fall asleep before that time has come, and then only after its idle
  /// time.
  void keep_awake(vp::Picoseconds until);
  /// Makes the appointment for the next bit error of the idle wire, if there are bit errors.
  void watch_idle_wire();

  FaultInjection& faults() { return faults_; }

  struct Count {
    std::uint64_t tlps = 0;
    std::uint64_t bytes = 0;  ///< bytes of payload
  };
  const Count& count(TlpType type) const { return counts_[static_cast<unsigned>(type)]; }
  const DataLink::Counts& errors() const { return data_link_.counts(); }
  /// Registers the counters of this direction under the link's name.
  void add_counters(vp::Statistics& statistics) const;

 private:
  struct InFlight {
    vp::Picoseconds received = 0;
    TlpPtr tlp;
  };
  // Credits on their way back to the sender.
  struct ReturningCredits {
    vp::Picoseconds when = 0;
    CreditClass of{};
    Credits credits;
  };

  static unsigned index(CreditClass of) { return static_cast<unsigned>(of); }
  DataLinkConfig data_link_config() const;
  void follow_mode();
  void transmit(TlpPtr tlp, unsigned bytes);
  bool transmit_waiting(std::vector<TlpPtr>::iterator one);
  vp::Picoseconds departure(const Tlp& tlp, unsigned bytes) const;
  std::vector<TlpPtr>::iterator next_to_leave();
  bool has_room(unsigned bytes);
  unsigned wire_bytes(const Tlp& tlp) const;
  vp::Picoseconds put_on_wire(const Tlp& tlp, unsigned bytes, vp::Picoseconds ready);
  unsigned format() const;
  std::optional<ActiveState> asleep(vp::Picoseconds when) const;
  vp::Picoseconds last_use() const;
  bool permits_l1(vp::Picoseconds when) const;
  vp::Picoseconds wake(vp::Picoseconds when);
  vp::Picoseconds leave_sleep(vp::Picoseconds when);
  void acknowledge_at(vp::Picoseconds when);
  void pass_acks(vp::Picoseconds when);
  void forget_acks(vp::Picoseconds after);
  void set_replay_timer();
  bool idle_error_known() const;
  void resume_idle_wire();
  void meet_idle_error();
  void schedule_incidents();
  void report_incidents(DataLink::End end);
  void admit_waiting();
  void collect_credits();
  void await_room();
  void arrive();
  bool holds_up(const Tlp& earlier, const Tlp& later) const;
  vp::Picoseconds head_start(const Tlp& tlp) const;
  void deliver_early();
  void take(const Tlp& tlp, vp::Picoseconds when);
  void send_dllp(vp::Picoseconds when);
  vp::Picoseconds dllp_leaves(vp::Picoseconds when);
  void deliver(TlpPtr tlp, vp::Picoseconds when);
  void return_credits(const Tlp& tlp, vp::Picoseconds when);

  const LinkContext& link_;
  Recovery& recovery_;
  HalfLink& opposite_;
  const Direction direction_;
  Port& from_;
  Port& to_;
  const vp::Picoseconds latency_;  // of PHY and wire
  const vp::Picoseconds min_latency_;
  const bool crosses_;
  TransmitQueue queue_;
  DataLink data_link_;
  vp::Ring<InFlight> in_flight_;
  vp::Event arrival_;
  const CreditAccount advertised_;
  CreditAccount credits_;        // the credits that the sender has
  std::vector<TlpPtr> waiting_;  // TLPs without credits or room, in the order of send()
  std::array<unsigned, credit_classes> waiting_of_{};
  std::vector<ReturningCredits> returning_;  // in the order of their times
  vp::Event room_;  // the next time at which there may be credits or room, while a TLP waits
  vp::Picoseconds credited_ = 0;     // the last time at which credits came back
  std::vector<TlpPtr> received_;     // the receive buffer, used while the receiver is not ready
  CreditReturn credit_return_;       // the receiver's
  vp::Picoseconds dllp_limit_ = 0;   // how long the receiver's ACKs and UpdateFCs wait for more
  vp::Picoseconds ack_leaves_ = -1;  // when the receiver's last ACK leaves
  FaultInjection faults_;
  vp::Event sender_incident_;  // the next of DataLink::incidents that the sender observes
  vp::Event receiver_incident_;
  vp::Event idle_error_;  // at the sender: the next bit error of the idle wire, or earlier
  vp::Event trained_;     // the end of training, at the sender
  vp::Event recovered_;   // the end of Recovery, at the sender
  std::array<Count, tlp_types> counts_{};
  std::uint64_t wire_bytes_ = 0;
  vp::Picoseconds used_ = 0;        // the end of the last transmission
  vp::Picoseconds awake_ = 0;       // the time at which the direction is in L0 after its last sleep
  vp::Ring<vp::Picoseconds> acks_;  // the times at which ACKs are to wake the direction, in order
};

}  // namespace pcie
