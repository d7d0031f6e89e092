// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>
#include <tlm_utils/passthrough_target_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "models/nvme/data_pointer.h"
#include "models/nvme/faults.h"
#include "models/nvme/features.h"
#include "models/nvme/host_memory.h"
#include "models/nvme/identify.h"
#include "models/nvme/interrupts.h"
#include "models/nvme/protocol.h"
#include "models/nvme/queues.h"
#include "models/nvme/registers.h"
#include "models/nvme/storage/disk.h"
#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/function_config.h"
#include "vp/statistics/latency.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace nvme {

struct ControllerConfig {
  std::vector<DiskConfig> namespaces;              ///< 1 to 256, with the NSIDs 1 and following
  vp::Picoseconds read_latency = 80 * vp::us;      ///< of a read or compare, 0 or more
  vp::Picoseconds write_latency = 20 * vp::us;     ///< of all other I/O commands, 0 or more
  vp::Picoseconds admin_latency = 10 * vp::us;     ///< of an admin command, 0 or more
  std::uint64_t bytes_per_second = 3'000'000'000;  ///< of the medium, 1 or more
  vp::Picoseconds ready_time = 1 * vp::ms;         ///< from CC.EN to CSTS.RDY, 0 to 127 s
  unsigned queue_pairs = 64;                       ///< for I/O, 1 to 255
  unsigned queue_entries = 1024;                   ///< of an I/O queue at most, 2 to 65536
  unsigned commands = 128;                         ///< that execute at a time, 1 to 4096
  unsigned max_transfer = 1u << 18;  ///< bytes of a command's data, a power of two, 8 KiB to 8 MiB
  std::uint64_t seed = 1;            ///< of what a loss of power drops
  unsigned temperature = 310;        ///< of the device in K, 1 to 65535
  std::string serial_number = "0";   ///< 1 to 20 printable characters of ASCII
  std::string model_number = "OAE-VP NVMe disk";  ///< 1 to 40 of them
  std::uint16_t vendor = 0xf0ae;                  ///< of the function and its subsystem
};

/// An NVMe controller: the device logic of a function (NVM Express 1.4).
///
/// It has one admin queue and up to 255 I/O queue pairs, which it serves round robin. Commands, PRP
/// lists, data and completions move by the function's DMA. A command waits for its latency; then
/// its data passes the medium, which serves one command after another at `bytes_per_second`. So
/// latencies overlap, and the rate is shared.
///
/// What DMA fails to read ends the command with Data Transfer Error (9.3). If an entry of a queue
/// cannot be read or written, the controller sets CSTS.CFS and stops (9.5). Posted writes have no
/// completion, so data and entries that are written to absent memory are lost.
///
///     BAR 0, 0x0000: registers    0x1000: doorbells    0x2000: MSI-X
///     registers.h has their map.
class Controller : public sc_core::sc_module {
 public:
  /// Accesses of 1 to 64 bytes. Reads of any part are possible. A write has an effect if it covers
  /// aligned words of 4 bytes; others are ignored (3.1 leaves them undefined). What is reserved
  /// reads 0.
  tlm_utils::passthrough_target_socket<Controller> bar;
  sc_core::sc_port<pcie::InterruptModesIf> interrupt;
  /// Its socket `dma` is bound to the function's.
  HostMemory host;

  /// The function that this logic expects, with a vector of MSI-X for each completion queue, MSI
  /// and INTA.
  static pcie::FunctionConfig function_config(const ControllerConfig& config);

  /// Throws ConfigurationError if a value is impossible or an image cannot be used.
  Controller(const sc_core::sc_module_name& name, const ControllerConfig& config,
             vp::Domain& domain, vp::Trace& trace, vp::Statistics& statistics);
  ~Controller() override;

  /// Must be called at any reset of the function, after it has ended its requests. The power stays,
  /// and so do the contents of the write cache.
  void reset();

  /// The power fails and returns. Of the blocks that were not flushed, a seeded subset is lost.
  /// Returns their number. The owner resets the function.
  std::uint64_t lose_power();

  /// Whether a fork is impossible, because a disk writes through to its image.
  bool forbids_forks() const;

  /// Writes the present contents of a namespace to an empty file that is open for writing. Throws
  /// ConfigurationError if there is no such namespace, and otherwise as Disk::write_to does.
  void export_disk(std::uint32_t name_space, int file) const;

  /// Makes the controller fail: `fatal` sets CSTS.CFS at once, and Faults::ask describes the
  /// others. Returns why that is impossible, or an empty string.
  std::string inject(const std::vector<std::string_view>& words);
  /// Returns why no controller could obey these words, or an empty string.
  static std::string check_fault(const std::vector<std::string_view>& words);

 private:
  struct Slot;
  using Step = void (Controller::*)(Slot&);

  enum class State : std::uint8_t { disabled, starting, ready, stopping };
  enum class Stage : std::uint8_t { free, moving, waiting, held };
  enum class Direction : std::uint8_t { to_host, from_host };

  /// A command under way.
  struct Slot {
    Slot(Controller& controller, vp::Domain& domain);

    vp::Event timer;
    Stage stage = Stage::free;
    Step next = nullptr;  // what follows the timer or the transfer
    unsigned queue = 0;
    Command command;
    vp::Picoseconds start = 0;

    // The transfer of its data.
    std::vector<std::uint8_t> data;
    DataPointer pointer;
    Direction direction = Direction::to_host;
    std::size_t segment = 0;    // the next one to move
    unsigned in_segment = 0;    // bytes of it that are requested
    std::size_t requested = 0;  // bytes of `data` that are requested
    unsigned outstanding = 0;   // accesses under way
    bool failed = false;
  };

