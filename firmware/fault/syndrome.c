/* SPDX-License-Identifier: Apache-2.0 */
#include "fault/syndrome.h"

#define CLASS(esr) ((esr) >> 26 & 0x3f)
#define STATUS(esr) ((esr)&0x3f)
#define WRITE (1u << 6) /* WnR of a data abort */

enum {
  FETCH_ABORT_EL0 = 0x20,
  FETCH_ABORT = 0x21,
  DATA_ABORT_EL0 = 0x24,
  DATA_ABORT = 0x25,
};

const char* syndrome_class(uint64_t esr) {
  switch (CLASS(esr)) {
    case 0x00:
      return "unknown instruction";
    case 0x01:
      return "trapped WFI or WFE";
    case 0x07:
      return "trapped floating point";
    case 0x0e:
      return "illegal execution state";
    case 0x15:
      return "supervisor call";
    case 0x16:
      return "hypervisor call";
    case 0x17:
      return "secure monitor call";
    case 0x18:
      return "trapped system register";
    case 0x19:
      return "trapped SVE";
    case FETCH_ABORT_EL0:
    case FETCH_ABORT:
      return "instruction abort";
    case 0x22:
      return "misaligned PC";
    case DATA_ABORT_EL0:
    case DATA_ABORT:
      return "data abort";
    case 0x26:
      return "misaligned SP";
    case 0x2f:
      return "SError";
    case 0x30:
    case 0x31:
      return "breakpoint";
    case 0x32:
    case 0x33:
      return "software step";
    case 0x34:
    case 0x35:
      return "watchpoint";
    case 0x3c:
      return "BRK instruction";
    default:
      return "exception";
  }
}

bool syndrome_is_abort(uint64_t esr) {
  switch (CLASS(esr)) {
    case FETCH_ABORT_EL0:
    case FETCH_ABORT:
    case DATA_ABORT_EL0:
    case DATA_ABORT:
      return true;
    default:
      return false;
  }
}

const char* syndrome_status(uint64_t esr) {
  switch (STATUS(esr)) {
    case 0x00:
    case 0x01:
    case 0x02:
    case 0x03:
      return "address size fault";
    case 0x04:
      return "translation fault, level 0";
    case 0x05:
      return "translation fault, level 1";
    case 0x06:
      return "translation fault, level 2";
    case 0x07:
      return "translation fault, level 3";
    case 0x08:
    case 0x09:
    case 0x0a:
    case 0x0b:
      return "access flag fault";
    case 0x0c:
    case 0x0d:
    case 0x0e:
    case 0x0f:
      return "permission fault";
    case 0x10:
      return "external abort";
    case 0x14:
    case 0x15:
    case 0x16:
    case 0x17:
      return "external abort on a table walk";
    case 0x21:
      return "alignment fault";
    case 0x30:
      return "TLB conflict";
    default:
      return "fault";
  }
}

const char* syndrome_access(uint64_t esr) {
  if (CLASS(esr) == FETCH_ABORT || CLASS(esr) == FETCH_ABORT_EL0) return "fetch";
  return esr & WRITE ? "write" : "read";
}
