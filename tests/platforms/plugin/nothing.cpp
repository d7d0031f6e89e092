// SPDX-License-Identifier: Apache-2.0
// A library that registers no kind.
extern "C" int nothing() {
  return 0;
}
