// SPDX-License-Identifier: Apache-2.0
#include "tests/models/oae/rtl_traffic.h"

#include <cstring>

namespace {

constexpr std::uint64_t all_bytes = ~std::uint64_t{0};

}  // namespace

void RtlTraffic::drive() {
  ++now_;
  if (!block_.request_valid && one_of(3) == 0) put_request();
  if (!block_.axi_awvalid && !block_.axi_arvalid && one_of(2) == 0) put_access();
  block_.dma_ready = one_of(4) != 0;
  block_.dma_refused = one_of(8) == 0;
  block_.completion_ready = one_of(4) != 0;
  block_.interrupt_ready = one_of(4) != 0;
  block_.now = now_;
  block_.settle();
}

void RtlTraffic::rise() {
  const bool requested = block_.request_valid && block_.request_ready;
  const bool accessed = block_.axi_awready || block_.axi_arready;
  block_.rise();
  if (requested) block_.request_valid = 0;
  if (accessed) block_.axi_awvalid = block_.axi_wvalid = block_.axi_arvalid = 0;
  if (block_.trace_valid) observe();
}

void RtlTraffic::finish() {
  block_.completion_ready = block_.dma_ready = block_.interrupt_ready = 1;
  while (block_.request_valid || block_.axi_awvalid || block_.axi_arvalid || block_.busy ||
         block_.dma_valid) {
    block_.now = ++now_;
    block_.settle();
    rise();
  }
}

void RtlTraffic::observe() {
  Port& port = ports_[block_.trace_port];
  port.state = block_.trace_to;
  port.epoch = block_.trace_epoch;
  port.sequence = block_.trace_sequence;
  // A commit leaves the firmware's offer for the next swap; all other changes use it up.
  if (port.state != OAE_PORT_STATE_COMMITTED) port.offered = false;
  exchanged += port.state == OAE_PORT_STATE_TENTATIVE;
  committed += port.state == OAE_PORT_STATE_COMMITTED;
  reversed += port.state == OAE_PORT_STATE_REVERSED;
}

/// The header of an offer for the next swap, which is now and then wrong.
Header RtlTraffic::header(Port& port) {
  Header header;
  header.epoch = port.epoch;
  header.sequence = port.sequence + 1;
  if (one_of(4) == 0) header.flags = OAE_FLAG_MORE;
  switch (one_of(40)) {
    case 0:
      header.epoch = static_cast<std::uint8_t>(header.epoch + 1);
      break;
    case 1:
      header.sequence += one_of(3) - 1;
      break;
    case 2:
      header.verb = static_cast<std::uint8_t>(one_of(8));
      break;
    default:
      break;
  }
  return header;
}

RtlTraffic::Request RtlTraffic::write(unsigned bar, std::uint64_t address,
                                      std::uint64_t value) const {
  Request request = read(bar, address, 1);
  request.write = true;
  request.data[address % 64 / 8] = value;
  return request;
}

RtlTraffic::Request RtlTraffic::read(unsigned bar, std::uint64_t address, unsigned words) const {
  const std::uint64_t enable = words == 8 ? all_bytes : (std::uint64_t{1} << 8 * words) - 1;
  return {false, bar, static_cast<unsigned>(address / 64), {}, enable << address % 64};
}

RtlTraffic::Request RtlTraffic::any_request() {
  static constexpr unsigned bars[] = {0, 2, 4};
  const unsigned number = one_of(ports + 1);
  Request request{one_of(2) != 0, bars[one_of(3)], 0, {}, 0};
  for (std::uint64_t& word : request.data) word = one_of(2) ? random_() : one_of(4);
  request.enable = one_of(4) ? std::uint64_t{0xff} << 8 * one_of(8) : random_();
  if (request.bar == 0) {
    request.line = one_of(4) ? OAE_HOST_PORT_CONTROL_AT(number) / 64 : one_of(2);
  } else {
    request.line = OAE_PORT_SIZE / 64 * number + one_of(2);
  }
  return request;
}

