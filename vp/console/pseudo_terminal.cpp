// SPDX-License-Identifier: Apache-2.0
#include "vp/console/pseudo_terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vp {
namespace {

constexpr std::size_t max_backlog = 64 * 1024;

}  // namespace

PseudoTerminal::PseudoTerminal() {
  char path[128] = "";
  if (::openpty(&master_, &slave_, path, nullptr, nullptr) != 0) {
    throw ConsoleError(fmt::format("cannot open a pseudo-terminal: {}", strerror(errno)));
  }
  path_ = path;
  termios settings;
  ::tcgetattr(slave_, &settings);
  ::cfmakeraw(&settings);
  ::tcsetattr(slave_, TCSANOW, &settings);
  for (const int end : {master_, slave_}) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  ::fcntl(master_, F_SETFL, O_NONBLOCK);
}

PseudoTerminal::~PseudoTerminal() {
  ::close(master_);
  ::close(slave_);
}

void PseudoTerminal::write(std::string_view bytes) {
  backlog_ += bytes;
  drain();
  if (backlog_.size() > max_backlog) backlog_.erase(0, backlog_.size() - max_backlog);
}

void PseudoTerminal::read(std::string& input, std::size_t room) {
  drain();
  char bytes[256];
  const ssize_t got = ::read(master_, bytes, std::min(sizeof bytes, room));
  if (got > 0) input.append(bytes, static_cast<std::size_t>(got));
}

void PseudoTerminal::drain() {
  if (backlog_.empty()) return;
  const ssize_t taken = ::write(master_, backlog_.data(), backlog_.size());
  if (taken > 0) backlog_.erase(0, static_cast<std::size_t>(taken));
}

}  // namespace vp
