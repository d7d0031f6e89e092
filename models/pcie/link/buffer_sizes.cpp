// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/buffer_sizes.h"

#include <algorithm>

#include "models/pcie/data_link/limits.h"

namespace pcie {
namespace {

// The most that a packet has beside its payload: framing, sequence number, header, digest, LCRC.
constexpr unsigned overhead = 28;

std::uint64_t bytes_during(const BufferLoop& loop) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide(loop.duration) * loop.rate.bytes / loop.rate.picoseconds);
}

}  // namespace

std::uint64_t buffer_for(const BufferLoop& loop) {
  return bytes_during(loop) + 2 * (loop.max_payload + overhead + loop.rate.flit);
}

CreditConfig credits_for(const BufferLoop& loop, bool scaled) {
  // The shortest write has 4 bytes, and takes at least 20 bytes more than its payload.
  constexpr unsigned shortest = 4, small = 64, least = 20;
  const std::uint64_t bytes = bytes_during(loop);
  const std::uint64_t headers = bytes / (shortest + least) + 2;
  const auto data_of = [bytes](unsigned payload) {
    return (bytes / (payload + least) + 2) * Credits::units(payload);
  };
  const std::uint64_t data = std::max({headers, data_of(small), data_of(loop.max_payload)});
  CreditConfig config;
  if (scaled) config.scale = 16;
  // Less than a unit may be free at the receiver and yet wait there.
  const auto advertised = [&config](std::uint64_t wanted, unsigned bits) {
    const unsigned most = most_credits(bits, config.scale);
    const auto needed = static_cast<unsigned>(std::min<std::uint64_t>(wanted, most));
    unsigned unit = 1, more = needed;
    while (unit_of(more, bits, config.scale) > unit) {
      unit = unit_of(more, bits, config.scale);
      more = needed + 2 * (unit - 1);
    }
    return std::min(more - more % unit, most_credits(bits, unit));
  };
  const Credits each{advertised(headers, header_bits), advertised(data, data_bits)};
  config.classes.fill(each);
  return config;
}

CreditConfig default_credits(const LinkConfig& link, vp::Picoseconds sender,
                             vp::Picoseconds receiver, bool scaled) {
  BufferLoop loop{LineRate::of(link.generation, link.lanes), link.max_payload, 0};
  // A packet in the transmit queue has its credits already. On its way, it waits for packets before
  // it and for DLLPs, and the UpdateFC for a packet of its direction.
  constexpr unsigned packets = 4;
  const auto packet = static_cast<vp::Picoseconds>((link.max_payload + overhead + loop.rate.flit) *
                                                   loop.rate.picoseconds / loop.rate.bytes);
  loop.duration = 2 * (sender + receiver) + link.latency_down + link.latency_up +
                  ack_latency_limit_time(link.generation, link.lanes, link.max_payload) +
                  packets * packet;
  return credits_for(loop, scaled);
}

}  // namespace pcie
