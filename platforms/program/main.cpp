// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <iostream>
#include <systemc>

#include "platforms/program/program.h"

int sc_main(int argc, char** argv) {
  return static_cast<int>(
      platform::program(argc, argv, platform::surroundings(), platform::run, std::cout, std::cerr));
}

/// Takes the place of SystemC's main(), which prints a banner first.
int main(int argc, char** argv) {
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
