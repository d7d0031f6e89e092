// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/device/section.h"

namespace ipu {

/// An interval in which the wires of an OAE link are cut.
struct OaeCut {
  std::int64_t at = 0;                     ///< ps
  std::int64_t until = 1'000'000 * vp::s;  ///< ps
};

/// An error on an OAE link.
struct OaeError {
  std::string from;     ///< name of the IPU that sends
  unsigned bit = 0;     ///< of the 512 of a clock cycle
  std::int64_t at = 0;  ///< ps
};

/// An OAE link between two IPUs. It joins swap ports of one with those of the same numbers of the
/// other: the firmware of each, or a bridge, passes on what its host commits there. An IPU has up
/// to two links with a window. If both have the same ports, it relays their slots, and these ports
/// are those of the IPUs at the ends of the chain. If they have none in common, it is an end of
/// both.
struct OaeLink {
  std::string a;
  std::string b;
  std::int64_t rate = 100'000'000'000;  ///< bit/s
  std::int64_t latency = 50 * vp::ns;   ///< ps through PHYs and wire, each way
  std::string design = "transfer";      ///< `transfer` or `window`
  double bit_error_rate = 0;            ///< of each direction
  unsigned first_port = 0;
  unsigned ports = 0;  ///< number of joined ports
  std::vector<OaeCut> cuts;
  std::vector<OaeError> errors;

  /// Whether it keeps a window of slots on their way, which a bridge instead of the firmware passes
  /// on.
  bool windowed() const { return design == "window"; }
  /// A bit for each of its ports.
  std::uint64_t port_mask() const;
  bool ends_at(const std::string& ipu) const { return a == ipu || b == ipu; }
  /// The IPU at the end that is not at this one.
  const std::string& peer_of(const std::string& ipu) const { return a == ipu ? b : a; }
};

/// The key `oae_links` of a platform file. An IPU numbers its links in the order of this list.
struct OaeLinks : device::Section {
  static constexpr const char* key = "oae_links";

  std::vector<OaeLink> links;

  void check(const std::vector<device::DescriptionPtr>& ipus,
             vp::config::Reading& reading) const override;
  std::vector<std::unique_ptr<vp::Event>> connect(
      const std::vector<device::Device*>& ipus) const override;
};

/// The links in these sections whose one end is at this IPU, in the order of their numbers.
std::vector<const OaeLink*> links_of(const device::Sections& sections, const std::string& ipu);

/// Whether an IPU with these links relays slots from each to the other: it has two, with a window
/// and the same ports.
bool relays(const std::vector<const OaeLink*>& links);

/// The key, for the registration of the kind.
std::vector<device::SectionKey> sections();

}  // namespace ipu
