/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liboae: bilateral swaps with an IPU over PCIe, through the driver oae.ko.
 *
 *   struct oae_port *port;
 *   struct oae_swap swap = {.verb = OAE_SWAP_VERB_SWAP, .timeout_ns = 1000000};
 *   int error = oae_port_open("/dev/oae0p0", &port);
 *   if (!error) error = oae_port_swap(port, &swap);
 *   if (error) fprintf(stderr, "%s\n", oae_error_text(error));
 *
 * Functions return 0, or a negative errno value; a pointer that they fill in is left alone then. A
 * port may be used by several threads. Structures and what each error means: linux/oae.h.
 */
#ifndef LIBOAE_OAE_H
#define LIBOAE_OAE_H

#include <stddef.h>
#include <stdint.h>
#include <linux/oae.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open swap port. */
struct oae_port;

/* Writes the name of a port's device, "/dev/oae<DEVICE>p<PORT>". -ENAMETOOLONG: no room for it. */
int oae_port_path(unsigned int device, unsigned int port, char *path, size_t size);

/*
 * Opens a port, which begins a new epoch. -ENOENT: no such port; -EBUSY: somebody has it open;
 * -EACCES: no right to it; -EPROTO: the driver speaks another version of the interface; -ENOTTY:
 * not a swap port.
 */
int oae_port_open(const char *path, struct oae_port **port);

/* Closes a port, which ends its epoch; a null pointer is allowed. */
void oae_port_close(struct oae_port *port);

/* The file, for an event loop of one's own: readable while an offer of the firmware stands. */
int oae_port_fd(const struct oae_port *port);

int oae_port_info(struct oae_port *port, struct oae_info *info);

/*
 * Maps the port into this process: from now on its swaps, verbs and settlements go without the
 * kernel, which helps to wait for the firmware only. All works as before, but in doubt the process's
 * death is the end of the story, and a child has no part in it. Begins an epoch, as the unmapping does:
 * what is in doubt then is rolled forward, and nobody will know. Not while another thread uses the
 * port. -EIO: a swap is in doubt; -ENODEV: the device is gone, or the driver maps nothing.
 */
int oae_port_map(struct oae_port *port);
void oae_port_unmap(struct oae_port *port);

/*
 * One swap; times in ns. 0: it has an outcome, and swap->status says which. -EIO: the answer is in
 * doubt, see oae_port_settle(). -EINTR: a signal came while waiting, nothing was exchanged.
 * -EOPNOTSUPP: the device does not have swap->form, or swap->verb.
 */
int oae_port_swap(struct oae_port *port, struct oae_swap *swap);

/* The outcome of the swap in doubt. -EIO: still in doubt, try later; -ENODATA: none is in doubt. */
int oae_port_settle(struct oae_port *port, struct oae_swap *swap);

/*
 * Settles the swap in doubt as reversed: neither side has committed, whatever had taken place. Errors
 * as above; from then on oae_port_settle() does the same.
 */
int oae_port_reverse(struct oae_port *port, struct oae_swap *swap);

/* What to do with a word of the block, which all ports and the firmware share. */
struct oae_step {
  uint8_t operation; /* OAE_STEP_* */
  unsigned int word; /* from 0 */
  uint64_t operand;  /* what to write, to add or to compare with */
  uint64_t found;    /* out: the word as it was */
};

/*
 * Does up to OAE_STEPS_MAX steps at once, or none of them. 1: all comparisons held, and the steps are
 * done; 0: one did not, and none is. Each step has found its word as it was, whatever the others do;
 * one may change it. -EBUSY: another swap holds one of the words; -EAGAIN: the port has no room,
 * since the firmware does not take what was sent; -EINVAL: no such step, or no such word. Of -EIO and
 * the rest see oae_port_swap() and oae_swap_get_steps().
 */
int oae_port_multi(struct oae_port *port, struct oae_step *steps, unsigned int count);

/* Writes value if the word is as expected: 1, else 0. What it was goes to *found, unless null. */
int oae_port_cas(struct oae_port *port, unsigned int word, uint64_t expected, uint64_t value,
                 uint64_t *found);

/* Adds to a word, modulo 2^64: 0. What it was goes to *found, unless null. */
int oae_port_fetch_add(struct oae_port *port, unsigned int word, uint64_t addend, uint64_t *found);

/*
 * Sends a payload to the firmware, which gets it exactly once. 0: it will; -EAGAIN: there was no room
 * for it within timeout_ns; else see oae_port_swap().
 */
int oae_port_send(struct oae_port *port, const uint64_t payload[OAE_PAYLOAD_WORDS],
                  uint64_t timeout_ns);

/*
 * The same in two parts, for who wants another form of the swap, or has to settle doubt in between:
 * sets verb and offer of a swap (-EINVAL: no such step), and reads its outcome, as oae_port_multi()
 * returns it. -ECANCELED: it was reversed; -ENODEV: the card has lost power.
 */
int oae_swap_set_steps(struct oae_swap *swap, const struct oae_step *steps, unsigned int count);
int oae_swap_get_steps(const struct oae_swap *swap, struct oae_step *steps, unsigned int count);

/*
 * Waits up to timeout_ms (negative: for ever) for an offer of the firmware. 0: one stands;
 * -ETIMEDOUT: none; -ENODEV: the device is gone or does not answer; -EINTR: a signal.
 */
int oae_port_wait(struct oae_port *port, int timeout_ms);

int oae_port_stats(struct oae_port *port, struct oae_stats *stats);

/* The firmware's own count. -ETIMEDOUT: it does not reply; -EPROTO: it refuses. */
int oae_port_firmware_stats(struct oae_port *port, struct oae_firmware_stats *stats);

/* Times `count` (1 to OAE_READ_BENCH_MAX) 8-byte reads of the device; samples in ns. */
int oae_port_read_bench(struct oae_port *port, uint64_t *samples, uint32_t count);

/* What to tell a person: of a (negative) error of these functions, a status... Never null. */
const char *oae_error_text(int error);
const char *oae_status_name(unsigned int status);
const char *oae_state_name(unsigned int state);
const char *oae_form_name(unsigned int form);
const char *oae_verb_name(unsigned int verb);

#ifdef __cplusplus
}
#endif

#endif
