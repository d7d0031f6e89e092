// SPDX-License-Identifier: Apache-2.0
#include "guest/scheduling/trace/trace.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "guest/scheduling/ghost_names.h"

namespace {

std::string wrong_head(const trace_file_head& head) {
  if (std::memcmp(head.magic, TRACE_FILE_MAGIC, sizeof(head.magic)) != 0)
    return "it is not a trace of scheduling";
  if (head.head_bytes != sizeof(trace_file_head) || head.record_bytes != sizeof(oae_sched_record))
    return "another version of `schedule` has written it";
  if (head.overflow) return "records are missing, for which there was no room";
  if (head.policy > POLICY_VM || head.prestage > 100 || head.rule > RULE_OWNER ||
      head.sign > WATCHDOG_BY_LIVENESS || head.counted > 1 || !head.cpus ||
      head.transport[sizeof(head.transport) - 1])
    return "its head makes no sense";
  return "";
}

std::string number_or_unknown(std::uint64_t number) {
  return ~number ? std::to_string(number) : "unknown";
}

}  // namespace

std::string read_trace(const std::string& file, Trace& trace) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::strerror(errno);
  if (!stream.read(reinterpret_cast<char*>(&trace.head), sizeof(trace.head)))
    return "it is too short";
  std::string wrong = wrong_head(trace.head);
  if (!wrong.empty()) return wrong;
  if (trace.head.records > OAE_SCHED_RECORDS_MAX) return "its head makes no sense";
  trace.records.resize(trace.head.records);
  const auto bytes = static_cast<std::streamsize>(trace.records.size() * sizeof(oae_sched_record));
  if (!stream.read(reinterpret_cast<char*>(trace.records.data()), bytes)) return "it is too short";
  if (stream.peek() != std::ifstream::traits_type::eof()) return "it is too long";
  return "";
}

ghost_message message_of(const oae_sched_record& record) {
  ghost_message message;
  static_assert(sizeof(message) == sizeof(record.message));
  std::memcpy(&message, record.message, sizeof(message));
  return message;
}

std::optional<unsigned> cpu_of(const ghost_message& message) {
  uint32_t cpu;
  return ghost_cpu_of(&message, &cpu) ? std::optional<unsigned>(cpu) : std::nullopt;
}

bool has_ports(const Trace& trace) {
  return std::strcmp(trace.head.transport, "port") == 0;
}

const char* name_of_message(unsigned type) {
  const unsigned index = type < GHOST_DEAD ? GHOST_TYPES : ghost_type_index(type);
  return index < GHOST_TYPES ? ghost_message_names[index] : "?";
}

const char* name_of_end(int state) {
  const unsigned index = ghost_outcome_index(state);
  return index < GHOST_OUTCOMES ? ghost_outcome_names[index] : "?";
}

const char* name_of_sign(int sign) {
  return sign >= 0 && sign < OAE_SCHED_SIGNS ? sched_sign_names[sign] : "?";
}

std::string text_of(const oae_sched_record& record) {
  std::ostringstream text;
  text << record.time << " cpu " << record.cpu << ' ';
  switch (record.kind) {
    case OAE_SCHED_SENT: {
      const ghost_message message = message_of(record);
      text << name_of_message(message.header.type);
      if (is_about_task(message)) text << " task " << message.gtid;
      text << " sequence " << message.header.sequence;
      if (const auto cpu = cpu_of(message)) text << " on " << *cpu;
      if (record.state == OAE_SCHED_LOST) text << " lost";
      if (is_withheld(record)) text << " withheld";
      break;
    }
    case OAE_SCHED_CLAIMED:
      text << "claimed";
      if (record.state)
        text << " decision " << record.number << " task " << record.gtid << " barrier "
             << record.task_barrier << " newest " << record.newest;
      else
        text << " nothing";
      text << " until " << record.end;
      break;
    case OAE_SCHED_ENDED:
      text << "ended decision " << record.number << " task " << record.gtid << ' '
           << name_of_end(record.state) << " cpu_sequence " << record.cpu_sequence << " until "
           << record.end;
      break;
    case OAE_SCHED_STOPPING:
      text << "stopping task " << record.gtid << " on " << record.task_cpu;
      break;
    case OAE_SCHED_GIVEN_UP:
      text << "given up by " << name_of_sign(record.state) << " seen at " << record.end;
      break;
    case OAE_SCHED_LEFT:
      text << "left on " << record.task_cpu << " decision " << record.number;
      if (record.state == OAE_SCHED_ONE_STOOD)
        text << " standing task " << record.gtid << " barrier " << record.task_barrier << " newest "
             << record.newest;
      if (record.state == OAE_SCHED_UNKNOWN) text << " or later ones";
      text << " undelivered " << number_or_unknown(record.undelivered);
      break;
    case OAE_SCHED_RESUMED:
      text << "resumed until " << record.end << " undelivered "
           << number_or_unknown(record.undelivered);
      break;
    default:
      text << "?";
  }
  return text.str();
}
