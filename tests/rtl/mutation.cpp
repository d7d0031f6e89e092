// SPDX-License-Identifier: Apache-2.0
// Passes the chosen mutation to RTL from which guards can be removed (rtl/proof/guards); 0 is
// none.
#include <cstdlib>

extern "C" int oae_mutation_chosen() {
  const char* const chosen = std::getenv("OAE_VP_RTL_MUTATION");
  return chosen != nullptr ? std::atoi(chosen) : 0;
}
