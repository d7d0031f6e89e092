// SPDX-License-Identifier: GPL-2.0
/* Driver of the OAE block's PCIe function: probing, interrupts, errors, and unbinding. */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "oae_clock.h"
#include "oae_crc.h"
#include "oae_device.h"
#include "oae_file.h"
#include "oae_port.h"
#include "oae_reset.h"

#define CREATE_TRACE_POINTS
#include "oae_trace.h"

#define OAE_PCI_VENDOR_ID 0xf0ae
#define OAE_PCI_DEVICE_ID 0x0ae0

static const u64 oae_identity =
	OAE_HOST_ID_RESET & (OAE_HOST_ID_MAGIC_MASK | OAE_HOST_ID_VERSION_MASK);

#ifdef CONFIG_X86_TSC
DEFINE_STATIC_KEY_FALSE(oae_clock_is_tsc);
#endif

static void oae_free_action(void *memory)
{
	kfree(memory);
}

static irqreturn_t oae_interrupt(int irq, void *data)
{
	struct oae_vector *vector = data;
	struct oae_device *oae = vector->oae;
	unsigned int i;

	if (!oae_is_live(oae))
		return IRQ_HANDLED;
	if (vector->index == OAE_VECTOR_MAILBOX)
		complete(&oae->mailbox.replied);
	for (i = 0; i < oae->num_ports; i++)
		if (oae->ports[i]->vector == vector->index)
			oae_port_signal(oae->ports[i]);
	return IRQ_HANDLED;
}

static void oae_retire(void *data)
{
	struct oae_device *oae = data;

	oae_freeze(oae, OAE_GONE);
	oae_stop(oae, true);
}

