/* SPDX-License-Identifier: Apache-2.0 */
/* The OAE link between two sides, for SPIN: transfers of one frame, any FAULTS faults at any point.
 *
 * The state machines are those of link_transitions.yaml; around them is what the RTL does with an
 * event and an action. A wire keeps the order; what it carries can be lost, damaged, or come twice.
 * A side can be taken down, and both can, with what is on the wires. Silence is noticed when nothing
 * is on the wires, or, as a fault, at any time. Sessions and numbers are counted as in the RTL. */
#include "link_table.pml"

#ifndef TRANSFERS
#define TRANSFERS 2 /* to each side that is sent to */
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef SENDERS
#define SENDERS 1 /* sides that send */
#endif
#define ROOM 12 /* frames on a wire, at most */

mtype = { packet, flow, answer, refuse, confirm, jam, done, initialise, told_damage }

#define NONE 0
#define COMMITTED 1
#define REVERSED 2

typedef Side {
  byte phase; byte sender; byte receiver;
  byte next; byte last;        /* numbers of the sender */
  byte expected; byte outcome; /* the receiver's journal */
  byte session; byte peer
};

Side side[2];
/* Kind, number (of initialise: next), and of initialise own and other session, expected, outcome,
 * and whether it is agreed. */
chan wire[2] = [ROOM] of { mtype, byte, byte, byte, byte, byte, bit };
byte fate[2 * (TRANSFERS + 2)];     /* of each transfer, as its sender was told */
bit committed[2 * (TRANSFERS + 2)]; /* and whether its receiver did */
byte faults;

#define AT(x, n) ((x) * (TRANSFERS + 2) + (n))
#define OTHER (1 - self)
#define me side[self]

inline send(kind, number, own, other, expects, ended, agrees) {
  assert(nfull(wire[self]));
  if
  :: me.phase != PHASE_STATE_DOWN -> wire[self]!kind, number, own, other, expects, ended, agrees
  :: else -> skip
  fi
}

inline settle(how) {
  /* Agreement, seen from the sender. */
  assert(fate[AT(self, me.last)] == NONE);
  assert(committed[AT(self, me.last)] == (how == COMMITTED));
  fate[AT(self, me.last)] = how
}

/* What a frame means. A side that is not up looks at journals only. */
inline read_frame() {
  if
  :: kind == initialise && me.phase == PHASE_STATE_INITIALISING ->
    me.peer = own;
    tells = 1;
    if
    :: other == me.session -> of_phase = PHASE_EVENT_AGREED
    :: else -> skip
    fi
  :: kind == initialise && me.phase == PHASE_STATE_IDLE &&
     !(other == me.session && own == me.peer) ->
    me.peer = own;
    of_phase = PHASE_EVENT_RESTARTED
  :: kind == initialise && me.phase == PHASE_STATE_IDLE && other == me.session &&
     own == me.peer && !agrees -> tells = 1
  :: kind != initialise && me.phase == PHASE_STATE_IDLE ->
    named = number;
    if
    :: kind == answer && number == me.last -> of_sender = SENDER_EVENT_ANSWERED
    :: kind == done && number == me.last -> of_sender = SENDER_EVENT_DONE
    :: kind == refuse && number == me.last -> of_sender = SENDER_EVENT_REFUSED
    :: kind == told_damage -> of_sender = SENDER_EVENT_DOUBT
    :: (kind == packet || kind == flow) && me.receiver != RECEIVER_STATE_TENTATIVE &&
       number == me.expected ->
      if
      :: of_receiver = RECEIVER_EVENT_FULL
      :: kind == packet -> of_receiver = RECEIVER_EVENT_WHOLE
      :: kind == flow -> of_receiver = RECEIVER_EVENT_WHOLE_FLOW
      fi
    :: (kind == confirm || kind == jam) && number + 1 == me.expected ->
      of_receiver = RECEIVER_EVENT_ASKED
    :: kind == confirm && number == me.expected && me.receiver == RECEIVER_STATE_TENTATIVE ->
      of_receiver = RECEIVER_EVENT_CONFIRMED
    :: kind == jam && number >= me.expected -> of_receiver = RECEIVER_EVENT_JAMMED
    :: else -> skip
    fi
  :: else -> skip
  fi
}