  // controller.cpp: registers.
  tlm::tlm_sync_enum access(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay);
  std::uint32_t read_word(std::uint64_t offset) const;
  void write_word(std::uint64_t offset, std::uint32_t value);
  std::uint64_t capabilities() const;
  std::uint32_t status() const;
  void configure(std::uint32_t value);
  void ring(unsigned doorbell, std::uint32_t value);

  // controller.cpp: its life.
  void enable();
  void become_ready();
  void disable();
  void settle();
  void stop();
  void fail(const char* what);
  void begin_shutdown();
  void continue_shutdown();
  void end_shutdown();

  // controller.cpp: commands and completions.
  void arbitrate();
  void fetch(unsigned queue, unsigned count);
  void start(unsigned queue, const std::uint8_t* entry);
  bool suffer_fault(Slot& slot);
  void locate(Slot& slot, Direction direction, std::size_t bytes, Step next);
  void follow(Slot& slot, DataPointer::Next next);
  void move(Slot& slot);
  void wait(Slot& slot, vp::Picoseconds until, Step next);
  void on_timer(Slot& slot);
  vp::Picoseconds occupy_medium(std::uint64_t bytes);
  void succeed(Slot& slot) { complete(slot, StatusCode::success); }
  void complete(Slot& slot, StatusCode status, std::uint32_t result = 0);
  void release(Slot& slot);
  void post(unsigned queue, std::uint16_t command, std::uint16_t status, std::uint32_t result);
  std::uint16_t note_error(unsigned queue, std::uint16_t command, StatusCode status,
                           std::uint64_t block, std::uint32_t name_space);
  void trace_completion(const Slot& slot, StatusCode status);

  // controller.cpp: asynchronous events.
  void report(const AsyncEvent& event);
  void deliver_events();

  // io_commands.cpp.
  void begin_io(Slot& slot);
  Disk* disk_of(std::uint32_t name_space) const;
  Disk& disk(const Slot& slot) const { return *disk_of(slot.command.namespace_id()); }
  StatusCode check_range(const Slot& slot, bool has_data) const;
  bool is_volatile(const Slot& slot) const;
  void media_failed(Slot& slot, StatusCode status, const std::exception& error);
  void pass_medium(Slot& slot, Step next);
  void read_found(Slot& slot);
  void read_medium(Slot& slot);
  void read_moved(Slot& slot);
  void write_fetched(Slot& slot);
  void write_waited(Slot& slot);
  void write_medium(Slot& slot);
  void write_done(Slot& slot);
  void compare_fetched(Slot& slot);
  void compare_medium(Slot& slot);
  void ranges_fetched(Slot& slot);
  void deallocate(Slot& slot);
  void zero(Slot& slot);
  void flush(Slot& slot);
  void flush(Slot& slot, std::uint32_t name_space);
  void read_waited(Slot& slot) { pass_medium(slot, &Controller::read_medium); }
  void compare_waited(Slot& slot) { pass_medium(slot, &Controller::compare_medium); }

  // admin_commands.cpp.
  void begin_admin(Slot& slot);
  void perform_admin(Slot& slot);
  void answer(Slot& slot, const std::uint8_t* data, std::size_t bytes);
  void send(Slot& slot);
  void create_completion_queue(Slot& slot);
  void create_submission_queue(Slot& slot);
  void delete_completion_queue(Slot& slot);
  void delete_submission_queue(Slot& slot);
  void continue_deletion(unsigned queue);
  void identify(Slot& slot);
  void get_log_page(Slot& slot);
  void abort(Slot& slot);
  void request_event(Slot& slot);
  void set_features(Slot& slot);
  void get_features(Slot& slot);
  StatusCode set_temperature_threshold(std::uint32_t value);
  void update_warnings();
  Health present_health() const;
  bool has_io_queues() const;
  bool has_cache() const;
  std::uint32_t granted_queues() const;

  vp::Trace& trace_;
  spdlog::logger& log_;
  const ControllerConfig config_;
  std::vector<std::unique_ptr<Disk>> disks_;

  // Registers.
  State state_ = State::disabled;
  bool fatal_ = false;
  ShutdownStatus shutdown_ = ShutdownStatus::none;
  std::uint32_t configuration_ = 0;
  std::uint32_t admin_attributes_ = 0;
  std::uint64_t admin_submission_ = 0;
  std::uint64_t admin_completion_ = 0;
  unsigned page_size_ = 1u << smallest_page_shift;  // bytes, since the controller was enabled

  // Queues by number, of which 0 is the admin queue.
  std::vector<SubmissionQueue> submission_;
  std::vector<CompletionQueue> completion_;
  std::vector<Slot*> deletions_;  // by queue, the command that deletes it
  unsigned turn_ = 0;             // the queue that is served next

  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_slots_;
  unsigned fetched_slots_ = 0;  // free ones that entries on their way will take

  Features features_;
  Interrupts interrupts_;
  Health health_;
  std::deque<ErrorEntry> errors_;             // the newest one first
  std::deque<std::uint16_t> event_requests_;  // by command ID
  std::deque<AsyncEvent> events_;             // not delivered yet
  std::uint32_t reported_types_ = 0;          // a bit for each type whose log was not read since
  unsigned aborts_ = 0;                       // under way

  vp::Event ready_;
  vp::Event work_;
  vp::Event shutdown_end_;
  vp::Picoseconds medium_free_ = 0;
  std::mt19937_64 random_;
  Faults faults_;
  vp::Picoseconds busy_since_ = vp::never;
  vp::Picoseconds busy_ = 0;

  vp::Latency read_latency_;
  vp::Latency write_latency_;
  std::uint64_t admin_commands_ = 0;
  std::uint64_t flushes_ = 0;
  std::uint64_t other_commands_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t doorbells_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t lost_blocks_ = 0;
};

}  // namespace nvme
