// SPDX-License-Identifier: Apache-2.0
#include "vp/console/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace vp {
namespace {

constexpr char escape = 'A' & 0x1f;

constexpr int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int crashing[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// Signal handlers have no object, so their data is global. There is only one terminal.
bool exists = false;
int terminal = -1;  // descriptor of the terminal whose settings this process changes, or -1
pid_t owner = 0;    // the process that changes them; a forked child must not
termios found;      // the settings to restore
termios raw;
volatile sig_atomic_t is_raw = 0;
volatile sig_atomic_t signalled = 0;
struct sigaction found_actions[NSIG];

// Changing the settings from the background would stop the process.
bool in_foreground() {
  const pid_t group = ::tcgetpgrp(terminal);
  return group < 0 || group == ::getpgrp();
}

// Signal handlers call the following two functions.
void make_raw() {
  if (terminal < 0 || ::getpid() != owner || !in_foreground()) return;
  if (::tcsetattr(terminal, TCSANOW, &raw) == 0) is_raw = 1;
}

void restore() {
  if (!is_raw || ::getpid() != owner) return;
  if (in_foreground()) ::tcsetattr(terminal, TCSANOW, &found);
  is_raw = 0;
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
  ::sigaction(signal, &action, nullptr);
}

void give_back(int signal) {
  ::sigaction(signal, &found_actions[signal], nullptr);
}

void die_of(int signal) {
  restore();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void on_ending(int signal, siginfo_t*, void*) {
  if (signalled != 0) return die_of(signal);
  signalled = signal;
}

void on_crash(int signal, siginfo_t* info, void*) {
  restore();
  give_back(signal);
  // A fault occurs again on return, and then reaches the previous handler. A signal that was sent
  // does not, so it is raised here.
  if (info->si_code <= 0) ::raise(signal);
}

void on_stop(int signal, siginfo_t*, void*) {
  const int error = errno;
  restore();
  struct sigaction ours;
  ::sigaction(signal, nullptr, &ours);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  sigset_t stop, before;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, signal);
  ::sigprocmask(SIG_UNBLOCK, &stop, &before);
  // The process is stopped until SIGCONT.
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::sigaction(signal, &ours, nullptr);
  make_raw();
  errno = error;
}

void on_continue(int, siginfo_t*, void*) {
  const int error = errno;
  is_raw = 0;  // another process may have changed the settings in between
  make_raw();
  errno = error;
}

// If the stack has overflowed, the handler needs another stack to restore the terminal.
void provide_signal_stack() {
  stack_t stack;
  if (::sigaltstack(nullptr, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
  static char memory[64 * 1024];
  stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  ::sigaltstack(&stack, nullptr);
}

}  // namespace

Terminal::Terminal(std::function<void(End)> on_end, int input, int output)
    : on_end_(std::move(on_end)), input_(input), output_(output) {
  if (exists) throw std::logic_error("there is a terminal already");
  exists = true;
}

Terminal::~Terminal() {
  restore();
  if (owner != 0) {
    for (const int signal : ending) give_back(signal);
    give_back(SIGPIPE);
  }
  if (terminal >= 0) {
    for (const int signal : crashing) give_back(signal);
    for (const int signal : {SIGTSTP, SIGCONT}) give_back(signal);
  }
  terminal = -1;
  owner = 0;
  exists = false;
}

void Terminal::start() {
  if (owner != 0) throw std::logic_error("the terminal was started already");
  owner = ::getpid();
  signalled = 0;
  for (int signal = 1; signal < NSIG; ++signal)
    ::sigaction(signal, nullptr, &found_actions[signal]);
  provide_signal_stack();
  for (const int signal : ending) handle(signal, on_ending, SA_RESTART);
  // If the reader of the output disappears, write() fails instead of ending the process silently.
  ::signal(SIGPIPE, SIG_IGN);

  if (!::isatty(input_) || ::tcgetattr(input_, &found) != 0) return;
  terminal = input_;
  reading_ = true;
  raw = found;
  ::cfmakeraw(&raw);
  raw.c_oflag = found.c_oflag;  // a line feed of the simulator still returns the carriage
  static const int at_exit = std::atexit(restore);
  (void)at_exit;
  for (const int signal : crashing) handle(signal, on_crash, 0);
  handle(SIGTSTP, on_stop, SA_RESTART);
  handle(SIGCONT, on_continue, SA_RESTART);
  make_raw();
}

void Terminal::poll() {
  if (signalled != 0) end(End::signal);
  if (!reading_ || ::getpid() != owner) return;
  // A process that began in the background must not change the settings yet.
  if (!is_raw) make_raw();

  pollfd ready{input_, POLLIN, 0};
  if (::poll(&ready, 1, 0) <= 0 || !in_foreground()) return;
  // The keys are read even if the console accepts no input, since Ctrl-A may be among them.
  char keys[256];
  const ssize_t got = ::read(input_, keys, sizeof keys);
  if (got > 0) {
    for (ssize_t i = 0; i < got; ++i) key(keys[i]);
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    reading_ = false;  // hung up
  }
}

void Terminal::key(char byte) {
  if (escaped_) {
    escaped_ = false;
    command(byte);
  } else if (byte == escape) {
    escaped_ = true;
  } else if (!consoles_.empty() && consoles_[current_]->room() > 0) {
    consoles_[current_]->type({&byte, 1});
  }
}

void Terminal::command(char byte) {
  switch (byte) {
    case 'x':
      end(End::key);
      break;
    case 'c':
      if (consoles_.empty()) break;
      current_ = (current_ + 1) % consoles_.size();
      say(fmt::format("the keyboard belongs to {}", consoles_[current_]->name()));
      break;
    case 'h':
    case '?':
      say("Ctrl-A x       end the simulator\n"
          "Ctrl-A c       the keyboard belongs to the next console\n"
          "Ctrl-A h       this help\n"
          "Ctrl-A Ctrl-A  send Ctrl-A");
      break;
    case escape:
      if (!consoles_.empty()) consoles_[current_]->type({&byte, 1});
      break;
    default:
      break;
  }
}

void Terminal::say(std::string_view text) {
  const std::string lines = fmt::format("\n{}\n", text);
  if (::write(output_, lines.data(), lines.size()) < 0) return;  // nobody can be informed
}

void Terminal::end(End reason) {
  if (ended_) return;
  ended_ = true;
  on_end_(reason);
}

}  // namespace vp
