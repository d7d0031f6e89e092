/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM oae

#if !defined(OAE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define OAE_TRACE_H

#include <linux/tracepoint.h>

#include "oae_port.h"

#define oae_show_verb(verb) \
	__print_symbolic(verb, { OAE_VERB_SWAP, "swap" }, { OAE_VERB_CAS, "cas" }, \
			 { OAE_VERB_FETCH_ADD, "fetch_add" }, { OAE_VERB_MULTI, "multi" }, \
			 { OAE_VERB_SEND, "send" }, { OAE_VERB_REMOTE, "remote" }, \
			 { OAE_VERB_RESULT, "result" })
#define oae_show_form(form) \
	__print_symbolic(form, { OAE_PUSHED, "pushed" }, { OAE_STREAMED, "streamed" })
#define oae_show_outcome(outcome) \
	__print_symbolic(outcome, { OAE_COMMITTED, "committed" }, { OAE_NOT_TAKEN, "not_taken" }, \
			 { OAE_REVERSED, "reversed" }, { OAE_LOST, "lost" }, \
			 { OAE_IN_DOUBT, "in_doubt" })
#define oae_show_state(state) \
	__print_symbolic(state, { OAE_LIVE, "live" }, { OAE_FROZEN, "frozen" }, { OAE_GONE, "gone" })

DECLARE_EVENT_CLASS(oae_answer,
	TP_PROTO(const struct oae_port *port, int outcome, const struct oae_answer *answer),
	TP_ARGS(port, outcome, answer),
	TP_STRUCT__entry(
		__field(int, device)
		__field(unsigned int, port)
		__field(u64, header)
		__field(u32, reads)
		__field(int, outcome)
		__field(u8, verb)
		__field(u8, form)
	),
	TP_fast_assign(
		__entry->device = port->oae->id;
		__entry->port = port->index;
		__entry->header = answer->slot[0];
		__entry->reads = answer->reads;
		__entry->outcome = outcome;
		__entry->verb = port->exchange.verb;
		__entry->form = port->exchange.form;
	),
	TP_printk("oae%dp%u verb=%s form=%s outcome=%s header=%#llx reads=%u", __entry->device,
		  __entry->port, oae_show_verb(__entry->verb), oae_show_form(__entry->form),
		  oae_show_outcome(__entry->outcome), __entry->header, __entry->reads)
);

/* A swap that the kernel has made; the header is slice 0 of the answer. */
DEFINE_EVENT(oae_answer, oae_swap,
	TP_PROTO(const struct oae_port *port, int outcome, const struct oae_answer *answer),
	TP_ARGS(port, outcome, answer)
);

/* The swap in doubt was asked for again. */
DEFINE_EVENT(oae_answer, oae_settle,
	TP_PROTO(const struct oae_port *port, int outcome, const struct oae_answer *answer),
	TP_ARGS(port, outcome, answer)
);

/* The hardware side of a port was opened or closed, or that was tried. */
TRACE_EVENT(oae_port,
	TP_PROTO(const struct oae_port *port, bool open, int error),
	TP_ARGS(port, open, error),
	TP_STRUCT__entry(
		__field(int, device)
		__field(unsigned int, port)
		__field(bool, open)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->device = port->oae->id;
		__entry->port = port->index;
		__entry->open = open;
		__entry->error = error;
	),
	TP_printk("oae%dp%u %s error=%d", __entry->device, __entry->port,
		  __entry->open ? "open" : "closed", __entry->error)
);

/* Slots or a REMOTE that have left the cell are lost. The words are those of the registers of these names. */
TRACE_EVENT(oae_loss,
	TP_PROTO(const struct oae_port *port, u64 lost, u64 first, u64 last, u64 remote),
	TP_ARGS(port, lost, first, last, remote),
	TP_STRUCT__entry(
		__field(int, device)
		__field(unsigned int, port)
		__field(u64, lost)
		__field(u64, first)
		__field(u64, last)
		__field(u64, remote)
	),
	TP_fast_assign(
		__entry->device = port->oae->id;
		__entry->port = port->index;
		__entry->lost = lost;
		__entry->first = first;
		__entry->last = last;
		__entry->remote = remote;
	),
	TP_printk("oae%dp%u lost=%#llx first=%#llx last=%#llx remote=%#llx", __entry->device,
		  __entry->port, __entry->lost, __entry->first, __entry->last, __entry->remote)
);

TRACE_EVENT(oae_state,
	TP_PROTO(const struct oae_device *oae, int state),
	TP_ARGS(oae, state),
	TP_STRUCT__entry(
		__field(int, device)
		__field(int, state)
	),
	TP_fast_assign(
		__entry->device = oae->id;
		__entry->state = state;
	),
	TP_printk("oae%d %s", __entry->device, oae_show_state(__entry->state))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE oae_trace
#include <trace/define_trace.h>