static int oae_map(struct oae_device *oae)
{
	struct device *dev = &oae->pdev->dev;
	int ret;

	ret = pcim_enable_device(oae->pdev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot be enabled\n");
	ret = pcim_iomap_regions(oae->pdev, BIT(OAE_BAR_HOST) | BIT(OAE_BAR_PORTS), "oae");
	if (ret)
		return dev_err_probe(dev, ret, "BARs cannot be mapped\n");
	if (pci_resource_len(oae->pdev, OAE_BAR_HOST) < OAE_MAILBOX_OFFSET + OAE_MAILBOX_SIZE)
		return dev_err_probe(dev, -ENODEV, "BAR %d is too small\n", OAE_BAR_HOST);
	oae->host = pcim_iomap_table(oae->pdev)[OAE_BAR_HOST];
	oae->pages = pcim_iomap_table(oae->pdev)[OAE_BAR_PORTS];
	oae->mailbox.base = oae->host + OAE_MAILBOX_OFFSET;
	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(dev, ret, "no usable DMA address width\n");
	return 0;
}

static int oae_identify(struct oae_device *oae)
{
	struct device *dev = &oae->pdev->dev;

	oae->identity = readq(oae->host + OAE_HOST_ID);
	/* The kernel has reset the function after an error, while no driver restored its addresses. */
	if (oae->identity == ~0ULL) {
		pci_restore_state(oae->pdev);
		oae->identity = readq(oae->host + OAE_HOST_ID);
	}
	if ((oae->identity & ~OAE_HOST_ID_PORTS_MASK) != oae_identity)
		return dev_err_probe(dev, -ENODEV, "identity %#llx is not that of an OAE block\n",
				     oae->identity);
	oae->num_ports = OAE_GET(oae->identity, OAE_HOST_ID_PORTS);
	if (!oae->num_ports || oae->num_ports > OAE_MAX_PORTS ||
	    pci_resource_len(oae->pdev, OAE_BAR_PORTS) < oae->num_ports * OAE_PORT_SIZE)
		return dev_err_probe(dev, -ENODEV, "%u ports do not fit BAR %d\n", oae->num_ports,
				     OAE_BAR_PORTS);
	oae->features = readq(oae->host + OAE_HOST_FEATURES);
	if (!(oae->features & OAE_HOST_FEATURES_PUSHED_MASK))
		return dev_err_probe(dev, -ENODEV, "no pushed answers, features %#llx\n",
				     oae->features);
	oae->clock_khz = OAE_GET(readq(oae->host + OAE_HOST_CLOCK), OAE_HOST_CLOCK_KHZ);
	return 0;
}

/* A device without streamed answers works too. */
static int oae_map_streams(struct oae_device *oae)
{
	struct pci_dev *pdev = oae->pdev;
	resource_size_t start = pci_resource_start(pdev, OAE_BAR_STREAMS);
	resource_size_t size = oae->num_ports * OAE_STREAM_SIZE;

	if (!(oae->features & OAE_HOST_FEATURES_STREAMED_MASK))
		return 0;
	if (pci_resource_len(pdev, OAE_BAR_STREAMS) < size) {
		dev_warn(&pdev->dev, "no streamed answers, since they do not fit BAR %d\n",
			 OAE_BAR_STREAMS);
		return 0;
	}
	/* Since Linux 6.13 a region of pci_request_region() stays with the device after unbinding. */
	if (!devm_request_mem_region(&pdev->dev, start, size, "oae"))
		return dev_err_probe(&pdev->dev, -EBUSY, "BAR %d is in use\n", OAE_BAR_STREAMS);
	oae->streams = devm_ioremap_wc(&pdev->dev, start, size);
	if (!oae->streams)
		return dev_err_probe(&pdev->dev, -ENOMEM, "BAR %d cannot be mapped\n",
				     OAE_BAR_STREAMS);
	return 0;
}

/* The name of a vector for /proc/interrupts, which says what it interrupts. */
static const char *oae_vector_name(struct oae_device *oae, unsigned int index)
{
	struct device *dev = &oae->pdev->dev;

	if (index == OAE_VECTOR_MAILBOX && oae->num_vectors > 1)
		return devm_kasprintf(dev, GFP_KERNEL, "oae%d-mailbox", oae->id);
	if (index == OAE_VECTOR_MAILBOX)
		return devm_kasprintf(dev, GFP_KERNEL, "oae%d", oae->id);
	/* Ports share vectors if there are fewer vectors. */
	if (oae->num_vectors <= oae->num_ports)
		return devm_kasprintf(dev, GFP_KERNEL, "oae%d-ports%u", oae->id, index - 1);
	return devm_kasprintf(dev, GFP_KERNEL, "oae%dp%u", oae->id, index - 1);
}

static int oae_request_interrupts(struct oae_device *oae)
{
	struct device *dev = &oae->pdev->dev;
	const char *name;
	unsigned int i;
	int ret;

	for (i = 0; i < oae->num_vectors; i++) {
		oae->vectors[i] = (struct oae_vector){ .oae = oae, .index = i };
		name = oae_vector_name(oae, i);
		if (!name)
			return -ENOMEM;
		ret = devm_request_irq(dev, pci_irq_vector(oae->pdev, i), oae_interrupt, 0, name,
				       &oae->vectors[i]);
		if (ret)
			return dev_err_probe(dev, ret, "vector %u cannot be requested\n", i);
	}
	return 0;
}

/* Saves the configuration twice: for the kernel's resets, and for the driver itself. */
static int oae_save(struct oae_device *oae)
{
	pci_save_state(oae->pdev);
	oae->configuration = pci_store_saved_state(oae->pdev);
	if (!oae->configuration)
		return -ENOMEM;
	return devm_add_action_or_reset(&oae->pdev->dev, oae_free_action, oae->configuration);
}

/* Every step is managed, so that an unbinding undoes them in reverse order. */
static int oae_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;
	struct oae_device *oae;
	unsigned int i;
	int ret;

	oae = oae_device_create(pdev);
	if (IS_ERR(oae))
		return dev_err_probe(dev, PTR_ERR(oae), "no memory or number for the device\n");
	pci_set_drvdata(pdev, oae);
	ret = oae_map(oae);
	if (ret)
		return ret;
	ret = oae_identify(oae);
	if (ret)
		return ret;
	ret = oae_map_streams(oae);
	if (ret)
		return ret;
	ret = pci_alloc_irq_vectors(pdev, 1, 1 + oae->num_ports, PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(dev, ret, "no MSI-X vector\n");
	oae->num_vectors = ret;
	for (i = 0; i < oae->num_ports; i++) {
		ret = oae_port_create(oae, i);
		if (ret)
			return dev_err_probe(dev, ret, "port %u cannot be created\n", i);
	}
	ret = oae_request_interrupts(oae);
	if (ret)
		return ret;
	pci_set_master(pdev);
	ret = oae_save(oae);
	if (ret)
		return ret;
	ret = devm_add_action_or_reset(dev, oae_retire, oae);
	if (ret)
		return ret;
	ret = oae_thaw(oae);
	if (ret)
		return ret;
	for (i = 0; i < oae->num_ports; i++) {
		ret = oae_file_publish(oae->ports[i]);
		if (ret)
			return dev_err_probe(dev, ret, "port %u cannot be published\n", i);
	}
	dev_info(dev, "oae%d: %u ports, block at %u kHz, %u vectors\n", oae->id, oae->num_ports,
		 oae->clock_khz, oae->num_vectors);
	return 0;
}

/* Other drivers may drive the virtual functions. They go when this driver is unbound. */
static void oae_remove(struct pci_dev *pdev)
{
	pci_disable_sriov(pdev);
}

static void oae_shutdown(struct pci_dev *pdev)
{
	struct oae_device *oae = pci_get_drvdata(pdev);

	oae_freeze(oae, OAE_FROZEN);
	oae_stop(oae, false);
}

static pci_ers_result_t oae_error_detected(struct pci_dev *pdev, pci_channel_state_t channel)
{
	/* The link works, so that at most a swap is in doubt, and the driver settles that. */
	if (channel == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	oae_freeze(pci_get_drvdata(pdev), OAE_FROZEN);
	return channel == pci_channel_io_frozen ? PCI_ERS_RESULT_NEED_RESET :
						  PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t oae_mmio_enabled(struct pci_dev *pdev)
{
	return PCI_ERS_RESULT_RECOVERED;
}

static pci_ers_result_t oae_slot_reset(struct pci_dev *pdev)
{
	struct oae_device *oae = pci_get_drvdata(pdev);

	/* Another reset may have thawed it since the error was detected. */
	oae_freeze(oae, OAE_FROZEN);
	pci_restore_state(pdev);
	if (!oae_answers(oae))
		return PCI_ERS_RESULT_DISCONNECT;
	pci_save_state(pdev);
	return PCI_ERS_RESULT_RECOVERED;
}

static void oae_error_resume(struct pci_dev *pdev)
{
	struct oae_device *oae = pci_get_drvdata(pdev);

	if (!oae_is_live(oae) && oae_thaw(oae))
		dev_err(&pdev->dev, "ports do not come back after an error\n");
}

static void oae_reset_prepare(struct pci_dev *pdev)
{
	oae_freeze(pci_get_drvdata(pdev), OAE_FROZEN);
}

static void oae_reset_done(struct pci_dev *pdev)
{
	if (oae_thaw(pci_get_drvdata(pdev)))
		dev_err(&pdev->dev, "ports do not come back after a reset\n");
	/* What the kernel saved can be restored only once. */
	pci_save_state(pdev);
}

static const struct pci_error_handlers oae_error_handlers = {
	.error_detected = oae_error_detected,
	.mmio_enabled = oae_mmio_enabled,
	.slot_reset = oae_slot_reset,
	.resume = oae_error_resume,
	.reset_prepare = oae_reset_prepare,
	.reset_done = oae_reset_done,
};

static int oae_suspend(struct device *dev)
{
	oae_shutdown(to_pci_dev(dev));
	return 0;
}

static int oae_resume(struct device *dev)
{
	struct pci_dev *pdev = to_pci_dev(dev);
	int ret = oae_thaw(pci_get_drvdata(pdev));

	pci_save_state(pdev);
	return ret;
}

static DEFINE_SIMPLE_DEV_PM_OPS(oae_pm, oae_suspend, oae_resume);

/* Other ids: echo VENDOR DEVICE > /sys/bus/pci/drivers/oae/new_id */
static const struct pci_device_id oae_pci_ids[] = {
	{ PCI_DEVICE(OAE_PCI_VENDOR_ID, OAE_PCI_DEVICE_ID) },
	{}
};
MODULE_DEVICE_TABLE(pci, oae_pci_ids);

static struct pci_driver oae_driver = {
	.name = "oae",
	.id_table = oae_pci_ids,
	.probe = oae_probe,
	.remove = oae_remove,
	.shutdown = oae_shutdown,
	.sriov_configure = pci_sriov_configure_simple,
	.err_handler = &oae_error_handlers,
	.driver.pm = pm_sleep_ptr(&oae_pm),
};

static int __init oae_init(void)
{
	int ret;

	oae_crc_init();
#ifdef CONFIG_X86_TSC
	if (tsc_khz && !check_tsc_unstable())
		static_branch_enable(&oae_clock_is_tsc);
#endif
	ret = oae_files_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&oae_driver);
	if (ret)
		oae_files_exit();
	return ret;
}
module_init(oae_init);

static void __exit oae_exit(void)
{
	pci_unregister_driver(&oae_driver);
	oae_files_exit();
}
module_exit(oae_exit);

MODULE_DESCRIPTION("Open Atomic Ethernet swap ports over PCIe");
MODULE_LICENSE("GPL");
