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
#define SIGNAL(kind, number) send(kind, number, 0, 0, 0, 0, 0)

inline send(kind, number, own, other, expects, ended, agrees) {
  assert(nfull(wire[self]));
  if
  :: me.phase != PHASE_STATE_DOWN -> wire[self]!kind, number, own, other, expects, ended, agrees
  :: else -> skip
  fi
}

inline tell_journal() {
  send(initialise, me.next, me.session, me.peer, me.expected, me.outcome,
       (me.phase == PHASE_STATE_IDLE))
}

inline settle(how) {
  /* Agreement, seen from the sender. */
  assert(fate[AT(self, me.last)] == NONE);
  assert(committed[AT(self, me.last)] == (how == COMMITTED));
  fate[AT(self, me.last)] = how
}

inline move_sender(event) {
  sender_step(me.sender, event, actions);
  if
  :: actions == SENDER_LAUNCH -> me.last = me.next; me.next++
  :: actions == SENDER_CONFIRM -> SIGNAL(confirm, me.last)
  :: actions == SENDER_JAM -> SIGNAL(jam, me.last)
  :: actions == SENDER_SETTLE_COMMITTED -> settle(COMMITTED)
  :: actions == SENDER_SETTLE_REVERSED -> settle(REVERSED)
  :: else -> assert(actions == 0)
  fi;
  actions = 0
}

inline move_receiver(event, named) {
  receiver_step(me.receiver, event, actions);
  if
  :: actions & RECEIVER_COMMIT ->
    /* No invention, no repetition; and agreement, seen from the receiver. */
    assert(named < side[OTHER].next);
    assert(!committed[AT(OTHER, named)]);
    assert(fate[AT(OTHER, named)] == NONE);
    committed[AT(OTHER, named)] = 1;
    me.expected = named + 1; me.outcome = COMMITTED
  :: actions & RECEIVER_REVERSE -> me.expected = named + 1; me.outcome = REVERSED
  :: else -> skip
  fi;
  if
  :: actions & RECEIVER_ANSWER -> SIGNAL(answer, named)
  :: actions & RECEIVER_DONE -> SIGNAL(done, named)
  :: actions & RECEIVER_REFUSE -> SIGNAL(refuse, named)
  :: (actions & RECEIVER_TELL) && me.outcome == COMMITTED -> SIGNAL(done, (me.expected - 1))
  :: (actions & RECEIVER_TELL) && me.outcome != COMMITTED -> SIGNAL(refuse, (me.expected - 1))
  :: else -> skip
  fi;
  actions = 0
}

inline cut_both() {
  move_sender(SENDER_EVENT_CUT);
  /* A tentative transfer is of the one frame that is expected. */
  move_receiver(RECEIVER_EVENT_CUT, me.expected)
}

inline move_phase(event) {
  phase_step(me.phase, event, doing);
  if
  :: doing & PHASE_CUT -> cut_both()
  :: else -> skip
  fi;
  if
  :: doing & PHASE_OPEN -> me.session++; tell_journal()
  :: doing & PHASE_JOIN ->
    if
    :: number != me.expected -> me.expected = number; me.outcome = REVERSED
    :: else -> skip
    fi;
    if
    :: expects == me.last + 1 && ended == COMMITTED -> move_sender(SENDER_EVENT_FOUND_COMMITTED)
    :: else -> move_sender(SENDER_EVENT_FOUND_REVERSED)
    fi;
    tell_journal()
  :: else -> skip
  fi;
  doing = 0
}

inline take_journal() {
  if
  :: me.phase == PHASE_STATE_INITIALISING ->
    me.peer = own;
    if
    :: other == me.session -> move_phase(PHASE_EVENT_AGREED)
    :: else -> tell_journal()
    fi
  :: me.phase == PHASE_STATE_IDLE && !(other == me.session && own == me.peer) ->
    me.peer = own;
    move_phase(PHASE_EVENT_RESTARTED)
  :: me.phase == PHASE_STATE_IDLE && other == me.session && own == me.peer && !agrees ->
    tell_journal()
  :: else -> skip
  fi
}

