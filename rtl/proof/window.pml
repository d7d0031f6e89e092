/* SPDX-License-Identifier: Apache-2.0 */
/* Two ends of a link with a window (rtl/link), for SPIN, with any FAULTS faults at any point.
 *
 * An end is its phases, the slots that it sends and those that it receives, with the rules of
 * oae_link_phases.sv, oae_link_window.sv and oae_link_intake.sv (window_rules.pml). A wire keeps the order. What it
 * carries can be lost, damaged, or come twice. A cut can take everything from the wires, a side can be
 * taken down, and it can lose its power and with it all that it knew. The power is back at once. The
 * side then holds off for longer than a silence is tolerated and a unit is on its way: until the other
 * side has noticed, and the wires are empty. Silence is noticed when nothing else is to be done, or, as
 * a fault, at any time. Slots that were reversed wait until the firmware resumes them or drops them,
 * which may happen at once: so an end that offers them again by itself is one of the cases. Numbers in
 * a return are modulo MODULUS. The sign of life is left out, since it changes no number. */
#ifndef SLOTS
#define SLOTS 2 /* from each side that sends */
#endif
#ifndef WINDOW
#define WINDOW 2 /* slots that are offered and not settled, at most */
#endif
#ifndef ROOM
#define ROOM 2 /* of the receive ring */
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef SENDERS
#define SENDERS 1 /* sides that send */
#endif
#ifndef TROUBLE
#define TROUBLE 2 /* doubts without a gain that take the link down */
#endif
#define FAULT (faults < FAULTS)
#ifdef LIVES /* of the faults only cuts and losses of power */
#define WIRE_FAULT false
#else
#define WIRE_FAULT FAULT
#endif
#ifdef LOSSES /* only losses of power */
#define CUT_FAULT false
#else
#define CUT_FAULT FAULT
#endif
#ifdef POWER
#define POWER_FAULT FAULT
#else
#define POWER_FAULT false
#endif
/* BRIDGED: a bridge offers the slots (rtl/bridge), and what it has offered is for the other side's present life alone. */
#ifndef UP_AT_FIRST
#define UP_AT_FIRST 0 /* the link begins down */
#endif
#ifdef CREDIT /* the firmware takes slots when it likes, and not at once */
#define TAKES_AT_ONCE 0
#else
#define TAKES_AT_ONCE 1
#endif
#ifdef DIGEST /* damage that no check finds, and digests, as the contents that they stand for */
#define UNSEEN_FAULT FAULT
#define NEXT_DIGEST(before, content) ((before) * 5 + (content) + 1)
#else
#define UNSEEN_FAULT false
#define NEXT_DIGEST(before, content) 0
#endif
#ifndef QUESTIONS
#define QUESTIONS 0 /* through a third cell, which may take its time */
#endif
#define MODULUS GUARD(numbers_far_apart, 2 * (WINDOW > ROOM -> WINDOW : ROOM) + 2)
#define UNITS 8 /* on a wire, at most */
#define SESSIONS 12 /* of a side, which no few faults lead to */
#define GENERATIONS 8
#define BAD 3 /* a slot's content that nobody has offered */

mtype = { join, slot, restart, answer, ask, damaged }

#define DOWN 0
#define INITIALISING 1
#define JOINED 2
#define UP 3

/* Flags of a join frame */
#define KNOWN 1
#define AGREED 2
#define MET 4
#define ANEW 8

typedef Side {
  unsigned phase : 2;
  bit rests;                                /* holds off after power-up */
  byte session; byte peer;
  bit introduces;                           /* a join frame has to leave */
  byte trouble;
  /* The slots that it sends */
  byte sent; byte answered; byte confirmed; byte settled;
  byte credit;
  byte generation; bit restarts;            /* a restart has to leave, */
  bit shown;                                /*   and the other side has shown that it came */
  bit held;                                 /* reversed slots wait for the firmware, */
  byte told;                                /*   which knows that they are those after `told` */
  bit asked; bit asks; bit heard;
  byte digest;                              /* of what is answered */
  /* The slots that it receives */
  byte holds; byte done;                    /* the last that it holds, and has committed */
  bit known; byte first;
  byte accepts; byte wanted;                /* generations */
  byte digest_held;
  byte occupied;                                /* places whose slots are committed and not taken */
  bit due;                                  /* a return has to leave */
  byte token;                               /* the firmware's: the other side's session, when it was joined */
  bit anew;                                 /* it was not up since its power came on */
  /* For the proof only */
  byte lives;                               /* so often has it lost its power */
  byte meant                                /* what it offers is for this life of the other side, plus 1; 0 before it is up */
};

Side side[2];
/* Kind, and the sessions of sender and reader. A slot has generation, number and content; a restart
 * generation, number and digest; a return generation, generation wanted, digest, answered, done,
 * credit and confirmed; a join frame flags, settled, confirmed, first and done. */
