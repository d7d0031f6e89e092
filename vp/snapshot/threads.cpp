// SPDX-License-Identifier: Apache-2.0
#include "vp/snapshot/threads.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace vp {
namespace {

namespace fs = std::filesystem;

// What is on the stack of the thread that is asked.
constexpr int most_frames = 64;
void* frames[most_frames];
std::atomic<int> frame_count{-1};  // -1 until the thread has answered
std::atomic<pid_t> asked{0};       // a thread that answers too late is no longer asked

void note_stack(int) {
  pid_t self = ::gettid();
  if (!asked.compare_exchange_strong(self, 0)) return;
  const int error = errno;
  frame_count = ::backtrace(frames, most_frames);
  errno = error;
}

/// The signal by which threads are asked. Without a handler it is ignored, so a thread that has
/// blocked it and accepts it later comes to no harm.
constexpr int question = SIGURG;
constexpr auto patience = std::chrono::milliseconds(100);

bool is_of_the_system(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  for (const char* system : {"libc.so", "libstdc++.so", "libgcc_s.so", "libpthread.so",
                             "ld-linux-x86-64.so", "linux-vdso.so"})
    if (name.compare(0, std::string(system).size(), system) == 0) return true;
  return false;
}

std::string file_of(pid_t thread) {
  frame_count = -1;
  asked = thread;
  if (::syscall(SYS_tgkill, ::getpid(), thread, question) != 0) return {};
  const auto begin = std::chrono::steady_clock::now();
  while (frame_count < 0) {
    const auto passed = std::chrono::steady_clock::now() - begin;
    pid_t silent = thread;
    if (passed > patience && asked.compare_exchange_strong(silent, 0)) return {};
    if (passed > 10 * patience) return {};  // it cannot finish its answer
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  // The function with which the thread has begun is called by a system library.
  for (int i = frame_count - 1; i >= 0; --i) {
    Dl_info info{};
    if (::dladdr(frames[i], &info) != 0 && info.dli_fname != nullptr &&
        !is_of_the_system(info.dli_fname))
      return info.dli_fname;
  }
  return {};
}

std::string name_of(pid_t thread) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/self/task/{}/comm", thread)), name);
  return name;
}

}  // namespace

std::vector<Thread> other_threads() {
  // The first call loads a library, which a handler must not do.
  ::backtrace(frames, most_frames);
  struct sigaction ours {
  }, before{};
  ours.sa_handler = note_stack;
  ours.sa_flags = SA_RESTART;
  ::sigaction(question, &ours, &before);
  std::vector<Thread> threads;
  std::error_code error;
  for (fs::directory_iterator each("/proc/self/task", error), end; !error && each != end;
       each.increment(error)) {
    const auto id = static_cast<pid_t>(std::atoi(each->path().filename().c_str()));
    if (id == ::gettid()) continue;
    threads.push_back({id, name_of(id), file_of(id)});
  }
  ::sigaction(question, &before, nullptr);
  std::sort(threads.begin(), threads.end(),
            [](const Thread& a, const Thread& b) { return a.id < b.id; });
  return threads;
}

std::string describe(const std::vector<Thread>& threads) {
  std::string text;
  for (const Thread& each : threads)
    text += fmt::format("{}`{}` ({}), {}", text.empty() ? "" : "; ", each.name, each.id,
                        each.file.empty() ? "which does not tell where it comes from"
                                          : "which executes " + each.file);
  return text;
}

}  // namespace vp
