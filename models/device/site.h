// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/device/section.h"
#include "models/pcie/endpoint/endpoint.h"
#include "vp/exit_code.h"
#include "vp/statistics/statistics.h"
#include "vp/time/time.h"
#include "vp/trace/trace.h"

namespace device {

/// What decides how the processors of a device run, if it has any: the same for all processors of
/// the machine, except for the library and the debugger. See processors.h.
struct ProcessorSite {
  std::string library = {};                  ///< QEMU library of the device's kind
  vp::Picoseconds max_quantum = 1 * vp::us;  ///< how far they may run ahead; changes no result
  vp::Picoseconds slice = 1 * vp::us;        ///< how long one runs before its sibling does
  vp::Picoseconds spin_slice = 1 * vp::ms;   ///< the same while one of them spins
  std::uint32_t seed = 1;                    ///< of what is random to their software
  std::optional<unsigned> gdb_port = {};     ///< they wait for GDB before the first instruction
};

/// What surrounds a device: its link decides about the endpoint, and the platform about the rest.
struct Site {
  pcie::EndpointConfig endpoint;  ///< without functions
  std::uint64_t seed = 0;         ///< of all that is random in it; differs from device to device
  vp::Trace& trace;
  vp::Statistics& statistics;
  std::string vcd = {};    ///< waveform file of a device that has one; empty for none
  bool check_rtl = false;  ///< whether the assertions of its RTL are checked
  ProcessorSite processors = {};
  /// Ends the run because of an event in the device, at the present moment. The text is for the
  /// user and may be empty. It is set for every device of a platform.
  std::function<void(vp::ExitCode, std::string why)> end_run = {};
  /// The names of all devices of its kind, itself included, in the order of the platform file.
  std::vector<std::string> peers = {};
  Sections sections = {};  ///< those of the platform file that its kind has added
};

}  // namespace device
