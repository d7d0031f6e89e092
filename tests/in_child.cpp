// SPDX-License-Identifier: Apache-2.0
#include "tests/in_child.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace vp {

std::string in_child(const std::function<std::string()>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string result = work();
    for (std::size_t done = 0; done < result.size();) {
      const ssize_t written = write(ends[1], result.data() + done, result.size() - done);
      if (written <= 0) _exit(1);
      done += static_cast<std::size_t>(written);
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  close(ends[1]);
  std::string result;
  char buffer[65536];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    result.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  return result;
}

}  // namespace vp
