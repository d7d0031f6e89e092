// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "vp/qemu/instance.h"
#include "vp/time/agenda.h"
#include "vp/time/wall_clock.h"

namespace vp::qemu {
namespace {

// Instructions that are executed at once. Even if each of them is an exception, they take a tenth
// of a second of wall time.
constexpr Picoseconds longest_run = 50'000;

// A vCPU that has yielded to its siblings is taken to spin for that long, since it may do something
// between two looks at what it waits for.
constexpr Picoseconds spin_time = 10 * us;

}  // namespace

Cpu::Cpu(const sc_core::sc_module_name& name, Instance& instance, unsigned index)
    : sc_module(name),
      socket("socket"),
      instance_(instance),
      index_(static_cast<int>(index)),
      longest_run_(longest_run * s / static_cast<Picoseconds>(instance.config_.ips)),
      turn_(
          Calendar::processors(),
          [this] {
            asleep_ = false;
            carrier_->resume();
          },
          Calendar::processors().new_rank()),
      own_carrier_(*this) {
  payload_.set_extension(&attributes_);
  payload_.set_extension<Decoupled>(this);
}

bool Cpu::execute() {
  instance_.waiting_ = nullptr;
  while (instance_.gathering_ && instance_.accesses_ > 0) {
    Agenda::get().rearm();
    wait(instance_.gathered_);
    Agenda::get().forget_others();
  }
  if (instance_.domain_.run_due() > 0) known_limit_.reset();
  if (instance_.off_) {
    known_limit_.reset();
    asleep_ = true;
    --instance_.awake_;
    return instance_.unpowered_;
  }
  instance_.running_ = this;
  OaeRun reason;
  // A vCPU that yields while it is alone continues at once.
  do {
    grant();
    reason = run();
  } while ((reason == OAE_RUN_EXIT || (reason == OAE_RUN_YIELDED && local_ < granted_)) &&
           instance_.awake_ == 1 && !instance_.failure_);
  instance_.running_ = nullptr;
  if (instance_.failure_) std::rethrow_exception(std::exchange(instance_.failure_, nullptr));

  if (reason == OAE_RUN_YIELDED && instance_.awake_ > 1) {
    instance_.spins_until_ = local_ + spin_time;
  }

  // From here on a call of wake() is not lost.
  asleep_ = reason == OAE_RUN_HALTED;
  if (asleep_) --instance_.awake_;
  instance_.domain_.reach(std::min(local_, granted_));

  // The reason for the stop takes effect at the vCPU's local time.
  if (reason == OAE_RUN_STOPPED) synchronise();
  if (instance_.accesses_ == 0) {
    instance_.gathering_ = false;
    // While GDB holds the machine the kernel pauses before this wait ends.
    while (!instance_.service(false)) {
      Agenda::get().rearm();
      wait(sc_core::SC_ZERO_TIME);
      Agenda::get().forget_others();
    }
  } else if (reason == OAE_RUN_BUSY || reason == OAE_RUN_STOPPED) {
    instance_.gathering_ = true;
  }
  return true;
}

// A guest can spend a long time on few instructions, and the user wants to be heard meanwhile.
OaeRun Cpu::run() {
  for (;;) {
    stop_by(std::max(now(), local_));
    std::int64_t local = 0;
    const OaeRun reason = instance_.api_->vcpu_run(index_, now(), stopped_at_, limit_, &local);
    local_ = std::max(now(), local);
    const bool interrupted = local_ < stopped_at_ || instance_.failure_;
    if (reason != OAE_RUN_LIMIT || local_ >= granted_ || interrupted) return reason;
    // Siblings would take their turns during a pause, so they are let finish their slices.
    if (instance_.awake_ == 1 && WallClock::pausing()) pause();
    // The last instruction may have armed a timer, and the kernel's caller may have made an
    // appointment. The grant did not know of them.
    if (instance_.domain_.next_event() < granted_) return reason;
  }
}

void Cpu::stop_by(Picoseconds local) {
  stopped_at_ = std::min(granted_, local + longest_run_);
}

// Only the kernel's caller acts during the pause.
void Cpu::pause() {
  instance_.running_ = nullptr;
  instance_.domain_.reach(std::min(local_, granted_));
  Agenda::get().rearm();
  sc_core::sc_pause();
  wait(sc_core::SC_ZERO_TIME);
  Agenda::get().forget_others();
  instance_.running_ = this;
}

bool Cpu::ready() {
  if (asleep_ || turn_.pending()) return false;
  Agenda& agenda = Agenda::get();
  if (local_ > now() ? agenda.skip_to(local_) : agenda.others_before(now() + 1) > now()) {
    return true;
  }
  agenda.defer_alarms();
  turn_.at(std::max(local_, now()));
  instance_.waiting_ = this;
  return false;
}

Cpu* Cpu::able_to_go_on() {
  Cpu* next = nullptr;
  for (Instance* instance : Instance::all_) {
    Cpu* cpu = instance->waiting_;
    if (cpu == nullptr || !cpu->waits_alone()) continue;
    if (next != nullptr && cpu->local_ >= next->local_) continue;
    const Picoseconds limit = cpu->limit();
    if (cpu->local_ >= limit) continue;
    if (next != nullptr) next->known_limit_.reset();
    next = cpu;
    next->known_limit_ = limit;
  }
  if (next != nullptr) next->turn_.cancel();
  return next;
}

// Siblings take turns in the order of the kernel's time, which they share memory in.
bool Cpu::waits_alone() const {
  return !asleep_ && instance_.awake_ == 1 && instance_.accesses_ == 0 && !instance_.off_ &&
         turn_.pending();
}

Picoseconds Cpu::limit() const {
  if (instance_.gathering_ || instance_.off_) return now();
  const Domain& domain = instance_.domain_;
  const Instance::Config& config = instance_.config_;
  // Siblings share memory, so their turns must not depend on how far anybody may run ahead.
  Picoseconds ahead = config.max_quantum;
  if (instance_.awake_ > 1) {
    ahead = std::min(config.slice, domain.lookahead());
    if (now() < instance_.spins_until_) ahead = std::min(ahead, config.spin_slice);
  }
  Picoseconds limit = domain.horizon(now() + ahead);
  if (instance_.acting_ > 0) {
    for (const Cpu& sibling : instance_.cpu) {
      if (sibling.acts_ && sibling.local_ > now()) limit = std::min(limit, sibling.local_);
    }
  }
  return limit;
}

// Only what is due just then, and turns that siblings take, need an end to the instruction.
void Cpu::grant() {
  granted_ = known_limit_ ? *std::exchange(known_limit_, std::nullopt) : limit();
  const bool alone = instance_.awake_ == 1;
  limit_ = !alone || instance_.domain_.happens_at(granted_) ? OAE_LIMIT_EXACT : 0;
  if (alone && instance_.config_.decoupled) limit_ |= OAE_LIMIT_ANSWERS;
  if (!alone) limit_ |= OAE_LIMIT_SHARED;
}

void Cpu::renew() {
  renew_at(instance_.api_->vcpu_local_time(index_));
}

void Cpu::renew_at(Picoseconds local) {
  grant();
  stop_by(std::max(now(), local));
  instance_.api_->vcpu_set_limit(index_, stopped_at_, limit_);
}

void Cpu::synchronise() {
  instance_.ahead_ = nullptr;
  if (local_ > now()) {
    instance_.domain_.reach(std::min(local_, granted_));
    if (!Agenda::get().skip_to(local_)) {
      Agenda::get().defer_alarms();
      turn_.at(local_);
      while (turn_.pending()) carrier_->wait();
    }
  }
  if (instance_.config_.cpus > 1) instance_.domain_.act(now());
}

bool Cpu::access(tlm::tlm_command command, std::uint64_t address, unsigned size,
                 std::uint64_t& value, MemoryType type) {
  attributes_.operation = ProcessorAccess::Operation::access;
  attributes_.type = type;
  transport(command, address, reinterpret_cast<unsigned char*>(&value), size);
  return payload_.is_response_ok();
}

void Cpu::act(ProcessorAccess::Operation operation, MemoryType type, std::uint64_t address,
              unsigned size) {
  attributes_.operation = operation;
  attributes_.type = type;
  transport(tlm::TLM_IGNORE_COMMAND, address, nullptr, size);
}

void Cpu::transport(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                    unsigned size) {
  enter();
  const bool ahead = may_stay_ahead();
  if (ahead) {
    instance_.ahead_ = this;
  } else {
    catch_up();
  }
  if (instance_.off_) {
    payload_.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return leave(now());
  }
  payload_.set_command(command);
  payload_.set_address(address);
  payload_.set_data_ptr(data);
  payload_.set_data_length(size);
  payload_.set_streaming_width(size);
  payload_.set_byte_enable_ptr(nullptr);
  payload_.set_dmi_allowed(false);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = ahead ? to_sc_time(local_ - now()) : sc_core::SC_ZERO_TIME;
  repeatable.version = nullptr;
  socket->b_transport(payload_, delay);
  set_holding(attributes_.holding);
  const Picoseconds end = now() + static_cast<Picoseconds>(delay.value());
  if (end < local_) answered_early(end);
  if (ahead && repeatable.version != nullptr && payload_.is_response_ok()) {
    remember(address, data, size, local_, end);
  }
  leave(end);
}

void Cpu::order(OaeOrder order) {
  // A clock may be looked at early if no sibling can any more be shown an earlier time.
  if (order == OAE_ORDER_CLOCK) {
    const Picoseconds local = instance_.api_->vcpu_local_time(index_);
    const auto behind = [&](const Cpu& one) { return &one != this && one.floor() < local; };
    if (std::none_of(instance_.cpu.begin(), instance_.cpu.end(), behind)) return;
  }
  enter();
  acts_ = order == OAE_ORDER_ACCESS;
  if (acts_) ++instance_.acting_;
  catch_up();
  if (acts_) --instance_.acting_;
  acts_ = false;
  leave(local_);
}

void Cpu::answered_early(Picoseconds end) const {
  throw BrokenPromise(fmt::format("an access made at {} ps is answered for {} ps", local_, end));
}

void Cpu::remember(std::uint64_t address, const unsigned char* data, unsigned size,
                   Picoseconds start, Picoseconds end) {
  OaeAnswer answer{};
  answer.address = address;
  answer.size = size;
  std::memcpy(&answer.value, data, size);
  answer.version = repeatable.version;
  answer.seen = *repeatable.version;
  answer.latency = end - start;
  answer.period = repeatable.clock;
  if (answer.period != 0) {
    answer.before = repeatable.arrival - start;
    answer.edges = repeatable.answered / answer.period - repeatable.arrival / answer.period;
    answer.after = end - repeatable.answered;
  }
  for (std::size_t i = 0; i < std::size(repeatable.counts); ++i) {
    answer.counts[i] = {repeatable.counts[i].counter, repeatable.counts[i].amount};
  }
  instance_.api_->vcpu_remember(index_, &answer);
}

void Cpu::set_holding(bool holding) {
  attributes_.holding = holding;
  if (holding == holding_) return;
  holding_ = holding;
  instance_.api_->vcpu_set_holding(index_, holding);
}

void Cpu::enter() {
  Agenda::get().rearm();  // models may wait
  instance_.running_ = nullptr;
  local_ = instance_.api_->vcpu_local_time(index_);
  ++instance_.accesses_;
}

void Cpu::catch_up() {
  synchronise();
  instance_.domain_.run_due();
}

// Nothing reaches the vCPU within its grant. An access that has waited, or one that ends a quantum,
// may be beyond it.
bool Cpu::may_stay_ahead() const {
  return instance_.config_.decoupled && instance_.awake_ == 1 &&
         (local_ < granted_ || instance_.domain_.horizon(local_ + 1) > local_);
}

void Cpu::leave(Picoseconds until) {
  const OaeQemuApi& qemu = *instance_.api_;
  instance_.ahead_ = nullptr;
  Agenda::get().forget_others();
  local_ = std::max(local_, until);
  if (--instance_.accesses_ == 0 && instance_.gathering_) instance_.gathered_.notify();
  instance_.running_ = this;
  qemu.vcpu_stall(index_, local_ - qemu.vcpu_local_time(index_));
  renew_at(local_);
}

void Cpu::wake(Picoseconds when) {
  if (!asleep_ || when >= turn_.when() || instance_.off_) return;
  if (!turn_.pending()) {
    // If all slept for good, their timers stood still.
    if (instance_.awake_++ == 0) instance_.rearm_timers();
    // The vCPU that executes has been alone until now. From here on it takes turns.
    if (instance_.running_ != nullptr) {
      instance_.api_->vcpu_set_limit(instance_.running_->index_, now(), OAE_LIMIT_EXACT);
      instance_.running_->stopped_at_ = never;
    }
  }
  turn_.at(std::max(when, now()));
}

Picoseconds Cpu::floor() const {
  return asleep_ ? turn_.when() : std::max(now(), local_);
}

}  // namespace vp::qemu
