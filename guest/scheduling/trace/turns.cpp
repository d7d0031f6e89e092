// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/turns.h"

#include <optional>
#include <unordered_map>

namespace {

struct Task {
  bool waits = false;
  bool has_turn = false;        // it waits, and may be among those that take turns
  std::optional<unsigned> cpu;  // that a decision has given it since
};

class Replay {
 public:
  explicit Replay(const Trace& trace) : trace_(trace) {
    for (std::size_t at = 0; at < trace.records.size(); ++at) replay(at);
  }
  std::unordered_set<std::size_t> turns;

 private:
  void replay(std::size_t at) {
    const oae_sched_record& record = trace_.records[at];
    switch (record.kind) {
      case OAE_SCHED_SENT:
        if (is_about_task(message_of(record)))
          about_task(at, message_of(record), !agent_ || is_withheld(record));
        break;
      case OAE_SCHED_ENDED:
        if (record.state == GHOST_COMPLETE) tasks_[record.gtid].cpu = record.cpu;
        break;
      case OAE_SCHED_GIVEN_UP:
        agent_ = false;
        for (auto& [gtid, task] : tasks_) task.has_turn = task.waits;
        break;
      case OAE_SCHED_RESUMED:
        agent_ = true;
        break;
      default:
        break;
    }
  }

  // A task that is enqueued just as an agent begins anew may still join those that take turns. The
  // agent is not told of that by a message of its own.
  void about_task(std::size_t at, const ghost_message& message, bool without_agent) {
    const auto [found, is_new] = tasks_.try_emplace(message.gtid);
    Task& task = found->second;
    switch (message.header.type) {
      case GHOST_NEW:
        if (is_new) task.waits = message.task_new.runnable != 0;  // else it is only told anew
        if (is_new) task.has_turn = task.waits && !agent_;
        break;
      case GHOST_WAKEUP:
      case GHOST_PREEMPT:
      case GHOST_YIELD:
        task = {true, without_agent, std::nullopt};
        break;
      case GHOST_ON_CPU:
        if (task.has_turn && task.cpu != message.on_cpu.cpu) turns.insert(at);
        task = {};
        break;
      case GHOST_BLOCKED:
      case GHOST_SWITCHTO:
        task = {};
        break;
      case GHOST_DEPARTED:
      case GHOST_DEAD:
        tasks_.erase(found);
        break;
      default:
        break;
    }
  }

  const Trace& trace_;
  bool agent_ = true;
  std::unordered_map<std::uint64_t, Task> tasks_;
};

}  // namespace

std::unordered_set<std::size_t> turns_of(const Trace& trace) {
  return Replay(trace).turns;
}
