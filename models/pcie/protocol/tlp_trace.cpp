// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/tlp_trace.h"

#include <algorithm>
#include <array>

namespace pcie {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
    table[i] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

const char* to_string(Status status) {
  switch (status) {
    case Status::success:
      return "SC";
    case Status::unsupported_request:
      return "UR";
    case Status::configuration_retry:
      return "CRS";
    case Status::completer_abort:
      return "CA";
  }
  return "?";
}

struct Bytes {
  unsigned begin;
  unsigned count;
};

// The enabled bytes of a packet's data, or the bytes that a read requests.
Bytes meaningful(const Tlp& tlp) {
  const TlpHeader& header = tlp.header;
  switch (header.type) {
    case TlpType::Cpl:
    case TlpType::Msg:
      return {0, 0};
    case TlpType::CplD: {
      const unsigned begin = header.lower_address & 3;
      return {begin, std::min<unsigned>(header.byte_count, 4u * header.length - begin)};
    }
    default:
      if (header.first_be == 0 && header.last_be == 0) return {0, 0};
      return {tlp.first_byte(), tlp.span()};
  }
}

}  // namespace

std::uint32_t digest(const std::uint8_t* data, std::size_t bytes) {
  std::uint32_t crc = ~0u;
  for (std::size_t i = 0; i < bytes; ++i) crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
  return ~crc;
}

void trace_tlp(vp::Trace& trace, vp::Picoseconds departure, vp::Picoseconds arrival,
               const char* link, const char* direction, const Tlp& tlp) {
  const TlpHeader& header = tlp.header;
  const Bytes bytes = meaningful(tlp);
  fmt::basic_memory_buffer<char, 64> where;
  const auto out = fmt::appender(where);
  if (tlp.is_config()) {
    fmt::format_to(out, "\"id\":\"{}\",\"reg\":\"{:#05x}\"", pcie::to_string(header.target),
                   header.register_offset + bytes.begin);
  } else if (tlp.is_completion()) {
    fmt::format_to(out, "\"id\":\"{}\"", pcie::to_string(header.completer));
    if (header.status != Status::success) {
      fmt::format_to(out, ",\"status\":\"{}\"", to_string(header.status));
    }
  } else if (header.type == TlpType::Msg) {
    fmt::format_to(out, "\"id\":\"{}\",\"code\":\"{:#04x}\"", pcie::to_string(header.requester),
                   header.message_code);
  } else {
    fmt::format_to(out, "\"addr\":\"{:#x}\"", tlp.get_address() + bytes.begin);
  }
  if (tlp.has_data()) {
    fmt::format_to(out, ",\"len\":{},\"digest\":\"{:08x}\"", bytes.count,
                   digest(tlp.data() + bytes.begin, bytes.count));
  } else {
    fmt::format_to(out, ",\"len\":{}", bytes.count);
  }
  trace.write(
      "{{\"t\":{},\"arr\":{},\"link\":\"{}\",\"dir\":\"{}\",\"type\":\"{}\",\"req\":\"{}\","
      "\"tag\":{},{}}}",
      departure, arrival, link, direction, pcie::to_string(header.type),
      pcie::to_string(header.requester), header.tag, fmt::string_view(where.data(), where.size()));
}

}  // namespace pcie
