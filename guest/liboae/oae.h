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
 * One swap; times in ns. 0: it has an outcome, and swap->status says which. -EIO: the answer is in
 * doubt, see oae_port_settle(). -EINTR: a signal came while waiting, nothing was exchanged.
 * -EOPNOTSUPP: the device does not have swap->form.
 */
int oae_port_swap(struct oae_port *port, struct oae_swap *swap);

/* The outcome of the swap in doubt. -EIO: still in doubt, try later; -ENODATA: none is in doubt. */
int oae_port_settle(struct oae_port *port, struct oae_swap *swap);

/*
 * Settles the swap in doubt as reversed: neither side has committed, whatever had taken place. Errors
 * as above; from then on oae_port_settle() does the same.
 */
int oae_port_reverse(struct oae_port *port, struct oae_swap *swap);

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

#ifdef __cplusplus
}
#endif

#endif
