/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of an end of a link with a window: what it sends, and what it makes of what it hears. window.pml,
 * which includes this file, has the state that they change. */

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
