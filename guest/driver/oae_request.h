/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_REQUEST_H
#define OAE_REQUEST_H

struct file;

/* ioctl() of a port's file. */
long oae_port_ioctl(struct file *file, unsigned int cmd, unsigned long argument);

#endif
