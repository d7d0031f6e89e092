/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_FILE_H
#define OAE_FILE_H

struct oae_port;

/* Makes the node of a port that users open; the unbinding takes it back. */
int oae_file_publish(struct oae_port *port);

/* The port whose node that is, with a reference to its device, or NULL. */
struct oae_port *oae_file_find(unsigned int device, unsigned int port);

int oae_files_init(void);
void oae_files_exit(void);

#endif
