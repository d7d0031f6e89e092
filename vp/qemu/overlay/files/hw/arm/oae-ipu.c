/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processors of an IPU: cores, GICv3, generic timers and memory. All other
 * addresses belong to the simulation around it.
 *
 *   0x0800_0000  GIC distributor
 *   0x080a_0000  GIC redistributors, 128 KiB a core
 *   0x1000_0000  SRAM
 *   0x8000_0000  DRAM (-m)
 *
 * Every core leaves reset at EL2 at the entry point of the -kernel ELF image. A
 * reset of the machine is a loss of its power: memory is empty but for the image.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "elf.h"
#include "exec/address-spaces.h"
#include "exec/cpu-common.h"
#include "exec/memory.h"
#include "exec/ramblock.h"
#include "hw/arm/bsa.h"
#include "hw/boards.h"
#include "hw/intc/arm_gicv3_common.h"
#include "hw/irq.h"
#include "hw/loader.h"
#include "hw/qdev-properties.h"
#include "kvm_arm.h"
#include "qobject/qlist.h"
#include "qom/object.h"
#include "system/oae-vcpu.h"
#include "system/reset.h"
#include "system/system.h"
#include "target/arm/cpu.h"
#include "target/arm/cpu-qom.h"
#include "target/arm/gtimer.h"

#define GICD_BASE 0x08000000
#define GICR_BASE 0x080a0000
#define SRAM_BASE 0x10000000
#define DRAM_BASE 0x80000000

#define MAX_CORES 24
#define SPIS 64
#define COUNTER_HZ 1000000000ull

struct OaeIpuState {
    MachineState parent;

    uint64_t sram_size;
    MemoryRegion sram;
    DeviceState *gic;
    qemu_irq spis[SPIS];
};

#define TYPE_OAE_IPU MACHINE_TYPE_NAME("oae-ipu")
OBJECT_DECLARE_SIMPLE_TYPE(OaeIpuState, OAE_IPU)

static uint64_t load_firmware(MachineState *machine)
{
    uint64_t entry;

    if (!machine->kernel_filename) {
        error_report("oae-ipu: needs firmware, an AArch64 ELF image (-kernel)");
        exit(1);
    }
    if (load_elf(machine->kernel_filename, NULL, NULL, NULL, &entry, NULL, NULL,
                 NULL, ELFDATA2LSB, EM_AARCH64, 1, 0) < 0) {
        error_report("oae-ipu: cannot load '%s': not an AArch64 ELF image",
                     machine->kernel_filename);
        exit(1);
    }
    return entry;
}

/* The reset of a core includes its GIC interface, so it is registered after that exists. */
static void reset_core(void *core)
{
    cpu_reset(CPU(core));
}

static void create_core(MachineState *machine, int index, uint64_t entry)
{
    Object *core = object_new(machine->cpu_type);

    object_property_set_int(core, "mp-affinity", index, &error_abort);
    object_property_set_int(core, "cntfrq", COUNTER_HZ, &error_abort);
    object_property_set_int(core, "rvbar", entry, &error_abort);
    if (object_property_find(core, "has_el3")) {
        object_property_set_bool(core, "has_el3", false, &error_abort);
    }
    /* QEMU counts cycles at 1 GHz only, and the instructions of all cores together. */
    object_property_set_bool(core, "pmu", false, &error_abort);
    object_property_set_link(core, "memory", OBJECT(get_system_memory()),
                             &error_abort);
    qdev_realize(DEVICE(core), NULL, &error_fatal);
    qemu_register_reset(reset_core, core);
    object_unref(core);
}

