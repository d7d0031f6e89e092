/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface that the library exports: start, requests, memory and lines. */
#include "qemu/osdep.h"
#include "block/aio.h"
#include "exec/address-spaces.h"
#include "exec/memory.h"
#include "exec/tb-flush.h"
#include "hw/boards.h"
#include "hw/core/cpu.h"
#include "hw/irq.h"
#include "hw/pci-host/gpex.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "system/cpus.h"
#include "system/oae-region.h"
#include "system/oae-vcpu.h"
#include "system/replay.h"
#include "system/runstate.h"
#include "system/system.h"

static qemu_irq *lines;
static int line_count;

void oae_offer_lines(qemu_irq *offered, int count)
{
    lines = offered;
    line_count = count;
}

/* QEMU installs handlers for these signals; the caller's are restored. */
static const int kept_signals[] = {
    SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGBUS, SIGALRM, SIGUSR1, SIGIO,
};

static void create(int argc, char **argv, const OaeCallbacks *callbacks,
                   uint64_t ips, bool debuggable)
{
    struct sigaction actions[ARRAY_SIZE(kept_signals)];
    sigset_t mask;

    for (int i = 0; i < ARRAY_SIZE(kept_signals); i++) {
        sigaction(kept_signals[i], NULL, &actions[i]);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &mask);

    oae_callbacks = *callbacks;
    oae_vcpu_init(ips);
    oae_debuggable = debuggable;
    qemu_init(argc, argv);

    for (int i = 0; i < ARRAY_SIZE(kept_signals); i++) {
        sigaction(kept_signals[i], &actions[i], NULL);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void run_timers(void)
{
    qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
}

static unsigned service(bool io)
{
    unsigned requests = 0;
    int status = 0;

    if (io) {
        while (g_main_context_iteration(NULL, false)) {
        }
    } else if (!QSLIST_EMPTY(&qemu_get_aio_context()->bh_list)) {
        aio_bh_poll(qemu_get_aio_context());
    }
    if (oae_requests_pending()) {
        if (qemu_reset_requested_get()) {
            requests |= OAE_REQUEST_RESET;
        }
        if (main_loop_should_exit(&status)) {
            requests |= OAE_REQUEST_SHUTDOWN;
        }
    }
    if (!runstate_is_running()) {
        requests |= OAE_REQUEST_STOPPED;
    }
    rcu_drain_on_this_thread();
    return requests;
}

static void reset(void)
{
    pause_all_vcpus();
    tb_flush(first_cpu); /* memory may change without the translator's notice */
    qemu_system_reset(SHUTDOWN_CAUSE_HOST_QMP_SYSTEM_RESET);
    resume_all_vcpus();
}

static MemTxResult read_region(void *opaque, hwaddr offset, uint64_t *value,
                               unsigned size, MemTxAttrs attrs)
{
    int cpu;
    bool ok;

    if (oae_translating()) {
        return MEMTX_DECODE_ERROR;
    }
    cpu = oae_access_begin();
    ok = oae_callbacks.read(oae_callbacks.opaque, GPOINTER_TO_INT(opaque), cpu,
                            attrs.memory_type, offset, size, value);
    oae_access_end(cpu);
    return ok ? MEMTX_OK : MEMTX_DECODE_ERROR;
}

static MemTxResult write_region(void *opaque, hwaddr offset, uint64_t value,
                                unsigned size, MemTxAttrs attrs)
{
    int cpu = oae_access_begin();
    bool ok = oae_callbacks.write(oae_callbacks.opaque, GPOINTER_TO_INT(opaque),
                                  cpu, attrs.memory_type, offset, size, value);

    oae_access_end(cpu);
    return ok ? MEMTX_OK : MEMTX_DECODE_ERROR;
}

const MemoryRegionOps oae_region_ops = {
    .read_with_attrs = read_region,
    .write_with_attrs = write_region,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

MemTxResult oae_region_read(MemoryRegion *mr, hwaddr offset, uint64_t *value, unsigned size,
                            MemTxAttrs attrs)
{
    *value = 0;
    return read_region(mr->opaque, offset, value, size, attrs);
}

MemTxResult oae_region_write(MemoryRegion *mr, hwaddr offset, uint64_t value, unsigned size,
                             MemTxAttrs attrs)
{
    return write_region(mr->opaque, offset, extract64(value, 0, size * 8), size, attrs);
}

void oae_order_access(const MemoryRegion *mr)
{
    CPUState *cpu = current_cpu;

    /* An access to a region waits by itself, and the translator only reads code. */
    if (oae_embedded && cpu && cpu->running && !oae_is_callers(mr) && !oae_translating()) {
        oae_order(cpu, OAE_ORDER_ACCESS);
    }
}

static struct {
    hwaddr base, size;
} ranges[16];
static unsigned range_count;

bool oae_is_region(hwaddr address)
{
    for (unsigned i = 0; i < range_count; i++) {
        if (address - ranges[i].base < ranges[i].size) {
            return true;
        }
    }
    return false;
}

static void map_region(int region, enum OaeSpace space, uint64_t base,
                       uint64_t size, int priority)
{
    MemoryRegion *mr = g_new0(MemoryRegion, 1);
    g_autofree char *name = g_strdup_printf("oae-region-%d", region);

    memory_region_init_io(mr, NULL, &oae_region_ops, GINT_TO_POINTER(region), name,
                          size);
    if (space == OAE_SPACE_MEMORY) {
        g_assert(range_count < ARRAY_SIZE(ranges));
        ranges[range_count].base = base;
        ranges[range_count++].size = size;
    }
    memory_region_add_subregion_overlap(space == OAE_SPACE_IO
                                        ? get_system_io() : get_system_memory(),
                                        base, mr, priority);
}

static void set_line(int line, bool level)
{
    if (line >= 0 && line < line_count) {
        qemu_set_irq(lines[line], level);
    }
}

static bool read_memory(uint64_t address, void *data, uint64_t size)
{
    return address_space_read(&address_space_memory, address,
                              MEMTXATTRS_UNSPECIFIED, data, size) == MEMTX_OK;
}

static bool write_memory(uint64_t address, const void *data, uint64_t size)
{
    return address_space_write(&address_space_memory, address,
                               MEMTXATTRS_UNSPECIFIED, data, size) == MEMTX_OK;
}

static void *ram_pointer(uint64_t address, uint64_t *size)
{
    MemoryRegionSection section =
        memory_region_find(get_system_memory(), address, 1);
    uint8_t *pointer = NULL;

    if (!section.mr) {
        return NULL;
    }
    if (memory_region_is_ram(section.mr)) {
        uint64_t offset = section.offset_within_region;
        hwaddr left = memory_region_size(section.mr) - offset;

        pointer = memory_region_get_ram_ptr(section.mr) + offset;
        *size = left;
    }
    memory_region_unref(section.mr);
    return pointer;
}

static const struct GPEXConfig *pcie;

void oae_offer_pcie_windows(const struct GPEXConfig *windows)
{
    pcie = windows;
}

static bool pcie_windows(uint64_t *ecam, uint64_t *ecam_size, uint64_t *mmio32,
                         uint64_t *mmio32_size, uint64_t *mmio64,
                         uint64_t *mmio64_size)
{
    if (!pcie) {
        return false;
    }
    *ecam = pcie->ecam.base;
    *ecam_size = pcie->ecam.size;
    *mmio32 = pcie->mmio32.base;
    *mmio32_size = pcie->mmio32.size;
    *mmio64 = pcie->mmio64.base;
    *mmio64_size = pcie->mmio64.size;
    return true;
}

static const OaeQemuApi api = {
    .version = OAE_QEMU_API_VERSION,
    .create = create,
    .vcpu_count = oae_vcpu_count,
    .vcpu_run = oae_vcpu_run,
    .vcpu_local_time = oae_vcpu_local_time,
    .vcpu_stall = oae_vcpu_stall,
    .vcpu_set_limit = oae_vcpu_set_limit,
    .vcpu_remember = oae_vcpu_remember,
    .vcpu_instructions = oae_vcpu_instructions,
    .vcpu_set_holding = oae_vcpu_set_holding,
    .next_deadline = oae_next_deadline,
    .run_timers = run_timers,
    .service = service,
    .reset = reset,
    .map_region = map_region,
    .set_line = set_line,
    .read_memory = read_memory,
    .write_memory = write_memory,
    .ram_pointer = ram_pointer,
    .pcie_windows = pcie_windows,
    .console_input = oae_console_input,
};

const OaeQemuApi *oae_qemu_api(void)
{
    return &api;
}
