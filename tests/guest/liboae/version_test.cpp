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
  int fate = -ENOTTY;          ///< what it knows of slots, or its error
};

Driver driver;
bool played = false;
oae_fate asked{};

int answer(unsigned long code, void* argument) {
  if (driver.first_version && code == _IOR(OAE_IOC_MAGIC, 0x00, char[64])) return 0;
  if (code == OAE_IOC_FATE) {
    auto* fate = static_cast<oae_fate*>(argument);
    asked = *fate;
    if (driver.fate < 0) {
      errno = -driver.fate;
      return -1;
    }
    fate->fate = static_cast<__u8>(driver.fate);
    if (fate->flags == OAE_FATE_NEXT_LOSS && driver.fate == OAE_FATE_LOST) fate->sequence = 77;
    return 0;
  }
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

/// Asks a driver for the fate of swap 9 of epoch 3.
int fate(int known) {
  driver = {};
  driver.fate = known;
  oae_port* port = nullptr;
  played = true;
  EXPECT_EQ(oae_port_open("/dev/null", &port), 0);
  oae_swap swap{};
  swap.sequence = 9;
  swap.epoch = 3;
  const int result = oae_port_fate(port, &swap, 1000);
  EXPECT_EQ(asked.size, sizeof(asked));
  EXPECT_EQ(asked.flags, 0u);
  EXPECT_EQ(asked.timeout_ns, 1000u);
  EXPECT_EQ(asked.sequence, 9u);
  EXPECT_EQ(asked.epoch, 3u);
  oae_port_close(port);
  played = false;
  return result;
}

TEST(Version, FatesAndTheErrorOfADriverWithoutThem) {
  for (const int known :
       {OAE_FATE_PENDING, OAE_FATE_DELIVERED, OAE_FATE_LOST, -ENOTTY, -EOPNOTSUPP, -EINTR})
    EXPECT_EQ(fate(known), known);
}

/// Asks a driver for a loss.
int loss(int known, oae_fate& loss) {
  driver = {};
  driver.fate = known;
  oae_port* port = nullptr;
  played = true;
  EXPECT_EQ(oae_port_open("/dev/null", &port), 0);
  const int result = oae_port_loss(port, &loss, 500);
  EXPECT_EQ(asked.flags, static_cast<unsigned>(OAE_FATE_NEXT_LOSS));
  EXPECT_EQ(asked.timeout_ns, 500u);
  oae_port_close(port);
  played = false;
  return result;
}

TEST(Version, Losses) {
  oae_fate found{};
  EXPECT_EQ(loss(OAE_FATE_PENDING, found), -EAGAIN);
  EXPECT_EQ(loss(-ENOTTY, found), -ENOTTY);
  EXPECT_EQ(found.sequence, 0u) << "it is left alone";
  EXPECT_EQ(loss(OAE_FATE_LOST, found), 0);
  EXPECT_EQ(found.sequence, 77u);
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
