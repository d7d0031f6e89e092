// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/homes.h"

#include <map>

std::unordered_map<std::size_t, unsigned> homes_of(const Trace& trace) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::size_t> givers;  // by task and number
  std::unordered_map<std::size_t, unsigned> homes;
  for (std::size_t at = 0; at < trace.records.size(); ++at) {
    const oae_sched_record& record = trace.records[at];
    if (record.kind == OAE_SCHED_SENT) {
      const ghost_message message = message_of(record);
      if (message.header.type == GHOST_NEW || message.header.type == GHOST_AFFINITY_CHANGED)
        givers[{message.gtid, message.header.sequence}] = at;
    } else if (record.kind == OAE_SCHED_CLAIMED && record.state) {
      auto giver = givers.upper_bound({record.gtid, record.task_barrier});
      if (giver != givers.begin() && (--giver)->first.first == record.gtid)
        homes.emplace(giver->second, record.cpu);
    }
  }
  return homes;
}
