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
  constexpr unsigned most_headers = 127, most_data = 2047;
  // The shortest write has 4 bytes, and takes at least 20 bytes more than its payload.
  constexpr unsigned shortest = 4, small = 64, least = 20;
  const std::uint64_t bytes = bytes_during(loop);
  const std::uint64_t headers = bytes / (shortest + least) + 2;
  const auto data_of = [bytes](unsigned payload) {
    return (bytes / (payload + least) + 2) * Credits::units(payload);
  };
  const std::uint64_t data = std::max({headers, data_of(small), data_of(loop.max_payload)});
  CreditConfig config;
  while (scaled && config.scale < 16 &&
         (headers > most_headers * config.scale || data > most_data * config.scale)) {
    config.scale *= 4;
  }
  // Scaled credits are returned in their unit.
  const auto advertised = [&config](std::uint64_t wanted, unsigned most) {
    const std::uint64_t units = (wanted + config.scale - 1) / config.scale;
    return static_cast<unsigned>(std::min<std::uint64_t>(units, most)) * config.scale;
  };
  const Credits each{advertised(headers, most_headers), advertised(data, most_data)};
  config.classes.fill(each);
  return config;
}

CreditConfig default_credits(const LinkConfig& link, vp::Picoseconds sender,
                             vp::Picoseconds receiver) {
  BufferLoop loop{LineRate::of(link.generation, link.lanes), link.max_payload, 0};
  // A packet in the transmit queue has its credits already. On its way, it waits for packets before
  // it and for DLLPs, and the UpdateFC for a packet of its direction.
  constexpr unsigned packets = 4;
  const auto packet = static_cast<vp::Picoseconds>((link.max_payload + overhead + loop.rate.flit) *
                                                   loop.rate.picoseconds / loop.rate.bytes);
  loop.duration = 2 * (sender + receiver) + link.latency_down + link.latency_up +
                  ack_latency_limit_time(link.generation, link.lanes, link.max_payload) +
                  packets * packet;
  return credits_for(loop, link.generation >= 4);
}

}  // namespace pcie
