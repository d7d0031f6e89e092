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
 * Functions return 0 or a negative errno value. If they fail, they do not change the pointer that they
 * would fill in. Several threads may use a port. linux/oae.h describes the structures and the errors.
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
 * Opens a port, which begins a new epoch. -ENOENT: there is no such port; -EBUSY: somebody has it
 * open; -EACCES: the caller has no right to it; -EPROTO: the driver does not serve programs of this
 * version, or is too old for them; -ENOTTY: it is not a swap port.
 */
int oae_port_open(const char *path, struct oae_port **port);

/* Closes a port, which ends its epoch. A null pointer is allowed. */
void oae_port_close(struct oae_port *port);

/*
 * The port's file, for an event loop. It is readable while an offer of the firmware stands, and has
 * POLLRDBAND while oae_port_loss() has something to tell.
 */
int oae_port_fd(const struct oae_port *port);

int oae_port_info(struct oae_port *port, struct oae_info *info);

/* The words of the block that the port may use. -ENOTTY: the driver is too old to say it. */
int oae_port_words(struct oae_port *port, struct oae_words *words);

/*
 * Maps the port into this process. From now on the process makes swaps and settlements without the
 * kernel, which only helps to wait for the firmware. A child process cannot use the mapping. Mapping
 * and unmapping each begin an epoch. A swap that is in doubt when the port is unmapped is committed if
 * it took place, and its outcome is not known to anybody. No other thread may use the port meanwhile.
 * -EIO: an outcome has to be settled first; -ENODEV: the device is gone.
 */
int oae_port_map(struct oae_port *port);
void oae_port_unmap(struct oae_port *port);

/*
 * Makes one swap. 0: it has an outcome, which is swap->status. -EIO: the answer is in doubt, see
 * oae_port_settle(). -EINTR: a signal has ended the wait, and nothing was exchanged. -EOPNOTSUPP: the
 * device does not have swap->form or swap->verb.
 */
int oae_port_swap(struct oae_port *port, struct oae_swap *swap);

/* Asks for the outcome of the swap in doubt. -EIO: ask again later; -ENODATA: no swap is in doubt. */
int oae_port_settle(struct oae_port *port, struct oae_swap *swap);

/*
 * Settles the swap in doubt as reversed, so that neither side has committed, whatever had taken place.
 * The errors are those of oae_port_settle(), which from now on settles this swap as reversed, too.
 */
int oae_port_reverse(struct oae_port *port, struct oae_swap *swap);

/* One step on a word of the block, which the port shares with the firmware and with other ports. */
struct oae_step {
  uint8_t operation; /* OAE_STEP_* */
  unsigned int word; /* from 0 */
  uint64_t operand;  /* what to write, to add or to compare with */
  uint64_t found;    /* out: the word as it was */
};

/*
 * Does up to OAE_STEPS_MAX steps at once, or none of them. 1: all comparisons held, and the steps took
 * effect; 0: a comparison did not hold, and no step took effect. Each step finds its word as it was
 * before all of them; only one step may change a given word. -EBUSY: another swap holds one of the
 * words; -EAGAIN: the port has no room, because the firmware does not take what was sent; -EINVAL:
 * there is no such step or word, or the port may not use the word. oae_port_swap() and oae_swap_get_steps() list the other errors.
 */
int oae_port_multi(struct oae_port *port, struct oae_step *steps, unsigned int count);

/* Writes value if the word is as expected (1), or not (0). *found, unless null, gets the old value. */
int oae_port_cas(struct oae_port *port, unsigned int word, uint64_t expected, uint64_t value,
                 uint64_t *found);

/* Adds to a word, modulo 2^64. *found, unless null, gets the old value. */
int oae_port_fetch_add(struct oae_port *port, unsigned int word, uint64_t addend, uint64_t *found);

/*
 * The same with the words of the cell at the other end of a link that joins this port with one there.
 * The steps take effect once, with the words that the port there may use. timeout_ns limits each of two
 * waits: until the steps can be asked for (-EAGAIN: they were not), and until their result comes
 * (-EINPROGRESS: they take effect, and oae_port_result() asks for the result again). A port that is closed
 * before leaves its result. -EBUSY: a swap of the other cell holds one of the words; -EINVAL: there is no
 * such step or word, the port there may not use the word, or this port is not joined; -EREMOTEIO: the steps
 * or their result are lost, and nobody knows whether they took effect.
 */
