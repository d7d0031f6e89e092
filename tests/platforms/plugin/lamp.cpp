// SPDX-License-Identifier: Apache-2.0
// A plugin with the kind KIND.
#include <cstdio>
#include <stdexcept>

#include "models/device/kind.h"
#include "models/pcie/endpoint/access.h"

namespace {

using namespace vp::config;

struct Lamp : device::Description {
  unsigned colours = 3;
  void check(const std::string&, Reading&) const override {
    if (colours == 8) throw 8;
  }
  std::string summary() const override { return std::to_string(colours) + " colours"; }
};

std::vector<Key<Lamp>> keys() {
  return {{"colours", &Lamp::colours, integer(1, 8), "How many it has"}};
}

struct LampDevice : device::Device {
  LampDevice(const sc_core::sc_module_name& name, const Lamp& lamp, const device::Site& site)
      : Device(name, site, {function(lamp)}) {
    if (lamp.colours == 7) throw std::runtime_error("the fuse blows");
  }

  static pcie::FunctionConfig function(const Lamp& lamp) {
    pcie::FunctionConfig config;
    config.identity.device = static_cast<std::uint16_t>(0x1230 + lamp.colours);
    return config;
  }
};

const device::Registration<Lamp, LampDevice> lamp(KIND, "A lamp", keys);

/// What a plugin prints while it is being loaded is not to be seen twice.
const int printed = std::puts("the lamp is on");

}  // namespace

/// The number of the extension in this plugin, which is to be that of the core.
extern "C" unsigned number_of_extension() {
  return pcie::Access::ID;
}
