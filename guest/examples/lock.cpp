// SPDX-License-Identifier: Apache-2.0
// lock PORT TIMES: takes a lock, which is word 1, and increments word 2 while nobody else can.
#include <cstdio>
#include <cstdlib>

#include "guest/liboae/oae.hpp"

namespace {

constexpr unsigned lock_word = 1;
constexpr unsigned counter = 2;

/// Repeats an action while another process holds the word that it needs.
template <typename Action>
auto retried(Action action) {
  for (;;) {
    try {
      return action();
    } catch (const oae::Error& error) {
      if (error.code().value() != EBUSY) throw;
    }
  }
}

class Lock {
 public:
  explicit Lock(const oae::Port& port) : port_(port) {
    std::uint64_t expected;
    do {
      expected = 0;
    } while (!retried([&] { return port_.compare_exchange(lock_word, expected, 1); }));
  }
  ~Lock() {
    std::uint64_t expected = 1;
    retried([&] { return port_.compare_exchange(lock_word, expected, 0); });
  }

 private:
  const oae::Port& port_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  const oae::Port port(0, static_cast<unsigned>(std::atoi(argv[1])));
  std::uint64_t value = 0;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const Lock lock(port);
    oae_step read[] = {{OAE_STEP_READ, counter, 0, 0}};
    retried([&] { return port.multi(read); });
    value = read[0].found + 1;
    oae_step write[] = {{OAE_STEP_WRITE, counter, value, 0}};
    retried([&] { return port.multi(write); });
  }
  std::printf("counted up to %llu\n", static_cast<unsigned long long>(value));
  return 0;
} catch (const oae::Error& error) {
  std::fprintf(stderr, "lock: %s\n", error.what());
  return 1;
}
