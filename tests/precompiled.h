// SPDX-License-Identifier: Apache-2.0
// Headers of libraries that most tests include. The build compiles them once (tests/CMakeLists.txt). A test still
// includes what it uses.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>