static void create_gic(OaeIpuState *ipu, int cores)
{
    static const int timer_ppis[] = {
        [GTIMER_PHYS] = ARCH_TIMER_NS_EL1_IRQ,
        [GTIMER_VIRT] = ARCH_TIMER_VIRT_IRQ,
        [GTIMER_HYP] = ARCH_TIMER_NS_EL2_IRQ,
        [GTIMER_SEC] = ARCH_TIMER_S_EL1_IRQ,
        [GTIMER_HYPVIRT] = ARCH_TIMER_NS_EL2_VIRT_IRQ,
    };
    QList *redistributors = qlist_new();
    SysBusDevice *bus;

    ipu->gic = qdev_new(gicv3_class_name());
    qdev_prop_set_uint32(ipu->gic, "revision", 3);
    qdev_prop_set_uint32(ipu->gic, "num-cpu", cores);
    qdev_prop_set_uint32(ipu->gic, "num-irq", SPIS + GIC_INTERNAL);
    qlist_append_int(redistributors, cores);
    qdev_prop_set_array(ipu->gic, "redist-region-count", redistributors);

    bus = SYS_BUS_DEVICE(ipu->gic);
    sysbus_realize_and_unref(bus, &error_fatal);
    sysbus_mmio_map(bus, 0, GICD_BASE);
    sysbus_mmio_map(bus, 1, GICR_BASE);

    for (int i = 0; i < cores; i++) {
        DeviceState *core = DEVICE(qemu_get_cpu(i));
        int ppi_base = SPIS + i * GIC_INTERNAL;

        for (int timer = 0; timer < ARRAY_SIZE(timer_ppis); timer++) {
            qdev_connect_gpio_out(core, timer,
                                  qdev_get_gpio_in(ipu->gic, ppi_base +
                                                   timer_ppis[timer]));
        }
        qdev_connect_gpio_out_named(core, "gicv3-maintenance-interrupt", 0,
                                    qdev_get_gpio_in(ipu->gic, ppi_base +
                                                     ARCH_GIC_MAINT_IRQ));
        sysbus_connect_irq(bus, i, qdev_get_gpio_in(core, ARM_CPU_IRQ));
        sysbus_connect_irq(bus, i + cores, qdev_get_gpio_in(core, ARM_CPU_FIQ));
        sysbus_connect_irq(bus, i + 2 * cores,
                           qdev_get_gpio_in(core, ARM_CPU_VIRQ));
        sysbus_connect_irq(bus, i + 3 * cores,
                           qdev_get_gpio_in(core, ARM_CPU_VFIQ));
    }
    for (int i = 0; i < SPIS; i++) {
        ipu->spis[i] = qdev_get_gpio_in(ipu->gic, i);
    }
    oae_offer_lines(ipu->spis, SPIS);
}

static void oae_ipu_init(MachineState *machine)
{
    OaeIpuState *ipu = OAE_IPU(machine);
    MemoryRegion *memory = get_system_memory();
    uint64_t entry;

    memory_region_init_ram(&ipu->sram, NULL, "oae-ipu.sram", ipu->sram_size,
                           &error_fatal);
    memory_region_add_subregion(memory, SRAM_BASE, &ipu->sram);
    memory_region_add_subregion(memory, DRAM_BASE, machine->ram);

    entry = load_firmware(machine);
    for (int i = 0; i < machine->smp.cpus; i++) {
        create_core(machine, i, entry);
    }
    create_gic(ipu, machine->smp.cpus);
}

static void clear(MemoryRegion *memory)
{
    if (ram_block_discard_range(memory->ram_block, 0, memory_region_size(memory))) {
        error_report("oae-ipu: cannot clear %s", memory_region_name(memory));
        exit(1);
    }
}

/* The devices' reset loads the image again. */
static void oae_ipu_reset(MachineState *machine, ResetType type)
{
    clear(&OAE_IPU(machine)->sram);
    clear(machine->ram);
    qemu_devices_reset(type);
}

static void get_sram_size(Object *object, Visitor *visitor, const char *name,
                          void *opaque, Error **errp)
{
    visit_type_size(visitor, name, &OAE_IPU(object)->sram_size, errp);
}

static void set_sram_size(Object *object, Visitor *visitor, const char *name,
                          void *opaque, Error **errp)
{
    visit_type_size(visitor, name, &OAE_IPU(object)->sram_size, errp);
}

static void oae_ipu_instance_init(Object *object)
{
    OAE_IPU(object)->sram_size = 4 * MiB;
}

static void oae_ipu_class_init(ObjectClass *oc, void *data)
{
    static const char * const cores[] = {
        ARM_CPU_TYPE_NAME("cortex-a72"),
        ARM_CPU_TYPE_NAME("cortex-a76"),
        ARM_CPU_TYPE_NAME("neoverse-n1"),
        ARM_CPU_TYPE_NAME("neoverse-n2"),
        NULL
    };
    MachineClass *mc = MACHINE_CLASS(oc);

    mc->desc = "Processors of an Infrastructure Processing Unit";
    mc->init = oae_ipu_init;
    mc->reset = oae_ipu_reset;
    mc->max_cpus = MAX_CORES;
    mc->default_cpu_type = ARM_CPU_TYPE_NAME("neoverse-n1");
    mc->valid_cpu_types = cores;
    mc->default_ram_size = 128 * MiB;
    mc->default_ram_id = "oae-ipu.dram";
    mc->no_cdrom = 1;
    mc->no_floppy = 1;
    mc->no_parallel = 1;
    mc->minimum_page_bits = 12;
    object_class_property_add(oc, "sram-size", "size", get_sram_size,
                              set_sram_size, NULL, NULL);
}

static const TypeInfo oae_ipu_type = {
    .name = TYPE_OAE_IPU,
    .parent = TYPE_MACHINE,
    .instance_size = sizeof(OaeIpuState),
    .instance_init = oae_ipu_instance_init,
    .class_init = oae_ipu_class_init,
};

static void register_types(void)
{
    type_register_static(&oae_ipu_type);
}

type_init(register_types);
