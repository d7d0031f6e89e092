/* SPDX-License-Identifier: Apache-2.0 */
/* The OAE link between two sides, for SPIN, with any FAULTS faults at any point.
 *
 * The state machines are those of link_transitions.yaml; around them is what the RTL does with an
 * event and an action, and what the firmware does about doubt. A wire keeps the order. What it
 * carries can be lost, damaged, or come twice. A side can be taken down, a cut can take everything
 * from the wires, and a side can lose its power and with it all that it knew. Power stays away for
 * longer than the wires take, so nothing from before meets a side that has come back. Silence is
 * noticed when nothing is on the wires, or, as a fault, at any time. A side in doubt whose link is
 * not up may ask the other side through a third cell, which may take its time. Sessions, numbers and
 * trouble are counted as in the RTL. */
#include "link_table.pml"

#ifndef TRANSFERS
#define TRANSFERS 2 /* from each side that sends */
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef SENDERS
#define SENDERS 1 /* sides that send */
#endif
#ifndef BEATS
#define BEATS 1 /* frames that a transfer has at most */
#endif
#ifndef QUESTIONS
#define QUESTIONS 1 /* through the third cell */
#endif
#ifndef TROUBLE
#define TROUBLE 2 /* doubts without a committed transfer that take the link down */
#endif
#ifdef LIVES /* only cuts, losses of the sender's power, and one kind of transfer */
#define WIRE_FAULT false
#define FOUR_PHASES false
#else
#define WIRE_FAULT FAULT
#define FOUR_PHASES true
#endif
#define ROOM 12 /* frames on a wire, at most */
#define SESSIONS 16 /* of a side, which no few faults lead to */

mtype = { packet, flow, answer, refuse, confirm, jam, done, initialise, damage_report }

/* Outcomes */
#define NONE 0
#define COMMITTED 1
#define REVERSED 2
#define LOST 3
#define GONE 4 /* for the proof only: the sender lost its power */

/* Flags of initialise */
#define KNOWN 1
#define AGREED 2
#define MET 4
#define DOUBTS 8

typedef Side {
  byte phase; byte sender; byte receiver;
  bit off;                                 /* without power */
  byte next; byte last;                    /* numbers of the sender's frames */
  byte expected; byte outcome;             /* the receiver's journal, */
  bit known; byte first;                   /*   and from which number on it has history */
  byte arrived; byte size;                 /* frames of the transfer that comes */
  byte trouble;
  byte session; byte peer;
  byte token;                              /* the firmware's: the other side's session, when it was up */
  byte asked; byte asked_token;            /* the firmware's: the question that it is about to answer */
  /* For the proof only */
  byte begun;                              /* transfers begun, ever: the identity of the last */
  byte comes;                              /* identity of the transfer that comes, */
  byte holds;                              /*   and its frames in the buffer */
  bit failed                               /* the side has lost its power, once or more */
};

Side side[2];
/* Kind, number, and flags. Of a packet and a flow also the size and the identity; of initialise the
 * number is the next, and there follow own and other session, expected, outcome and first. */
chan wire[2] = [ROOM] of { mtype, byte, byte, byte, byte, byte, byte, byte };
/* Questions of a side, and verdicts for it, in the third cell's hands: number, outcome, token. */
chan question[2] = [1] of { byte, byte };
chan verdict[2] = [1] of { byte, byte, byte };
byte fate[2 * (TRANSFERS + 1)];     /* of each transfer, as its sender has learned it */
bit committed[2 * (TRANSFERS + 1)]; /* and whether its receiver did */
byte faults;
byte questions;

#define AT(x, n) ((x) * (TRANSFERS + 1) + (n))
#define OTHER (1 - self)
#define me side[self]
#define IS_UP (me.phase == PHASE_STATE_JOINED || me.phase == PHASE_STATE_IDLE)
#define OF_THIS_SESSION (GUARD(same_own_session, other == me.session) && GUARD(same_other_session, own == me.peer))

inline send(a, b, c, d, e, f, g, h) {
  assert(nfull(wire[self]));
  if
  :: me.phase != PHASE_STATE_DOWN -> wire[self]!a, b, c, d, e, f, g, h
  :: else -> skip
  fi
}

inline settle(how) {
  /* Agreement, seen from the sender; and nobody says that a fate is lost that somebody knows. */
  assert(fate[AT(self, me.begun)] == NONE);
  assert(how == LOST || committed[AT(self, me.begun)] == (how == COMMITTED));
  assert(how != LOST || side[OTHER].failed);
  fate[AT(self, me.begun)] = how
}

