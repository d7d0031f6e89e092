// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/config_request.h"

namespace pcie {

TlpPtr perform(const Tlp& request, ConfigSpace& space, Id completer) {
  const unsigned offset = request.header.register_offset;
  TlpPtr completion = Tlp::completion(request, completer, Status::success);
  if (request.get_command() == tlm::TLM_READ_COMMAND) {
    completion->header.type = TlpType::CplD;
    completion->header.length = 1;
    completion->set_data_length(4);
    const std::uint32_t value = space.read(offset, 4);
    for (unsigned i = 0; i < 4; ++i) completion->data()[i] = value >> 8 * i;
    return completion;
  }
  for (Tlp::Run run = request.next_run(0); !run.empty(); run = request.next_run(run.end)) {
    std::uint32_t value = 0;
    for (unsigned i = run.begin; i < run.end; ++i) {
      value |= std::uint32_t{request.data()[i]} << 8 * (i - run.begin);
    }
    space.write(offset + run.begin, run.end - run.begin, value);
  }
  return completion;
}

}  // namespace pcie