/// The next step of a swap on some port.
void RtlTraffic::plan_requests() {
  const unsigned number = one_of(ports);
  Port& port = ports_[number];
  const std::uint64_t page = std::uint64_t{OAE_PORT_SIZE} * number;
  const unsigned bar = one_of(2) ? 2 : 4;
  if (one_of(16) == 0) {
    // It may have lost this to a reset, or to an access at random.
    requests_.push_back(
        write(0, OAE_HOST_PORT_ANSWER_ADDRESS_AT(number), 0x12'3400'0000 + 64 * number));
    requests_.push_back(write(0, OAE_HOST_PORT_EVENT_AT(number), 1 + number));
  }
  if (port.state == OAE_PORT_STATE_CLOSED || port.state == OAE_PORT_STATE_HISTORY_LOST) {
    requests_.push_back(write(0, OAE_HOST_PORT_CONTROL_AT(number), 1));
    return;
  }
  const std::uint64_t named = OAE_PUT(OAE_PORT_CONFIRM_EPOCH, port.epoch) |
                              OAE_PUT(OAE_PORT_CONFIRM_SEQUENCE, port.sequence + (one_of(16) == 0));
  if (port.state == OAE_PORT_STATE_TENTATIVE && one_of(4) != 0) {
    requests_.push_back(one_of(8) == 0 ? write(bar, page + OAE_PORT_REVERSE, reversal(named))
                                       : write(bar, page + OAE_PORT_CONFIRM, confirmation(named)));
    return;
  }
  if (one_of(32) == 0) {
    requests_.push_back(write(bar, page + OAE_PORT_REVERSE, reversal(named)));
    return;
  }
  Header offered = header(port);
  offered.attempt = static_cast<std::uint8_t>(port.attempt++ % 64);
  if (one_of(4) == 0) offered.verb = one_of(2) ? OAE_VERB_SEND : OAE_VERB_FETCH_ADD;
  Request offer = read(bar, page, 8);
  offer.write = true;
  offer.data = make_slot(offered, random_());
  if (offered.verb == OAE_VERB_FETCH_ADD) {
    offer.data[1] = one_of(4);  // a word
    seal(offer.data);
  }
  if (one_of(16) == 0) offer.data[3] ^= 1;
  requests_.push_back(offer);
  requests_.push_back(one_of(2) ? read(2, page + OAE_PORT_PUSHED_ANSWER, 1) : read(4, page, 8));
}

void RtlTraffic::put_request() {
  if (requests_.empty()) plan_requests();
  Request request;
  if (one_of(8) == 0) {
    request = any_request();
  } else {
    request = requests_.front();
    requests_.pop_front();
  }
  block_.request_valid = 1;
  block_.request_reset = one_of(1000) == 0;
  block_.request_write = request.write;
  block_.request_bar = static_cast<std::uint8_t>(request.bar);
  block_.request_line = static_cast<std::uint16_t>(request.line);
  block_.request_enable = request.enable;
  block_.request_class = static_cast<std::uint8_t>(one_of(8));
  std::memcpy(block_.request_data, request.data.data(), 64);
}

RtlTraffic::Access RtlTraffic::any_access() {
  const bool write = one_of(2) != 0;
  std::uint64_t address = OAE_FIRMWARE_OFFER_AT(one_of(ports + 1)) + 8 * one_of(32);
  if (one_of(4) == 0) address = 8 * one_of(16);
  return {write, address, one_of(2) ? random_() : one_of(4)};
}

/// Makes the firmware's offer for the next swap of a port, or takes what is committed. It often
/// leaves that, so that swaps wait behind it.
void RtlTraffic::plan_accesses() {
  const unsigned number = one_of(ports);
  Port& port = ports_[number];
  if (port.offered || port.state == OAE_PORT_STATE_CLOSED ||
      port.state == OAE_PORT_STATE_HISTORY_LOST) {
    // An offer may have been refused, or withdrawn at random; then the firmware offers once more.
    if (one_of(32) == 0) port.offered = false;
    const bool takes = one_of(8) == 0;
    accesses_.push_back(
        {takes, OAE_FIRMWARE_COMMAND_AT(number), takes ? OAE_FIRMWARE_COMMAND_TAKE_MASK : 0});
    return;
  }
  Slot slot = make_slot(header(port), random_());
  for (std::uint64_t& slice : slot) {
    const auto index = static_cast<std::uint64_t>(&slice - slot.data());
    accesses_.push_back({true, OAE_FIRMWARE_OFFER_AT(number) + 8 * index, slice});
  }
  accesses_.push_back({true, OAE_FIRMWARE_COMMAND_AT(number), OAE_FIRMWARE_COMMAND_PUBLISH_MASK});
  port.offered = true;
}

void RtlTraffic::put_access() {
  if (accesses_.empty()) plan_accesses();
  Access access;
  if (one_of(8) == 0) {
    access = any_access();
  } else {
    access = accesses_.front();
    accesses_.pop_front();
  }
  block_.axi_awvalid = block_.axi_wvalid = access.write;
  block_.axi_arvalid = !access.write;
  block_.axi_awaddr = block_.axi_araddr = static_cast<std::uint32_t>(access.address);
  block_.axi_wdata = access.data;
  block_.axi_wstrb = 0xff;
}