int oae_port_remote(struct oae_port *port, struct oae_step *steps, unsigned int count,
                    uint64_t timeout_ns);

/* The result of such steps. -EAGAIN: it has not come in time; -EREMOTEIO: it never comes. */
int oae_port_result(struct oae_port *port, struct oae_step *steps, unsigned int count,
                    uint64_t timeout_ns);

/*
 * Sends a payload to the firmware, which gets it exactly once. -EAGAIN: there was no room for it within
 * timeout_ns. oae_port_swap() lists the other errors.
 */
int oae_port_send(struct oae_port *port, const uint64_t payload[OAE_PAYLOAD_WORDS],
                  uint64_t timeout_ns);

/*
 * What became of the slot of a committed SWAP or SEND, if a link joins this port with a port of another
 * cell. Waits up to timeout_ns for its fate. OAE_FATE_DELIVERED: the host there has used it up by a
 * committed swap; OAE_FATE_LOST: nobody knows whether it has, since its cell has lost its power, for example,
 * and the slot is never sent again; OAE_FATE_PENDING: neither yet. A slot that is pending when the wait ends
 * goes on all the same, and can be asked for again. -ENODATA: the epoch has ended; -EINVAL: there is no such
 * swap; -EOPNOTSUPP, -ENOTTY: the device or the driver does not know.
 */
int oae_port_fate(struct oae_port *port, const struct oae_swap *swap, uint64_t timeout_ns);

/*
 * The oldest loss of this epoch that was not told yet: a slot or a REMOTE, by its epoch and sequence. Waits up
 * to timeout_ns for one. -EAGAIN: there is none. The other errors are those of oae_port_fate().
 */
int oae_port_loss(struct oae_port *port, struct oae_fate *loss, uint64_t timeout_ns);

/*
 * The two halves of oae_port_multi(), for callers that choose the form of the swap or settle doubt in
 * between. The first sets verb and offer of a swap (-EINVAL: there is no such step). The second reads
 * the outcome, and returns what oae_port_multi() returns, -ECANCELED if the swap was reversed, or
 * -ENODEV if the card has lost its power.
 */
int oae_swap_set_steps(struct oae_swap *swap, const struct oae_step *steps, unsigned int count);
int oae_swap_get_steps(const struct oae_swap *swap, struct oae_step *steps, unsigned int count);

/* The halves of oae_port_remote(): the swap that asks, and what the swap with OAE_SWAP_VERB_RESULT says. */
int oae_swap_set_remote_steps(struct oae_swap *swap, const struct oae_step *steps,
                              unsigned int count);
int oae_swap_get_result(const struct oae_swap *swap, struct oae_step *steps, unsigned int count);

/*
 * Waits up to timeout_ms (negative: without limit) for an offer of the firmware. 0: an offer stands;
 * -ETIMEDOUT: there is none; -ENODEV: the device is gone or does not answer; -EINTR: a signal came.
 */
int oae_port_wait(struct oae_port *port, int timeout_ms);

int oae_port_stats(struct oae_port *port, struct oae_stats *stats);

/* The same counters of a port that anybody may have open. Each is read by itself. */
int oae_port_watch(unsigned int device, unsigned int port, struct oae_stats *stats);

/* The firmware's own counters. -ETIMEDOUT: it does not reply; -EPROTO: it refuses. */
int oae_port_firmware_stats(struct oae_port *port, struct oae_firmware_stats *stats);

/* What a swap has taken, in ns. */
struct oae_times {
  uint64_t store_ns;  /* from the first store of the offer to the answer */
  uint64_t read_ns;   /* from the issue of the read to the answer */
  uint64_t commit_ns; /* from the first store to the answer found valid, which commits the host */
};

/*
 * The times of the last swap, and of `count` reads of 8 bytes of the device, in ns. Unless the port is
 * mapped, they come from the driver's files in debugfs: -ENOENT or -EACCES if that is not mounted, or
 * the caller is not root.
 */
int oae_port_times(struct oae_port *port, struct oae_times *times);
int oae_port_read_times(struct oae_port *port, uint64_t *samples, uint32_t count);

/* Texts for people: for a (negative) error of these functions, a status, and so on. Never null. */
const char *oae_error_text(int error);
const char *oae_status_name(unsigned int status);
const char *oae_state_name(unsigned int state);
const char *oae_form_name(unsigned int form);
const char *oae_verb_name(unsigned int verb);
const char *oae_fate_name(unsigned int fate);

#ifdef __cplusplus
}
#endif

#endif
