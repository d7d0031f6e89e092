// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "models/device/site.h"
#include "vp/qemu/arguments.h"
#include "vp/qemu/instance.h"

/// For a kind whose devices have processors, which a QEMU of their own executes. The device's
/// domain keeps their time, as it does for a host:
///
///     vp::qemu::Arguments arguments = device::qemu_arguments(site);
///     arguments.add("-machine", "...");
///     vp::qemu::Instance::Config config = device::qemu_config(site, std::move(arguments));
///     config.cpus = 4;
///
/// The device returns the QEMU by Device::processors(), so that a debugger may hold it, and so that
/// the run ends when all processors of the machine have halted for good.
namespace device {

/// The beginning of QEMU's command line. The kind adds its machine.
inline vp::qemu::Arguments qemu_arguments(const Site& site) {
  return {site.processors.seed, site.processors.gdb_port};
}

/// The configuration as far as the site decides it. The kind says what its processors are.
inline vp::qemu::Instance::Config qemu_config(const Site& site, vp::qemu::Arguments arguments) {
  vp::qemu::Instance::Config config;
  config.library = site.processors.library;
  config.arguments = arguments.words();
  config.max_quantum = site.processors.max_quantum;
  config.slice = site.processors.slice;
  config.spin_slice = site.processors.spin_slice;
  return config;
}

/// What a device does about requests of its QEMU that do not concern its models: power-off and
/// reset have no effect outside of QEMU, and while GDB holds the processors, time stands still.
inline vp::qemu::Instance::Requests qemu_requests() {
  return {[] {}, [] {},
          [] {
            if (sc_core::sc_is_running()) sc_core::sc_pause();
          }};
}

}  // namespace device
