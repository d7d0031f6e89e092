// SPDX-License-Identifier: Apache-2.0
// The commands of the NVM command set (NVMe 1.4, 6).
#include <algorithm>
#include <cstring>
#include <exception>

#include "models/nvme/controller.h"

namespace nvme {
namespace {

std::uint64_t block_of(const Command& command) {
  return command.pair(IoWord::start);
}
std::uint32_t count_of(const Command& command) {
  return IoWord::blocks.get(command.words[IoWord::control]) + 1;
}
bool forced(const Command& command) {
  return IoWord::force_unit_access.get(command.words[IoWord::control]) != 0;
}
bool inside(const Disk& disk, std::uint64_t block, std::uint64_t count) {
  return block <= disk.blocks() && count <= disk.blocks() - block;
}

struct Range {
  std::uint64_t block;
  std::uint32_t count;
};
Range range_at(const std::uint8_t* bytes) {
  Range range{};
  std::memcpy(&range.count, bytes + DatasetRange::blocks, sizeof(range.count));
  std::memcpy(&range.block, bytes + DatasetRange::start, sizeof(range.block));
  return range;
}

}  // namespace

Disk* Controller::disk_of(std::uint32_t name_space) const {
  const bool exists = name_space >= 1 && name_space <= disks_.size();
  return exists ? disks_[name_space - 1].get() : nullptr;
}

StatusCode Controller::check_range(const Slot& slot, bool has_data) const {
  const Disk& target = disk(slot);
  const std::uint64_t count = count_of(slot.command);
  if (has_data && count * target.block_size() > config_.max_transfer) {
    return StatusCode::invalid_field;  // 5.15.2.1, MDTS
  }
  return inside(target, block_of(slot.command), count) ? StatusCode::success
                                                       : StatusCode::lba_out_of_range;
}

void Controller::begin_io(Slot& slot) {
  const Command& command = slot.command;
  const auto opcode = static_cast<IoOpcode>(command.opcode());
  switch (opcode) {
    case IoOpcode::flush:
      if (command.namespace_id() != all_namespaces && disk_of(command.namespace_id()) == nullptr) {
        return complete(slot, StatusCode::invalid_namespace);
      }
      return wait(slot, vp::now() + config_.write_latency, &Controller::flush);
    case IoOpcode::write:
    case IoOpcode::read:
    case IoOpcode::compare:
    case IoOpcode::write_zeroes:
    case IoOpcode::dataset_management:
      break;
    default:
      return complete(slot, StatusCode::invalid_opcode);
  }
  if (disk_of(command.namespace_id()) == nullptr) {
    return complete(slot, StatusCode::invalid_namespace);
  }
  if (opcode == IoOpcode::dataset_management) {
    const unsigned ranges = IoWord::range_count.get(command.words[IoWord::ranges]) + 1;
    return locate(slot, Direction::from_host, std::size_t{ranges} * DatasetRange::bytes,
                  &Controller::ranges_fetched);
  }
  const StatusCode status = check_range(slot, opcode != IoOpcode::write_zeroes);
  if (status != StatusCode::success) return complete(slot, status);
  const std::size_t bytes = std::size_t{count_of(command)} * disk(slot).block_size();
  switch (opcode) {
    case IoOpcode::read:
      return locate(slot, Direction::to_host, bytes, &Controller::read_found);
    case IoOpcode::write:
      if (IoWord::directive.get(command.words[IoWord::control]) != 0) {
        return complete(slot, StatusCode::invalid_field);  // no directives (OACS)
      }
      return locate(slot, Direction::from_host, bytes, &Controller::write_fetched);
    case IoOpcode::compare:
      return locate(slot, Direction::from_host, bytes, &Controller::compare_fetched);
    default:
      return wait(slot, vp::now() + config_.write_latency, &Controller::zero);
  }
}

// The machine that runs the simulation has failed. The host sees an error of the medium.
void Controller::media_failed(Slot& slot, StatusCode status, const std::exception& error) {
  log_.log(health_.media_errors++ == 0 ? spdlog::level::warn : spdlog::level::debug, "{}: {}",
           name(), error.what());
  complete(slot, status);
}

void Controller::pass_medium(Slot& slot, Step next) {
  wait(slot, occupy_medium(slot.data.size()), next);
}

// The next functions read.

void Controller::read_found(Slot& slot) {
  wait(slot, vp::now() + config_.read_latency, &Controller::read_waited);
}

void Controller::read_medium(Slot& slot) {
  Disk& source = disk(slot);
  const std::uint64_t block = block_of(slot.command);
  const std::uint32_t count = count_of(slot.command);
  try {
    if (forced(slot.command)) source.flush(block, count);  // 6.9: the data must be non-volatile
    source.read(block, count, slot.data.data());
  } catch (const std::exception& error) {
    return media_failed(slot, StatusCode::unrecovered_read_error, error);
  }
  slot.next = &Controller::read_moved;
  move(slot);
}

void Controller::read_moved(Slot& slot) {
  ++health_.reads;
  health_.sectors_read += slot.data.size() / 512;
  bytes_read_ += slot.data.size();
  read_latency_.sample(vp::now() - slot.start);
  succeed(slot);
}

void Controller::compare_fetched(Slot& slot) {
  wait(slot, vp::now() + config_.read_latency, &Controller::compare_waited);
}

void Controller::compare_medium(Slot& slot) {
  ++other_commands_;
  std::vector<std::uint8_t> present(slot.data.size());
  try {
    disk(slot).read(block_of(slot.command), count_of(slot.command), present.data());
  } catch (const std::exception& error) {
    return media_failed(slot, StatusCode::unrecovered_read_error, error);
  }
  complete(slot, present == slot.data ? StatusCode::success : StatusCode::compare_failure);
}

// The next functions write.

// Whether a write ends in the volatile cache.
bool Controller::is_volatile(const Slot& slot) const {
  return features_.write_cache && !forced(slot.command);
}

void Controller::write_fetched(Slot& slot) {
  wait(slot, vp::now() + config_.write_latency, &Controller::write_waited);
}

void Controller::write_waited(Slot& slot) {
  if (!is_volatile(slot)) return pass_medium(slot, &Controller::write_medium);
  std::uint64_t written_back = 0;
  try {
    written_back =
        disk(slot).write_volatile(block_of(slot.command), count_of(slot.command), slot.data.data());
  } catch (const std::exception& error) {
    return media_failed(slot, StatusCode::write_fault, error);
  }
  if (written_back == 0) return write_done(slot);
  wait(slot, occupy_medium(written_back), &Controller::write_done);
}

void Controller::write_medium(Slot& slot) {
  try {
    disk(slot).write(block_of(slot.command), count_of(slot.command), slot.data.data());
  } catch (const std::exception& error) {
    return media_failed(slot, StatusCode::write_fault, error);
  }
  write_done(slot);
}

void Controller::write_done(Slot& slot) {
  ++health_.writes;
  health_.sectors_written += slot.data.size() / 512;
  bytes_written_ += slot.data.size();
  write_latency_.sample(vp::now() - slot.start);
  succeed(slot);
}

// What these two commands clear is durable at once.
void Controller::zero(Slot& slot) {
  ++other_commands_;
  try {
    disk(slot).clear(block_of(slot.command), count_of(slot.command));
  } catch (const std::exception& error) {
    return media_failed(slot, StatusCode::write_fault, error);
  }
  succeed(slot);
}

void Controller::ranges_fetched(Slot& slot) {
  for (std::size_t at = 0; at < slot.data.size(); at += DatasetRange::bytes) {
    const Range range = range_at(&slot.data[at]);
    if (!inside(disk(slot), range.block, range.count)) {
      return complete(slot, StatusCode::lba_out_of_range);
    }
  }
  wait(slot, vp::now() + config_.write_latency, &Controller::deallocate);
}

void Controller::deallocate(Slot& slot) {
  ++other_commands_;
  if (IoWord::deallocate.get(slot.command.words[IoWord::attributes]) == 0) return succeed(slot);
  try {
    for (std::size_t at = 0; at < slot.data.size(); at += DatasetRange::bytes) {
      const Range range = range_at(&slot.data[at]);
      if (range.count > 0) disk(slot).clear(range.block, range.count);
    }
  } catch (const std::exception& error) {
    return media_failed(slot, StatusCode::write_fault, error);
  }
  succeed(slot);
}

void Controller::flush(Slot& slot) {
  ++flushes_;
  flush(slot, slot.command.namespace_id());
}

void Controller::flush(Slot& slot, std::uint32_t name_space) {
  std::uint64_t bytes = 0;
  try {
    for (std::uint32_t id = 1; id <= disks_.size(); ++id) {
      if (name_space == all_namespaces || name_space == id) bytes += disks_[id - 1]->flush();
    }
  } catch (const std::exception& error) {
    return media_failed(slot, StatusCode::write_fault, error);
  }
  wait(slot, occupy_medium(bytes), &Controller::succeed);
}

}  // namespace nvme
