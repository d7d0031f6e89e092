// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#include "oae_exchange.h"

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/io.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "oae_check.h"
#include "oae_clock.h"
#include "oae_crc.h"
#include "oae_registers.h"
#include "oae_stream.h"

#define OAE_EXCHANGE_ATTEMPTS 63 /* The numbers of attempts repeat after this one. */

/* The word that names the next swap in one of the registers for confirmations and reversals. */
static u64 oae_exchange_name_next(const struct oae_exchange *exchange, unsigned int offset)
{
	return oae_checked(offset, OAE_PUT(OAE_PORT_CONFIRM_EPOCH, exchange->epoch) |
					   OAE_PUT(OAE_PORT_CONFIRM_SEQUENCE,
						   oae_exchange_next(exchange)));
}

void oae_exchange_begin(struct oae_exchange *exchange, u8 epoch, u32 sequence)
{
	exchange->epoch = epoch;
	exchange->sequence = sequence;
	exchange->doubt = false;
	exchange->reversing = false;
	exchange->attempt = 0;
	WRITE_ONCE(exchange->confirmation, 0);
}

bool oae_exchange_open(struct oae_exchange *exchange, u64 before, u64 after)
{
	bool forgotten = OAE_GET(before, OAE_HOST_PORT_STATE_STATE) ==
			 OAE_PORT_STATE_HISTORY_LOST;
	u8 epoch = forgotten ? exchange->epoch : OAE_GET(before, OAE_HOST_PORT_STATE_EPOCH);

	/* In an epoch that is not new, swaps of the port's previous owner would be taken for ours. */
	epoch++;
	if (before == ~0ULL ||
	    (after & ~(OAE_HOST_PORT_STATE_OFFERED_MASK | OAE_HOST_PORT_STATE_LOST_MASK)) !=
		    (OAE_PUT(OAE_HOST_PORT_STATE_STATE, OAE_PORT_STATE_IDLE) |
		     OAE_PUT(OAE_HOST_PORT_STATE_EPOCH, epoch)))
		return false;
	oae_exchange_begin(exchange, epoch, 0);
	return true;
}

void oae_exchange_confirm(struct oae_exchange *exchange)
{
	u64 confirmation = READ_ONCE(exchange->confirmation);

	if (confirmation)
		writeq(confirmation, exchange->page + OAE_PORT_CONFIRM);
}

/*
 * Whether the pages have been taken away from the process that has them mapped. Ordinary memory is
 * shown instead, which may return what was stored to it as if that were an answer.
 */
static inline bool oae_exchange_is_away(const struct oae_exchange *exchange)
{
	return unlikely(exchange->generation &&
			READ_ONCE(*exchange->generation) != exchange->present);
}

/* Reads slice 0 of a pushed answer. */
static inline u64 oae_exchange_read(struct oae_exchange *exchange, struct oae_answer *answer)
{
	u64 header;

	answer->issued = oae_clock();
	header = readq(exchange->page + OAE_PORT_PUSHED_ANSWER);
	answer->answered = oae_clock();
	return oae_exchange_is_away(exchange) ? ~0ULL : header;
}

/* Reads a streamed answer. The caller has called oae_stream_begin(). */
static inline u64 oae_exchange_stream(struct oae_exchange *exchange, bool vectors,
				      struct oae_answer *answer)
{
	mb(); /* Empties the CPU's buffers, and lets no load go before that. */
	answer->issued = oae_clock();
	oae_stream_read(exchange->stream + OAE_STREAM_WINDOW, answer->slot, vectors);
	answer->answered = oae_clock();
	return oae_exchange_is_away(exchange) ? ~0ULL : answer->slot[0];
}

/* Stores an offer and reads the answer. All of it happens on one CPU, so that one clock times it. */
static u64 oae_exchange_offer(struct oae_exchange *exchange, const u64 *slot,
			      struct oae_answer *answer)
{
	unsigned int i;
	bool vectors;
	u64 header;

	if (exchange->form == OAE_STREAMED) {
		vectors = oae_stream_begin();
		answer->stored = oae_clock();
		oae_stream_write(exchange->stream + OAE_STREAM_WINDOW, slot);
		header = oae_exchange_stream(exchange, vectors, answer);
		oae_stream_end(vectors);
		return header;
	}
	preempt_disable();
	answer->stored = oae_clock();
#pragma GCC unroll 8
	for (i = 0; i < OAE_PORT_WINDOW_COUNT; i++)
		writeq(slot[i], exchange->page + OAE_PORT_WINDOW_AT(i));
	header = oae_exchange_read(exchange, answer);
	preempt_enable();
	return header;
}

/* Reads the answer again. */
static u64 oae_exchange_repeat(struct oae_exchange *exchange, struct oae_answer *answer)
{
	bool vectors;
	u64 header;

	if (exchange->form == OAE_PUSHED)
		return oae_exchange_read(exchange, answer);
	vectors = oae_stream_begin();
	header = oae_exchange_stream(exchange, vectors, answer);
	oae_stream_end(vectors);
	return header;
}

