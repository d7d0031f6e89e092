/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A character device whose other end is the caller: "-chardev oae,id=console0". */
#include "qemu/osdep.h"
#include "chardev/char.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/module.h"
#include "system/oae-vcpu.h"

#define TYPE_CHARDEV_OAE "chardev-oae"
#define ID_PREFIX "console"
#define CONSOLES 8

static Chardev *consoles[CONSOLES];

static int index_of(Chardev *chr)
{
    for (int i = 0; i < CONSOLES; i++) {
        if (consoles[i] == chr) {
            return i;
        }
    }
    return -1;
}

static void console_open(Chardev *chr, ChardevBackend *backend, bool *be_opened,
                         Error **errp)
{
    unsigned index;
    const char *number;

    if (!strstart(chr->label, ID_PREFIX, &number)
        || qemu_strtoui(number, NULL, 10, &index) || index >= CONSOLES) {
        error_setg(errp, "oae: id must be " ID_PREFIX "0 to " ID_PREFIX "%d",
                   CONSOLES - 1);
        return;
    }
    consoles[index] = chr;
}

static int console_write(Chardev *chr, const uint8_t *data, int size)
{
    oae_callbacks.console_output(oae_callbacks.opaque, index_of(chr), data,
                                 size);
    return size;
}

static void console_accept_input(Chardev *chr)
{
    oae_callbacks.console_ready(oae_callbacks.opaque, index_of(chr));
}

size_t oae_console_input(int index, const uint8_t *data, size_t size)
{
    Chardev *chr = index >= 0 && index < CONSOLES ? consoles[index] : NULL;
    size_t taken = 0;

    while (chr && taken < size) {
        int space = qemu_chr_be_can_write(chr);
        int count = MIN(space, size - taken);

        if (count <= 0) {
            break;
        }
        qemu_chr_be_write(chr, data + taken, count);
        taken += count;
    }
    return taken;
}

static void console_class_init(ObjectClass *oc, void *data)
{
    ChardevClass *cc = CHARDEV_CLASS(oc);

    cc->open = console_open;
    cc->chr_write = console_write;
    cc->chr_accept_input = console_accept_input;
}

static const TypeInfo console_type = {
    .name = TYPE_CHARDEV_OAE,
    .parent = TYPE_CHARDEV,
    .instance_size = sizeof(Chardev),
    .class_init = console_class_init,
};

static void register_types(void)
{
    type_register_static(&console_type);
}

type_init(register_types);
