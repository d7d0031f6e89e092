// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/console/sink.h"

namespace vp {

/// A pseudo-terminal to which the user attaches a terminal program, at any time and repeatedly.
/// It keeps the last 64 KiB of output that no program has read.
class PseudoTerminal : public Sink {
 public:
  /// Throws ConsoleError.
  PseudoTerminal();
  ~PseudoTerminal() override;
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  /// The path to which a terminal program attaches, such as /dev/pts/3.
  const std::string& path() const { return path_; }

  void write(std::string_view bytes) override;
  void read(std::string& input, std::size_t room) override;

 private:
  void drain();

  int master_ = -1;
  int slave_ = -1;  // kept open, so that the terminal outlives the programs that attach to it
  std::string path_;
  std::string backlog_;
};

}  // namespace vp