/* An answer that was pushed earlier must not be taken for the next one. */
static void oae_exchange_clear_buffer(struct oae_exchange *exchange)
{
	WRITE_ONCE(exchange->buffer[0], 0);
}

/* Fetches the answer whose slice 0 is @header. Returns whether it is undamaged. */
static bool oae_exchange_take(struct oae_exchange *exchange, u64 header, struct oae_answer *answer)
{
	unsigned int i;

	if (exchange->form == OAE_PUSHED)
		for (i = 0; i < OAE_SLOT_SIZE / 8; i++)
			answer->slot[i] = le64_to_cpu(READ_ONCE(exchange->buffer[i]));
	if (answer->slot[0] == header && answer->slot[OAE_SLOT_CRC / 8] == oae_crc(answer->slot))
		return true;
	memset(answer->slot, 0, sizeof(answer->slot));
	answer->slot[0] = header;
	return false;
}

/* Reads the port's journal. */
static inline u64 oae_exchange_state(struct oae_exchange *exchange)
{
	u64 state = readq(exchange->page + OAE_PORT_STATUS);

	return oae_exchange_is_away(exchange) ? ~0ULL : state;
}

/*
 * Returns whether the journal says that the next swap has already been settled, so that an
 * answer that is asked for after that is final: its port has been closed, or the block has committed it.
 * The journal is read twice, since nothing else tells whether what was read is damaged.
 */
static bool oae_exchange_is_settled(struct oae_exchange *exchange)
{
	u64 state = oae_exchange_state(exchange);

	if (oae_exchange_state(exchange) != state)
		return false;
	if (OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH) != exchange->epoch)
		return false;
	switch (OAE_GET(state, OAE_HOST_PORT_STATE_STATE)) {
	case OAE_PORT_STATE_CLOSED:
		return true;
	case OAE_PORT_STATE_COMMITTED:
		return OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE) == oae_exchange_next(exchange);
	default:
		return false;
	}
}

/*
 * Puts a denial of the next swap in the place of the answer to the last one, which a closed port
 * still gives. The status of that one would say that the next swap had taken place.
 */
static void oae_exchange_deny(const struct oae_exchange *exchange, struct oae_answer *answer)
{
	memset(answer->slot, 0, sizeof(answer->slot));
	answer->slot[0] = OAE_PUT(OAE_SLOT_HEADER_STATUS, OAE_STATUS_NOT_READY) |
			  OAE_PUT(OAE_SLOT_HEADER_EPOCH, exchange->epoch) |
			  OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, oae_exchange_next(exchange));
}

/*
 * Returns what an answer means for the next swap, whose offer was stored before. Only an undamaged
 * answer counts, since slice 0 alone has no CRC. There is one exception: a block that cannot push
 * answers NOT_READY without naming a swap. That counts if it is the first answer to this offer.
 *
 * A denial is final if it says that the block had this very attempt before it, since the block takes
 * later attempts only. Otherwise the offer was lost or damaged, or a copy of it may still arrive.
 * Then only a reversal makes sure that it never takes place, unless the swap was @settled before the
 * answer was asked for.
 */
static enum oae_outcome oae_exchange_judge(struct oae_exchange *exchange, u64 header, bool first,
					   bool settled, struct oae_answer *answer)
{
	u32 sequence = OAE_GET(header, OAE_SLOT_HEADER_SEQUENCE);
	u64 status = OAE_GET(header, OAE_SLOT_HEADER_STATUS);
	bool whole = oae_exchange_take(exchange, header, answer);
	bool nothing = !sequence && status == OAE_STATUS_NOT_READY;
	bool final = OAE_GET(header, OAE_SLOT_HEADER_ATTEMPT) ==
		     ((exchange->attempt + 1) & OAE_EXCHANGE_ATTEMPTS);

	if (whole && !sequence && status == OAE_STATUS_HISTORY_LOST)
		return OAE_LOST;
	/* A read that fails returns all ones, which is never the header of a slot. */
	if (header == ~0ULL || OAE_GET(header, OAE_SLOT_HEADER_EPOCH) != exchange->epoch)
		return OAE_IN_DOUBT;
	if (!whole)
		return nothing && first && final && exchange->form == OAE_PUSHED ? OAE_NOT_TAKEN :
										   OAE_IN_DOUBT;
	if (sequence == oae_exchange_next(exchange)) {
		if (status == OAE_STATUS_REVERSED)
			return OAE_REVERSED;
		if (status == OAE_STATUS_OK)
			return OAE_COMMITTED;
	} else if (!nothing && sequence != exchange->sequence) {
		return OAE_IN_DOUBT;
	}
	if (settled || (final && (nothing || sequence == oae_exchange_next(exchange)))) {
		if (!nothing && sequence == exchange->sequence)
			oae_exchange_deny(exchange, answer);
		return OAE_NOT_TAKEN;
	}
	exchange->reversing = true;
	return OAE_IN_DOUBT;
}

