// SPDX-License-Identifier: Apache-2.0
// A library with a thread, which runs from begin() to end().
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace {

std::atomic<bool> over = false;
std::optional<std::thread> worker;

void work() {
  while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

extern "C" void begin() {
  worker.emplace(work);
}

extern "C" void end() {
  over = true;
  worker->join();
}
