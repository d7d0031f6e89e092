// SPDX-License-Identifier: Apache-2.0
// Tells RTL in which guards can be taken away (rtl/proof/guards) which mutation is chosen; 0 is
// none.
#include <cstdlib>

extern "C" int oae_mutation_chosen() {
  const char* const chosen = std::getenv("OAE_VP_RTL_MUTATION");
  return chosen != nullptr ? std::atoi(chosen) : 0;
}