/* What a journal says of the transfer whose last frame is `about_n`. */
inline judge(about_n, knows, from, expecting, ending, verdict_is) {
  if
  :: !(knows) || about_n < from -> verdict_is = LOST
  :: else ->
    if
    :: GUARD(settled_last, expecting == about_n + 1) -> verdict_is = ending
    :: GUARD(never_settled, about_n >= expecting) -> verdict_is = REVERSED
    :: else -> verdict_is = NONE /* one settled later says nothing of it */
    fi
  fi
}

/* What a transfer's frame means that arrives while none is tentative. */
inline read_transfer() {
  if
  :: GUARD(frame_in_order, number == me.expected + me.arrived) ->
    me.comes = other;
    me.arrived++;
    me.holds = me.arrived;
    me.size = own;
    named = me.expected + own - 1;
    if
    :: GUARD(more_to_come, me.arrived < own) -> of_receiver = RECEIVER_EVENT_BEGUN
    :: else ->
      if
      :: FOUR_PHASES -> of_receiver = RECEIVER_EVENT_FULL; REACHED(full)
      :: kind == packet -> of_receiver = RECEIVER_EVENT_WHOLE
      :: kind == flow -> of_receiver = RECEIVER_EVENT_WHOLE_FLOW
      fi
    fi
  :: number > me.expected + me.arrived -> of_receiver = RECEIVER_EVENT_BROKEN
  :: else -> skip
  fi
}

/* What a frame means. A side that has not joined looks at journals only. */
inline read_frame() {
  if
  :: kind == initialise && me.phase == PHASE_STATE_INITIALISING ->
    me.peer = own;
    journal_due = 1;
    if
    :: GUARD(names_this_session, other == me.session) ->
      of_phase = (GUARD(journal_of_joined, flags & AGREED) -> PHASE_EVENT_MET : PHASE_EVENT_AGREED)
    :: else -> skip
    fi
  :: kind == initialise && IS_UP && !OF_THIS_SESSION ->
    me.peer = own;
    of_phase = PHASE_EVENT_RESTARTED
  :: kind == initialise && IS_UP && OF_THIS_SESSION ->
    if
    :: GUARD(answer_of_joined, flags & AGREED) -> of_phase = PHASE_EVENT_MET
    :: else -> skip
    fi;
    journal_due = GUARD(answer_wanted, !(flags & MET))
  :: kind == damage_report && me.phase == PHASE_STATE_IDLE -> of_sender = SENDER_EVENT_DOUBT
  :: kind != 0 && kind != initialise && kind != damage_report && GUARD(frames_while_up, IS_UP) ->
    of_phase = PHASE_EVENT_MET;
    named = number;
    if
    :: kind == answer && number == me.last -> of_sender = SENDER_EVENT_ANSWERED
    :: kind == done && GUARD(done_names_last, number == me.last) -> of_sender = SENDER_EVENT_DONE
    :: kind == refuse && GUARD(refusal_names_last, number == me.last) -> of_sender = SENDER_EVENT_REFUSED
    :: (kind == packet || kind == flow) && GUARD(none_tentative, me.receiver != RECEIVER_STATE_TENTATIVE) ->
      if
      :: me.phase == PHASE_STATE_JOINED -> REACHED(met_by_a_transfer)
      :: else -> skip
      fi;
      read_transfer()
    :: (kind == confirm || kind == jam) && GUARD(signal_of_settled, number + 1 == me.expected) ->
      of_receiver = RECEIVER_EVENT_ASKED;
      REACHED(answered_by_journal)
    :: kind == confirm && GUARD(confirm_names_tentative, number + 1 == me.expected + me.size) &&
       me.receiver == RECEIVER_STATE_TENTATIVE ->
      of_receiver = RECEIVER_EVENT_CONFIRMED
    :: kind == jam && GUARD(jam_of_unsettled, number >= me.expected) ->
      of_receiver = RECEIVER_EVENT_JAMMED;
      if
      :: me.receiver == RECEIVER_STATE_TENTATIVE -> REACHED(jammed_tentative)
      :: else -> skip
      fi
    :: else -> skip
    fi
  :: else -> skip
  fi
}

