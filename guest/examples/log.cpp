// SPDX-License-Identifier: Apache-2.0
// log PORT LINE...: sends the first 48 bytes of each line to the firmware.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "guest/liboae/oae.hpp"

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  const oae::Port port(0, static_cast<unsigned>(std::atoi(argv[1])));
  for (int i = 2; i < argc; ++i) {
    std::array<std::uint64_t, OAE_PAYLOAD_WORDS> payload{};
    std::strncpy(reinterpret_cast<char*>(payload.data()), argv[i], sizeof(payload));
    if (!port.send(payload, std::chrono::seconds(1))) {
      std::fprintf(stderr, "log: the firmware takes nothing\n");
      return 3;
    }
  }
  const oae_firmware_stats firmware = port.firmware_stats();
  std::printf("the firmware has %llu slots\n",
              static_cast<unsigned long long>(firmware.committed));
  return 0;
} catch (const oae::Error& error) {
  std::fprintf(stderr, "log: %s\n", error.what());
  return 1;
}
