// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/bar_router.h"

#include <tlm_utils/simple_target_socket.h>

#include "tests/models/ipu/fixture.h"

namespace ipu {
namespace {

using test::start;

/// Device logic that answers at once or later.
struct Block : sc_core::sc_module {
  tlm_utils::simple_target_socket<Block> socket;
  bool later = false;
  tlm::tlm_generic_payload* request = nullptr;
  std::uint64_t address = 0;

  explicit Block(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_fw(this, &Block::nb_transport_fw);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_core::sc_time&) {
    request = &payload;
    address = payload.get_address();
    if (later && payload.is_read()) return tlm::TLM_ACCEPTED;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  void answer() {
    EXPECT_EQ(request->get_address(), address) << "the address is the block's until it answers";
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    request->set_response_status(tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(socket->nb_transport_bw(*request, phase, delay), tlm::TLM_COMPLETED);
  }
};

struct BarRouterTest : testing::Test {
  BarRouter router{"router"};
  Block oae{"oae"};
  Block mailbox{"mailbox"};
  test::FunctionPort function;
  test::FunctionPort other{"other"};  // only its payload is used

  BarRouterTest() {
    router.connect(0, 0x0000, 0x4000, oae.socket);
    router.connect(0, 0x4000, 0x1000, mailbox.socket);
    router.connect(2, 0x0000, 0x8000, oae.socket);
    function.socket.bind(router.bar);
    other.socket.bind(unused.socket);
  }
  Block unused{"unused"};

  bool reaches(Block& block, unsigned bar, std::uint64_t offset, std::uint64_t inner,
               unsigned length = 8) {
    block.request = nullptr;
    EXPECT_EQ(function.request(tlm::TLM_WRITE_COMMAND, bar, offset, length), tlm::TLM_COMPLETED);
    EXPECT_EQ(function.payload.get_address(), offset);
    return block.request && function.payload.is_response_ok() && block.address == inner;
  }
  tlm::tlm_response_status status(tlm::tlm_command command, unsigned bar, std::uint64_t offset,
                                  unsigned length = 8) {
    EXPECT_EQ(function.request(command, bar, offset, length), tlm::TLM_COMPLETED);
    EXPECT_EQ(function.payload.get_address(), offset);
    return function.payload.get_response_status();
  }
};

TEST_F(BarRouterTest, RoutesByBarAndOffset) {
  start();
  EXPECT_TRUE(reaches(oae, 0, 0, 0));
  EXPECT_TRUE(reaches(oae, 0, 0x3ff8, 0x3ff8));
  EXPECT_TRUE(reaches(mailbox, 0, 0x4000, 0));
  EXPECT_TRUE(reaches(mailbox, 0, 0x4ff8, 0xff8));
  EXPECT_TRUE(reaches(oae, 2, 0x4000, 0x4000));
  EXPECT_TRUE(reaches(oae, 2, 0x7fc0, 0x7fc0, 64));
}

TEST_F(BarRouterTest, AnswersHolesWithAddressErrors) {
  start();
  for (tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    EXPECT_EQ(status(command, 0, 0x5000), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status(command, 0, 0x3ffc), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "across two blocks";
    EXPECT_EQ(status(command, 2, 0x7fc1, 64), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(status(command, 2, ~std::uint64_t{0}), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    for (unsigned bar : {1u, 3u, 5u, 6u, 255u}) {
      EXPECT_EQ(status(command, bar, 0), tlm::TLM_ADDRESS_ERROR_RESPONSE) << bar;
    }
  }
  EXPECT_EQ(router.unmapped(), 18u);
}

TEST_F(BarRouterTest, RefusesARequestWithoutABar) {
  start();
  tlm::tlm_generic_payload payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  EXPECT_EQ(function.socket->nb_transport_fw(payload, phase, delay), tlm::TLM_COMPLETED);
  EXPECT_EQ(payload.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
}

TEST_F(BarRouterTest, PassesLateAnswersBackInAnyOrder) {
  start();
  oae.later = mailbox.later = true;
  EXPECT_EQ(function.request(tlm::TLM_READ_COMMAND, 0, 0x4008, 8), tlm::TLM_ACCEPTED);
  // A second request at once, with another payload.
  other.access->bar = 2;
  other.payload.set_read();
  other.payload.set_address(0x1040);
  other.payload.set_data_ptr(other.data.data());
  other.payload.set_data_length(8);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  EXPECT_EQ(function.socket->nb_transport_fw(other.payload, phase, delay), tlm::TLM_ACCEPTED);
  EXPECT_EQ(mailbox.address, 8u);
  oae.answer();
  EXPECT_EQ(other.payload.get_address(), 0x1040u);
  mailbox.answer();
  EXPECT_EQ(function.payload.get_address(), 0x4008u);
  EXPECT_EQ(function.responses, 2u);
}

TEST_F(BarRouterTest, RefusesMistakes) {
  EXPECT_THROW(router.connect(6, 0, 0x1000, oae.socket), MapMistake);
  EXPECT_THROW(router.connect(0, 0x4800, 0x1000, oae.socket), MapMistake);
}

}  // namespace
}  // namespace ipu