inline take_frame() {
  if
  :: kind == initialise -> take_journal()
  :: kind != initialise && me.phase != PHASE_STATE_IDLE -> skip
  :: else ->
    if
    :: kind == answer && number == me.last -> move_sender(SENDER_EVENT_ANSWERED)
    :: kind == done && number == me.last -> move_sender(SENDER_EVENT_DONE)
    :: kind == refuse && number == me.last -> move_sender(SENDER_EVENT_REFUSED)
    :: kind == told_damage -> move_sender(SENDER_EVENT_DOUBT)
    :: (kind == packet || kind == flow) && me.receiver != RECEIVER_STATE_TENTATIVE &&
       number == me.expected ->
      if
      :: move_receiver(RECEIVER_EVENT_FULL, number)
      :: kind == packet -> move_receiver(RECEIVER_EVENT_WHOLE, number)
      :: kind == flow -> move_receiver(RECEIVER_EVENT_WHOLE_FLOW, number)
      fi
    :: (kind == confirm || kind == jam) && number + 1 == me.expected ->
      move_receiver(RECEIVER_EVENT_ASKED, 0)
    :: kind == confirm && number == me.expected && me.receiver == RECEIVER_STATE_TENTATIVE ->
      move_receiver(RECEIVER_EVENT_CONFIRMED, number)
    :: kind == jam && number >= me.expected -> move_receiver(RECEIVER_EVENT_JAMMED, number)
    :: else -> skip
    fi
  fi
}

#define IDLE_WIRES (empty(wire[0]) && empty(wire[1]))
#define WAITS (me.phase == PHASE_STATE_IDLE && me.sender != SENDER_STATE_IDLE)
#define FAULT (faults < FAULTS)

proctype end(byte self) {
  mtype kind;
  byte number, own, other, expects, ended, actions, doing;
  bit agrees;
end_rest:
  do
  :: atomic {
      wire[OTHER]?kind, number, own, other, expects, ended, agrees ->
      if
      :: take_frame()
      :: FAULT -> faults++                 /* lost, or damaged beyond notice */
      :: FAULT && me.phase == PHASE_STATE_IDLE && kind != told_damage ->
        faults++;                          /* damaged, which is told */
        move_receiver(RECEIVER_EVENT_BEGUN, 0);
        move_receiver(RECEIVER_EVENT_BROKEN, 0);
        SIGNAL(told_damage, 0)
      :: FAULT -> faults++; take_frame(); take_frame()  /* twice */
      fi;
      kind = 0; number = 0; own = 0; other = 0; expects = 0; ended = 0; agrees = 0
    }
  :: atomic { /* The firmware */
      self < SENDERS && me.phase == PHASE_STATE_IDLE && me.sender == SENDER_STATE_IDLE &&
      me.next <= TRANSFERS ->
      if
      :: move_sender(SENDER_EVENT_PACKET); SIGNAL(packet, me.last)
      :: move_sender(SENDER_EVENT_FLOW); SIGNAL(flow, me.last)
      fi
    }
  :: atomic { me.phase == PHASE_STATE_IDLE && me.sender == SENDER_STATE_TENTATIVE ->
              move_sender(SENDER_EVENT_WITHDRAWN) }
  :: atomic { me.phase == PHASE_STATE_DOWN -> me.peer = 0; move_phase(PHASE_EVENT_BEGIN) }
  :: atomic { /* Silence; a side that initialises speaks before the other has doubted too often */
      WAITS && IDLE_WIRES && side[OTHER].phase == PHASE_STATE_IDLE ->
      move_sender(SENDER_EVENT_DOUBT)
    }
  :: atomic { me.phase == PHASE_STATE_INITIALISING && IDLE_WIRES &&
              side[OTHER].phase != PHASE_STATE_DOWN -> tell_journal() }
  :: atomic { me.phase == PHASE_STATE_IDLE && side[OTHER].phase == PHASE_STATE_DOWN ->
              move_phase(PHASE_EVENT_LOST) } /* nothing arrives */
  :: atomic { FAULT && WAITS -> faults++; move_sender(SENDER_EVENT_DOUBT) } /* too early */
  :: atomic { FAULT && me.phase != PHASE_STATE_DOWN -> faults++; move_phase(PHASE_EVENT_LOST) }
  :: atomic { /* A cut, which one side notices first */
      FAULT && me.phase != PHASE_STATE_DOWN ->
      faults++;
      do
      :: nempty(wire[0]) -> wire[0]?kind, _, _, _, _, _, _
      :: nempty(wire[1]) -> wire[1]?kind, _, _, _, _, _, _
      :: empty(wire[0]) && empty(wire[1]) -> break
      od;
      kind = 0;
      move_phase(PHASE_EVENT_LOST)
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
