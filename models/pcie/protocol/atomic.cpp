// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/atomic.h"

#include <cstring>

namespace pcie {

std::optional<TlpType> tlp_type_of(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::none:
      break;
    case AtomicOperation::fetch_add:
      return TlpType::FetchAdd;
    case AtomicOperation::swap:
      return TlpType::Swap;
    case AtomicOperation::compare_and_swap:
      return TlpType::CAS;
  }
  return {};
}

unsigned operand_bytes(TlpType type, unsigned bytes) {
  const bool two = type == TlpType::CAS;
  const unsigned one = two ? bytes / 2 : bytes;
  if (!is_atomic(type) || (two && bytes % 2 != 0)) return 0;
  return one == 4 || one == 8 || (two && one == 16) ? one : 0;
}

bool execute(TlpType type, std::uint8_t* target, const std::uint8_t* operands, unsigned bytes) {
  switch (type) {
    case TlpType::FetchAdd: {
      unsigned carry = 0;
      for (unsigned i = 0; i < bytes; ++i) {
        carry += unsigned{target[i]} + operands[i];
        target[i] = carry;
        carry >>= 8;
      }
      return true;
    }
    case TlpType::Swap:
      std::memcpy(target, operands, bytes);
      return true;
    case TlpType::CAS:
      if (std::memcmp(target, operands, bytes) != 0) return false;
      std::memcpy(target, operands + bytes, bytes);
      return true;
    default:
      return false;
  }
}

TlpPtr complete_atomic(const Tlp& request, Id completer) {
  const unsigned bytes = operand_bytes(request.header.type, request.payload_bytes());
  TlpPtr completion = Tlp::completion(request, completer, Status::success);
  TlpHeader& header = completion->header;
  header.type = TlpType::CplD;
  header.length = bytes / 4;
  header.byte_count = bytes;
  completion->set_data_length(bytes);
  std::memcpy(completion->data(), request.data(), bytes);
  return completion;
}

}  // namespace pcie
