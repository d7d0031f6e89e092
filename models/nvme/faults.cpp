// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/faults.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace nvme {
namespace {

template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

constexpr Named<IoOpcode> io_commands[] = {
    {"flush", IoOpcode::flush},
    {"write", IoOpcode::write},
    {"read", IoOpcode::read},
    {"compare", IoOpcode::compare},
    {"write_zeroes", IoOpcode::write_zeroes},
    {"dataset_management", IoOpcode::dataset_management},
};

constexpr Named<AdminOpcode> admin_commands[] = {
    {"delete_submission_queue", AdminOpcode::delete_submission_queue},
    {"create_submission_queue", AdminOpcode::create_submission_queue},
    {"get_log_page", AdminOpcode::get_log_page},
    {"delete_completion_queue", AdminOpcode::delete_completion_queue},
    {"create_completion_queue", AdminOpcode::create_completion_queue},
    {"identify", AdminOpcode::identify},
    {"abort", AdminOpcode::abort},
    {"set_features", AdminOpcode::set_features},
    {"get_features", AdminOpcode::get_features},
    {"async_event_request", AdminOpcode::async_event_request},
};

// Those of the statuses that a sound command can meet.
constexpr Named<StatusCode> statuses[] = {
    {"invalid_field", StatusCode::invalid_field},
    {"data_transfer_error", StatusCode::data_transfer_error},
    {"internal_error", StatusCode::internal_error},
    {"abort_requested", StatusCode::abort_requested},
    {"lba_out_of_range", StatusCode::lba_out_of_range},
    {"write_fault", StatusCode::write_fault},
    {"unrecovered_read_error", StatusCode::unrecovered_read_error},
    {"compare_failure", StatusCode::compare_failure},
};

template <typename Value, std::size_t count>
std::optional<Value> find(const Named<Value> (&table)[count], std::string_view name) {
  for (const Named<Value>& each : table) {
    if (each.name == name) return each.value;
  }
  return std::nullopt;
}

template <typename Value, std::size_t count>
void add_names(std::string& text, const Named<Value> (&table)[count]) {
  for (const Named<Value>& each : table) text += fmt::format(" {}", each.name);
}

// Parses a whole number that fits in an unsigned, without a sign.
bool parse(std::string_view text, int base, unsigned& number) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, base);
  return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end;
}

bool parse_status(std::string_view text, StatusCode& status) {
  if (const auto named = find(statuses, text)) {
    status = *named;
    return true;
  }
  constexpr unsigned largest = 0x7ff;  // type and code
  unsigned number = 0;
  const bool good = text.substr(0, 2) == "0x" && parse(text.substr(2), 16, number) && number >= 1 &&
                    number <= largest;
  status = static_cast<StatusCode>(number);
  return good;
}

// A guest may ask without an end.
constexpr std::size_t most_waiting = 256;

constexpr const char* known =
    "an NVMe disk can hold, fail, refuse_abort, stay_disabled, be fatal, or clear what was asked "
    "for";

}  // namespace

std::string Faults::ask(const std::vector<std::string_view>& words) {
  const std::string_view what = words.empty() ? std::string_view() : words[0];
  const bool fails = what == "fail", holds = what == "hold";
  const bool of_commands = holds || fails;
  if (!of_commands && what != "refuse_abort" && what != "stay_disabled" && what != "clear") {
    return known;
  }
  std::size_t at = 1;
  OfCommands asked{{holds ? Effect::hold : Effect::fail, StatusCode::success}, 1, false, true, 0};
  if (fails && (at == words.size() || !parse_status(words[at++], asked.fate.status))) {
    std::string text = "fail takes a status, 0x001 to 0x7ff or one of:";
    add_names(text, statuses);
    return text;
  }
  if (what != "clear" && at < words.size()) {
    if (!parse(words[at++], 10, asked.number) || asked.number == 0) {
      return "the number is a whole number from 1 up";
    }
  }
  if (of_commands && at < words.size()) {
    const std::string_view name = words[at++];
    const auto io = find(io_commands, name);
    const auto admin = find(admin_commands, name);
    if (!io && !admin && name != "io" && name != "admin") {
      std::string text = "there is no such command; there are io admin";
      add_names(text, io_commands);
      add_names(text, admin_commands);
      return text;
    }
    asked.admin = admin || name == "admin";
    asked.any = !io && !admin;
    if (io) asked.opcode = static_cast<std::uint8_t>(*io);
    if (admin) asked.opcode = static_cast<std::uint8_t>(*admin);
  }
  if (at < words.size()) return fmt::format("{} takes nothing behind that", what);
  if (of_commands) {
    if (commands_.size() == most_waiting) {
      return fmt::format("{} faults wait for their commands already; clear takes them back",
                         most_waiting);
    }
    commands_.push_back(asked);
  } else if (what == "refuse_abort") {
    refused_aborts_ = asked.number;
  } else if (what == "stay_disabled") {
    missed_enables_ = asked.number;
  } else {
    commands_.clear();
    refused_aborts_ = missed_enables_ = 0;
  }
  return {};
}

Faults::Fate Faults::fate(bool admin, std::uint8_t opcode) {
  for (auto fault = commands_.begin(); fault != commands_.end(); ++fault) {
    if (fault->admin != admin || (!fault->any && fault->opcode != opcode)) continue;
    const Fate fate = fault->fate;
    if (--fault->number == 0) commands_.erase(fault);
    ++count_;
    return fate;
  }
  return {};
}

bool Faults::take(unsigned& left) {
  if (left == 0) return false;
  --left;
  ++count_;
  return true;
}

}  // namespace nvme