static enum oae_outcome oae_exchange_end(struct oae_exchange *exchange, enum oae_outcome outcome)
{
	exchange->doubt = outcome == OAE_IN_DOUBT;
	exchange->reversing = exchange->reversing && exchange->doubt;
	if (outcome == OAE_REVERSED)
		exchange->sequence = oae_exchange_next(exchange);
	if (outcome == OAE_NOT_TAKEN)
		exchange->attempt++;
	else if (outcome != OAE_IN_DOUBT)
		exchange->attempt = 0;
	if (outcome == OAE_COMMITTED) {
		WRITE_ONCE(exchange->confirmation,
			   oae_exchange_name_next(exchange, OAE_PORT_CONFIRM));
		exchange->sequence = oae_exchange_next(exchange);
		if (exchange->flags & OAE_FLAG_MORE)
			return outcome;
	}
	/*
	 * A swap may be refused because the one before it is not confirmed: its confirmation was left
	 * to this offer, or was lost.
	 */
	if (outcome != OAE_IN_DOUBT)
		oae_exchange_confirm(exchange);
	return outcome;
}

void oae_exchange_demand_reversal(struct oae_exchange *exchange)
{
	writeq(oae_exchange_name_next(exchange, OAE_PORT_REVERSE),
	       exchange->page + OAE_PORT_REVERSE);
}

static enum oae_outcome oae_exchange_ask_again(struct oae_exchange *exchange, unsigned int reads,
					       struct oae_answer *answer)
{
	enum oae_outcome outcome = OAE_IN_DOUBT;
	bool reversing = exchange->reversing;
	bool settled = false;
	unsigned int i;
	u64 header;

	for (i = 0; i < reads && outcome == OAE_IN_DOUBT; i++) {
		/* A read of a device that does not answer may take long. */
		if (i && exchange->is_interrupted && exchange->is_interrupted())
			break;
		oae_exchange_clear_buffer(exchange);
		if (exchange->reversing) {
			oae_exchange_demand_reversal(exchange);
			/* The reversal may have come too late, which the journal shows. */
			settled = oae_exchange_is_settled(exchange);
		}
		header = oae_exchange_repeat(exchange, answer);
		outcome = oae_exchange_judge(exchange, header, false, settled, answer);
		answer->reads++;
		/* The reversal has not arrived, but may arrive later, so that this outcome is not final. */
		if (exchange->reversing && !settled &&
		    (outcome == OAE_COMMITTED || outcome == OAE_NOT_TAKEN))
			outcome = OAE_IN_DOUBT;
		/* A reversal that this answer asks for has a read of its own. */
		if (exchange->reversing && !reversing)
			reads++;
		reversing = exchange->reversing;
	}
	return outcome;
}

enum oae_outcome oae_exchange_swap(struct oae_exchange *exchange, enum oae_form form, u8 verb,
				   u8 flags, const u64 *payload, unsigned int reads,
				   struct oae_answer *answer)
{
	enum oae_outcome outcome;
	u64 slot[8], header;

	slot[0] = OAE_PUT(OAE_SLOT_HEADER_VERB, verb) |
		  OAE_PUT(OAE_SLOT_HEADER_EPOCH, exchange->epoch) |
		  OAE_PUT(OAE_SLOT_HEADER_FLAGS, flags) |
		  OAE_PUT(OAE_SLOT_HEADER_ATTEMPT, exchange->attempt) |
		  OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, oae_exchange_next(exchange));
	memcpy(&slot[1], payload, OAE_SLOT_PAYLOAD_COUNT * sizeof(*payload));
	slot[OAE_SLOT_CRC / 8] = oae_crc(slot);
	exchange->form = form;
	exchange->verb = verb;
	exchange->flags = flags;
	answer->reads = 0;
	oae_exchange_clear_buffer(exchange);

	header = oae_exchange_offer(exchange, slot, answer);
	outcome = oae_exchange_judge(exchange, header, true, false, answer);
	if (unlikely(outcome == OAE_IN_DOUBT))
		outcome = oae_exchange_ask_again(exchange, reads, answer);
	answer->committed = oae_clock();
	return oae_exchange_end(exchange, outcome);
}

void oae_exchange_reverse(struct oae_exchange *exchange)
{
	exchange->reversing = exchange->doubt;
}

enum oae_outcome oae_exchange_settle(struct oae_exchange *exchange, unsigned int reads,
				     struct oae_answer *answer)
{
	enum oae_outcome outcome;

	answer->reads = 0;
	answer->stored = oae_clock();
	outcome = oae_exchange_ask_again(exchange, reads, answer);
	answer->committed = oae_clock();
	return oae_exchange_end(exchange, outcome);
}
