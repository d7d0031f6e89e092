// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * Asks the driver on port 1 of the first device for what it must refuse, uses it like programs that
 * were built for an older or a newer interface, and swaps in both forms in turns.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/oae.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../kselftest_harness.h"

#define PATH "/dev/oae0p1"
#define SWAPS 60
#define PATTERN 0xee

/* Returns 0, or the errno value that a request fails with. */
static int request(int file, unsigned long code, void *argument)
{
	return ioctl(file, code, argument) < 0 ? errno : 0;
}

static struct oae_swap a_swap(uint8_t form)
{
	return (struct oae_swap){
		.size = sizeof(struct oae_swap),
		.verb = OAE_SWAP_VERB_SWAP,
		.form = form,
		.timeout_ns = 1000000000,
	};
}

FIXTURE(port)
{
	int file;
	struct oae_stats before;
};

FIXTURE_SETUP(port)
{
	self->before = (struct oae_stats){ .size = sizeof(self->before) };
	self->file = open(PATH, O_RDWR);
	ASSERT_GE(self->file, 0) {
		TH_LOG("%s: %s", PATH, strerror(errno));
	}
	ASSERT_EQ(request(self->file, OAE_IOC_STATS, &self->before), 0);
}

FIXTURE_TEARDOWN(port)
{
	close(self->file);
}

/* Nothing that the driver has refused may have reached the device. */
static void expect_no_offer(struct __test_metadata *_metadata, int file,
			    const struct oae_stats *before)
{
	struct oae_stats after = { .size = sizeof(after) };

	ASSERT_EQ(request(file, OAE_IOC_STATS, &after), 0);
	EXPECT_EQ(after.committed, before->committed);
	EXPECT_EQ(after.not_ready, before->not_ready);
	EXPECT_EQ(after.rejected, before->rejected);
}

TEST_F(port, is_open_once)
{
	EXPECT_EQ(open(PATH, O_RDWR), -1);
	EXPECT_EQ(errno, EBUSY);
	EXPECT_EQ(open(PATH, O_RDONLY), -1);
	EXPECT_EQ(errno, EBUSY);
}