chan wire[2] = [UNITS] of { mtype, byte, byte, byte, byte, byte, byte, byte, byte, byte };
byte content[SENDERS * (SLOTS + 1)];        /* of the slot with each number; another one after each drop */
byte copy[SENDERS * (SLOTS + 1)];           /* what the other side holds of it, and has not committed */
bit committed[SENDERS * (SLOTS + 1)];       /* it has, and this side does not know */
#ifdef PARTS /* a frame takes time to leave, in which returns overtake it; else it is on the wire at once */
chan frame[2] = [1] of { mtype, byte, byte, byte, byte, byte, byte, byte, byte, byte }; /* has begun to leave */
#define IS_FREE(x) empty(frame[x])
#else
#define IS_FREE(x) true
#endif
byte faults;
#if QUESTIONS > 0
/* Questions of a side, and verdicts for it, in the third cell's hands: the token, and of a verdict the
 * journal, which is known or not, its first and its last. */
chan question[2] = [1] of { byte };
chan verdict[2] = [1] of { byte, byte, byte, byte };
byte questions;
#endif

#define AT(x, n) ((x) * (SLOTS + 1) + (n))
#define OTHER (1 - self)
#define me side[self]
#define OFFERS(x) ((x) < SENDERS -> (side[x].settled + WINDOW < SLOTS -> side[x].settled + WINDOW : SLOTS) : 0)
#define IS_LIVE(x) (side[x].phase == JOINED || side[x].phase == UP)
#define AHEAD(low, number) (((low) + MODULUS + MODULUS / 2 - (number) % MODULUS) % MODULUS - MODULUS / 2)

/* What may leave */
#define JOIN_READY(x) (side[x].introduces && side[1 - (x)].phase != DOWN)
#define RETURN_READY(x) (IS_LIVE(x) && (side[x].due || side[x].asks || \
                         side[x].phase == UP && side[x].answered != side[x].confirmed))
#define SLOT_READY(x) (side[x].phase == UP && GUARD(slots_unless_held, !side[x].held) && \
                       GUARD(slots_after_restart, !side[x].restarts) && \
                       side[x].sent < OFFERS(x) && GUARD(slots_with_credit, side[x].sent < side[x].credit))
#define READY(x) (JOIN_READY(x) || RETURN_READY(x) || side[x].restarts || SLOT_READY(x) || side[x].occupied > 0 || \
                  side[x].trouble == TROUBLE)
#define QUIET (empty(wire[0]) && empty(wire[1]) && IS_FREE(0) && IS_FREE(1) && !READY(0) && !READY(1))

#define LACKS (me.settled == me.sent && me.shown)
#define WAITS (me.phase == UP && (!LACKS || GUARD(waits_for_credit, me.sent < OFFERS(self) && !me.held && \
                                                  me.sent == me.credit)))

hidden byte kind, from, to, a, b, c, d, e, f, g, n, flags; /* used within a step only, and not kept */
hidden int ahead;
hidden byte gains, progress, reverses, doubts, strange, reports;

#include "window_rules.pml"

inline drain_from(x) {
  do
  :: nempty(wire[x]) -> wire[x]?kind, _, _, _, _, _, _, _, _, _
#ifdef PARTS
  :: nempty(frame[x]) -> frame[x]?kind, _, _, _, _, _, _, _, _, _
#endif
  :: empty(wire[x]) && IS_FREE(x) -> break
  od;
  kind = 0
}

inline drain() {
  drain_from(0);
  drain_from(1)
}

/* The side loses its power, and with it all that it knew; so does its firmware. What it has sent before
 * has either arrived before, or is lost. What is on its way to it still arrives. */
inline lose_power() {
  drain_from(self);
  hold_only(me.done);
  if
  :: self < SENDERS ->
    for (n : 1 .. SLOTS) {
      committed[AT(self, n)] = 0;
      content[AT(self, n)]++
    }
    n = 0
  :: else -> skip
  fi;
  me.phase = DOWN; me.rests = 1; me.session = 0; me.peer = 0; me.introduces = 0; me.trouble = 0;
  me.sent = 0; me.answered = 0; me.confirmed = 0; me.settled = 0; me.credit = 0; me.generation = 0;
  me.restarts = 0; me.shown = 1; me.held = 0; me.told = 0; me.asked = 0; me.asks = 0; me.heard = 0; me.digest = 0;
  me.holds = 0; me.done = 0; me.known = 0; me.first = 0; me.accepts = 0; me.wanted = 0; me.digest_held = 0;
  me.occupied = 0; me.due = 0; me.token = 0;
  me.anew = 1;
  me.lives++;
  me.meant = 0
}

