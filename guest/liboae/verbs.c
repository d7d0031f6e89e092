// SPDX-License-Identifier: Apache-2.0
/* The verbs about words of the block and of another cell's, and SEND. */
#include <errno.h>
#include <string.h>

#include "oae.h"
#include "oae_registers.h"

#define STEP_BITS OAE_WORDS_STEPS_INDEX_1_SHIFT

static int verb_of(const struct oae_step *steps, unsigned int count) {
  if (count == 1 && steps[0].operation == OAE_STEP_ADD) return OAE_SWAP_VERB_FETCH_ADD;
  if (count == 2 && steps[0].operation == OAE_STEP_COMPARE &&
      steps[1].operation == OAE_STEP_WRITE && steps[0].word == steps[1].word)
    return OAE_SWAP_VERB_CAS;
  return OAE_SWAP_VERB_MULTI;
}

static int set_steps(struct oae_swap *swap, const struct oae_step *steps, unsigned int count) {
  if (!count || count > OAE_STEPS_MAX) return -EINVAL;
  for (unsigned int i = 0; i < count; i++)
    if (steps[i].operation < OAE_STEP_READ || steps[i].operation > OAE_STEP_COMPARE ||
        steps[i].word > OAE_WORDS_STEPS_INDEX_0_MASK)
      return -EINVAL;
  memset(swap->offer, 0, sizeof(swap->offer));
  for (unsigned int i = 0; i < count; i++) {
    uint64_t what = OAE_PUT(OAE_WORDS_STEPS_INDEX_0, steps[i].word) |
                    OAE_PUT(OAE_WORDS_STEPS_OPERATION_0, steps[i].operation);

    swap->offer[0] |= what << i * STEP_BITS;
    swap->offer[1 + i] = steps[i].operand;
  }
  return 0;
}

int oae_swap_set_steps(struct oae_swap *swap, const struct oae_step *steps, unsigned int count) {
  int error = set_steps(swap, steps, count);

  if (error) return error;
  swap->verb = (uint8_t)verb_of(steps, count);
  /* Verbs of their own say by themselves what is done. */
  if (swap->verb != OAE_SWAP_VERB_MULTI) swap->offer[0] = steps[0].word;
  return 0;
}

int oae_swap_set_remote_steps(struct oae_swap *swap, const struct oae_step *steps,
                              unsigned int count) {
  swap->verb = OAE_SWAP_VERB_REMOTE;
  return set_steps(swap, steps, count);
}

int oae_swap_get_steps(const struct oae_swap *swap, struct oae_step *steps, unsigned int count) {
  switch (swap->status) {
    case OAE_SWAP_STATUS_OK:
      for (unsigned int i = 0; i < count && i < OAE_STEPS_MAX; i++)
        steps[i].found = swap->answer[1 + i];
      /* CAS looks at its word once. */
      if (swap->verb == OAE_SWAP_VERB_CAS && count > 1) steps[1].found = steps[0].found;
      return swap->answer[0] & 1;
    case OAE_SWAP_STATUS_NOT_READY:
      return -EAGAIN;
    case OAE_SWAP_STATUS_BUSY:
      return -EBUSY;
    case OAE_SWAP_STATUS_BAD_VERB:
      return -EINVAL;
    case OAE_SWAP_STATUS_REVERSED:
      return -ECANCELED;
    default:
      return -ENODEV;
  }
}

int oae_swap_get_result(const struct oae_swap *swap, struct oae_step *steps, unsigned int count) {
  int done = oae_swap_get_steps(swap, steps, count);

  if (done < 0) return done;
  if (swap->answer[0] & OAE_RESULT_BUSY) return -EBUSY;
  return swap->answer[0] & OAE_RESULT_BAD ? -EINVAL : done;
}

int oae_port_multi(struct oae_port *port, struct oae_step *steps, unsigned int count) {
  struct oae_swap swap = {.verb = 0};
  int error = oae_swap_set_steps(&swap, steps, count);

  if (!error) error = oae_port_swap(port, &swap);
  return error ? error : oae_swap_get_steps(&swap, steps, count);
}

int oae_port_cas(struct oae_port *port, unsigned int word, uint64_t expected, uint64_t value,
                 uint64_t *found) {
  struct oae_step steps[] = {
      {.operation = OAE_STEP_COMPARE, .word = word, .operand = expected},
      {.operation = OAE_STEP_WRITE, .word = word, .operand = value},
  };
  int done = oae_port_multi(port, steps, 2);

  if (done >= 0 && found) *found = steps[0].found;
  return done;
}

int oae_port_fetch_add(struct oae_port *port, unsigned int word, uint64_t addend,
                       uint64_t *found) {
  struct oae_step step = {.operation = OAE_STEP_ADD, .word = word, .operand = addend};
  int done = oae_port_multi(port, &step, 1);

  if (done < 0) return done;
  if (found) *found = step.found;
  return 0;
}

int oae_port_remote(struct oae_port *port, struct oae_step *steps, unsigned int count,
                    uint64_t timeout_ns) {
  struct oae_swap swap = {.timeout_ns = timeout_ns};
  int result = oae_swap_set_remote_steps(&swap, steps, count);

  if (!result) result = oae_port_swap(port, &swap);
  if (!result) result = oae_swap_get_steps(&swap, NULL, 0);
  if (result < 0) return result;
  result = oae_port_result(port, steps, count, timeout_ns);
  return result == -EAGAIN ? -EINPROGRESS : result;
}

int oae_port_result(struct oae_port *port, struct oae_step *steps, unsigned int count,
                    uint64_t timeout_ns) {
  struct oae_swap swap = {.verb = OAE_SWAP_VERB_RESULT, .timeout_ns = timeout_ns};
  int error = oae_port_swap(port, &swap);

  return error ? error : oae_swap_get_result(&swap, steps, count);
}

int oae_port_send(struct oae_port *port, const uint64_t payload[OAE_PAYLOAD_WORDS],
                  uint64_t timeout_ns) {
  struct oae_swap swap = {.verb = OAE_SWAP_VERB_SEND, .timeout_ns = timeout_ns};
  int error;

  memcpy(swap.offer, payload, sizeof(swap.offer));
  error = oae_port_swap(port, &swap);
  if (!error) error = oae_swap_get_steps(&swap, NULL, 0);
  return error < 0 ? error : 0;
}
