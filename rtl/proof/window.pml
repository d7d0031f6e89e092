/* SPDX-License-Identifier: Apache-2.0 */
/* Two ends of a link with a window (rtl/link), for SPIN, with any FAULTS faults at any point.
 *
 * An end is its phases, the slots that it sends and those that it receives, with the rules of
 * oae_link_phases.sv, oae_link_window.sv and oae_link_intake.sv. A wire keeps the order. What it
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

inline send(a0, a1, a2, a3, a4, a5, a6, a7) {
  assert(nfull(wire[self]));
  wire[self]!a0, me.session, me.peer, a1, a2, a3, a4, a5, a6, a7
}

inline send_frame(b0, b1, b2, b3, b4, b5) {
#ifdef PARTS
  frame[self]!b0, me.session, me.peer, b1, b2, b3, b4, b5, 0, 0
#else
  send(b0, b1, b2, b3, b4, b5, 0, 0)
#endif
}

inline send_join() {
  flags = (me.known -> KNOWN : 0) | (IS_LIVE(self) -> AGREED : 0) | (me.phase == UP -> MET : 0) | (me.anew -> ANEW : 0);
  me.introduces = 0;
  send_frame(join, flags, me.settled, me.confirmed, me.first, me.done)
}

inline send_return() {
  me.confirmed = GUARD(confirms_answered, me.answered);
#ifdef PARTS
  if
  :: nempty(frame[self]) -> REACHED(frame_overtaken)
  :: empty(frame[self]) -> skip
  fi;
#endif
  kind = (me.asks -> ask : answer);
  me.due = 0;
  me.asks = 0;
  send(kind, me.accepts, me.wanted, me.digest_held, me.holds % MODULUS, me.done % MODULUS,
       (me.done + ROOM - me.occupied) % MODULUS, me.confirmed % MODULUS)
}

/* Slots of this side after `last` are reversed: the other side has not committed them, and holds on to none. */
inline reverse_after(last) {
  if
  :: me.sent != last -> me.held = 1; me.told = last; REACHED(reversed)
  :: else -> skip
  fi;
  for (n : last + 1 .. me.sent) {
    assert(!committed[AT(self, n)])
  }
  n = 0;
  me.sent = last;
  me.answered = last
}

inline new_generation() {
  reverse_after(me.answered);
  me.generation++;
  assert(me.generation < GENERATIONS);      /* or slots would be reversed for ever */
  me.restarts = 1;
  me.shown = 0
}

/* This side holds slots up to `last`, and no more. */
inline hold_only(last) {
  for (n : last + 1 .. me.holds) {
    copy[AT(OTHER, n)] = 0
  }
  n = 0;
  me.holds = last
}

inline settle_committed(last) {
  for (n : me.settled + 1 .. last) {
    assert(committed[AT(self, n)]);
    committed[AT(self, n)] = 0;
    REACHED(settled)
  }
  n = 0;
  me.settled = last
}

/* What is confirmed and not settled, as the other side's journal has it */
inline settle_by_journal(knows, begins, ended) {
  if
  :: me.settled == me.confirmed -> skip
  :: else ->
    if
    :: !strange && GUARD(journal_known, knows) && GUARD(journal_begins, begins <= me.settled + 1) &&
       ended >= me.settled && ended <= me.confirmed ->
      if
      :: ended == me.confirmed -> REACHED(found_committed)
      :: else -> REACHED(found_reversed)
      fi;
      settle_committed(ended);
      reverse_after(ended);
      me.confirmed = ended
    :: else ->
      assert(side[OTHER].lives > 0);       /* nobody says that slots are lost of which somebody knows */
      REACHED(lost);
      reports = 1;
      if
      :: knows -> REACHED(old_history)
      :: else -> skip
      fi;
      for (n : me.settled + 1 .. me.confirmed) {
        committed[AT(self, n)] = 0
      }
      n = 0;
      me.settled = me.confirmed
    fi
  fi
}

/* A loss is reported. What a bridge has offered, and what has not been sent, was meant for the life that has ended. */
inline be_told() {
#ifdef BRIDGED
  if
  :: GUARD(offers_end_with_a_life, true) ->
    if
    :: self < SENDERS && me.sent < SLOTS ->
      for (n : me.sent + 1 .. SLOTS) {
        content[AT(self, n)]++
      }
      n = 0;
      REACHED(offers_dropped)
    :: else -> skip
    fi;
    me.meant = 0
  :: else -> skip
  fi
#else
  me.meant = 0
#endif
}

/* The side is up. Nothing that it has offered is for another life of the other side than the present one. */
inline rise() {
  me.phase = UP;
  me.anew = 0;
  if
  :: me.meant == 0 -> me.meant = side[OTHER].lives + 1
  :: else -> skip
  fi;
  assert(me.meant == side[OTHER].lives + 1);
  if
  :: me.lives > 1 && side[OTHER].lives > 0 -> REACHED(lives_in_turn)
  :: else -> skip
  fi
}

