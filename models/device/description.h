// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vp/config/schema.h"
#include "vp/images/file.h"

namespace device {

/// How an endpoint or a root complex answers reads.
struct Completions {
  bool split = false;       ///< at each read completion boundary
  std::int64_t spread = 0;  ///< ps, the most by which each is late at random
};

/// What all endpoints have in common, whatever device is behind them.
struct EndpointDescription {
  std::int64_t latency = 50'000;  ///< ps, to pass it, each way
  unsigned tags = 256;  ///< requests that a function may have outstanding, if software enables them
  bool aligned_requests = true;  ///< cut at multiples of the largest payload or read request
  Completions completions;       ///< of reads of BARs
};

/// A file on which a device's behaviour depends. One of the checks is set.
struct InputFile {
  std::string key;  ///< from the device on, such as `namespaces[0].image`
  vp::config::File file;
  bool written = false;  ///< whether the device changes it
  /// Throws vp::images::Mistake if the device cannot use the file.
  std::function<void(const std::filesystem::path&)> check = {};
  /// The same for a file that fits into memory, such as firmware.
  std::function<void(vp::images::Bytes&)> check_content = {};
};

/// Where the output of a console goes.
enum class ConsoleKind { terminal, pty, off };

/// A fault of a device itself, and when it is asked for.
struct Fault {
  std::int64_t at = 0;  ///< ps of simulated time
  std::string inject;   ///< what Device::inject takes, words with blanks between them
};

/// What a platform file says about a device of any kind. A kind derives its own description from
/// this.
struct Description {
  std::string name;
  std::string kind;
  EndpointDescription endpoint;
  std::vector<Fault> faults;  ///< only if has_faults()

  Description() = default;
  Description(const Description&) = default;
  Description& operator=(const Description&) = default;
  virtual ~Description() = default;

  /// Reports the mistakes that concern several keys. The keys are sound, each by itself, where
  /// `reading` says so. `path` is that of the device.
  virtual void check(const std::string& path, vp::config::Reading& reading) const {
    (void)path, (void)reading;
  }
  /// The files that the device uses, in the order of their keys.
  virtual std::vector<InputFile> inputs() const { return {}; }
  /// Says why the machine must not be forked, such as `namespaces[0] writes to its image`. Empty if
  /// it may be.
  virtual std::string forbids_forks() const { return {}; }
  /// How many storages the device has whose contents can be exported.
  virtual unsigned storages() const { return 0; }
  /// Whether devices of this kind can fail themselves (Device::inject). They then have the key
  /// `faults`, for faults at given times.
  virtual bool has_faults() const { return false; }
  /// Says why the device can never have the fault of these words. Empty if it may.
  virtual std::string check_fault(const std::vector<std::string_view>& words) const {
    (void)words;
    return {};
  }
  /// Whether the device can write a waveform (Site::vcd), as one whose logic is RTL.
  virtual bool has_waveform() const { return false; }
  /// Where the output of its console goes unless an option says otherwise, if it has a console
  /// (Device::serial_console).
  virtual std::optional<ConsoleKind> console_target() const { return {}; }
  /// Whether it has processors to which a debugger can attach (Device::processors).
  virtual bool has_processors() const { return false; }
  /// Describes the device in a few words, such as `2 namespaces, 64MiB`. May be empty.
  virtual std::string summary() const { return {}; }
};

using DescriptionPtr = std::shared_ptr<const Description>;

/// The keys of completions.
const vp::config::Struct<Completions>& completion_keys();

/// The keys of a fault.
const vp::config::Struct<Fault>& fault_keys();

/// The values of a key that says where the output of a console goes.
vp::config::Type<ConsoleKind> console_kinds();

/// The keys that all endpoints have, for the table of a struct derived from EndpointDescription.
template <class S>
std::vector<vp::config::Key<S>> endpoint_keys() {
  using namespace vp::config;
  constexpr std::int64_t longest = 100'000'000;  // ps
  return {
      {"latency", &EndpointDescription::latency, duration(0, longest),
       "Time that a request or a completion takes through it, in either direction"},
      {"tags", &EndpointDescription::tags, one_of({32, 256, 768}),
       "Reads that each function can have outstanding; 256 needs Extended Tag Field Enable, which "
       "Linux sets, and 768 needs 10-Bit Tag Requester Enable, which Linux does not set"},
      {"aligned_requests", &EndpointDescription::aligned_requests, boolean(),
       "Whether its requests end at multiples of the largest payload or read request; otherwise "
       "only that size and 4 KiB boundaries limit them"},
      {"completions", &EndpointDescription::completions, completion_keys(),
       "How it answers reads of its BARs"},
  };
}

}  // namespace device
