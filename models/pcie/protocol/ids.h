// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace pcie {

/// A requester, completer or target ID: bus[15:8] device[7:3] function[2:0].
using Id = std::uint16_t;

constexpr Id make_id(unsigned bus, unsigned device, unsigned function) {
  return static_cast<Id>(bus << 8 | (device & 0x1f) << 3 | (function & 0x7));
}
/// An ID with alternative routing (ARI): bus[15:8] function[7:0].
constexpr Id make_alternative_id(unsigned bus, unsigned function) {
  return static_cast<Id>(bus << 8 | (function & 0xff));
}
constexpr unsigned bus_of(Id id) {
  return id >> 8;
}
constexpr unsigned device_of(Id id) {
  return id >> 3 & 0x1f;
}
constexpr unsigned function_of(Id id) {
  return id & 0x7;
}

constexpr unsigned alternative_function_of(Id id) {
  return id & 0xff;
}

/// "bb:dd.f" in hexadecimal, as lspci prints it.
std::string to_string(Id id);

}  // namespace pcie