inline cut() {
  reverse_after(GUARD(cut_keeps_confirmed, me.confirmed));
  me.generation = 0; me.restarts = 0; me.shown = 1; me.asked = 0; me.asks = 0; me.heard = 0; me.digest = 0;
  me.due = 0;
  hold_only(GUARD(cut_discards_tentative, me.done))
}

inline open() {
  me.phase = INITIALISING;
  me.session++;
  assert(me.session < SESSIONS);            /* or the sides would restart each other for ever */
  me.trouble = 0;
  me.introduces = 1
}

inline go_down() {
  if
  :: IS_LIVE(self) -> cut()
  :: else -> skip
  fi;
  me.phase = DOWN;
  me.trouble = 0;
  me.introduces = 0;
#ifdef PARTS
  if
  :: nempty(frame[self]) -> frame[self]?_, _, _, _, _, _, _, _, _, _
  :: empty(frame[self]) -> skip
  fi
#endif
}

/* By a join frame this side takes the other's numbers. */
inline take_numbers() {
  if
  :: me.settled != me.confirmed && b != c -> REACHED(both_in_doubt)
  :: else -> skip
  fi;
  strange = GUARD(stranger_noticed, a & ANEW) && !me.anew;
  reports = strange && GUARD(told_without_doubt, true);
  if
  :: strange && me.settled == me.confirmed -> REACHED(told_of_a_stranger)
  :: else -> skip
  fi;
  settle_by_journal(a & KNOWN, d, e);
  if
  :: reports -> be_told()
  :: else -> skip
  fi;
  me.token = (QUESTIONS -> me.peer : 0);
  me.generation = 0; me.restarts = 0; me.shown = 1; me.asked = 0; me.asks = 0; me.heard = 0; me.digest = 0;
  me.credit = me.settled;
  /* What the other side has in doubt stays known or unknown. If it has nothing in doubt, the journal may begin anew. */
  if
  :: GUARD(doubt_of_other, b != c) && GUARD(history_known, me.known) && me.first <= b + 1 ->
    REACHED(journal_kept)
  :: else ->
    me.done = c;
    me.holds = c;
    me.first = c + 1;
    me.known = 1
  fi;
  me.accepts = 0; me.wanted = 0; me.digest_held = 0;
  me.due = 1
}

inline read_join() {
  if
  :: me.phase == INITIALISING ->
    me.peer = from;
    me.introduces = 1;
    if
    :: GUARD(names_this_session, to == me.session) ->
      if
      :: GUARD(leaves_while_joining, false) ->
        me.phase = JOINED;
        send_return()
      :: true
      fi;
      me.phase = JOINED;
      take_numbers();
      me.anew = GUARD(anew_until_it_is_up, me.anew);
      if
      :: a & AGREED -> rise()
      :: else -> skip
      fi
    :: else -> skip
    fi
  :: IS_LIVE(self) && !(to == me.session && GUARD(same_other_session, from == me.peer)) ->
    if
    :: me.phase == JOINED -> REACHED(joined_and_restarted)
    :: else -> skip
    fi;
    cut();
    me.peer = from;
    open()
  :: IS_LIVE(self) && to == me.session && from == me.peer ->
    if
    :: a & AGREED -> rise()
    :: else -> skip
    fi;
    if
    :: GUARD(answer_wanted, !(a & MET)) -> me.introduces = 1
    :: else -> skip
    fi
  :: else -> skip
  fi
}

inline jam(generation_wanted) {
  me.wanted = generation_wanted;
  me.due = 1
}

inline read_slot() {
  if
  :: GUARD(slot_of_this_generation, a == me.accepts) && me.wanted == me.accepts &&
     GUARD(slot_in_order, b == me.holds + 1) && me.occupied + me.holds - me.done < ROOM ->
    assert(side[OTHER].meant == me.lives + 1); /* it was offered for this life */
    me.holds++;
    copy[AT(OTHER, me.holds)] = c;
    me.digest_held = NEXT_DIGEST(me.digest_held, c);
    me.due = 1
  :: else ->
    if
    :: a == me.accepts && me.wanted == me.accepts -> jam(me.accepts + 1); REACHED(slot_missing)
    :: a > me.accepts && a >= me.wanted -> jam(a + 1); REACHED(restart_missing)
    :: else -> skip
    fi
  fi
}

inline read_restart() {
  if
  :: GUARD(restart_of_newer_generation, a > me.accepts) ->
    assert(b >= me.done && b <= me.holds);  /* the other side keeps the rules */
    hold_only(b);
    me.accepts = a;
    me.wanted = a;
    me.digest_held = c;
    me.due = 1
  :: else -> skip
  fi
}

