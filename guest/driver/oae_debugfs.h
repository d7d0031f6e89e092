/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_DEBUGFS_H
#define OAE_DEBUGFS_H

struct oae_port;

/* Files that measure a port, in a folder of its own. */
void oae_debugfs_add(struct oae_port *port);
void oae_debugfs_remove(struct oae_port *port);

void oae_debugfs_init(void);
void oae_debugfs_exit(void);

#endif
