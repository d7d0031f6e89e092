// SPDX-License-Identifier: Apache-2.0
#include "vp/console/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>

#if defined(__SANITIZE_ADDRESS__)
// This file tests crashes.
extern "C" const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:"
         "use_sigaltstack=0";
}
#endif

namespace vp {
namespace {

using namespace std::chrono_literals;

/// A user at a terminal, a shell with job control, and a simulator that the shell runs.
///
/// The simulator reports its actions in lines: "ready", "host:KEYS", "ipu:KEYS", "end key". The
/// shell reports the state of its job: "stopped", "exited N", "killed N".
class Session {
 public:
  enum class Finish { destroys, exits, aborts, faults, overflows, forks };

  explicit Session(Finish finish = Finish::destroys, bool background = false) {
    int report[2], orders[2];
    EXPECT_EQ(::pipe(report), 0);
    EXPECT_EQ(::pipe(orders), 0);
    shell_ = ::forkpty(&keyboard_, nullptr, nullptr, nullptr);
    if (shell_ < 0) throw std::runtime_error("no pseudo-terminal");
    if (shell_ == 0) {
      report_ = report[1];
      orders_ = orders[0];
      ::close(orders[1]);
      shell(finish, background);
    }
    report_ = report[0];
    orders_ = orders[1];
    ::close(report[1]);
    ::close(orders[0]);
    job_ = static_cast<pid_t>(std::stol(line().substr(4)));
    found_ = settings();
  }

  ~Session() {
    ::kill(job_, SIGKILL);
    ::kill(shell_, SIGKILL);
    ::waitpid(shell_, nullptr, 0);
    for (const int file : {keyboard_, report_, orders_}) ::close(file);
  }

