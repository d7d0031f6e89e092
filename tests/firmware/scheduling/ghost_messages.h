// SPDX-License-Identifier: Apache-2.0
// Makes messages of the kernel to its scheduling agent.
#pragma once

#include <cstdint>

#include "firmware/scheduling/ghost.h"

inline ghost_message make_message(unsigned type, std::uint32_t sequence) {
  ghost_message message{};
  message.header.type = static_cast<std::uint16_t>(type);
  message.header.length = static_cast<std::uint16_t>(ghost_length(type));
  message.header.sequence = sequence;
  return message;
}

/// WAKEUP, DEAD, PRIORITY_CHANGED.
inline ghost_message about_task(unsigned type, std::uint64_t gtid, std::uint32_t sequence) {
  ghost_message message = make_message(type, sequence);
  message.gtid = gtid;
  return message;
}

inline ghost_message new_task(std::uint64_t gtid, std::uint32_t sequence, bool runnable,
                              std::uint64_t cpus, std::uint64_t runtime = 0) {
  ghost_message message = about_task(GHOST_NEW, gtid, sequence);
  message.task_new.runnable = runnable;
  message.task_new.cpus = cpus;
  message.task_new.runtime = runtime;
  return message;
}

/// PREEMPT, YIELD, BLOCKED, SWITCHTO, ON_CPU, DEPARTED. ON_CPU and DEPARTED have no runtime.
inline ghost_message on_cpu(unsigned type, std::uint64_t gtid, std::uint32_t sequence, unsigned cpu,
                            std::uint64_t runtime = 0) {
  ghost_message message = about_task(type, gtid, sequence);
  switch (type) {
    case GHOST_PREEMPT:
    case GHOST_YIELD:
      message.preempt.cpu = cpu;
      message.preempt.runtime = runtime;
      break;
    case GHOST_BLOCKED:
    case GHOST_SWITCHTO:
      message.blocked.cpu = cpu;
      message.blocked.runtime = runtime;
      break;
    case GHOST_ON_CPU:
      message.on_cpu.cpu = cpu;
      break;
    case GHOST_DEPARTED:
      message.departed.cpu = cpu;
      break;
  }
  return message;
}

/// ON_CPU of the n-th task that has begun on the CPU.
inline ghost_message begins(std::uint64_t gtid, std::uint32_t sequence, unsigned cpu,
                            std::uint64_t n) {
  ghost_message message = on_cpu(GHOST_ON_CPU, gtid, sequence, cpu);
  message.on_cpu.cpu_sequence = n;
  return message;
}

inline ghost_message affinity_changed(std::uint64_t gtid, std::uint32_t sequence,
                                      std::uint64_t cpus) {
  ghost_message message = about_task(GHOST_AFFINITY_CHANGED, gtid, sequence);
  message.affinity.cpus = cpus;
  return message;
}

inline ghost_message latch_failure(std::uint64_t gtid, std::uint32_t sequence, unsigned cpu,
                                   int state) {
  ghost_message message = about_task(GHOST_LATCH_FAILURE, gtid, sequence);
  message.latch_failure.cpu = cpu;
  message.latch_failure.state = state;
  return message;
}

inline ghost_message about_cpu(unsigned type, unsigned cpu, std::uint32_t sequence) {
  ghost_message message = make_message(type, sequence);
  message.cpu.cpu = cpu;
  return message;
}