/* Slots up to `last` are confirmed: no invention, no repetition, in order; and agreement, seen from the receiver. */
inline commit(last) {
  for (n : me.done + 1 .. last) {
    assert(n > side[OTHER].settled && n <= side[OTHER].confirmed);
    assert(!committed[AT(OTHER, n)]);
    assert(copy[AT(OTHER, n)] == content[AT(OTHER, n)]);
    committed[AT(OTHER, n)] = 1;
    copy[AT(OTHER, n)] = 0;
    if
    :: TAKES_AT_ONCE -> skip
    :: else -> me.occupied++
    fi
  }
  n = 0;
  me.done = last;
  me.due = 1
}

inline digest_of_sent(last) {
  c = me.digest;
  for (n : me.answered + 1 .. last) {
    c = NEXT_DIGEST(c, content[AT(self, n)])
  }
  n = 0
}

inline read_return() {
  /* The slots that it sends */
  gains = 0; progress = 0; reverses = 0;
  me.heard = me.asked;
  ahead = AHEAD(e, me.settled);
  if
  :: ahead > 0 && me.settled + ahead <= me.confirmed ->
    settle_committed(me.settled + ahead);
    gains = 1
  :: else -> skip
  fi;
  ahead = AHEAD(f, me.credit);
  if
  :: ahead > 0 ->
    progress = me.sent == me.credit;
    me.credit = me.credit + ahead
  :: else -> skip
  fi;
  if
  :: GUARD(answer_of_this_generation, a == me.generation) ->
    progress = progress || !me.shown;
    me.shown = 1;
    ahead = AHEAD(d, me.answered);
    if
    :: ahead > 0 && me.answered + ahead <= me.sent ->
      flags = c;
      digest_of_sent(me.answered + ahead);
      if
      :: GUARD(digest_agrees, c == flags) ->
        me.answered = me.answered + ahead;
        me.digest = flags;
        gains = 1
      :: else -> reverses = 1; REACHED(digest_differs)
      fi
    :: else -> skip
    fi
  :: else -> skip
  fi;
  if
  :: reverses || GUARD(jams, b == me.generation + 1) -> new_generation()
  :: else -> skip
  fi;
  if
  :: gains -> me.trouble = 0
  :: else -> skip
  fi;
  if
  :: gains || progress -> me.asked = 0; me.heard = 0
  :: else -> skip
  fi;
  /* Those that it receives */
  if
  :: GUARD(question_answered, kind == ask) -> me.due = 1
  :: else -> skip
  fi;
  ahead = AHEAD(g, me.done);
  if
  :: ahead > 0 ->
    assert(me.done + ahead <= me.holds);    /* the other side keeps the rules */
    commit(me.done + ahead)
  :: else -> skip
  fi
}

/* A frame or return is checked with both sessions. What shows that the other side has joined counts at once. */
inline read_unit() {
  if
  :: kind == join -> read_join()
  :: kind == damaged ->
    if
    :: me.wanted == me.accepts -> jam(me.accepts + 1); REACHED(jammed)
    :: else -> skip
    fi
  :: (kind == slot || kind == restart || kind == answer || kind == ask) && IS_LIVE(self) ->
    if
    :: from == me.peer && to == me.session ->
      if
      :: me.phase == JOINED && kind == slot ->
        REACHED(met_by_a_slot);
        c = (GUARD(stored_while_live, IS_LIVE(self)) -> c : BAD)
      :: else -> skip
      fi;
      rise();
      if
      :: kind == slot -> read_slot()
      :: kind == restart -> read_restart()
      :: else -> read_return()
      fi
    :: else -> assert(me.phase == JOINED); REACHED(unit_of_another_session)
    fi
  :: else -> skip
  fi
}

inline hear_nothing() {
  if
  :: LACKS -> REACHED(credit_missing)
  :: else -> skip
  fi;
  doubts = GUARD(doubts_once_asked, me.asked) && !(LACKS && me.heard);
  if
  :: GUARD(silence_restarts, !me.shown) -> me.restarts = 1
  :: else -> skip
  fi;
  if
  :: doubts ->
    me.trouble++;
    if
    :: me.shown && me.sent != me.answered -> new_generation(); REACHED(doubted)
    :: else -> skip
    fi
  :: else -> skip
  fi;
  me.asked = 1;
  me.asks = GUARD(silence_asks, 1);
  me.heard = 0
}

/* The other side's journal, as the third cell has brought it. The RTL takes it only while it is down. */
inline read_verdict() {
  if
  :: GUARD(verdict_while_down, me.phase == DOWN) && me.settled != me.confirmed &&
     GUARD(verdict_of_this_session, from == me.token) && (!a || e >= me.settled && e <= me.confirmed) ->
    settle_by_journal(a, d, e);
    if
    :: reports -> be_told()
    :: else -> skip
    fi;
    REACHED(settled_by_verdict)
  :: me.settled != me.confirmed && from != me.token -> REACHED(verdict_of_another_session)
  :: else -> skip
  fi
}

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