/* The link comes up, as far as this side can tell: both journals are of the same time. */
inline join() {
  judge(me.last, GUARD(journal_known, flags & KNOWN), GUARD(journal_begins, begins), expects, ended, says);
  of_sender = ((says == LOST) -> SENDER_EVENT_FOUND_LOST :
               ((says == COMMITTED) -> SENDER_EVENT_FOUND_COMMITTED : SENDER_EVENT_FOUND_REVERSED));
  if
  :: me.sender == SENDER_STATE_IN_DOUBT && says == LOST -> REACHED(found_lost);
    if
    :: flags & KNOWN -> REACHED(old_history)
    :: else -> skip
    fi
  :: me.sender == SENDER_STATE_IN_DOUBT && says == COMMITTED -> REACHED(found_committed)
  :: me.sender == SENDER_STATE_IN_DOUBT && says == REVERSED -> REACHED(found_reversed)
  :: else -> skip
  fi;
  /* What the other side has in doubt stays known, or stays unknown; else history begins here. */
  if
  :: me.known && number < me.first -> REACHED(new_numbers)
  :: else -> skip
  fi;
  if
  :: GUARD(history_begins, !me.known || !(flags & DOUBTS)) -> me.first = number
  :: else -> skip
  fi;
  me.known = 1;
  if
  :: GUARD(numbers_passed, number != me.expected) -> me.expected = number; me.outcome = REVERSED
  :: else -> skip
  fi
}

/* What the events do: the link first, which may make events of its own. */
inline move() {
  if
  :: me.phase == PHASE_STATE_JOINED && of_phase == PHASE_EVENT_RESTARTED ->
    REACHED(joined_and_restarted)
  :: me.phase == PHASE_STATE_JOINED && of_phase == PHASE_EVENT_LOST -> REACHED(joined_and_lost)
  :: else -> skip
  fi;
  phase_step(me.phase, of_phase, actions);
  if
  :: actions & PHASE_CUT ->
    of_sender = SENDER_EVENT_CUT;
    of_receiver = RECEIVER_EVENT_CUT;
    named = me.expected + me.size - 1
  :: actions & PHASE_JOIN -> join()
  :: else -> skip
  fi;
  if
  :: actions & PHASE_RISE -> me.token = me.peer
  :: else -> skip
  fi;
  if
  :: actions & PHASE_OPEN ->
    me.session++;
    assert(me.session < SESSIONS); /* or the sides would restart each other for ever */
    me.trouble = 0; journal_due = 1
  :: else -> skip
  fi;

  if
  :: of_sender == SENDER_EVENT_DOUBT && me.trouble < TROUBLE -> me.trouble++
  :: else -> skip
  fi;
  sender_step(me.sender, of_sender, actions);
  if
  :: actions == SENDER_LAUNCH ->
    me.begun++;
    for (n : 0 .. frames - 1) {
      send((of_sender == SENDER_EVENT_FLOW -> flow : packet), me.next + n, 0, frames, me.begun, 0, 0, 0)
    }
    me.next = me.next + frames;
    me.last = me.next - 1
  :: actions == SENDER_CONFIRM -> reply = confirm; about = me.last
  :: actions == SENDER_JAM -> reply = jam; about = me.last
  :: actions == SENDER_SETTLE_COMMITTED -> settle(COMMITTED); me.trouble = 0; REACHED(committed)
  :: actions == SENDER_SETTLE_REVERSED -> settle(REVERSED); REACHED(reversed)
  :: actions == SENDER_SETTLE_LOST -> settle(LOST); REACHED(lost)
  :: else -> assert(actions == 0)
  fi;

  if
  :: of_receiver == RECEIVER_EVENT_BROKEN && me.receiver == RECEIVER_STATE_REFLECTING ->
    REACHED(broken)
  :: else -> skip
  fi;
  receiver_step(me.receiver, of_receiver, actions);
  if
  :: actions & RECEIVER_COMMIT ->
    /* No invention, no repetition; and agreement, seen from the receiver. */
    assert(me.comes <= side[OTHER].begun);
    assert(me.holds == me.size);
    assert(!committed[AT(OTHER, me.comes)]);
    assert(fate[AT(OTHER, me.comes)] == NONE || fate[AT(OTHER, me.comes)] == GONE);
    committed[AT(OTHER, me.comes)] = 1;
    me.expected = named + 1;
    me.outcome = COMMITTED
  :: actions & RECEIVER_REVERSE -> me.expected = named + 1; me.outcome = REVERSED
  :: else -> skip
  fi;
  if
  :: me.receiver == RECEIVER_STATE_IDLE -> me.arrived = 0; me.size = 1; me.comes = 0; me.holds = 0
  :: me.receiver == RECEIVER_STATE_TENTATIVE -> me.arrived = 0
  :: else -> skip
  fi;
  if
  :: actions & RECEIVER_ANSWER -> reply = answer; about = named
  :: actions & RECEIVER_DONE -> reply = done; about = named
  :: actions & RECEIVER_REFUSE -> reply = refuse; about = named
  :: actions & RECEIVER_REPORT ->
    reply = (me.outcome == COMMITTED -> done : refuse);
    about = me.expected - 1
  :: else -> skip
  fi;

  if
  :: journal_due ->
    marks = (me.known -> KNOWN : 0);
    if
    :: IS_UP -> marks = marks | AGREED
    :: else -> skip
    fi;
    if
    :: me.phase == PHASE_STATE_IDLE -> marks = marks | MET
    :: else -> skip
    fi;
    if
    :: me.sender == SENDER_STATE_IN_DOUBT -> marks = marks | DOUBTS
    :: else -> skip
    fi;
    send(initialise, me.next, marks, me.session, me.peer, me.expected, me.outcome, me.first)
  :: else -> skip
  fi;
  if
  :: reply != 0 -> send(reply, about, 0, 0, 0, 0, 0, 0)
  :: else -> skip
  fi;
  of_phase = 0; of_sender = 0; of_receiver = 0; named = 0; actions = 0; journal_due = 0; reply = 0;
  about = 0; says = 0; n = 0; frames = 0; marks = 0
}