  void press(const std::string& keys) {
    EXPECT_EQ(::write(keyboard_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void signal(int number) { EXPECT_EQ(::kill(job_, number), 0); }
  void foreground() { order('f'); }
  void background() { order('b'); }
  /// Continues the job, which gets the terminal at the next foreground().
  void foreground_later() { order('l'); }

  /// Returns the next line of the report, or "nothing" after a while.
  std::string line() {
    std::string line;
    const auto limit = std::chrono::steady_clock::now() + 10s;
    for (char byte = 0; byte != '\n';) {
      pollfd ready{report_, POLLIN, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          limit - std::chrono::steady_clock::now());
      if (left <= 0ms || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return "nothing";
      if (::read(report_, &byte, 1) != 1) return "nothing";
      if (byte != '\n') line.push_back(byte);
    }
    return line;
  }

  bool silent() {
    pollfd ready{report_, POLLIN, 0};
    return ::poll(&ready, 1, 30) == 0;
  }

  /// Returns what the terminal shows, as far as it arrives within a moment.
  std::string screen() {
    std::string text;
    pollfd ready{keyboard_, POLLIN, 0};
    while (::poll(&ready, 1, 50) > 0) {
      char bytes[1024];
      const ssize_t got = ::read(keyboard_, bytes, sizeof bytes);
      if (got <= 0) break;
      text.append(bytes, static_cast<std::size_t>(got));
    }
    return text;
  }

  bool raw() const {
    const termios now = settings();
    return (now.c_lflag & (ICANON | ECHO | ISIG)) == 0 && (now.c_iflag & (ICRNL | IXON)) == 0 &&
           (now.c_oflag & OPOST) != 0;
  }
  bool restored() const {
    const termios now = settings();
    return now.c_lflag == found_.c_lflag && now.c_iflag == found_.c_iflag &&
           now.c_oflag == found_.c_oflag && now.c_cflag == found_.c_cflag;
  }
  /// Changes the settings, as another process might.
  void meddle() {
    termios now = settings();
    now.c_lflag |= ECHO | ICANON;
    ::tcsetattr(keyboard_, TCSANOW, &now);
  }
  void hang_up() {
    ::close(keyboard_);
    keyboard_ = -1;
  }

 private:
  termios settings() const {
    termios now = {};
    EXPECT_EQ(::tcgetattr(keyboard_, &now), 0);
    return now;
  }

  void order(char what) { EXPECT_EQ(::write(orders_, &what, 1), 1); }

  void report(const std::string& text) {
    const std::string line = text + "\n";
    if (::write(report_, line.data(), line.size()) < 0) ::_exit(1);
  }

  [[noreturn]] void shell(Finish finish, bool background) {
    ::signal(SIGTTOU, SIG_IGN);
    const pid_t job = ::fork();
    if (job < 0) ::_exit(1);
    if (job == 0) {
      ::setpgid(0, 0);
      ::signal(SIGTTOU, SIG_DFL);
      char go;
      if (::read(orders_, &go, 1) != 1) ::_exit(1);
      simulator(finish);
    }
    ::setpgid(job, job);
    if (!background) ::tcsetpgrp(0, job);
    report("job " + std::to_string(job));
    for (;;) {
      // Its process number is not reused until the session ends.
      siginfo_t change = {};
      ::waitid(P_PID, static_cast<id_t>(job), &change, WEXITED | WSTOPPED | WNOWAIT);
      const std::string status = std::to_string(change.si_status);
      if (change.si_code == CLD_EXITED) report("exited " + status);
      if (change.si_code == CLD_KILLED || change.si_code == CLD_DUMPED) report("killed " + status);
      if (change.si_code != CLD_STOPPED) break;
      ::waitid(P_PID, static_cast<id_t>(job), &change, WSTOPPED);
      ::tcsetpgrp(0, ::getpgrp());
      report("stopped");
      char what = 0;
      if (::read(orders_, &what, 1) != 1) break;
      if (what == 'f') ::tcsetpgrp(0, job);
      ::kill(job, SIGCONT);
      if (what == 'l' && ::read(orders_, &what, 1) == 1) ::tcsetpgrp(0, job);
    }
    for (;;) ::pause();  // keeps the terminal until the test has examined it
  }

  [[noreturn]] void simulator(Finish finish) {
    Console host("host"), ipu("ipu");
    for (Console* console : {&host, &ipu}) {
      console->on_input([this, console] {
        std::string keys;
        while (console->has_input()) keys.push_back(console->read());
        report(console->name() + ":" + keys);
      });
    }
    bool ended = false;
    {
      Terminal terminal([&](Terminal::End reason) {
        report(reason == Terminal::End::key ? "end key" : "end signal");
        ended = true;
      });
      terminal.add(host);
      terminal.add(ipu);
      terminal.start();
      report("ready");
      while (!ended) {
        terminal.poll();
        ::usleep(500);
      }
      finish_as(finish);
    }
    ::_exit(7);
  }

  static int overflow(volatile int* depth) {
    volatile int here[1024];
    here[0] = *depth + 1;
    return here[0] == 0 ? 0 : overflow(here) + here[0];
  }

  void finish_as(Finish finish) {
    switch (finish) {
      case Finish::destroys:
        break;
      case Finish::exits:
        std::exit(8);
      case Finish::aborts:
        std::abort();
      case Finish::faults:
        *static_cast<volatile int*>(
            ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) = 0;
        break;
      case Finish::overflows: {
        volatile int depth = 0;
        overflow(&depth);
        break;
      }
      case Finish::forks: {
        const pid_t child = ::fork();
        if (child == 0) std::exit(0);
        ::waitpid(child, nullptr, 0);
        report("child gone");
        char what;
        if (::read(orders_, &what, 1) != 1) ::_exit(1);
        break;
      }
    }
  }

 public:
  /// The job waits for this before it starts.
  void go() { order('g'); }

 private:
  int keyboard_ = -1;
  int report_ = -1;
  int orders_ = -1;
  pid_t shell_ = 0;
  pid_t job_ = 0;
  termios found_ = {};
};

/// Starts the job and waits until the simulator has the terminal.
void begin(Session& session) {
  session.go();
  EXPECT_EQ(session.line(), "ready");
  EXPECT_TRUE(session.raw());
}

TEST(TerminalTest, KeysGoToTheGuestOneByOne) {
  Session session;
  begin(session);
  session.press("l");
  EXPECT_EQ(session.line(), "host:l");
  session.press("\x03");  // Ctrl-C
  EXPECT_EQ(session.line(), "host:\x03");
  session.press("\x1a");  // Ctrl-Z
  EXPECT_EQ(session.line(), "host:\x1a");
  session.press("\x1c");  // Ctrl-backslash
  EXPECT_EQ(session.line(), "host:\x1c");
  session.press("\x04");  // Ctrl-D
  EXPECT_EQ(session.line(), "host:\x04");
  session.press("\r");
  EXPECT_EQ(session.line(), "host:\r");
  EXPECT_EQ(session.screen(), "");  // the guest makes the echo
}

TEST(TerminalTest, CtrlAXEndsAndTheSettingsComeBack) {
  Session session;
  begin(session);
  session.press("\x01x");
  EXPECT_EQ(session.line(), "end key");
  EXPECT_EQ(session.line(), "exited 7");
  EXPECT_TRUE(session.restored());
}

TEST(TerminalTest, CtrlATwiceSendsIt) {
  Session session;
  begin(session);
  session.press("\x01\x01");
  EXPECT_EQ(session.line(), "host:\x01");
  session.press("x");
  EXPECT_EQ(session.line(), "host:x");
}

TEST(TerminalTest, CtrlACGivesTheKeyboardToTheNextConsole) {
  Session session;
  begin(session);
  session.press(
      "\x01"
      "c");
  session.press("a");
  EXPECT_EQ(session.line(), "ipu:a");
  EXPECT_EQ(session.screen(), "\r\nthe keyboard belongs to ipu\r\n");
  session.press("\x01\x01");
  EXPECT_EQ(session.line(), "ipu:\x01");
  session.press(
      "\x01"
      "cb");
  EXPECT_EQ(session.line(), "host:b");
}

TEST(TerminalTest, CtrlAHHelps) {
  Session session;
  begin(session);
  session.press("\x01h");
  const std::string screen = session.screen();
  for (const char* keys : {"Ctrl-A x", "Ctrl-A c", "Ctrl-A h", "Ctrl-A Ctrl-A"}) {
    EXPECT_NE(screen.find(keys), screen.npos) << keys;
  }
  EXPECT_TRUE(session.silent());
}

TEST(TerminalTest, OtherKeysAfterCtrlADoNothing) {
  Session session;
  begin(session);
  session.press("\x01q\x01\x03\x01\r");
  EXPECT_TRUE(session.silent());
  session.press("a");
  EXPECT_EQ(session.line(), "host:a");
}

TEST(TerminalTest, CtrlAMayBeSplitFromItsKey) {
  Session session;
  begin(session);
  session.press("\x01");
  EXPECT_TRUE(session.silent());
  session.press("x");
  EXPECT_EQ(session.line(), "end key");
}

TEST(TerminalTest, SignalsEndTheRunAndTheSettingsComeBack) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Session session;
    begin(session);
    session.signal(number);
    EXPECT_EQ(session.line(), "end signal") << number;
    EXPECT_EQ(session.line(), "exited 7") << number;
    EXPECT_TRUE(session.restored()) << number;
  }
}

TEST(TerminalTest, AProcessThatExitsRestores) {
  Session session(Session::Finish::exits);
  begin(session);
  session.press("\x01x");
  EXPECT_EQ(session.line(), "end key");
  EXPECT_EQ(session.line(), "exited 8");
  EXPECT_TRUE(session.restored());
}

TEST(TerminalTest, AProcessThatCrashesRestoresAndDiesOfItsSignal) {
  struct Case {
    Session::Finish finish;
    int number;
  };
  for (const Case& crash :
       {Case{Session::Finish::aborts, SIGABRT}, Case{Session::Finish::faults, SIGSEGV},
        Case{Session::Finish::overflows, SIGSEGV}}) {
    Session session(crash.finish);
    begin(session);
    session.press("\x01x");
    EXPECT_EQ(session.line(), "end key");
    EXPECT_EQ(session.line(), "killed " + std::to_string(crash.number));
    EXPECT_TRUE(session.restored()) << crash.number;
  }
}

TEST(TerminalTest, ACrashSignalFromOutsideKillsToo) {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    Session session;
    begin(session);
    session.signal(number);
    EXPECT_EQ(session.line(), "killed " + std::to_string(number));
    EXPECT_TRUE(session.restored()) << number;
  }
}

TEST(TerminalTest, ASecondSignalDoesNotWaitForTheEnd) {
  // After the end this simulator does not poll again, and waits for commands of the test.
  Session session(Session::Finish::forks);
  begin(session);
  session.signal(SIGINT);
  EXPECT_EQ(session.line(), "end signal");
  EXPECT_EQ(session.line(), "child gone");
  EXPECT_TRUE(session.raw());
  session.signal(SIGTERM);
  EXPECT_EQ(session.line(), "killed " + std::to_string(SIGTERM));
  EXPECT_TRUE(session.restored());
}

TEST(TerminalTest, AForkedChildLeavesTheSettingsAlone) {
  Session session(Session::Finish::forks);
  begin(session);
  session.press("\x01x");
  EXPECT_EQ(session.line(), "end key");
  EXPECT_EQ(session.line(), "child gone");
  EXPECT_TRUE(session.raw());
}

TEST(TerminalTest, StoppedItRestoresAndContinuedItIsRawAgain) {
  Session session;
  begin(session);
  for (int i = 0; i < 3; ++i) {
    session.signal(SIGTSTP);
    EXPECT_EQ(session.line(), "stopped");
    EXPECT_TRUE(session.restored());
    session.foreground();
    session.press("a");
    EXPECT_EQ(session.line(), "host:a");
    EXPECT_TRUE(session.raw());
  }
  session.press("\x01x");
  EXPECT_EQ(session.line(), "end key");
  EXPECT_EQ(session.line(), "exited 7");
  EXPECT_TRUE(session.restored());
}

TEST(TerminalTest, StoppedWithoutWarningItIsRawAgain) {
  Session session;
  begin(session);
  session.signal(SIGSTOP);
  EXPECT_EQ(session.line(), "stopped");
  session.meddle();
  session.foreground();
  session.press("a");
  EXPECT_EQ(session.line(), "host:a");
  EXPECT_TRUE(session.raw());
}

TEST(TerminalTest, ContinuedInTheBackgroundItLeavesTheTerminalAlone) {
  Session session;
  begin(session);
  session.signal(SIGTSTP);
  EXPECT_EQ(session.line(), "stopped");
  session.background();
  session.press("for the shell\n");
  EXPECT_TRUE(session.silent());
  EXPECT_TRUE(session.restored());
  session.signal(SIGTERM);
  EXPECT_EQ(session.line(), "end signal");
  EXPECT_EQ(session.line(), "exited 7");
  EXPECT_TRUE(session.restored());
}

TEST(TerminalTest, BroughtToTheForegroundWhileItRunsItIsRawAgain) {
  Session session;
  begin(session);
  session.signal(SIGSTOP);
  EXPECT_EQ(session.line(), "stopped");
  session.meddle();
  session.foreground_later();
  EXPECT_TRUE(session.silent());
  EXPECT_FALSE(session.raw());
  session.foreground();
  EXPECT_TRUE(session.silent());
  EXPECT_TRUE(session.raw());
  session.press("a");
  EXPECT_EQ(session.line(), "host:a");
}

TEST(TerminalTest, BegunInTheBackgroundItRunsAndLeavesTheTerminalAlone) {
  Session session(Session::Finish::destroys, true);
  session.go();
  EXPECT_EQ(session.line(), "ready");
  EXPECT_TRUE(session.silent());
  EXPECT_TRUE(session.restored());
  session.signal(SIGINT);
  EXPECT_EQ(session.line(), "end signal");
}

/// A simulator whose standard input is `input`; it ends by a signal, with exit code 7.
pid_t simulator_reading(int input) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  Console host("host");
  host.on_input([] { ::_exit(1); });
  bool ended = false;
  Terminal terminal([&](Terminal::End) { ended = true; }, input);
  terminal.add(host);
  terminal.start();
  while (!ended) {
    terminal.poll();
    ::usleep(500);
  }
  ::_exit(7);
}

TEST(TerminalTest, OtherInputThanATerminalIsLeftAloneAndCtrlCEnds) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "ls\n", 3), 3);
  const pid_t child = simulator_reading(ends[0]);
  ASSERT_GT(child, 0);
  ::usleep(30'000);
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  char bytes[8] = "";
  EXPECT_EQ(::read(ends[0], bytes, sizeof bytes), 3);
  EXPECT_STREQ(bytes, "ls\n");
}

TEST(TerminalTest, OnlyOneExistsAtATime) {
  const auto nothing = [](Terminal::End) {};
  {
    Terminal terminal(nothing);
    EXPECT_THROW(Terminal second(nothing), std::logic_error);
  }
  Terminal again(nothing);
}

TEST(TerminalTest, SignalHandlersAreRestored) {
  ::signal(SIGTERM, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    Terminal terminal([](Terminal::End) {}, ends[0]);
    terminal.start();
    struct sigaction action;
    ::sigaction(SIGTERM, nullptr, &action);
    EXPECT_NE(action.sa_handler, SIG_IGN);
  }
  struct sigaction action;
  ::sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
  ::sigaction(SIGINT, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace vp
