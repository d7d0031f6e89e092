/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_MAP_H
#define OAE_MAP_H

struct file;
struct oae_port;
struct vm_area_struct;

/* mmap() of a port's file. */
int oae_port_mmap(struct file *file, struct vm_area_struct *vma);
/* The pages of a mapping come to stand for the port, or cease to do so; the port is locked. */
void oae_map_show(struct oae_port *port);
void oae_map_hide(struct oae_port *port);

/* Takes the pages away for good, the memory of the answer buffer too. */
void oae_map_retire(struct oae_port *port);

#endif
