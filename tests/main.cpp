// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <systemc>

// SystemC's library holds main() and calls this, which lets every case elaborate modules.
int sc_main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  // A warning of the kernel is a defect of the model under test.
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  return RUN_ALL_TESTS();
}
