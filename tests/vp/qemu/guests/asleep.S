// SPDX-License-Identifier: Apache-2.0
// Sleeps, and nothing wakes it.
.include "ipu.inc"
begin
1:
  wfi
  b 1b
