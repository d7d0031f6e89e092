// SPDX-License-Identifier: Apache-2.0
// The library with older and newer drivers. The ioctl() of this file plays the driver.
#include <gtest/gtest.h>
#include <linux/oae.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>

#include "guest/liboae/oae.h"

namespace {

struct Driver {
  std::uint32_t version = OAE_INTERFACE_VERSION;
  std::uint32_t oldest = OAE_INTERFACE_VERSION;
  bool first_version = false;  ///< the driver has only the requests of version 1
};

Driver driver;
bool played = false;

int answer(unsigned long code, void* argument) {
  if (driver.first_version && code == _IOR(OAE_IOC_MAGIC, 0x00, char[64])) return 0;
  if (driver.first_version || code != OAE_IOC_INFO) {
    errno = ENOTTY;
    return -1;
  }
  auto* info = static_cast<oae_info*>(argument);
  EXPECT_EQ(info->size, sizeof(*info));
  EXPECT_EQ(info->flags, 0u);
  info->version = driver.version;
  info->oldest = driver.oldest;
  return 0;
}

/// Opens a port with a driver.
int opened(const Driver& one) {
  driver = one;
  oae_port* port = nullptr;
  played = true;
  const int error = oae_port_open("/dev/null", &port);
  if (!error) oae_port_close(port);
  played = false;
  return error;
}

TEST(Version, TheSame) {
  EXPECT_EQ(opened({}), 0);
}

TEST(Version, ANewerDriverThatStillServesThisOne) {
  EXPECT_EQ(opened({OAE_INTERFACE_VERSION + 1, OAE_INTERFACE_VERSION}), 0);
  EXPECT_EQ(opened({OAE_INTERFACE_VERSION + 100, 1}), 0);
}

TEST(Version, ANewerDriverThatServesThisOneNoMore) {
  EXPECT_EQ(opened({OAE_INTERFACE_VERSION + 1, OAE_INTERFACE_VERSION + 1}), -EPROTO);
}

TEST(Version, ADriverThatIsTooOld) {
  EXPECT_EQ(opened({1, 1}), -EPROTO);
  EXPECT_EQ(opened({0, 0, true}), -EPROTO);
}

}  // namespace

/// Replaces the function of libc.
extern "C" int ioctl(int, unsigned long code, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, code);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (played) return answer(code, argument);
  errno = ENOTTY;
  return -1;
}
