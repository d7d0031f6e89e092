// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "oae.h"

const char *oae_error_text(int error) {
  switch (error) {
    case 0:
      return "no error";
    case -ENOENT:
    case -ENXIO:
      return "no such swap port (is the driver loaded, and is there such a device?)";
    case -ENODEV:
      return "the device is gone";
    case -EBUSY:
      return "in use, the port by somebody or a word by a swap";
    case -EIO:
      return "the device does not answer, or the answer is in doubt";
    case -EPROTO:
      return "the other side speaks another protocol";
    case -ETIMEDOUT:
      return "no reply in time";
    case -ENOTTY:
      return "not a swap port";
    case -ENODATA:
      return "no swap is in doubt, or its epoch has ended";
    case -EAGAIN:
      return "not ready: the firmware makes no offer, or takes none";
    case -EINPROGRESS:
      return "asked for, and the result has not come yet";
    case -ECANCELED:
      return "it was reversed";
    case -EREMOTEIO:
      return "lost: nobody knows whether the steps took effect in the other cell";
    case -EOPNOTSUPP:
      return "the device does not have this form of the swap, or this verb, or does not tell fates";
    default:
      return strerror(-error);
  }
}

static const char *name_of(const char *const *names, size_t count, unsigned int value) {
  return value < count ? names[value] : "unknown";
}

const char *oae_status_name(unsigned int status) {
  static const char *const names[] = {
      [OAE_SWAP_STATUS_OK] = "committed",
      [OAE_SWAP_STATUS_NOT_READY] = "not ready",
      [OAE_SWAP_STATUS_BUSY] = "busy",
      [OAE_SWAP_STATUS_HISTORY_LOST] = "history lost",
      [OAE_SWAP_STATUS_REVERSED] = "reversed",
      [OAE_SWAP_STATUS_BAD_VERB] = "bad verb",
  };
  return name_of(names, sizeof(names) / sizeof(*names), status);
}

const char *oae_form_name(unsigned int form) {
  static const char *const names[] = {
      [OAE_SWAP_FORM_PUSHED] = "pushed",
      [OAE_SWAP_FORM_STREAMED] = "streamed",
  };
  return name_of(names, sizeof(names) / sizeof(*names), form);
}

const char *oae_fate_name(unsigned int fate) {
  static const char *const names[] = {
      [OAE_FATE_PENDING] = "pending",
      [OAE_FATE_DELIVERED] = "delivered",
      [OAE_FATE_LOST] = "lost",
  };
  return name_of(names, sizeof(names) / sizeof(*names), fate);
}

const char *oae_verb_name(unsigned int verb) {
  static const char *const names[] = {
      [0] = "none",
      [OAE_SWAP_VERB_SWAP] = "swap",
      [OAE_SWAP_VERB_CAS] = "cas",
      [OAE_SWAP_VERB_FETCH_ADD] = "fetch_add",
      [OAE_SWAP_VERB_MULTI] = "multi",
      [OAE_SWAP_VERB_SEND] = "send",
      [OAE_SWAP_VERB_REMOTE] = "remote",
      [OAE_SWAP_VERB_RESULT] = "result",
  };
  return name_of(names, sizeof(names) / sizeof(*names), verb);
}

const char *oae_state_name(unsigned int state) {
  /* As port_state in rtl/registers/host.yaml. */
  static const char *const names[] = {"closed",    "idle",     "tentative",
                                      "committed", "reversed", "history lost"};
  return name_of(names, sizeof(names) / sizeof(*names), state);
}
