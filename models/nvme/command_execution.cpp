// SPDX-License-Identifier: Apache-2.0
// How commands are fetched, move their data, and end: the way of each command from its queue to its
// completion. What a command does between is in admin_commands.cpp and io_commands.cpp.
#include <algorithm>
#include <cstring>

#include "models/nvme/controller.h"
#include "vp/time/transfer.h"

namespace nvme {
namespace {

constexpr unsigned most_fetched = HostMemory::most_bytes / submission_entry_bytes;
constexpr unsigned most_outstanding = 16;  // accesses of one command at a time

}  // namespace

// 4.13.1: round robin among all submission queues, each with up to a burst of commands. A command
// is fetched when its completion has a place, so that a completion never waits.
void Controller::arbitrate() {
  if (state_ != State::ready || fatal_ || shutdown_ != ShutdownStatus::none) return;
  const auto queues = static_cast<unsigned>(submission_.size());
  for (unsigned idle = 0; idle < queues;) {
    const auto free = static_cast<unsigned>(free_slots_.size()) - fetched_slots_;
    if (free == 0) return;
    const unsigned queue = turn_;
    turn_ = turn_ + 1 == queues ? 0 : turn_ + 1;
    const SubmissionQueue& submission = submission_[queue];
    unsigned count = 0;
    if (submission.exists() && !submission.fetching && !submission.deleting) {
      count = std::min({submission.waiting(), submission.to_end(), free, most_fetched,
                        features_.most_at_once(), completion_[submission.completion_queue].room()});
    }
    if (count == 0) {
      ++idle;
      continue;
    }
    idle = 0;
    fetch(queue, count);
  }
}

void Controller::fetch(unsigned queue, unsigned count) {
  SubmissionQueue& submission = submission_[queue];
  submission.fetching = true;
  fetched_slots_ += count;
  completion_[submission.completion_queue].reserved += count;
  const std::uint64_t address =
      submission.base + std::uint64_t{submission.head} * submission_entry_bytes;
  host.read(address, count * submission_entry_bytes,
            [this, queue, count](bool ok, const std::uint8_t* entries) {
              if (!ok) return fail("cannot read an entry of a submission queue");
              for (unsigned i = 0; i < count; ++i) {
                submission_[queue].advance();
                start(queue, entries + i * submission_entry_bytes);
              }
              // Until here, the queue has commands that a deletion or a shutdown must await.
              submission_[queue].fetching = false;
              fetched_slots_ -= count;
              continue_deletion(queue);
              continue_shutdown();
              arbitrate();
            });
}

void Controller::start(unsigned queue, const std::uint8_t* entry) {
  if (busy_since_ == vp::never) busy_since_ = vp::now();
  Slot& slot = *free_slots_.back();
  free_slots_.pop_back();
  slot.command = Command(entry);
  slot.queue = queue;
  slot.start = vp::now();
  ++submission_[queue].outstanding;
  const std::uint16_t id = slot.command.id();
  const bool conflict =
      std::any_of(slots_.begin(), slots_.end(),
                  [&](const auto& other) {
                    return other->stage != Stage::free && other->queue == queue &&
                           other->command.id() == id;
                  }) ||
      (queue == 0 && std::count(event_requests_.begin(), event_requests_.end(), id) > 0);
  slot.stage = Stage::moving;
  if (conflict) return complete(slot, StatusCode::command_id_conflict);
  // Neither fused commands nor SGLs are supported (Identify Controller, FUSES and SGLS).
  if (slot.command.fused() != 0 || slot.command.data_pointer_kind() != 0) {
    return complete(slot, StatusCode::invalid_field);
  }
  if (faults_.any() && suffer_fault(slot)) return;
  queue == 0 ? begin_admin(slot) : begin_io(slot);
}

// Whether a fault takes the place of the command's execution.
bool Controller::suffer_fault(Slot& slot) {
  const Faults::Fate fate = faults_.fate(slot.queue == 0, slot.command.opcode());
  switch (fate.effect) {
    case Faults::Effect::none:
      return false;
    case Faults::Effect::hold:
      slot.stage = Stage::held;
      return true;
    case Faults::Effect::fail:
      complete(slot, fate.status);
      return true;
  }
  return false;
}

// Finds the memory of a command's data. Then data for the host is in `slot.data` already and
// leaves; other data arrives there.
void Controller::locate(Slot& slot, Direction direction, std::size_t bytes, Step next) {
  slot.stage = Stage::moving;
  slot.direction = direction;
  slot.data.resize(bytes);
  slot.segment = 0;
  slot.in_segment = 0;
  slot.requested = 0;
  slot.outstanding = 0;
  slot.failed = false;
  slot.next = next;
  follow(slot, slot.pointer.start(slot.command.prp1(), slot.command.prp2(), bytes, page_size_));
}

void Controller::follow(Slot& slot, DataPointer::Next next) {
  switch (next) {
    case DataPointer::Next::invalid:
      return complete(slot, StatusCode::prp_offset_invalid);
    case DataPointer::Next::list:
      return host.read(slot.pointer.list_address(), slot.pointer.list_bytes(),
                       [this, &slot](bool ok, const std::uint8_t* list) {
                         if (!ok) return complete(slot, StatusCode::data_transfer_error);
                         follow(slot, slot.pointer.add(list));
                       });
    case DataPointer::Next::complete:
      // Data of the medium for the host comes later.
      if (slot.direction == Direction::to_host) return (this->*slot.next)(slot);
      return move(slot);
  }
}

// Requests as many accesses as may be outstanding. After a failure it requests no more.
void Controller::move(Slot& slot) {
  const std::vector<DataPointer::Segment>& segments = slot.pointer.segments();
  while (!slot.failed && slot.segment < segments.size() && slot.outstanding < most_outstanding) {
    const DataPointer::Segment& segment = segments[slot.segment];
    const std::uint64_t address = segment.address + slot.in_segment;
    const unsigned bytes = std::min<unsigned>(
        segment.bytes - slot.in_segment,
        HostMemory::most_bytes - static_cast<unsigned>(address % HostMemory::most_bytes));
    std::uint8_t* data = &slot.data[slot.requested];
    slot.in_segment += bytes;
    slot.requested += bytes;
    if (slot.in_segment == segment.bytes) {
      slot.in_segment = 0;
      ++slot.segment;
    }
    ++slot.outstanding;
    const bool incoming = slot.direction == Direction::from_host;
    auto done = [this, &slot, bytes, data, incoming](bool ok, const std::uint8_t* from) {
      --slot.outstanding;
      if (!ok) slot.failed = true;
      if (ok && incoming) std::memcpy(data, from, bytes);
      move(slot);
    };
    if (incoming) {
      host.read(address, bytes, std::move(done));
    } else {
      host.write(address, data, bytes, std::move(done));
    }
  }
  if (slot.outstanding > 0) return;
  if (slot.failed) return complete(slot, StatusCode::data_transfer_error);
  (this->*slot.next)(slot);
}

void Controller::wait(Slot& slot, vp::Picoseconds until, Step next) {
  slot.stage = Stage::waiting;
  slot.next = next;
  slot.timer.at(until);
}

void Controller::on_timer(Slot& slot) {
  slot.stage = Stage::moving;
  (this->*slot.next)(slot);
}

// Returns when the medium has passed that many bytes after all that it has to pass before.
vp::Picoseconds Controller::occupy_medium(std::uint64_t bytes) {
  medium_free_ = std::max(medium_free_, vp::now());
  for (std::uint64_t piece; bytes > 0; bytes -= piece) {
    piece = std::min(bytes, vp::longest_transfer);
    // What would last for weeks of simulated time lasts for ever.
    constexpr vp::Picoseconds latest = vp::never / 2;
    const vp::Picoseconds span = vp::transfer_time(piece, config_.bytes_per_second);
    medium_free_ =
        span < latest - medium_free_ ? medium_free_ + span : std::max(medium_free_, latest);
  }
  return medium_free_;
}

void Controller::complete(Slot& slot, StatusCode status, std::uint32_t result) {
  const unsigned queue = slot.queue;
  const std::uint16_t id = slot.command.id();
  std::uint16_t field = static_cast<std::uint16_t>(status);
  if (status != StatusCode::success) {
    const bool is_io = queue != 0;
    field = note_error(queue, id, status, is_io ? slot.command.pair(IoWord::start) : 0,
                       slot.command.namespace_id());
  }
  if (trace_.on()) trace_completion(slot, status);
  release(slot);
  post(queue, id, field, result);
  continue_deletion(queue);
  continue_shutdown();
  if (!work_.pending()) work_.at(vp::now());
}

void Controller::release(Slot& slot) {
  slot.timer.cancel();
  slot.stage = Stage::free;
  free_slots_.push_back(&slot);
  --submission_[slot.queue].outstanding;
  if (free_slots_.size() == slots_.size() && busy_since_ != vp::never) {
    busy_ += vp::now() - busy_since_;
    busy_since_ = vp::never;
  }
}

// Writes an entry of a completion queue (4.6). One must be reserved.
void Controller::post(unsigned queue, std::uint16_t command, std::uint16_t status,
                      std::uint32_t result) {
  const SubmissionQueue& submission = submission_[queue];
  CompletionQueue& completion = completion_[submission.completion_queue];
  bool phase = false;
  const std::uint64_t address = completion.claim(phase);
  const std::uint32_t entry[completion_entry_bytes / sizeof(std::uint32_t)] = {
      result, 0, submission.head | queue << 16,
      command | std::uint32_t{phase} << 16 | std::uint32_t{status} << 17};
  host.write(address, entry, completion_entry_bytes, [this](bool ok, const std::uint8_t*) {
    if (!ok) fail("cannot write an entry of a completion queue");
  });
  interrupts_.announce(completion, submission.completion_queue != 0);
}

// Adds an entry to the error log and returns the field of the completion (4.6.1).
std::uint16_t Controller::note_error(unsigned queue, std::uint16_t command, StatusCode status,
                                     std::uint64_t block, std::uint32_t name_space) {
  const auto code = static_cast<std::uint16_t>(status);
  const auto field =
      static_cast<std::uint16_t>(code | more_information | (is_final(status) ? do_not_retry : 0));
  const bool is_command = status != StatusCode::success;
  errors_.push_front({++health_.error_log_entries, static_cast<std::uint16_t>(queue), command,
                      static_cast<std::uint16_t>(is_command ? field << 1 : 0), block, name_space});
  if (errors_.size() > error_entries) errors_.pop_back();
  return field;
}

void Controller::trace_completion(const Slot& slot, StatusCode status) {
  const Command& command = slot.command;
  const bool has_range =
      slot.queue != 0 && command.opcode() != 0 &&
      command.opcode() != static_cast<std::uint8_t>(IoOpcode::dataset_management);
  trace_.write(
      "{{\"t\":{},\"nvme\":\"{}\",\"queue\":{},\"cid\":{},\"opcode\":\"{:#04x}\",\"nsid\":{},"
      "\"block\":{},\"blocks\":{},\"start\":{},\"status\":\"{:#05x}\"}}",
      vp::now(), name(), slot.queue, command.id(), command.opcode(), command.namespace_id(),
      has_range ? command.pair(IoWord::start) : 0,
      has_range ? IoWord::blocks.get(command.words[IoWord::control]) + 1 : 0, slot.start,
      static_cast<unsigned>(status));
}

// The next functions implement asynchronous events (5.2).

// An event waits while the host has not read the log about an earlier one of its type.
void Controller::report(const AsyncEvent& event) {
  if (std::find(events_.begin(), events_.end(), event) == events_.end()) events_.push_back(event);
  deliver_events();
}

void Controller::deliver_events() {
  for (auto event = events_.begin(); event != events_.end();) {
    if (event_requests_.empty() || completion_[0].room() == 0) return;
    if ((reported_types_ >> event->type & 1) != 0) {
      ++event;
      continue;
    }
    reported_types_ |= 1u << event->type;
    const std::uint16_t command = event_requests_.front();
    event_requests_.pop_front();
    ++completion_[0].reserved;
    const std::uint32_t word = event->word();
    event = events_.erase(event);
    post(0, command, static_cast<std::uint16_t>(StatusCode::success), word);
  }
}

}  // namespace nvme