/* What the events do: the link first, which may make events of its own. */
inline move() {
  phase_step(me.phase, of_phase, actions);
  if
  :: actions & PHASE_CUT ->
    of_sender = SENDER_EVENT_CUT;
    of_receiver = RECEIVER_EVENT_CUT;
    named = me.expected /* a tentative transfer is of the one frame that is expected */
  :: actions & PHASE_JOIN ->
    if
    :: number != me.expected -> me.expected = number; me.outcome = REVERSED
    :: else -> skip
    fi;
    of_sender = ((expects == me.last + 1 && ended == COMMITTED) -> SENDER_EVENT_FOUND_COMMITTED
                                                                : SENDER_EVENT_FOUND_REVERSED)
  :: else -> skip
  fi;
  if
  :: actions & PHASE_OPEN -> me.session++; tells = 1
  :: else -> skip
  fi;

  sender_step(me.sender, of_sender, actions);
  if
  :: actions == SENDER_LAUNCH ->
    me.last = me.next;
    me.next++;
    reply = (of_sender == SENDER_EVENT_FLOW -> flow : packet);
    about = me.last
  :: actions == SENDER_CONFIRM -> reply = confirm; about = me.last
  :: actions == SENDER_JAM -> reply = jam; about = me.last
  :: actions == SENDER_SETTLE_COMMITTED -> settle(COMMITTED)
  :: actions == SENDER_SETTLE_REVERSED -> settle(REVERSED)
  :: else -> assert(actions == 0)
  fi;

  receiver_step(me.receiver, of_receiver, actions);
  if
  :: actions & RECEIVER_COMMIT ->
    /* No invention, no repetition; and agreement, seen from the receiver. */
    assert(named < side[OTHER].next);
    assert(!committed[AT(OTHER, named)]);
    assert(fate[AT(OTHER, named)] == NONE);
    committed[AT(OTHER, named)] = 1;
    me.expected = named + 1;
    me.outcome = COMMITTED
  :: actions & RECEIVER_REVERSE -> me.expected = named + 1; me.outcome = REVERSED
  :: else -> skip
  fi;
  if
  :: actions & RECEIVER_ANSWER -> reply = answer; about = named
  :: actions & RECEIVER_DONE -> reply = done; about = named
  :: actions & RECEIVER_REFUSE -> reply = refuse; about = named
  :: actions & RECEIVER_TELL ->
    reply = (me.outcome == COMMITTED -> done : refuse);
    about = me.expected - 1
  :: else -> skip
  fi;

  if
  :: tells ->
    send(initialise, me.next, me.session, me.peer, me.expected, me.outcome,
         (me.phase == PHASE_STATE_IDLE))
  :: else -> skip
  fi;
  if
  :: reply != 0 -> send(reply, about, 0, 0, 0, 0, 0)
  :: else -> skip
  fi;
  of_phase = 0; of_sender = 0; of_receiver = 0; named = 0; actions = 0; tells = 0; reply = 0; about = 0
}

#define IDLE_WIRES (empty(wire[0]) && empty(wire[1]))
#define WAITS (me.phase == PHASE_STATE_IDLE && me.sender != SENDER_STATE_IDLE)
#define FAULT (faults < FAULTS)

proctype end(byte self) {
  mtype kind, reply;
  byte number, own, other, expects, ended;           /* of a frame */
  byte of_phase, of_sender, of_receiver, named;      /* events, and the transfer they name */
  byte actions, about, times;
  bit agrees, tells;
end_rest:
  do
  :: atomic {
      if
      :: wire[OTHER]?kind, number, own, other, expects, ended, agrees ->
        times = 1;
        if
        :: skip
        :: FAULT -> faults++; times = 2          /* a copy comes behind it */
        :: FAULT -> faults++; kind = 0           /* lost */
        :: FAULT && kind != told_damage && me.phase == PHASE_STATE_IDLE ->
          faults++;                              /* damaged, which is told */
          kind = 0;
          reply = told_damage
        fi
      :: self < SENDERS && me.phase == PHASE_STATE_IDLE && me.sender == SENDER_STATE_IDLE &&
         me.next <= TRANSFERS ->                 /* the firmware sends */
        if
        :: of_sender = SENDER_EVENT_PACKET
        :: of_sender = SENDER_EVENT_FLOW
        fi
      :: me.phase == PHASE_STATE_IDLE && me.sender == SENDER_STATE_TENTATIVE ->
        of_sender = SENDER_EVENT_WITHDRAWN
      :: me.phase == PHASE_STATE_DOWN -> me.peer = 0; of_phase = PHASE_EVENT_BEGIN
      /* Silence; a side that initialises speaks before the other has doubted too often. */
      :: WAITS && IDLE_WIRES && side[OTHER].phase == PHASE_STATE_IDLE ->
        of_sender = SENDER_EVENT_DOUBT
      :: me.phase == PHASE_STATE_INITIALISING && IDLE_WIRES &&
         side[OTHER].phase != PHASE_STATE_DOWN -> tells = 1
      :: me.phase == PHASE_STATE_IDLE && side[OTHER].phase == PHASE_STATE_DOWN ->
        of_phase = PHASE_EVENT_LOST              /* nothing arrives */
      :: FAULT && WAITS -> faults++; of_sender = SENDER_EVENT_DOUBT /* too early */
      :: FAULT && me.phase != PHASE_STATE_DOWN ->
        faults++;                                /* taken down, */
        of_phase = PHASE_EVENT_LOST;
        if
        :: skip
        :: true ->                               /*   or by a cut, which it notices first */
          do
          :: nempty(wire[0]) -> wire[0]?kind, _, _, _, _, _, _
          :: nempty(wire[1]) -> wire[1]?kind, _, _, _, _, _, _
          :: empty(wire[0]) && empty(wire[1]) -> break
          od
        fi
      fi;
      if
      :: times == 0 -> move()
      :: else ->
        do
        :: times > 0 -> read_frame(); move(); times--
        :: times == 0 -> break
        od
      fi;
      kind = 0; number = 0; own = 0; other = 0; expects = 0; ended = 0; agrees = 0
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
      side[self].expected = 1
    }
    run end(0); run end(1); run watch()
  }
}