proctype end(byte self) {
end_rest:
  do
  :: atomic {
      if
      :: wire[OTHER]?kind, from, to, a, b, c, d, e, f, g ->
        if
        :: skip
        :: WIRE_FAULT ->                         /* a copy comes behind all that is on the wire */
          faults++;
          assert(nfull(wire[OTHER]));
          wire[OTHER]!kind, from, to, a, b, c, d, e, f, g
        :: WIRE_FAULT -> faults++; kind = 0      /* lost */
        :: WIRE_FAULT && me.phase == UP -> faults++; kind = damaged
        :: UNSEEN_FAULT && kind == slot -> faults++; c = BAD
        fi;
        read_unit()
      :: JOIN_READY(self) && IS_FREE(self) -> send_join()
      :: RETURN_READY(self) -> send_return()
      :: me.restarts && IS_FREE(self) ->
        me.restarts = 0;
        send_frame(restart, me.generation, GUARD(restart_keeps_answered, me.answered), me.digest, 0, 0)
      :: SLOT_READY(self) && IS_FREE(self) ->
        me.sent++;
        send_frame(slot, me.generation, me.sent, content[AT(self, me.sent)], 0, 0)
#ifdef PARTS
      :: frame[self]?kind, from, to, a, b, c, d, e, f, g -> /* all of it has left */
        assert(nfull(wire[self]));
        wire[self]!kind, from, to, a, b, c, d, e, f, g
#endif
      /* The firmware */
      :: me.phase == DOWN && !me.rests ->
        me.peer = 0;
        open()
      :: me.held -> me.held = 0; me.told = 0; REACHED(resumed)
      :: me.held ->
        me.held = 0;
        for (n : me.told + 1 .. SLOTS) {
          content[AT(self, n)]++
        }
        n = 0;
        me.told = 0;
        REACHED(dropped)
      :: me.occupied > 0 -> me.occupied--; me.due = 1
#if QUESTIONS > 0
      :: !IS_LIVE(self) && me.settled != me.confirmed && questions < QUESTIONS && empty(question[self]) ->
        questions++;
        question[self]!me.token
      :: nempty(question[OTHER]) && empty(verdict[OTHER]) && GUARD(asked_while_not_live, !IS_LIVE(self)) ->
        question[OTHER]?from;
        verdict[OTHER]!from, me.known, me.first, me.done
      :: nempty(verdict[self]) -> verdict[self]?from, a, d, e; read_verdict()
#endif
      /* Time passes */
      :: WAITS && me.trouble < TROUBLE && (QUIET && IS_LIVE(OTHER)) -> hear_nothing()
      :: (me.phase == INITIALISING || GUARD(join_repeated, me.phase == JOINED)) && !me.introduces && QUIET &&
         side[OTHER].phase != DOWN -> me.introduces = 1
      :: IS_LIVE(self) && side[OTHER].phase == DOWN -> go_down() /* nothing arrives */
      :: me.phase == UP && me.trouble == TROUBLE ->
        assert(2 * faults >= TROUBLE);           /* a fault leads to two doubts, at most */
        go_down();
        REACHED(trouble)
      /* Faults */
      :: WIRE_FAULT && WAITS && me.trouble < TROUBLE -> faults++; hear_nothing() /* too early */
      :: WIRE_FAULT && me.phase == UP && me.shown && me.sent != me.answered ->
        faults++; new_generation()               /* the firmware withdraws */
      :: CUT_FAULT && me.phase != DOWN ->
        faults++;                                /* taken down, */
        go_down();
        if
        :: drain()                               /*   or by a cut, which it notices first */
        :: true
        fi
      :: WIRE_FAULT && (nempty(wire[0]) || nempty(wire[1])) ->
        faults++; drain()                        /* a short cut, which nobody notices */
      :: POWER_FAULT && !me.rests -> faults++; lose_power()
      :: me.rests && GUARD(holds_off, empty(wire[0]) && empty(wire[1]) && IS_FREE(OTHER) && !IS_LIVE(OTHER)) ->
        me.rests = 0
      fi;
      kind = 0; from = 0; to = 0; a = 0; b = 0; c = 0; d = 0; e = 0; f = 0; g = 0; flags = 0; ahead = 0;
      gains = 0; progress = 0; reverses = 0; doubts = 0; strange = 0; reports = 0
    }
  od
}

/* Progress: when nothing more happens, both sides are up and every slot is settled. That it comes to
 * this is the search for cycles, of which there must be none. */
proctype watch() {
  timeout;
  assert(side[0].phase == UP && side[1].phase == UP);
  assert(side[0].settled == SLOTS && side[1].done == SLOTS);
  assert(SENDERS < 2 || side[1].settled == SLOTS && side[0].done == SLOTS)
}

init {
  atomic {
    for (n : 0 .. 1) {
      side[n].shown = 1;
      side[n].anew = 1;
      if
      :: UP_AT_FIRST ->
        side[n].phase = UP;
        side[n].session = 1;
        side[n].peer = 1;
        side[n].credit = ROOM;
        side[n].known = 1;
        side[n].first = 1;
        side[n].anew = 0;
        side[n].meant = 1
      :: else -> skip
      fi
    }
    n = 0;
    run end(0); run end(1); run watch()
  }
}
