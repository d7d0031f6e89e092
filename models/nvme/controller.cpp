// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vp/log/log.h"
#include "vp/time/transfer.h"

namespace nvme {
namespace {

constexpr unsigned word_bytes = 4;
constexpr unsigned most_vectors = 256;
constexpr unsigned most_msi_vectors = 32;
constexpr std::uint32_t class_code = 0x010802;  // mass storage, non-volatile memory, NVM Express
constexpr vp::Picoseconds timeout_unit = 500 * vp::ms;
constexpr vp::Picoseconds longest_ready_time = 127 * vp::s;

// The upper or lower half of a register of 64 bits.
constexpr std::uint32_t half(std::uint64_t value, bool upper) {
  return static_cast<std::uint32_t>(upper ? value >> 32 : value);
}
constexpr std::uint64_t with_half(std::uint64_t value, bool upper, std::uint32_t word) {
  return upper ? (value & 0xffffffffu) | std::uint64_t{word} << 32
               : (value & ~std::uint64_t{0xffffffff}) | word;
}

bool is_printable(const std::string& text, std::size_t most) {
  return !text.empty() && text.size() <= most &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Returns the configuration if it is possible.
const ControllerConfig& checked(const ControllerConfig& config) {
  const auto expect = [](bool good, const char* text) {
    if (!good) throw ConfigurationError(text);
  };
  expect(!config.namespaces.empty() && config.namespaces.size() <= 256,
         "an NVMe controller has 1 to 256 namespaces");
  expect(config.read_latency >= 0 && config.write_latency >= 0 && config.admin_latency >= 0,
         "the latencies of NVMe commands must not be negative");
  expect(config.bytes_per_second >= 1, "the rate of an NVMe medium is at least 1 byte per second");
  expect(config.ready_time >= 0 && config.ready_time <= longest_ready_time,
         "an NVMe controller is ready after 0 to 127 s");
  expect(config.queue_pairs >= 1 && config.queue_pairs < most_vectors,
         "an NVMe controller has 1 to 255 I/O queue pairs");
  expect(config.queue_entries >= 2 && config.queue_entries <= 65536,
         "an NVMe queue has 2 to 65536 entries");
  expect(config.commands >= 1 && config.commands <= 4096,
         "an NVMe controller executes 1 to 4096 commands at a time");
  const unsigned most = config.max_transfer;
  expect(most >= 8192 && most <= vp::longest_transfer && (most & (most - 1)) == 0,
         "the data of an NVMe command are limited to a power of two from 8 KiB to 8 MiB");
  expect(config.temperature >= 1 && config.temperature <= 65535,
         "the temperature of an NVMe device is 1 to 65535 K");
  expect(is_printable(config.serial_number, 20),
         "the serial number of an NVMe controller has 1 to 20 printable characters of ASCII");
  expect(is_printable(config.model_number, 40),
         "the model number of an NVMe controller has 1 to 40 printable characters of ASCII");
  return config;
}

/// Whether these words of a fault ask for one of the controller as a whole.
bool is_fatal(const std::vector<std::string_view>& words) {
  return words.size() == 1 && words[0] == "fatal";
}

}  // namespace

Controller::Slot::Slot(Controller& controller, vp::Domain& domain)
    : timer(domain, [&controller, this] { controller.on_timer(*this); }) {}

pcie::FunctionConfig Controller::function_config(const ControllerConfig& config) {
  pcie::FunctionConfig function;
  function.identity.vendor = function.identity.subsystem_vendor = config.vendor;
  function.identity.class_code = class_code;
  function.bars = {pcie::BarConfig::memory_64(0, Layout::bar_size)};
  function.msi.vectors = most_msi_vectors;
  function.msi_x = {config.queue_pairs + 1, 0, Layout::msi_x_table, 0, Layout::msi_x_pending};
  function.interrupt_pin = 1;
  return function;
}

Controller::Controller(const sc_core::sc_module_name& name, const ControllerConfig& config,
                       vp::Domain& domain, vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      bar("bar"),
      interrupt("interrupt"),
      host("host", domain, [this] { settle(); }),
      trace_(trace),
      log_(vp::log::get("nvme")),
      config_(checked(config)),
      interrupts_(interrupt, config.queue_pairs + 1, features_, completion_, domain),
      ready_(domain, [this] { become_ready(); }),
      work_(domain, [this] { arbitrate(); }),
      shutdown_end_(domain, [this] { end_shutdown(); }),
      random_(config.seed) {
  bar.register_nb_transport_fw(this, &Controller::access);
  for (const DiskConfig& disk : config.namespaces) disks_.push_back(std::make_unique<Disk>(disk));
  submission_.resize(config.queue_pairs + 1);
  completion_.resize(config.queue_pairs + 1);
  deletions_.resize(config.queue_pairs + 1);
  for (unsigned i = 0; i < config.commands; ++i) {
    slots_.push_back(std::make_unique<Slot>(*this, domain));
  }
  health_.temperature = config.temperature;
  stop();
  const std::string prefix = std::string(this->name()) + ".";
  statistics.latency(prefix + "read_latency", read_latency_);
  statistics.latency(prefix + "write_latency", write_latency_);
  statistics.counter(prefix + "reads", health_.reads);
  statistics.counter(prefix + "writes", health_.writes);
  statistics.counter(prefix + "flushes", flushes_);
  statistics.counter(prefix + "other_commands", other_commands_);
  statistics.counter(prefix + "admin_commands", admin_commands_);
  statistics.counter(prefix + "bytes_read", bytes_read_);
  statistics.counter(prefix + "bytes_written", bytes_written_);
  statistics.counter(prefix + "errors", health_.error_log_entries);
  statistics.counter(prefix + "interrupt_requests", interrupts_.count());
  statistics.counter(prefix + "doorbells", doorbells_);
  statistics.counter(prefix + "fatal_errors", failures_);
  statistics.counter(prefix + "injected_faults", faults_.count());
  statistics.counter(prefix + "lost_blocks", lost_blocks_);
  const auto sum = [this](std::uint64_t (*of)(const Disk&)) {
    return [this, of] {
      std::uint64_t total = 0;
      for (const auto& disk : disks_) total += of(*disk);
      return total;
    };
  };
  statistics.counter(prefix + "blocks_written_back",
                     sum([](const Disk& disk) { return disk.written_back(); }));
  statistics.counter(prefix + "pages_spilled",
                     sum([](const Disk& disk) { return disk.overlay().spilled(); }));
}

Controller::~Controller() = default;

// The next functions implement the registers.

tlm::tlm_sync_enum Controller::access(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                      sc_core::sc_time&) {
  const std::uint64_t offset = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  std::uint8_t* data = payload.get_data_ptr();
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (payload.is_read()) {
    for (unsigned i = 0; i < bytes; ++i) {
      const std::uint64_t at = offset + i;
      data[i] = static_cast<std::uint8_t>(read_word(at & ~std::uint64_t{word_bytes - 1}) >>
                                          8 * (at % word_bytes));
    }
  } else if (offset % word_bytes == 0 && bytes % word_bytes == 0 &&
             payload.get_byte_enable_ptr() == nullptr) {
    for (unsigned i = 0; i < bytes; i += word_bytes) {
      std::uint32_t value;
      std::memcpy(&value, data + i, word_bytes);
      write_word(offset + i, value);
    }
  }
  return tlm::TLM_COMPLETED;
}

std::uint64_t Controller::capabilities() const {
  const auto units =
      std::max<vp::Picoseconds>(1, (config_.ready_time + timeout_unit - 1) / timeout_unit);
  return Capabilities::queue_entries.put(config_.queue_entries - 1) |
         Capabilities::contiguous.put(1) |
         Capabilities::timeout.put(static_cast<std::uint64_t>(units)) |
         Capabilities::nvm_command_set.put(1) | Capabilities::page_size_min.put(0) |
         Capabilities::page_size_max.put(largest_page_shift - smallest_page_shift);
}

std::uint32_t Controller::status() const {
  const bool ready = state_ == State::ready || state_ == State::stopping;
  return static_cast<std::uint32_t>(Status::ready.put(ready) | Status::fatal.put(fatal_) |
                                    Status::shutdown.put(static_cast<unsigned>(shutdown_)));
}

std::uint32_t Controller::read_word(std::uint64_t offset) const {
  switch (offset) {
    case Register::capabilities:
    case Register::capabilities + word_bytes:
      return half(capabilities(), offset != Register::capabilities);
    case Register::version:
      return version_1_4;
    case Register::interrupt_mask_set:
    case Register::interrupt_mask_clear:
      return interrupts_.mask();
    case Register::configuration:
      return configuration_;
    case Register::status:
      return status();
    case Register::admin_queue_attributes:
      return admin_attributes_;
    case Register::admin_submission_queue:
    case Register::admin_submission_queue + word_bytes:
      return half(admin_submission_, offset != Register::admin_submission_queue);
    case Register::admin_completion_queue:
    case Register::admin_completion_queue + word_bytes:
      return half(admin_completion_, offset != Register::admin_completion_queue);
    default:
      return 0;
  }
}

void Controller::write_word(std::uint64_t offset, std::uint32_t value) {
  switch (offset) {
    case Register::interrupt_mask_set:
      return interrupts_.set_mask(interrupts_.mask() | value);
    case Register::interrupt_mask_clear:
      return interrupts_.set_mask(interrupts_.mask() & ~value);
    case Register::configuration:
      return configure(value & Configuration::writable);
    case Register::admin_queue_attributes:
      admin_attributes_ = value & AdminQueueAttributes::writable;
      return;
    case Register::admin_submission_queue:
    case Register::admin_submission_queue + word_bytes:
      admin_submission_ =
          with_half(admin_submission_, offset != Register::admin_submission_queue, value) &
          queue_base_mask;
      return;
    case Register::admin_completion_queue:
    case Register::admin_completion_queue + word_bytes:
      admin_completion_ =
          with_half(admin_completion_, offset != Register::admin_completion_queue, value) &
          queue_base_mask;
      return;
    default:
      if (offset >= Register::doorbells && offset < Layout::msi_x_table) {
        ring(static_cast<unsigned>((offset - Register::doorbells) / word_bytes), value);
      }
  }
}

void Controller::configure(std::uint32_t value) {
  const std::uint32_t before = configuration_;
  configuration_ = value;
  const bool enabled = Configuration::enable.get(value) != 0;
  if (enabled != (Configuration::enable.get(before) != 0)) enabled ? enable() : disable();
  if (Configuration::shutdown.get(value) != 0 && Configuration::shutdown.get(before) == 0) {
    begin_shutdown();
  }
}

// A doorbell is taken while the controller is ready. An invalid write leaves the queue as it is,
// and the host hears of it by an asynchronous event (5.2, figure 146).
void Controller::ring(unsigned doorbell, std::uint32_t value) {
  if (state_ != State::ready || fatal_) return;
  ++doorbells_;
  const unsigned queue = doorbell / 2;
  const bool is_tail = doorbell % 2 == 0;
  const bool exists = queue < submission_.size() &&
                      (is_tail ? submission_[queue].exists() && !submission_[queue].deleting
                               : completion_[queue].exists());
  const auto refuse = [&](const AsyncEvent& event) {
    note_error(queue, 0xffff, StatusCode::success, 0, 0);
    report(event);
  };
  if (!exists) return refuse(invalid_doorbell_register);
  value &= 0xffff;
  const Doorbell outcome =
      is_tail ? submission_[queue].ring(value) : completion_[queue].ring(value);
  if (outcome == Doorbell::invalid) return refuse(invalid_doorbell_value);
  if (!is_tail) {
    interrupts_.taken(completion_[queue]);
    deliver_events();
  }
  if (!work_.pending()) work_.at(vp::now());
}

// The next functions implement the life of the controller.

// 3.1.5 leaves open what happens with a configuration that is not supported. Here it is fatal.
void Controller::enable() {
  if (state_ != State::disabled) return;  // settle() goes on
  const unsigned page_shift = Configuration::page_size.get(configuration_) + smallest_page_shift;
  const std::uint32_t submissions = AdminQueueAttributes::submission_size.get(admin_attributes_);
  const std::uint32_t completions = AdminQueueAttributes::completion_size.get(admin_attributes_);
  page_size_ = 1u << std::min(page_shift, largest_page_shift);
  const bool aligned = (admin_submission_ | admin_completion_) % page_size_ == 0;
  if (Configuration::command_set.get(configuration_) != 0 ||
      Configuration::arbitration.get(configuration_) != 0 || page_shift > largest_page_shift ||
      submissions == 0 || completions == 0 || !aligned) {
    return fail("cannot be enabled with this configuration");
  }
  if (Configuration::shutdown.get(configuration_) == 0) shutdown_ = ShutdownStatus::none;
  submission_[0] = {admin_submission_, submissions + 1};
  completion_[0] = {admin_completion_, completions + 1};
  completion_[0].interrupts = true;
  completion_[0].submission_queues = 1;
  state_ = State::starting;
  if (!faults_.stays_disabled()) ready_.after(config_.ready_time);
}

void Controller::become_ready() {
  state_ = State::ready;
  if (trace_.on()) {
    trace_.write("{{\"t\":{},\"nvme\":\"{}\",\"state\":\"ready\"}}", vp::now(), name());
  }
}

// 7.3.2: a controller reset ends all commands and deletes all queues. The registers of the admin
// queue stay. The controller is not ready any more once nothing of it can reach host memory.
void Controller::disable() {
  if (trace_.on()) {
    trace_.write("{{\"t\":{},\"nvme\":\"{}\",\"state\":\"reset\"}}", vp::now(), name());
  }
  const bool was_ready = state_ == State::ready;
  stop();
  shutdown_ = ShutdownStatus::none;
  state_ = was_ready || state_ == State::stopping ? State::stopping : State::disabled;
  if (!host.writing()) settle();
}

void Controller::settle() {
  if (state_ != State::stopping) return;
  state_ = State::disabled;
  if (Configuration::enable.get(configuration_) != 0) enable();
}

// Ends everything that is under way. Nothing of it arrives later.
void Controller::stop() {
  host.forget();
  for (vp::Event* event : {&ready_, &work_, &shutdown_end_}) event->cancel();
  free_slots_.clear();
  for (auto slot = slots_.rbegin(); slot != slots_.rend(); ++slot) {
    (*slot)->timer.cancel();
    (*slot)->stage = Stage::free;
    free_slots_.push_back(slot->get());
  }
  if (busy_since_ != vp::never) busy_ += vp::now() - busy_since_;
  busy_since_ = vp::never;
  fetched_slots_ = 0;
  std::fill(submission_.begin(), submission_.end(), SubmissionQueue());
  std::fill(completion_.begin(), completion_.end(), CompletionQueue());
  std::fill(deletions_.begin(), deletions_.end(), nullptr);
  turn_ = 0;
  interrupts_.reset();
  event_requests_.clear();
  events_.clear();
  reported_types_ = 0;
  aborts_ = 0;
  fatal_ = false;
  features_.reset(interrupts_.vectors(), static_cast<unsigned>(disks_.size()), has_cache(),
                  config_.temperature + warning_above);
  update_warnings();
}

// The function has deasserted its pin and ended its requests already.
void Controller::reset() {
  interrupts_.reset_with_function();
  stop();
  state_ = State::disabled;
  shutdown_ = ShutdownStatus::none;
  configuration_ = admin_attributes_ = 0;
  admin_submission_ = admin_completion_ = 0;
}

std::uint64_t Controller::lose_power() {
  if (shutdown_ != ShutdownStatus::complete) ++health_.unsafe_shutdowns;
  ++health_.power_cycles;
  std::uint64_t lost = 0;
  for (const auto& disk : disks_) lost += disk->lose_power(random_);
  lost_blocks_ += lost;
  medium_free_ = 0;
  reset();
  if (trace_.on()) {
    trace_.write("{{\"t\":{},\"nvme\":\"{}\",\"state\":\"power lost\",\"lost\":{}}}", vp::now(),
                 name(), lost);
  }
  return lost;
}

// 9.5: the controller cannot tell the host by a completion.
void Controller::fail(const char* what) {
  stop();
  fatal_ = true;
  log_.log(failures_++ == 0 ? spdlog::level::warn : spdlog::level::debug, "{}: {}", name(), what);
  if (trace_.on()) {
    trace_.write("{{\"t\":{},\"nvme\":\"{}\",\"state\":\"fatal\"}}", vp::now(), name());
  }
  continue_shutdown();
}

// 7.6.2: no command is fetched any more. Once those under way have ended, the cache is flushed.
void Controller::begin_shutdown() {
  if (shutdown_ != ShutdownStatus::none) return;
  shutdown_ = ShutdownStatus::in_progress;
  continue_shutdown();
}

void Controller::continue_shutdown() {
  if (shutdown_ != ShutdownStatus::in_progress || shutdown_end_.pending()) return;
  const bool idle = std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) {
    return slot->stage == Stage::free || slot->stage == Stage::held;
  });
  if (!idle || fetched_slots_ > 0) return;
  std::uint64_t bytes = 0;
  try {
    for (const auto& disk : disks_) bytes += disk->flush();
  } catch (const std::exception& error) {
    ++health_.media_errors;
    log_.warn("{}: {}", name(), error.what());
  }
  shutdown_end_.at(occupy_medium(bytes));
}

void Controller::end_shutdown() {
  shutdown_ = ShutdownStatus::complete;
  if (trace_.on()) {
    trace_.write("{{\"t\":{},\"nvme\":\"{}\",\"state\":\"shut down\"}}", vp::now(), name());
  }
}

bool Controller::forbids_forks() const {
  return std::any_of(disks_.begin(), disks_.end(),
                     [](const auto& disk) { return disk->writes_through(); });
}

void Controller::export_disk(std::uint32_t name_space, int file) const {
  const Disk* disk = disk_of(name_space);
  if (disk == nullptr) {
    throw ConfigurationError(fmt::format("{} has no namespace {}; it has those from 1 to {}",
                                         name(), name_space, disks_.size()));
  }
  disk->write_to(file);
}

std::string Controller::check_fault(const std::vector<std::string_view>& words) {
  return is_fatal(words) ? "" : Faults().ask(words);
}

std::string Controller::inject(const std::vector<std::string_view>& words) {
  if (!is_fatal(words)) return faults_.ask(words);
  if (state_ != State::ready || fatal_) return "the controller is not ready";
  fail("fails, as somebody has asked for");
  return {};
}

}  // namespace nvme
