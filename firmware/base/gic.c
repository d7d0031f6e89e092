/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gic.h"

#include "base/cpu.h"
#include "base/mmio.h"
#include "oae_memory_map.h"

/* Distributor (IHI 0069, 12.9). A register of an array holds 32, 4 or 1 interrupts. */
#define GICD_CTLR (OAE_IPU_GIC_DISTRIBUTOR_BASE + 0x0000)
#define GICD_TYPER (OAE_IPU_GIC_DISTRIBUTOR_BASE + 0x0004)
#define GICD_IROUTER (OAE_IPU_GIC_DISTRIBUTOR_BASE + 0x6000)
#define CTLR_ENABLE_GROUP1 (1u << 1)
#define CTLR_ARE (1u << 4)
#define CTLR_RWP (1u << 31)

/* A redistributor has a frame of its own, and then one for SGIs and PPIs with the distributor's
 * layout. */
#define GICR_STRIDE OAE_IPU_GIC_REDISTRIBUTOR_SIZE
#define GICR_SGI_FRAME 0x10000
#define GICR_TYPER 0x0008
#define GICR_WAKER 0x0014
#define TYPER_LAST (1ull << 4)
#define WAKER_PROCESSOR_SLEEP (1u << 1)
#define WAKER_CHILDREN_ASLEEP (1u << 2)

/* Offsets in the distributor and in a redistributor's second frame. */
#define IGROUPR 0x0080
#define ISENABLER 0x0100
#define ICENABLER 0x0180
#define ISPENDR 0x0200
#define ICACTIVER 0x0380
#define IPRIORITYR 0x0400
#define ICFGR 0x0c00

/* System registers of the CPU interface, by their encodings. */
#define ICC_IAR1_EL1 S3_0_C12_C12_0
#define ICC_EOIR1_EL1 S3_0_C12_C12_1
#define ICC_DIR_EL1 S3_0_C12_C11_1
#define ICC_PMR_EL1 S3_0_C4_C6_0
#define ICC_CTLR_EL1 S3_0_C12_C12_4
#define ICC_SRE_EL1 S3_0_C12_C12_5
#define ICC_IGRPEN1_EL1 S3_0_C12_C12_7
#define CTLR_EOIMODE (1u << 1)
#define read_interface(reg) read_encoded(reg)
#define read_encoded(reg) cpu_read(reg)
#define write_interface(reg, value) write_encoded(reg, value)
#define write_encoded(reg, value) cpu_write(reg, value)

#define FIRST_SPI 32
#define PRIORITY 0xa0a0a0a0

static uintptr_t redistributors[OAE_IPU_CORES];

/* GICR_TYPER holds the core's affinity in its upper half, as MPIDR does in two parts. */
static bool find_redistributor(void) {
  uint64_t mpidr = cpu_read(mpidr_el1);
  uint32_t affinity = (uint32_t)((mpidr & 0xffffff) | (mpidr >> 8 & 0xff000000));
  uintptr_t redistributor = OAE_IPU_GIC_REDISTRIBUTOR_BASE;
  uint64_t type;

  for (unsigned i = 0; i < OAE_IPU_CORES; i++, redistributor += GICR_STRIDE) {
    type = mmio_read64(redistributor + GICR_TYPER);
    if (type >> 32 == affinity) {
      redistributors[cpu_core()] = redistributor;
      return true;
    }
    if (type & TYPER_LAST) break;
  }
  return false;
}

static void wait_distributor(void) {
  while (mmio_read32(GICD_CTLR) & CTLR_RWP)
    ;
}

/* Makes interrupts `first` to `first` + 31 group 1, disabled, inactive and level-sensitive. */
static void reset_interrupts(uintptr_t frame, unsigned first) {
  mmio_write32(frame + ICENABLER + first / 8, ~0u);
  mmio_write32(frame + ICACTIVER + first / 8, ~0u);
  mmio_write32(frame + IGROUPR + first / 8, ~0u);
  for (unsigned id = first; id < first + 32; id += 4)
    mmio_write32(frame + IPRIORITYR + id, PRIORITY);
  for (unsigned id = first; id < first + 32; id += 16) mmio_write32(frame + ICFGR + id / 4, 0);
}

bool gic_init(void) {
  unsigned lines = 32 * ((mmio_read32(GICD_TYPER) & 0x1f) + 1);

  mmio_write32(GICD_CTLR, CTLR_ARE);
  wait_distributor();
  for (unsigned first = FIRST_SPI; first < lines && first < GIC_SPECIAL; first += 32)
    reset_interrupts(OAE_IPU_GIC_DISTRIBUTOR_BASE, first);
  mmio_write32(GICD_CTLR, CTLR_ARE | CTLR_ENABLE_GROUP1);
  wait_distributor();
  return gic_join();
}

bool gic_join(void) {
  uintptr_t redistributor;

  if (!find_redistributor()) return false;
  redistributor = redistributors[cpu_core()];
  mmio_write32(redistributor + GICR_WAKER,
               mmio_read32(redistributor + GICR_WAKER) & ~WAKER_PROCESSOR_SLEEP);
  while (mmio_read32(redistributor + GICR_WAKER) & WAKER_CHILDREN_ASLEEP)
    ;
  reset_interrupts(redistributor + GICR_SGI_FRAME, 0);

  write_interface(ICC_SRE_EL1, 1);
  cpu_isb();
  write_interface(ICC_PMR_EL1, 0xff);
  write_interface(ICC_CTLR_EL1, CTLR_EOIMODE);
  write_interface(ICC_IGRPEN1_EL1, 1);
  cpu_isb();
  return true;
}

void gic_enable(unsigned id) {
  uint32_t bit = 1u << id % 32;

  if (id < FIRST_SPI) {
    mmio_write32(redistributors[cpu_core()] + GICR_SGI_FRAME + ISENABLER, bit);
    return;
  }
  mmio_write64(GICD_IROUTER + 8 * id, cpu_read(mpidr_el1) & 0xff00ffffff);
  mmio_write32(OAE_IPU_GIC_DISTRIBUTOR_BASE + ISENABLER + id / 32 * 4, bit);
}

/* ICC_SGI1R_EL1 would need a range selector for more than 16 cores. */
void gic_signal(unsigned core, unsigned id) {
  mmio_write32(redistributors[core] + GICR_SGI_FRAME + ISPENDR, 1u << id);
}

unsigned gic_acknowledge(void) {
  return read_interface(ICC_IAR1_EL1) & 0xffffff;
}

void gic_drop(unsigned id) {
  write_interface(ICC_EOIR1_EL1, id);
  cpu_isb();
}

void gic_deactivate(unsigned id) {
  write_interface(ICC_DIR_EL1, id);
  cpu_isb();
}
