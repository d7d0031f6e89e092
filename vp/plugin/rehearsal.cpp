// SPDX-License-Identifier: Apache-2.0
#include "vp/plugin/rehearsal.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

#include "vp/images/file.h"
#include "vp/snapshot/child.h"

namespace vp::plugin {

using images::Mistake;

namespace {

constexpr std::size_t most_text = 2000;  // bytes of what the child has printed
constexpr int refused = 1;               // exit code of a child whose action has thrown

/// A file in memory, which parent and child share.
class SharedFile {
 public:
  SharedFile() : descriptor_(::memfd_create("rehearsal", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  ~SharedFile() { ::close(descriptor_); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  int descriptor() const { return descriptor_; }
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  /// The last bytes of the file, at most so many.
  std::string end(std::size_t most) const {
    const off_t size = ::lseek(descriptor_, 0, SEEK_END);
    if (size <= 0) return {};
    std::string text(std::min(most, static_cast<std::size_t>(size)), '\0');
    const ssize_t got =
        ::pread(descriptor_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  const int descriptor_;
};

const SharedFile* verdict_of_child = nullptr;

[[noreturn]] void refuse(std::string_view found, std::string_view remedy) {
  verdict_of_child->write(found);
  verdict_of_child->write(std::string_view("\0", 1));
  verdict_of_child->write(remedy);
  ::_exit(refused);
}

/// Ends the child because of the exception that is being handled.
[[noreturn]] void refuse_thrown() {
  constexpr const char* remedy = "its static constructors must not throw";
  try {
    if (std::current_exception() == nullptr) std::abort();
    throw;
  } catch (const Mistake& mistake) {
    refuse(mistake.what(), mistake.remedy());
  } catch (const std::exception& thrown) {
    refuse(fmt::format("it throws an exception while it is being loaded: {}", thrown.what()),
           remedy);
  } catch (...) {
    refuse("it throws something that is no std::exception while it is being loaded", remedy);
  }
}

int be_child(const std::function<void()>& action, const SharedFile& printed,
             const SharedFile& verdict) {
  ::dup2(printed.descriptor(), STDOUT_FILENO);
  ::dup2(printed.descriptor(), STDERR_FILENO);
  verdict_of_child = &verdict;
  // What a static constructor throws does not pass the dynamic loader.
  std::set_terminate(refuse_thrown);
  try {
    action();
  } catch (...) {
    refuse_thrown();
  }
  verdict.write("good");
  return 0;
}

/// The way in which the child has ended.
Ending ending_of(const std::function<void()>& action, const SharedFile& printed,
                 const SharedFile& verdict) {
  try {
    return Child([&] { return be_child(action, printed, verdict); }).wait();
  } catch (const ThreadsRemain& threads) {
    throw Mistake(fmt::format("it cannot be tried out: {}", threads.what()),
                  "no plugin that is loaded before it may start a thread at once");
  }
}

std::string text_of(const Ending& ending) {
  if (ending.signal != 0)
    return fmt::format("signal {} ({})", ending.signal, ::strsignal(ending.signal));
  return fmt::format("exit code {}", ending.exit_code);
}

}  // namespace

void rehearse(const std::function<void()>& action) {
  const SharedFile printed, verdict;
  const Ending ending = ending_of(action, printed, verdict);
  const std::string said = verdict.end(most_text);
  if (ending == Ending{} && said == "good") return;
  if (const std::size_t end = said.find('\0'); end != said.npos)
    throw Mistake(said.substr(0, end), said.substr(end + 1));
  std::string text = printed.end(most_text);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  throw Mistake(fmt::format("it ends the process while it is being loaded, with {}{}{}",
                            text_of(ending), text.empty() ? "" : ":\n", text),
                "its static constructors must not end the process");
}

}  // namespace vp::plugin
