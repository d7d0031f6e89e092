// SPDX-License-Identifier: Apache-2.0
// The parts of the library that need no driver: names, errors, and files that are not swap ports.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string>

#include "guest/liboae/oae.hpp"
#include "oae_registers.h"

namespace {

TEST(Liboae, Paths) {
  char path[16];
  EXPECT_EQ(oae_port_path(0, 0, path, sizeof(path)), 0);
  EXPECT_STREQ(path, "/dev/oae0p0");
  EXPECT_EQ(oae_port_path(12, 63, path, sizeof(path)), 0);
  EXPECT_STREQ(path, "/dev/oae12p63");
  EXPECT_EQ(oae_port_path(0, 0, path, sizeof("/dev/oae0p0")), 0);
  EXPECT_EQ(oae_port_path(0, 0, path, sizeof("/dev/oae0p0") - 1), -ENAMETOOLONG);
  EXPECT_EQ(oae::Port::path(3, 4), "/dev/oae3p4");
}

TEST(Liboae, FilesThatAreNoPorts) {
  oae_port* const untouched = reinterpret_cast<oae_port*>(1);
  oae_port* port = untouched;
  EXPECT_EQ(oae_port_open("/nowhere/oae0p0", &port), -ENOENT);
  EXPECT_EQ(oae_port_open("/dev/null", &port), -ENOTTY);
  EXPECT_EQ(port, untouched);
  oae_port_close(nullptr);
}

TEST(Liboae, AFailedOpenLeavesNoFileOpen) {
  const auto lowest_free = [] {
    const int file = open("/dev/null", O_RDONLY);
    close(file);
    return file;
  };
  const int before = lowest_free();
  oae_port* port = nullptr;
  EXPECT_EQ(oae_port_open("/dev/null", &port), -ENOTTY);
  EXPECT_EQ(lowest_free(), before);
}

TEST(Liboae, ErrorsHaveATextEach) {
  std::set<std::string> texts;
  for (const int error :
       {0, ENOENT, ENODEV, EBUSY, EIO, EPROTO, ETIMEDOUT, ENOTTY, ENODATA, EOPNOTSUPP, EACCES,
                          EAGAIN, ECANCELED, EREMOTEIO})
    EXPECT_TRUE(texts.insert(oae_error_text(-error)).second) << error;
}

TEST(Liboae, StatusNamesAreThoseOfTheRegisterMap) {
  EXPECT_STREQ(oae_status_name(OAE_STATUS_OK), "committed");
  EXPECT_STREQ(oae_status_name(OAE_STATUS_NOT_READY), "not ready");
  EXPECT_STREQ(oae_status_name(OAE_STATUS_BUSY), "busy");
  EXPECT_STREQ(oae_status_name(OAE_STATUS_HISTORY_LOST), "history lost");
  EXPECT_STREQ(oae_status_name(OAE_STATUS_REVERSED), "reversed");
  EXPECT_STREQ(oae_status_name(OAE_STATUS_BAD_VERB), "bad verb");
  EXPECT_STREQ(oae_status_name(6), "unknown");
  EXPECT_STREQ(oae_status_name(~0u), "unknown");
}

TEST(Liboae, StateNamesAreThoseOfTheRegisterMap) {
  EXPECT_STREQ(oae_state_name(OAE_PORT_STATE_CLOSED), "closed");
  EXPECT_STREQ(oae_state_name(OAE_PORT_STATE_IDLE), "idle");
  EXPECT_STREQ(oae_state_name(OAE_PORT_STATE_TENTATIVE), "tentative");
  EXPECT_STREQ(oae_state_name(OAE_PORT_STATE_COMMITTED), "committed");
  EXPECT_STREQ(oae_state_name(OAE_PORT_STATE_REVERSED), "reversed");
  EXPECT_STREQ(oae_state_name(OAE_PORT_STATE_HISTORY_LOST), "history lost");
  EXPECT_STREQ(oae_state_name(6), "unknown");
}

TEST(Liboae, VerbNamesAreThoseOfTheRegisterMap) {
  EXPECT_STREQ(oae_verb_name(OAE_VERB_NONE), "none");
  EXPECT_STREQ(oae_verb_name(OAE_VERB_SWAP), "swap");
  EXPECT_STREQ(oae_verb_name(OAE_VERB_CAS), "cas");
  EXPECT_STREQ(oae_verb_name(OAE_VERB_FETCH_ADD), "fetch_add");
  EXPECT_STREQ(oae_verb_name(OAE_VERB_MULTI), "multi");
  EXPECT_STREQ(oae_verb_name(OAE_VERB_SEND), "send");
  EXPECT_STREQ(oae_verb_name(OAE_VERB_REMOTE), "remote");
  EXPECT_STREQ(oae_verb_name(OAE_VERB_RESULT), "result");
  EXPECT_STREQ(oae_verb_name(8), "unknown");
}

TEST(Liboae, FateNames) {
  EXPECT_STREQ(oae_fate_name(OAE_FATE_PENDING), "pending");
  EXPECT_STREQ(oae_fate_name(OAE_FATE_DELIVERED), "delivered");
  EXPECT_STREQ(oae_fate_name(OAE_FATE_LOST), "lost");
  EXPECT_STREQ(oae_fate_name(3), "unknown");
}

TEST(Liboae, FormNames) {
  EXPECT_STREQ(oae_form_name(OAE_SWAP_FORM_PUSHED), "pushed");
  EXPECT_STREQ(oae_form_name(OAE_SWAP_FORM_STREAMED), "streamed");
  EXPECT_STREQ(oae_form_name(2), "unknown");
  EXPECT_STREQ(oae_form_name(~0u), "unknown");
}

TEST(Liboae, TheCppFaceThrows) {
  try {
    oae::Port port("/nowhere/oae0p0");
    FAIL() << "opened";
  } catch (const oae::Error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
    EXPECT_NE(std::string(error.what()).find("/nowhere/oae0p0"), std::string::npos);
  }
}

}  // namespace
