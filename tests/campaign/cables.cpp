// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/cables.h"

namespace {

/// The fate of its transfer is the other side's to tell.
bool is_of_the_other(const LinkEnd& end) {
  return end.sender() == OAE_LINK_STATE_COMMITTING;
}

}  // namespace

void Cables::clock() {
  ++now;
  for (auto& cable : all) {
    if (cable->quiet(now)) continue;
    cable->settle(now);
    cable->rise();
  }
  if (aim != nullptr && (is_of_the_other(aim->a) || is_of_the_other(aim->b))) {
    cut(*aim);
    aim = nullptr;
    if (on_aimed_cut) on_aimed_cut();
  }
}

void Cables::cut(LinkCable& cable) {
  cable.to_a.cut();
  cable.to_b.cut();
}

void Cables::join(LinkCable& cable) {
  cable.to_a.join();
  cable.to_b.join();
}

bool Cables::carries(const LinkCable& cable) {
  return cable.a.sender() != OAE_LINK_STATE_IDLE || cable.b.sender() != OAE_LINK_STATE_IDLE;
}
