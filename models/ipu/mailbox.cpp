// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/mailbox.h"

#include "oae_registers.h"

namespace ipu {
namespace {

constexpr std::uint64_t request_end = OAE_MAILBOX_REQUEST_AT(OAE_MAILBOX_REQUEST_COUNT);
constexpr std::uint64_t reply_end = OAE_MAILBOX_REPLY_AT(OAE_MAILBOX_REPLY_COUNT);
static_assert(OAE_MAILBOX_REQUEST == 0 && request_end == OAE_MAILBOX_REPLY);

constexpr std::uint64_t vector_mask =
    OAE_MAILBOX_VECTOR_VECTOR_MASK | OAE_MAILBOX_VECTOR_ENABLE_MASK;

}  // namespace

Mailbox::Mailbox(const sc_core::sc_module_name& name, vp::Domain& domain, unsigned line)
    : RegisterBlock(name, 8),
      host("host"),
      irq("irq", line),
      interrupt("interrupt"),
      signal_(domain, [this] {
        interrupt->signal(static_cast<unsigned>(OAE_GET(vector_, OAE_MAILBOX_VECTOR_VECTOR)));
      }) {
  host.register_nb_transport_fw(this, &Mailbox::nb_transport_fw);
  version_ = &changes_;
}

void Mailbox::reset() {
  ++changes_;
  signal_.cancel();
  request_ = {};
  reply_ = {};
  requested_ = false;
  replied_ = false;
  vector_ = 0;
  irq.set(false);
}

std::optional<std::uint64_t> Mailbox::read(std::uint64_t offset) {
  if (offset < request_end) return request_[offset / 8];
  if (offset < reply_end) return reply_[(offset - OAE_MAILBOX_REPLY) / 8];
  switch (offset) {
    case OAE_MAILBOX_DOORBELL:
      return 0;
    case OAE_MAILBOX_STATUS:
      return OAE_PUT(OAE_MAILBOX_STATUS_REQUESTED, requested_) |
             OAE_PUT(OAE_MAILBOX_STATUS_REPLIED, replied_);
    case OAE_MAILBOX_VECTOR:
      return vector_;
    default:
      return std::nullopt;
  }
}

bool Mailbox::write(Side side, std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                    vp::Picoseconds delay) {
  ++changes_;
  if (offset < request_end) {
    std::uint64_t& word = request_[offset / 8];
    word = merge(word, value, mask);
    return true;
  }
  if (offset < reply_end) {
    std::uint64_t& word = reply_[(offset - OAE_MAILBOX_REPLY) / 8];
    word = merge(word, value, mask);
    return true;
  }
  switch (offset) {
    case OAE_MAILBOX_DOORBELL:
      if (value & OAE_MAILBOX_DOORBELL_RING_MASK) {
        if (side == Side::host) {
          request();
        } else {
          answer(delay);
        }
      }
      return true;
    case OAE_MAILBOX_STATUS:
      return true;
    case OAE_MAILBOX_VECTOR:
      vector_ = merge(vector_, value, mask & vector_mask);
      return true;
    default:
      return false;
  }
}

void Mailbox::request() {
  ++requests_;
  requested_ = true;
  replied_ = false;
  irq.set(true);
}

void Mailbox::answer(vp::Picoseconds delay) {
  if (!requested_) return;
  requested_ = false;
  replied_ = true;
  irq.set(false);
  if (vector_ & OAE_MAILBOX_VECTOR_ENABLE_MASK) signal_.after(delay);
}

bool Mailbox::write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                    vp::Picoseconds delay) {
  return write(Side::firmware, offset, value, mask, delay);
}

std::optional<std::uint64_t> Mailbox::HostSide::read(std::uint64_t offset) {
  return mailbox.read(offset);
}

bool Mailbox::HostSide::write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                              vp::Picoseconds delay) {
  return mailbox.write(Side::host, offset, value, mask, delay);
}

tlm::tlm_sync_enum Mailbox::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                            sc_core::sc_time& delay) {
  access(host_side_, 8, payload, static_cast<vp::Picoseconds>(delay.value()));
  // An access that a register exists for but does not support ends as Completer Abort.
  const tlm::tlm_response_status status = payload.get_response_status();
  if (status != tlm::TLM_OK_RESPONSE && status != tlm::TLM_ADDRESS_ERROR_RESPONSE) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  return tlm::TLM_COMPLETED;
}

}  // namespace ipu
