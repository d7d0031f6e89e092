// SPDX-License-Identifier: Apache-2.0
// Its exception vectors are where there is no memory: after the first exception there are only more.
.include "ipu.inc"
begin
  ldr x12, =0x20000000000
  msr vbar_el2, x12
  isb
  udf #0
