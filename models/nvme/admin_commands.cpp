// SPDX-License-Identifier: Apache-2.0
// The admin commands (NVMe 1.4, 5).
#include <algorithm>
#include <cstring>
#include <exception>

#include "models/nvme/controller.h"

namespace nvme {
namespace {

constexpr std::uint32_t last_namespace = 0xfffffffd;  // of the active namespace list
constexpr std::uint32_t not_aborted = 1;              // in the completion of Abort
constexpr std::uint32_t no_queue = 0xffff;            // an impossible number of queues
constexpr std::uint64_t longest_shutdown = 3600;      // seconds that RTD3E can say
constexpr vp::Picoseconds minute = 60 * vp::s;
constexpr vp::Picoseconds hour = 60 * minute;
const char firmware_revision[] = "1.0";

// Microseconds, rounded up, as far as 32 bits hold them.
std::uint32_t microseconds(vp::Picoseconds span) {
  const vp::Picoseconds count = (span + vp::us - 1) / vp::us;
  return static_cast<std::uint32_t>(std::min<vp::Picoseconds>(count, 0xffffffff));
}

}  // namespace

void Controller::begin_admin(Slot& slot) {
  ++admin_commands_;
  switch (static_cast<AdminOpcode>(slot.command.opcode())) {
    case AdminOpcode::async_event_request:
      return request_event(slot);
    case AdminOpcode::abort:
      if (aborts_ == most_aborts) return complete(slot, StatusCode::abort_limit_exceeded);
      ++aborts_;
      break;
    case AdminOpcode::delete_submission_queue:
    case AdminOpcode::create_submission_queue:
    case AdminOpcode::get_log_page:
    case AdminOpcode::delete_completion_queue:
    case AdminOpcode::create_completion_queue:
    case AdminOpcode::identify:
    case AdminOpcode::set_features:
    case AdminOpcode::get_features:
      break;
    default:
      return complete(slot, StatusCode::invalid_opcode);
  }
  wait(slot, vp::now() + config_.admin_latency, &Controller::perform_admin);
}

void Controller::perform_admin(Slot& slot) {
  switch (static_cast<AdminOpcode>(slot.command.opcode())) {
    case AdminOpcode::delete_submission_queue:
      return delete_submission_queue(slot);
    case AdminOpcode::create_submission_queue:
      return create_submission_queue(slot);
    case AdminOpcode::get_log_page:
      return get_log_page(slot);
    case AdminOpcode::delete_completion_queue:
      return delete_completion_queue(slot);
    case AdminOpcode::create_completion_queue:
      return create_completion_queue(slot);
    case AdminOpcode::identify:
      return identify(slot);
    case AdminOpcode::abort:
      return abort(slot);
    case AdminOpcode::set_features:
      return set_features(slot);
    default:
      return get_features(slot);
  }
}

// Sends data to the host; then the command has succeeded.
void Controller::answer(Slot& slot, const std::uint8_t* data, std::size_t bytes) {
  slot.data.assign(data, data + bytes);
  locate(slot, Direction::to_host, bytes, &Controller::send);
}

void Controller::send(Slot& slot) {
  slot.next = &Controller::succeed;
  move(slot);
}

// The next functions create and delete I/O queues (5.3 to 5.6).

void Controller::create_completion_queue(Slot& slot) {
  const Command& command = slot.command;
  const std::uint32_t queue = AdminWord::queue.get(command.words[10]);
  const std::uint32_t entries = AdminWord::queue_size.get(command.words[10]) + 1;
  const std::uint32_t vector = AdminWord::vector.get(command.words[11]);
  const bool interrupts = AdminWord::interrupts.get(command.words[11]) != 0;
  if (queue == 0 || queue >= completion_.size() || completion_[queue].exists()) {
    return complete(slot, StatusCode::invalid_queue_identifier);
  }
  if (entries < 2 || entries > config_.queue_entries ||
      Configuration::completion_entry_size.get(configuration_) != completion_entry_shift) {
    return complete(slot, StatusCode::invalid_queue_size);
  }
  if (AdminWord::contiguous.get(command.words[11]) == 0) {
    return complete(slot, StatusCode::invalid_field);  // CAP.CQR
  }
  if (command.prp1() % page_size_ != 0) return complete(slot, StatusCode::prp_offset_invalid);
  if (interrupts && vector >= interrupts_.usable()) {
    return complete(slot, StatusCode::invalid_interrupt_vector);
  }
  CompletionQueue created;
  created.base = command.prp1();
  created.size = entries;
  created.interrupts = interrupts;
  created.vector = interrupts ? static_cast<std::uint16_t>(vector) : 0;
  completion_[queue] = created;
  succeed(slot);
}

void Controller::create_submission_queue(Slot& slot) {
  const Command& command = slot.command;
  const std::uint32_t queue = AdminWord::queue.get(command.words[10]);
  const std::uint32_t entries = AdminWord::queue_size.get(command.words[10]) + 1;
  const std::uint32_t completion = AdminWord::completion_queue.get(command.words[11]);
  if (queue == 0 || queue >= submission_.size() || submission_[queue].exists() || completion == 0 ||
      completion >= completion_.size()) {
    return complete(slot, StatusCode::invalid_queue_identifier);
  }
  if (!completion_[completion].exists()) {
    return complete(slot, StatusCode::completion_queue_invalid);
  }
  if (entries < 2 || entries > config_.queue_entries ||
      Configuration::submission_entry_size.get(configuration_) != submission_entry_shift) {
    return complete(slot, StatusCode::invalid_queue_size);
  }
  if (AdminWord::contiguous.get(command.words[11]) == 0) {
    return complete(slot, StatusCode::invalid_field);  // CAP.CQR
  }
  if (command.prp1() % page_size_ != 0) return complete(slot, StatusCode::prp_offset_invalid);
  SubmissionQueue created;
  created.base = command.prp1();
  created.size = entries;
  created.completion_queue = static_cast<std::uint16_t>(completion);
  submission_[queue] = created;
  ++completion_[completion].submission_queues;
  succeed(slot);
}

void Controller::delete_completion_queue(Slot& slot) {
  const std::uint32_t queue = AdminWord::queue.get(slot.command.words[10]);
  if (queue == 0 || queue >= completion_.size() || !completion_[queue].exists()) {
    return complete(slot, StatusCode::invalid_queue_identifier);
  }
  CompletionQueue& completion = completion_[queue];
  if (completion.submission_queues > 0) return complete(slot, StatusCode::invalid_queue_deletion);
  completion.head = completion.tail;
  interrupts_.taken(completion);
  completion = CompletionQueue();
  succeed(slot);
}

// 5.6: commands that can be aborted are, and the others are completed. The queue's entries that
// were not fetched are lost.
void Controller::delete_submission_queue(Slot& slot) {
  const std::uint32_t queue = AdminWord::queue.get(slot.command.words[10]);
  if (queue == 0 || queue >= submission_.size() || !submission_[queue].exists() ||
      submission_[queue].deleting) {
    return complete(slot, StatusCode::invalid_queue_identifier);
  }
  submission_[queue].deleting = true;
  for (const auto& other : slots_) {
    const bool abortable = other->stage == Stage::waiting || other->stage == Stage::held;
    if (abortable && other->queue == queue) {
      complete(*other, StatusCode::aborted_by_queue_deletion);
    }
  }
  deletions_[queue] = &slot;
  continue_deletion(queue);
}

void Controller::continue_deletion(unsigned queue) {
  SubmissionQueue& submission = submission_[queue];
  if (deletions_[queue] == nullptr || submission.fetching || submission.outstanding > 0) return;
  Slot& slot = *deletions_[queue];
  deletions_[queue] = nullptr;
  --completion_[submission.completion_queue].submission_queues;
  submission = SubmissionQueue();
  succeed(slot);
}

// 5.1.
void Controller::abort(Slot& slot) {
  --aborts_;
  if (faults_.refuses_abort()) return complete(slot, StatusCode::success, not_aborted);
  const std::uint32_t queue = AdminWord::aborted_queue.get(slot.command.words[10]);
  const std::uint32_t id = AdminWord::aborted_command.get(slot.command.words[10]);
  const auto event = std::find(event_requests_.begin(), event_requests_.end(), id);
  if (queue == 0 && event != event_requests_.end() && completion_[0].room() > 0) {
    event_requests_.erase(event);
    ++completion_[0].reserved;
    post(0, static_cast<std::uint16_t>(id), static_cast<std::uint16_t>(StatusCode::abort_requested),
         0);
    return succeed(slot);
  }
  for (const auto& other : slots_) {
    const bool abortable = other->stage == Stage::waiting || other->stage == Stage::held;
    if (!abortable || other->queue != queue || other->command.id() != id) continue;
    // An Abort that is held was not counted.
    const bool is_abort = queue == 0 && other->stage == Stage::waiting &&
                          other->command.opcode() == static_cast<std::uint8_t>(AdminOpcode::abort);
    if (is_abort) --aborts_;
    complete(*other, StatusCode::abort_requested);
    return succeed(slot);
  }
  complete(slot, StatusCode::success, not_aborted);
}

// 5.2: the request waits for an event, without a place in the completion queue.
void Controller::request_event(Slot& slot) {
  if (event_requests_.size() == most_event_requests) {
    return complete(slot, StatusCode::async_event_limit_exceeded);
  }
  event_requests_.push_back(slot.command.id());
  release(slot);
  --completion_[0].reserved;
  deliver_events();
}

// 5.15.
void Controller::identify(Slot& slot) {
  const std::uint32_t name_space = slot.command.namespace_id();
  const Disk* disk = disk_of(name_space);
  IdentifyData data{};
  switch (static_cast<Structure>(AdminWord::structure.get(slot.command.words[10]))) {
    case Structure::name_space:
      if (disk == nullptr) return complete(slot, StatusCode::invalid_namespace);
      data = identify_namespace(disk->blocks(), disk->block_size());
      break;
    case Structure::controller: {
      std::uint64_t cache = 0;
      for (const auto& one : disks_) cache = std::max(cache, one->cache_bytes());
      const std::uint64_t seconds = cache * disks_.size() / config_.bytes_per_second + 1;
      const auto shutdown =
          static_cast<vp::Picoseconds>(std::min(seconds, longest_shutdown)) * vp::s;
      data = identify_controller(
          {config_.vendor, config_.vendor, config_.serial_number, config_.model_number,
           firmware_revision, static_cast<unsigned>(__builtin_ctz(config_.max_transfer >> 12)),
           static_cast<std::uint32_t>(disks_.size()), cache > 0, microseconds(shutdown),
           microseconds(config_.ready_time), config_.temperature + warning_above,
           config_.temperature + critical_above});
      break;
    }
    case Structure::active_namespaces:
      if (name_space > last_namespace) return complete(slot, StatusCode::invalid_namespace);
      data = identify_active_namespaces(static_cast<std::uint32_t>(disks_.size()), name_space);
      break;
    case Structure::namespace_descriptors:
      if (disk == nullptr) return complete(slot, StatusCode::invalid_namespace);
      data = identify_descriptors(config_.serial_number, name_space);
      break;
    default:
      return complete(slot, StatusCode::invalid_field);
  }
  answer(slot, data.data(), data.size());
}

Health Controller::present_health() const {
  Health health = health_;
  const vp::Picoseconds busy = busy_ + (busy_since_ == vp::never ? 0 : vp::now() - busy_since_);
  health.busy_minutes = static_cast<std::uint64_t>(busy / minute);
  health.power_on_hours = static_cast<std::uint64_t>(vp::now() / hour);
  return health;
}

// 5.14. What is behind the end of a log reads as zeros.
void Controller::get_log_page(Slot& slot) {
  const Command& command = slot.command;
  const auto log = static_cast<Log>(AdminWord::log.get(command.words[10]));
  const std::uint64_t dwords = AdminWord::dwords_low.get(command.words[10]) |
                               std::uint64_t{AdminWord::dwords_high.get(command.words[11])} << 16;
  const std::uint64_t bytes = 4 * (dwords + 1);
  const std::uint64_t offset = command.pair(12);
  std::uint8_t type = 0;
  std::vector<std::uint8_t> page;
  switch (log) {
    case Log::errors:
      page = error_log(errors_);
      type = invalid_doorbell_value.type;
      break;
    case Log::health:
      if (command.namespace_id() != 0 && command.namespace_id() != all_namespaces) {
        return complete(slot, StatusCode::invalid_field);  // LPA bit 0: none for one namespace
      }
      page = health_log(present_health());
      type = temperature_crossed.type;
      break;
    case Log::firmware:
      page = firmware_log(firmware_revision);
      type = 0xff;
      break;
    default:
      return complete(slot, StatusCode::invalid_log_page);
  }
  if (bytes > config_.max_transfer || offset % 4 != 0 || offset > page.size()) {
    return complete(slot, StatusCode::invalid_field);
  }
  page.erase(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(offset));
  page.resize(bytes);
  // 5.2: reading the log clears the events about it, unless the host retains them.
  if (AdminWord::retain_event.get(command.words[10]) == 0 && type < 32) {
    reported_types_ &= ~(1u << type);
    events_.erase(std::remove_if(events_.begin(), events_.end(),
                                 [type](const AsyncEvent& event) { return event.type == type; }),
                  events_.end());
  }
  answer(slot, page.data(), page.size());
}

// The next functions implement features (5.9, 5.21).

bool Controller::has_io_queues() const {
  return std::any_of(completion_.begin() + 1, completion_.end(),
                     [](const CompletionQueue& queue) { return queue.exists(); });
}

bool Controller::has_cache() const {
  return std::any_of(disks_.begin(), disks_.end(),
                     [](const auto& disk) { return disk->cache_bytes() > 0; });
}

// Both numbers, less 1.
std::uint32_t Controller::granted_queues() const {
  const std::uint32_t count = config_.queue_pairs - 1;
  return count | count << 16;
}

StatusCode Controller::set_temperature_threshold(std::uint32_t value) {
  const std::uint32_t sensor = Features::sensor.get(value);
  const std::uint32_t under = Features::under.get(value);
  if ((sensor != 0 && sensor != Features::all_sensors) || under > 1) {
    return StatusCode::invalid_field;
  }
  (under != 0 ? features_.under_temperature : features_.over_temperature) =
      Features::threshold.get(value);
  update_warnings();
  return StatusCode::success;
}

void Controller::update_warnings() {
  const bool crossed = config_.temperature >= features_.over_temperature ||
                       config_.temperature <= features_.under_temperature;
  const bool before = (health_.warnings & warning_temperature) != 0;
  health_.warnings = crossed ? warning_temperature : 0;
  if (crossed && !before &&
      (Features::warnings.get(features_.async_events) & warning_temperature) != 0) {
    report(temperature_crossed);
  }
}

void Controller::set_features(Slot& slot) {
  const Command& command = slot.command;
  const std::uint32_t value = command.words[11];
  if (AdminWord::save.get(command.words[10]) != 0) {
    return complete(slot, StatusCode::feature_not_saveable);
  }
  switch (static_cast<Feature>(AdminWord::feature.get(command.words[10]))) {
    case Feature::arbitration:
      features_.arbitration = value & Features::arbitration_mask;
      break;
    case Feature::power_management:
      if (Features::power_state.get(value) != 0) return complete(slot, StatusCode::invalid_field);
      break;
    case Feature::temperature_threshold:
      return complete(slot, set_temperature_threshold(value));
    case Feature::error_recovery: {
      const std::uint32_t name_space = command.namespace_id();
      if (name_space != all_namespaces && disk_of(name_space) == nullptr) {
        return complete(slot, StatusCode::invalid_namespace);
      }
      const std::uint32_t time = Features::error_recovery_time.get(value);
      if (time != value) return complete(slot, StatusCode::invalid_field);  // no DULBE (NSFEAT)
      for (std::uint32_t id = 1; id <= disks_.size(); ++id) {
        if (name_space == all_namespaces || name_space == id)
          features_.error_recovery[id - 1] = time;
      }
      break;
    }
    case Feature::volatile_write_cache:
      if (!has_cache()) return complete(slot, StatusCode::invalid_field);
      features_.write_cache = Features::cache_enabled.get(value) != 0;
      // What has been cached becomes durable, since the host need not flush any more.
      if (!features_.write_cache) return flush(slot, all_namespaces);
      break;
    case Feature::number_of_queues:
      if (has_io_queues()) return complete(slot, StatusCode::command_sequence_error);
      if ((value & 0xffff) == no_queue || value >> 16 == no_queue) {
        return complete(slot, StatusCode::invalid_field);
      }
      return complete(slot, StatusCode::success, granted_queues());
    case Feature::interrupt_coalescing:
      features_.coalescing = value & Features::coalescing_mask;
      break;
    case Feature::interrupt_vector: {
      const std::uint32_t vector = Features::vector.get(value);
      if (vector >= interrupts_.vectors()) return complete(slot, StatusCode::invalid_field);
      features_.vectors_alone[vector] = Features::vector_alone.get(value) != 0;
      break;
    }
    case Feature::write_atomicity:
      features_.write_atomicity = Features::no_atomicity.get(value);
      break;
    case Feature::async_events:
      features_.async_events = value & static_cast<std::uint32_t>(Features::warnings.mask());
      break;
    default:
      return complete(slot, StatusCode::invalid_field);
  }
  succeed(slot);
}

void Controller::get_features(Slot& slot) {
  const Command& command = slot.command;
  const std::uint32_t value = command.words[11];
  // Only the present value can be selected (Identify Controller, ONCS bit 4).
  if (AdminWord::select.get(command.words[10]) != 0) {
    return complete(slot, StatusCode::invalid_field);
  }
  std::uint32_t result = 0;
  switch (static_cast<Feature>(AdminWord::feature.get(command.words[10]))) {
    case Feature::arbitration:
      result = features_.arbitration;
      break;
    case Feature::power_management:
      break;
    case Feature::temperature_threshold: {
      const std::uint32_t under = Features::under.get(value);
      if (Features::sensor.get(value) != 0 || under > 1) {
        return complete(slot, StatusCode::invalid_field);
      }
      result = under != 0 ? features_.under_temperature : features_.over_temperature;
      break;
    }
    case Feature::error_recovery:
      if (disk_of(command.namespace_id()) == nullptr) {
        return complete(slot, StatusCode::invalid_namespace);
      }
      result = features_.error_recovery[command.namespace_id() - 1];
      break;
    case Feature::volatile_write_cache:
      if (!has_cache()) return complete(slot, StatusCode::invalid_field);
      result = features_.write_cache;
      break;
    case Feature::number_of_queues:
      result = granted_queues();
      break;
    case Feature::interrupt_coalescing:
      result = features_.coalescing;
      break;
    case Feature::interrupt_vector: {
      const std::uint32_t vector = Features::vector.get(value);
      if (vector >= interrupts_.vectors()) return complete(slot, StatusCode::invalid_field);
      result = static_cast<std::uint32_t>(
          vector | Features::vector_alone.put(features_.vectors_alone[vector]));
      break;
    }
    case Feature::write_atomicity:
      result = features_.write_atomicity;
      break;
    case Feature::async_events:
      result = features_.async_events;
      break;
    default:
      return complete(slot, StatusCode::invalid_field);
  }
  complete(slot, StatusCode::success, result);
}

}  // namespace nvme