inline drain() {
  do
  :: nempty(wire[0]) -> wire[0]?kind, _, _, _, _, _, _, _
  :: nempty(wire[1]) -> wire[1]?kind, _, _, _, _, _, _, _
  :: empty(wire[0]) && empty(wire[1]) -> break
  od
}

/* The side loses its power, and with it all that it knew; so does its firmware. */
inline lose_power() {
  if
  :: me.sender != SENDER_STATE_IDLE -> fate[AT(self, me.begun)] = GONE
  :: else -> skip
  fi;
  me.off = 1;
  me.phase = PHASE_STATE_DOWN; me.sender = SENDER_STATE_IDLE; me.receiver = RECEIVER_STATE_IDLE;
  me.next = 1; me.last = 0; me.expected = 1; me.outcome = NONE; me.known = 0; me.first = 0;
  me.arrived = 0; me.size = 1; me.comes = 0; me.holds = 0; me.trouble = 0; me.session = 0; me.peer = 0;
  me.token = 0; me.asked = 0; me.asked_token = 0;
  me.failed = 1
}

/* A verdict for a transfer that this side has in doubt, brought by the third cell. */
inline read_verdict() {
  if
  :: !IS_UP && me.sender == SENDER_STATE_IN_DOUBT &&
     GUARD(verdict_names_last, number == me.last) && GUARD(verdict_of_this_time, own == me.token) ->
    if
    :: ended == COMMITTED -> of_sender = SENDER_EVENT_FOUND_COMMITTED; REACHED(answered_committed)
    :: ended == REVERSED -> of_sender = SENDER_EVENT_FOUND_REVERSED; REACHED(answered_reversed)
    :: ended == LOST -> of_sender = SENDER_EVENT_FOUND_LOST; REACHED(answered_lost)
    fi
  :: me.sender == SENDER_STATE_IN_DOUBT && number == me.last && own != me.token ->
    REACHED(stale_verdict)
  :: else -> skip
  fi
}

#define IDLE_WIRES (empty(wire[0]) && empty(wire[1]))
#define WAITS (me.phase == PHASE_STATE_IDLE && me.sender != SENDER_STATE_IDLE)
#define FAULT (faults < FAULTS)

