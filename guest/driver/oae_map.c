// SPDX-License-Identifier: GPL-2.0
/* The pages of a port in the process that owns it: swaps without the kernel. */
#include "oae_map.h"

#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "oae_compat.h"
#include "oae_port.h"

static_assert(OAE_MAP_SIZE == OAE_PORT_SIZE);
static_assert(OAE_MAP_SIZE == OAE_STREAM_SIZE);
static_assert(sizeof(struct oae_answer_buffer) <= OAE_MAP_SIZE);

#define OAE_GENERATION_ABSENT (~0ULL)

/*
 * The answer buffer is mapped as a whole, by mmap(). Only an unbinding takes it away, and then the
 * absent page is shown instead, as it is for the other pages whenever the device is frozen.
 */
static unsigned long oae_map_pfn(const struct oae_port *port, unsigned long offset)
{
	struct pci_dev *pdev = port->oae->pdev;

	if (port->present && offset == OAE_MAP_PORT)
		return PHYS_PFN(pci_resource_start(pdev, OAE_BAR_PORTS)) + port->index;
	if (port->present && offset == OAE_MAP_STREAM)
		return PHYS_PFN(pci_resource_start(pdev, OAE_BAR_STREAMS)) + port->index;
	return page_to_pfn(virt_to_page(port->absent));
}

/*
 * The address space is locked. The device is not, since whoever has locked it may wait for the
 * port's lock.
 */
static vm_fault_t oae_map_fault(struct vm_fault *vmf)
{
	struct oae_port *port = vmf->vma->vm_private_data;
	vm_fault_t ret;

	mutex_lock(&port->lock);
	ret = vmf_insert_pfn(vmf->vma, vmf->address, oae_map_pfn(port, vmf->pgoff << PAGE_SHIFT));
	mutex_unlock(&port->lock);
	return ret;
}

static void oae_map_open(struct vm_area_struct *vma)
{
	struct oae_port *port = vma->vm_private_data;

	mutex_lock(&port->lock);
	port->maps++;
	mutex_unlock(&port->lock);
}

static void oae_map_close(struct vm_area_struct *vma)
{
	struct oae_port *port = vma->vm_private_data;

	mutex_lock(&port->lock);
	port->maps--;
	mutex_unlock(&port->lock);
}

static const struct vm_operations_struct oae_map_operations = {
	.open = oae_map_open,
	.close = oae_map_close,
	.fault = oae_map_fault,
};

static int oae_map_check(const struct oae_port *port, const struct vm_area_struct *vma)
{
	if (PAGE_SIZE != OAE_MAP_SIZE)
		return -EOPNOTSUPP;
	if (vma->vm_pgoff > OAE_MAP_ANSWER >> PAGE_SHIFT ||
	    vma->vm_end - vma->vm_start != OAE_MAP_SIZE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (vma->vm_pgoff == OAE_MAP_STREAM >> PAGE_SHIFT && !port->exchange.stream)
		return -EOPNOTSUPP;
	if (!port->page)
		return -ENODEV;
	if (port->exchange.doubt || port->has_settlement)
		return -EIO;
	if (port->maps && port->mapped_by != vma->vm_mm)
		return -EBUSY;
	return 0;
}

static int oae_map_answer(struct oae_port *port, struct vm_area_struct *vma)
{
	unsigned long offset = vma->vm_pgoff;
	int ret;

	/* The offset counts from the port's first page. In the answer buffer's memory it is 0. */
	vma->vm_pgoff = 0;
	ret = dma_mmap_coherent(&port->oae->pdev->dev, vma, port->page, port->answer_address,
				OAE_MAP_SIZE);
	vma->vm_pgoff = offset;
	return ret;
}

int oae_port_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct oae_port *port = file->private_data;
	int ret;

	/* Even a read of a port's page may exchange slots. */
	if (!(file->f_mode & FMODE_WRITE))
		return -EACCES;
	mutex_lock(&port->lock);
	ret = oae_map_check(port, vma);
	if (ret)
		goto unlock;
	/* A mapping belongs to one process: a child does not inherit it. */
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYEXEC);
	if (vma->vm_pgoff == OAE_MAP_PORT >> PAGE_SHIFT)
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	else if (vma->vm_pgoff == OAE_MAP_STREAM >> PAGE_SHIFT)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	else
		ret = oae_map_answer(port, vma);
	if (ret)
		goto unlock;
	port->maps++;
	port->mapped_by = vma->vm_mm;
	WRITE_ONCE(port->stale, true);
	vma->vm_private_data = port;
	vma->vm_ops = &oae_map_operations;
unlock:
	mutex_unlock(&port->lock);
	return ret;
}

/* What is mapped is taken out, and comes back by page faults. */
static void oae_map_switch(struct oae_port *port, bool present)
{
	port->present = present;
	if (port->mapping)
		unmap_mapping_range(port->mapping, OAE_MAP_PORT, OAE_MAP_ANSWER - OAE_MAP_PORT, 1);
}

void oae_map_show(struct oae_port *port)
{
	oae_map_switch(port, true);
	memset(port->absent, 0xff, OAE_MAP_SIZE);
	/* No process takes what it has read of the absent page for the port's. */
	WRITE_ONCE(port->page->generation, ++port->generation);
}

void oae_map_hide(struct oae_port *port)
{
	if (port->page)
		WRITE_ONCE(port->page->generation, OAE_GENERATION_ABSENT);
	oae_map_switch(port, false);
}

void oae_map_retire(struct oae_port *port)
{
	mutex_lock(&port->lock);
	if (port->mapping)
		unmap_mapping_range(port->mapping, 0, 0, 1);
	port->page = NULL;
	mutex_unlock(&port->lock);
}
