// SPDX-License-Identifier: Apache-2.0
#include "models/axi/burst.h"

namespace axi {

const char* Burst::problem(unsigned bus, bool& rule) const {
  rule = true;
  if (size > bus) return "a beat is larger than the data pins";
  switch (type) {
    case fixed:
      // A FIFO has one address, and memory that is reached by PCIe is no FIFO.
      rule = false;
      return beats == 1 ? nullptr : "a FIXED burst has several beats";
    case incrementing:
      break;
    case wrapping:
      if (beats != 2 && beats != 4 && beats != 8 && beats != 16) {
        return "a WRAP burst has neither 2, 4, 8 nor 16 beats";
      }
      if ((address & (size - 1)) != 0) return "a WRAP burst is not aligned to its size";
      return nullptr;  // what it wraps at is at most 2 KiB
    default:
      return "the type of a burst is reserved";
  }
  if ((address & (most_bytes - 1)) + length() > most_bytes) {
    return "a burst crosses a multiple of 4 KiB";
  }
  return nullptr;
}

}  // namespace axi