proctype end(byte self) {
  mtype kind, reply;
  byte number, flags, own, other, expects, ended, begins; /* of a frame */
  byte of_phase, of_sender, of_receiver, named;          /* events, and the transfer they name */
  byte actions, about, says, n, frames, marks;
  bit journal_due;
end_rest:
  do
  :: atomic {
      if
      :: wire[OTHER]?kind, number, flags, own, other, expects, ended, begins ->
        if
        :: skip
        :: WIRE_FAULT ->                         /* a copy comes behind all that is on the wire */
          faults++;
          assert(nfull(wire[OTHER]));
          wire[OTHER]!kind, number, flags, own, other, expects, ended, begins
        :: WIRE_FAULT -> faults++; kind = 0      /* lost */
        :: WIRE_FAULT && kind != damage_report && me.phase == PHASE_STATE_IDLE ->
          faults++;                              /* damaged, which is reported */
          kind = 0;
          reply = damage_report;
          of_receiver = RECEIVER_EVENT_BROKEN
        fi
      :: self < SENDERS && GUARD(sends_once_met, me.phase == PHASE_STATE_IDLE) && me.sender == SENDER_STATE_IDLE &&
         me.begun < TRANSFERS ->                 /* the firmware sends */
        if
        :: FOUR_PHASES -> of_sender = SENDER_EVENT_PACKET
        :: of_sender = SENDER_EVENT_FLOW
        fi;
        if
        :: frames = 1
        :: BEATS > 1 -> frames = BEATS
        fi
      :: me.phase == PHASE_STATE_IDLE && me.sender == SENDER_STATE_TENTATIVE ->
        of_sender = SENDER_EVENT_WITHDRAWN
      :: me.phase == PHASE_STATE_DOWN && !me.off -> me.peer = 0; of_phase = PHASE_EVENT_BEGIN
      :: me.off && IDLE_WIRES -> me.off = 0
      /* Silence; a side that is not up yet speaks before the other has doubted too often. */
      :: WAITS && IDLE_WIRES && side[OTHER].phase == PHASE_STATE_IDLE ->
        of_sender = SENDER_EVENT_DOUBT
      :: GUARD(journal_repeated, me.phase == PHASE_STATE_INITIALISING || me.phase == PHASE_STATE_JOINED) &&
         IDLE_WIRES && side[OTHER].phase != PHASE_STATE_DOWN -> journal_due = 1
      :: IS_UP && side[OTHER].phase == PHASE_STATE_DOWN ->
        of_phase = PHASE_EVENT_LOST              /* nothing arrives */
      :: me.phase == PHASE_STATE_IDLE && GUARD(too_much_trouble, me.trouble >= TROUBLE) ->
        of_phase = PHASE_EVENT_LOST;
        REACHED(trouble)
      :: WIRE_FAULT && WAITS -> faults++; of_sender = SENDER_EVENT_DOUBT /* too early */
      :: FAULT && me.phase != PHASE_STATE_DOWN ->
        faults++;                                /* taken down, */
        of_phase = PHASE_EVENT_LOST;
        if
        :: FOUR_PHASES
        :: true -> drain()                       /*   or by a cut, which it notices first */
        fi
      :: FAULT && !me.off && (FOUR_PHASES || self == 0) -> faults++; lose_power()

      /* The firmware's questions through the third cell */
      :: !IS_UP && me.sender == SENDER_STATE_IN_DOUBT && questions < QUESTIONS &&
         empty(question[self]) ->
        questions++;
        question[self]!me.last, me.token
      :: !me.off && me.asked == 0 && nempty(question[OTHER]) && GUARD(answers_while_not_up, !IS_UP) ->
        question[OTHER]?me.asked, me.asked_token
      :: !me.off && nempty(question[OTHER]) && IS_UP ->
        question[OTHER]?_, _;                    /* each side repeats its questions */
        REACHED(asked_while_up)
      :: me.asked != 0 && empty(verdict[OTHER]) ->
        judge(me.asked, GUARD(question_known, me.known), GUARD(question_begins, me.first), me.expected, me.outcome,
              says);
        if
        :: says != NONE -> verdict[OTHER]!me.asked, says, me.asked_token
        :: else -> skip
        fi;
        me.asked = 0;
        me.asked_token = 0
      :: !me.off && nempty(verdict[self]) ->
        verdict[self]?number, ended, own;
        read_verdict()
      fi;
      read_frame();
      move();
      kind = 0; number = 0; flags = 0; own = 0; other = 0; expects = 0; ended = 0; begins = 0
    }
  od
}

/* Progress: when nothing more happens, both sides are up and every transfer is settled. That it
 * comes to this is the search for cycles, of which there must be none. */
proctype watch() {
  timeout;
  byte n;
  assert(side[0].phase == PHASE_STATE_IDLE && side[1].phase == PHASE_STATE_IDLE);
  for (n : 1 .. TRANSFERS) {
    assert(fate[AT(0, n)] != NONE);
    assert(SENDERS < 2 || fate[AT(1, n)] != NONE)
  }
}

init {
  byte self;
  atomic {
    for (self : 0 .. 1) {
      side[self].next = 1;
      side[self].expected = 1;
      side[self].size = 1
    }
    run end(0); run end(1); run watch()
  }
}
