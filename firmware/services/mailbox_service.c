/* SPDX-License-Identifier: Apache-2.0 */
#include "services/mailbox_service.h"

#include "base/mmio.h"
#include "oae_registers.h"
#include "version.h"

#define ARGUMENTS (OAE_MAILBOX_REQUEST_COUNT - 1)

struct request {
  uint64_t command;
  uint64_t arguments[ARGUMENTS];
};

struct reply {
  uint64_t result;
  uint64_t values[ARGUMENTS];
};

static void port_statistics(const struct request* request, struct reply* reply,
                            const struct swap_service* swaps, bool polling) {
  const struct swap_port* port;

  if (request->arguments[0] >= swaps->count) {
    reply->result = OAE_MAILBOX_RESULT_BAD_ARGUMENT;
    return;
  }
  port = &swaps->ports[request->arguments[0]];
  reply->values[0] = port->exchanged;
  reply->values[1] = port->committed;
  reply->values[2] = port->reversed;
  reply->values[3] = port->bad_offers;
  reply->values[4] = swaps->liveness;
  reply->values[5] = polling;
}

void mailbox_serve(uintptr_t mailbox, const struct swap_service* swaps, bool polling) {
  struct request request;
  struct reply reply = {.result = OAE_MAILBOX_RESULT_OK};

  if (!(mmio_read64(mailbox + OAE_MAILBOX_STATUS) & OAE_MAILBOX_STATUS_REQUESTED_MASK)) return;
  request.command = mmio_read64(mailbox + OAE_MAILBOX_REQUEST);
  for (unsigned i = 0; i < ARGUMENTS; i++)
    request.arguments[i] = mmio_read64(mailbox + OAE_MAILBOX_REQUEST_AT(i + 1));

  switch (request.command) {
    case OAE_MAILBOX_COMMAND_ECHO:
      for (unsigned i = 0; i < ARGUMENTS; i++) reply.values[i] = request.arguments[i];
      break;
    case OAE_MAILBOX_COMMAND_PORT_STATISTICS:
      port_statistics(&request, &reply, swaps, polling);
      break;
    case OAE_MAILBOX_COMMAND_VERSION:
      reply.values[0] = FIRMWARE_VERSION_NUMBER;
      break;
    default:
      reply.result = OAE_MAILBOX_RESULT_UNKNOWN_COMMAND;
      break;
  }

  mmio_write64(mailbox + OAE_MAILBOX_REPLY, reply.result);
  for (unsigned i = 0; i < ARGUMENTS; i++)
    mmio_write64(mailbox + OAE_MAILBOX_REPLY_AT(i + 1), reply.values[i]);
  mmio_write64(mailbox + OAE_MAILBOX_DOORBELL, OAE_MAILBOX_DOORBELL_RING_MASK);
}