TEST_F(port, has_neither_read_nor_write)
{
	char byte = 0;

	EXPECT_EQ(read(self->file, &byte, 1), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(write(self->file, &byte, 1), -1);
	EXPECT_EQ(errno, EINVAL);
}

TEST_F(port, refuses_bad_addresses)
{
	const unsigned long codes[] = {
		OAE_IOC_INFO, OAE_IOC_SWAP, OAE_IOC_SETTLE, OAE_IOC_STATS,
		OAE_IOC_BEGIN, OAE_IOC_FIRMWARE_STATS, OAE_IOC_WORDS,
		OAE_IOC_FATE,
	};
	unsigned int i;

	for (i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		EXPECT_EQ(request(self->file, codes[i], NULL), EFAULT);
		EXPECT_EQ(request(self->file, codes[i], (void *)-64L), EFAULT);
	}
	expect_no_offer(_metadata, self->file, &self->before);
}

TEST_F(port, refuses_unknown_requests)
{
	struct oae_swap swap = a_swap(OAE_SWAP_FORM_PUSHED);

	EXPECT_EQ(request(self->file, _IOWR(OAE_IOC_MAGIC, 1, char), &swap), ENOTTY);
	EXPECT_EQ(request(self->file, _IO(OAE_IOC_MAGIC, 0x7f), NULL), ENOTTY);
	expect_no_offer(_metadata, self->file, &self->before);
}

TEST_F(port, refuses_unknown_verbs_and_forms)
{
	struct oae_swap swap;
	unsigned int value;

	for (value = 0; value < 256; value++) {
		swap = a_swap(OAE_SWAP_FORM_STREAMED);
		swap.verb = value;
		if (value < OAE_SWAP_VERB_SWAP || value > OAE_SWAP_VERB_RESULT)
			EXPECT_EQ(request(self->file, OAE_IOC_SWAP, &swap), EINVAL);
		swap = a_swap(value);
		if (value > OAE_SWAP_FORM_STREAMED)
			EXPECT_EQ(request(self->file, OAE_IOC_SWAP, &swap), EINVAL);
	}
	expect_no_offer(_metadata, self->file, &self->before);
}

TEST_F(port, refuses_unknown_flags)
{
	struct oae_swap swap = a_swap(OAE_SWAP_FORM_STREAMED);
	unsigned int bit;
	int settled;

	for (bit = 0; bit < 32; bit++) {
		if (1U << bit != OAE_SWAP_FLAG_MORE) {
			swap.flags = 1U << bit;
			EXPECT_EQ(request(self->file, OAE_IOC_SWAP, &swap), EINVAL);
			swap.flags |= OAE_SWAP_FLAG_MORE;
			EXPECT_EQ(request(self->file, OAE_IOC_SWAP, &swap), EINVAL);
		}
		swap.flags = 1U << bit;
		settled = swap.flags == OAE_SETTLE_REVERSE ? ENODATA : EINVAL;
		EXPECT_EQ(request(self->file, OAE_IOC_SETTLE, &swap), settled);
	}
	swap.flags = 0;
	EXPECT_EQ(request(self->file, OAE_IOC_SETTLE, &swap), ENODATA);
	expect_no_offer(_metadata, self->file, &self->before);
}

TEST_F(port, changes_nothing_for_readers)
{
	struct oae_swap swap = a_swap(OAE_SWAP_FORM_PUSHED);
	struct oae_info info = { .size = sizeof(info) };

	close(self->file);
	self->file = open(PATH, O_RDONLY);
	ASSERT_GE(self->file, 0);
	EXPECT_EQ(request(self->file, OAE_IOC_INFO, &info), 0);
	EXPECT_EQ(info.version, OAE_INTERFACE_VERSION);
	EXPECT_EQ(request(self->file, OAE_IOC_SWAP, &swap), EBADF);
	expect_no_offer(_metadata, self->file, &self->before);
}

/*
 * A request whose structure is shorter or longer than the driver's, as that of a program built for
 * another version of the interface.
 */
FIXTURE(structure)
{
	int file;
};

FIXTURE_VARIANT(structure)
{
	unsigned long code;
	uint32_t known;
	uint32_t least; /* what it had in the oldest version that is served, if it has grown since */
	int outcome; /* errno value of a correct request, or 0 */
};

FIXTURE_VARIANT_ADD(structure, info)
{
	.code = OAE_IOC_INFO,
	.known = sizeof(struct oae_info),
};

FIXTURE_VARIANT_ADD(structure, stats)
{
	.code = OAE_IOC_STATS,
	.known = sizeof(struct oae_stats),
	.least = offsetof(struct oae_stats, lost),
};

FIXTURE_VARIANT_ADD(structure, begin)
{
	.code = OAE_IOC_BEGIN,
	.known = sizeof(struct oae_epoch),
};

FIXTURE_VARIANT_ADD(structure, words)
{
	.code = OAE_IOC_WORDS,
	.known = sizeof(struct oae_words),
};

/* It asks for a swap of epoch 0, which is not the present one. */
FIXTURE_VARIANT_ADD(structure, fate)
{
	.code = OAE_IOC_FATE,
	.known = sizeof(struct oae_fate),
	.outcome = ENODATA,
};

FIXTURE_VARIANT_ADD(structure, settle)
{
	.code = OAE_IOC_SETTLE,
	.known = sizeof(struct oae_swap),
	.outcome = ENODATA,
};

FIXTURE_SETUP(structure)
{
	self->file = open(PATH, O_RDWR);
	ASSERT_GE(self->file, 0);
}

FIXTURE_TEARDOWN(structure)
{
	close(self->file);
}

union structure {
	struct {
		uint32_t size;
		uint32_t flags;
	};
	unsigned char bytes[8192];
};

TEST_F(structure, may_be_longer_but_not_shorter)
{
	const uint32_t least = variant->least ? variant->least : variant->known;
	union structure structure;
	uint32_t size, i;

	for (size = 0; size <= 4096; size += size < 256 ? 1 : 64) {
		memset(&structure, PATTERN, sizeof(structure));
		memset(&structure, 0, size);
		structure.size = size;
		structure.flags = 0;
		if (size < least) {
			EXPECT_EQ(request(self->file, variant->code, &structure), EINVAL);
			continue;
		}
		EXPECT_EQ(request(self->file, variant->code, &structure), variant->outcome);
		for (i = size < variant->known ? size : variant->known; i < sizeof(structure); i++) {
			ASSERT_EQ(structure.bytes[i], i < size ? 0 : PATTERN) {
				TH_LOG("byte %u of %u", i, size);
			}
		}
	}
}

TEST_F(structure, has_no_unknown_field)
{
	union structure structure;
	uint32_t size;

	for (size = variant->known + 1; size <= 4096; size += size < 256 ? 1 : 64) {
		memset(&structure, 0, sizeof(structure));
		structure.size = size;
		structure.bytes[size - 1] = 1;
		EXPECT_EQ(request(self->file, variant->code, &structure), E2BIG);
	}
	memset(&structure, 0, sizeof(structure));
	structure.size = 4097;
	EXPECT_EQ(request(self->file, variant->code, &structure), E2BIG);
	structure.size = variant->known;
	structure.flags = 0x80000000;
	EXPECT_EQ(request(self->file, variant->code, &structure), EINVAL);
}

/* Each swap must be the next one, and its answer the firmware's offer for it. */
TEST_F(port, swaps_in_both_forms)
{
	struct oae_firmware_stats firmware_before = { .size = sizeof(firmware_before) };
	struct oae_firmware_stats firmware = { .size = sizeof(firmware) };
	struct oae_stats after = { .size = sizeof(after) };
	struct pollfd offers = { .fd = self->file, .events = POLLIN };
	struct oae_swap swap;
	uint8_t epoch = 0;
	uint32_t i;

	ASSERT_EQ(request(self->file, OAE_IOC_FIRMWARE_STATS, &firmware_before), 0);
	for (i = 1; i <= SWAPS; i++) {
		swap = a_swap(i % 3 ? OAE_SWAP_FORM_STREAMED : OAE_SWAP_FORM_PUSHED);
		swap.offer[0] = i;
		if (i % 4 && i < SWAPS)
			swap.flags = OAE_SWAP_FLAG_MORE;
		ASSERT_EQ(request(self->file, OAE_IOC_SWAP, &swap), 0);
		ASSERT_EQ(swap.status, OAE_SWAP_STATUS_OK);
		EXPECT_EQ(swap.sequence, i);
		EXPECT_EQ(swap.answer[1], i);
		EXPECT_EQ(swap.reads, 0);
		if (i > 1)
			EXPECT_EQ(swap.epoch, epoch);
		epoch = swap.epoch;
	}
	/* The mailbox's request arrives after the last confirmation, so that the counter has it. */
	ASSERT_EQ(request(self->file, OAE_IOC_FIRMWARE_STATS, &firmware), 0);
	ASSERT_EQ(request(self->file, OAE_IOC_STATS, &after), 0);
	EXPECT_EQ(after.committed - self->before.committed, SWAPS);
	EXPECT_EQ(firmware.committed - firmware_before.committed, SWAPS);
	EXPECT_EQ(after.doubts, self->before.doubts);
	EXPECT_EQ(poll(&offers, 1, 1000), 1);
	EXPECT_EQ(offers.revents, POLLIN);
}

/* The firmware has what was sent when it is committed, and no other host gets it. */
TEST_F(port, has_no_fate_unless_it_is_joined)
{
	struct pollfd events = { .fd = self->file, .events = POLLPRI | POLLRDBAND };
	struct oae_epoch epoch = { .size = sizeof(epoch) };
	struct oae_fate fate, right;
	struct oae_swap swap = a_swap(OAE_SWAP_FORM_STREAMED);
	unsigned int i;

	ASSERT_EQ(request(self->file, OAE_IOC_BEGIN, &epoch), 0);
	fate = (struct oae_fate){
		.size = sizeof(fate),
		.sequence = 0xffffffff,
		.epoch = epoch.epoch,
	};
	EXPECT_EQ(request(self->file, OAE_IOC_FATE, &fate), EINVAL);

	ASSERT_EQ(request(self->file, OAE_IOC_SWAP, &swap), 0);
	ASSERT_EQ(swap.status, OAE_SWAP_STATUS_OK);
	right = (struct oae_fate){
		.size = sizeof(right),
		.timeout_ns = 3000000,
		.sequence = swap.sequence,
		.epoch = swap.epoch,
		.fate = OAE_FATE_LOST,
	};
	fate = right;
	EXPECT_EQ(request(self->file, OAE_IOC_FATE, &fate), 0);
	EXPECT_EQ(fate.fate, OAE_FATE_PENDING);
	EXPECT_EQ(fate.sequence, swap.sequence);
	EXPECT_EQ(fate.forgotten, 0);

	fate = right;
	fate.sequence++;
	EXPECT_EQ(request(self->file, OAE_IOC_FATE, &fate), EINVAL);
	fate.sequence = 0;
	EXPECT_EQ(request(self->file, OAE_IOC_FATE, &fate), EINVAL);
	fate = right;
	fate.epoch++;
	EXPECT_EQ(request(self->file, OAE_IOC_FATE, &fate), ENODATA);
	for (i = 0; i < sizeof(fate.reserved); i++) {
		fate = right;
		fate.reserved[i] = 1;
		EXPECT_EQ(request(self->file, OAE_IOC_FATE, &fate), EINVAL);
	}
	for (i = 1; i < 32; i++) {
		fate = right;
		fate.flags = 1U << i;
		EXPECT_EQ(request(self->file, OAE_IOC_FATE, &fate), EINVAL);
	}

	fate = right;
	fate.flags = OAE_FATE_NEXT_LOSS;
	EXPECT_EQ(request(self->file, OAE_IOC_FATE, &fate), 0);
	EXPECT_EQ(fate.fate, OAE_FATE_PENDING);
	EXPECT_EQ(fate.sequence, 0);
	EXPECT_EQ(poll(&events, 1, 0), 0);
}

TEST_HARNESS_MAIN
