// SPDX-License-Identifier: Apache-2.0
#include "vp/snapshot/children.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <new>
#include <vector>

namespace vp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int look_interval_ms = 20;
constexpr auto patience = std::chrono::seconds(2);

/// A note for each child that may run at once.
class Notes {
 public:
  explicit Notes(unsigned count) : size_(count * sizeof(ChildNote)) {
    void* memory =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw ForkError(fmt::format("no memory: {}", strerror(errno)));
    notes_ = static_cast<ChildNote*>(memory);
    for (unsigned i = 0; i < count; ++i) free_.push_back(new (notes_ + i) ChildNote);
  }
  ~Notes() { ::munmap(notes_, size_); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  ChildNote& claim() {
    ChildNote& note = *free_.back();
    free_.pop_back();
    return note = {};
  }
  void release(ChildNote& note) { free_.push_back(&note); }

 private:
  std::size_t size_;
  ChildNote* notes_;
  std::vector<ChildNote*> free_;
};

struct Running {
  std::size_t number;
  ChildNote& note;
  Clock::time_point begin;
  Child child;
};

}  // namespace

bool Children::run(std::size_t count, unsigned jobs, const Calls& calls) {
  jobs = static_cast<unsigned>(
      std::min<std::size_t>(std::max(jobs, 1u), std::max<std::size_t>(count, 1)));
  Notes notes(jobs);
  std::list<Running> running;
  std::vector<pollfd> descriptors;
  std::size_t next = 0;
  bool stopping = false, killed = false;
  Clock::time_point stopped;

  while (!running.empty() || (next < count && !stopping)) {
    if (!stopping && calls.go_on && !calls.go_on()) {
      stopping = true;
      stopped = Clock::now();
      for (const Running& one : running) one.child.signal(SIGTERM);
    }
    if (stopping && !killed && Clock::now() - stopped > patience) {
      killed = true;
      for (const Running& one : running) one.child.signal(SIGKILL);
    }
    if (!stopping && next < count && running.size() < jobs) {
      const std::size_t number = next++;
      ChildNote& note = notes.claim();
      const auto begin = Clock::now();
      running.push_back({number, note, begin,
                         Child([&calls, &note, number] { return calls.body(number, note); })});
      if (next < count && running.size() < jobs) continue;
    }

    descriptors.clear();
    for (const Running& one : running) descriptors.push_back({one.child.descriptor(), POLLIN, 0});
    if (::poll(descriptors.data(), descriptors.size(), look_interval_ms) <= 0) continue;
    auto one = running.begin();
    for (const pollfd& descriptor : descriptors) {
      if (descriptor.revents == 0) {
        ++one;
        continue;
      }
      ChildResult result;
      result.number = one->number;
      result.ending = one->child.wait();
      result.note = one->note;
      result.fork_time = one->child.fork_time();
      result.wall_time = Clock::now() - one->begin;
      notes.release(one->note);
      one = running.erase(one);
      if (calls.ended) calls.ended(result);
    }
  }
  return next == count;
}

unsigned Children::cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace vp
