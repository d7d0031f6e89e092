/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of three cells (rtl/relay), for SPIN, with any FAULTS faults at any point: the first cell sends to the last one
 * through the one in the middle, which passes a slot on when its head has arrived.
 *
 * What a link does by itself is in window.pml. Here, a link is what the relay needs of it, with the rules of
 * oae_link_window.sv, oae_link_intake.sv and oae_relay.sv: a frame has a head and a tail, between which a return may leave; a
 * cut is noticed by both sides at once; and they join in one step. The numbers of both links are the same, since they count from
 * the same slot. Credit is left out, but with POWER the first cell waits for its first credit. POWER has losses of power. A cell
 * that has lost its power counts on from the last slot that the middle one has confirmed onward, instead of from 0. No side
 * takes that from it: it only gives the slots the same numbers on both links. */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#define FAULT (faults < FAULTS)
#ifdef POWER /* of the faults only cuts, losses of power, and a link that is down again before both sides are up */
#define UNIT_FAULT false
#define POWER_FAULT FAULT
#else
#define UNIT_FAULT FAULT
#define POWER_FAULT false
#endif
#define ERAS 6
#define UNITS 8 /* on a wire, at most */
#define RETURNS 2 /* on a wire to the sender, beyond which the next one waits; it then says all that they say */
#define CONFIRMS 3 /* units on a wire to the receiver, beyond which a confirmation waits, */
#define FRAMES 5   /*   and a frame */

mtype = { head, tail, spoiled, restart, confirm, answer }

/* The side of link 0 or 1 that sends, */
typedef Sender {
  byte sent; byte answered; byte confirmed; byte settled;
  byte generation; bit restarts; bit shown;
  bit leaving; byte number;      /* the head of this slot has left, and its tail has not; */
  bit waits; bit spoils;         /*   it waits for its own tail, which was damaged */
  bit asked; bit due             /* a return has to leave */
};

/* and the one that receives */
typedef Receiver {
  byte holds; byte done;
  byte accepts; byte wanted;     /* generations */
  bit arriving; byte generation; byte number;
  bit due
};

Sender s[2];
Receiver r[2];
bit up[2];
chan forth[2] = [UNITS] of { mtype, byte, byte, byte }; /* generation, number, content; of a confirmation its number */
chan back[2] = [UNITS] of { byte, byte, byte, byte };   /* generation, wanted, answered, done */
byte faults;

/* The cell in the middle */
bit open;                        /* a slot is arriving, and goes on */
bit starved;                     /* its tail did not come in time */
byte offered; byte granted;

/* For the first cell's firmware: reversed slots wait for it; and for the proof */
bit held;
byte told;
byte content[SLOTS + 1];         /* another one after each drop */
byte ring[SLOTS + 1];            /* in the middle */
byte copy[SLOTS + 1];            /* at the last cell, plus 1 */
bit committed[SLOTS + 1];

/* Losses of power. A side is anew if it was not up since its power came on, or since the cell in the middle has lost what was
 * to go on. */
bit anew_sender[2], anew_receiver[2];
bit credit;                      /* the middle one has given some since link 0 is up, for which link 1 had to be up */
bit unknown[2];                  /* the receiver does not know what has become of the slots that are in doubt */
/* For the proof: an era of the first cell ends when it loses its power, or is told of a loss of another cell. */
byte life;                       /* of the last cell */
byte era;
byte era_of[SLOTS + 1];          /* in which each slot was offered, */
byte met[ERAS];                  /*   and the life of the last cell which that era may reach, plus 1, when there is one */
bit met_first;                   /* the last cell has met a life of the first one since it was told, */
byte owed;                       /*   and that ended with this era, of which it has not been told; or 0 */

hidden mtype kind;
hidden byte a, b, c, d, n;
hidden byte strange, doubt, loses, tells, knows;

#define QUIET (empty(forth[0]) && empty(forth[1]) && empty(back[0]) && empty(back[1]))
#define LIMIT r[0].done          /* the last slot that is confirmed onward */
#define MAY_CONFIRM(x) ((x) == 0 || s[1].answered < GUARD(confirms_what_is_granted, granted) -> s[x].answered : granted)
#ifdef POWER
#define HAS_CREDIT credit
#else
#define HAS_CREDIT true
#endif
#define MAY_SEND_FIRST (HAS_CREDIT && !held && !s[0].leaving && !s[0].restarts && s[0].sent < SLOTS)
#define MAY_SEND_ONWARD (s[1].shown && !s[1].leaving && !s[1].restarts && s[1].sent < offered && \
                         !(GUARD(starves_once, starved) && s[1].sent + 1 == offered))
#define RESTS(x) (!s[x].due && !r[x].due && !(s[x].leaving && !s[x].waits) && !s[x].restarts && s[x].confirmed == MAY_CONFIRM(x))
#define WAITS(x) (s[x].sent != s[x].answered || s[x].confirmed != s[x].settled || !s[x].shown)

/* Slots after `last` are reversed by the first cell: the last one has not committed them, and never will. */
inline reverse_first(last) {
  for (n : last + 1 .. s[0].sent) {
    assert(!committed[n])
  }
  n = 0;
  if
  :: s[0].sent > last ->
    if
    :: !held -> told = last
    :: held && told > last -> told = last
    :: else -> skip
    fi;
    held = 1;
    REACHED(reversed)
  :: else -> skip
  fi
}

inline new_generation(x) {
  s[x].sent = s[x].answered;
  s[x].generation++;
  s[x].restarts = 1;
  s[x].shown = 0
}

/* The relay takes back what is offered after `last`. */
inline retract(last) {
  offered = last;
  if
  :: GUARD(takes_back_what_was_sent, s[1].sent > last) ->
    if
    :: GUARD(takes_back_what_is_answered, s[1].answered > last) ->
      s[1].answered = s[1].confirmed;
      REACHED(answered_taken_back)
    :: else -> skip
    fi;
    new_generation(1)
  :: else -> skip
  fi
}

/* The slot that arrives in the middle is not whole. */
inline spoil() {
  if
  :: open ->
    open = 0;
    starved = 0;
    if
    :: s[1].waits -> s[1].waits = 0; s[1].spoils = 1; REACHED(spoiled_onward)
    :: else -> skip
    fi;
    retract(offered - 1)
  :: else -> skip
  fi
}

inline jam(x) {
  if
  :: r[x].wanted == r[x].accepts -> r[x].wanted = r[x].accepts + 1; r[x].due = 1
  :: else -> skip
  fi
}

inline damage(x) {
  r[x].arriving = 0;
  if
  :: x == 0 -> spoil()
  :: else -> skip
  fi;
  jam(x)
}

#define NEXT(x) (a == r[x].accepts && r[x].wanted == r[x].accepts && b == r[x].holds + 1)

inline read_head(x) {
  if
  :: r[x].arriving -> damage(x)
  :: else ->
    r[x].arriving = 1;
    r[x].generation = a;
    r[x].number = b;
    if
    :: GUARD(only_the_next_slot_goes_on, NEXT(x)) ->
      if
      :: x == 0 -> assert(b == offered + 1); ring[b] = c; offered = b; open = 1
      :: else -> copy[b] = c + 1
      fi
    :: else -> skip
    fi
  fi
}

inline read_tail(x) {
  if
  :: !r[x].arriving -> damage(x)
  :: else ->
    r[x].arriving = 0;
    a = r[x].generation;
    b = r[x].number;
    if
    :: NEXT(x) && (x == 1 || open) ->
      r[x].holds = b;
      r[x].due = 1;
      if
      :: x == 0 ->
        open = 0;
        starved = 0;
        s[1].waits = 0
      :: else -> skip
      fi
    :: !NEXT(x) && a == r[x].accepts -> jam(x)
    :: !NEXT(x) && a > r[x].accepts && a >= r[x].wanted -> r[x].wanted = a + 1; r[x].due = 1
    :: else -> skip
    fi
  fi
}

inline read_restart(x) {
  if
  :: r[x].arriving -> damage(x)
  :: else -> skip
  fi;
  if
  :: a > r[x].accepts ->
    assert(b >= r[x].done && b <= r[x].holds);
    assert(x == 1 || b >= granted);
    r[x].holds = b;
    r[x].accepts = a;
    r[x].wanted = a;
    r[x].due = 1;
    if
    :: GUARD(restart_takes_back, x == 0) && x == 0 -> retract(b)
    :: else -> skip
    fi
  :: else -> skip
  fi
}

/* The last cell commits, for good. */
inline read_confirm(x) {
  r[x].due = 1;
  if
  :: x == 0 && b > granted -> assert(b <= r[0].holds); granted = b
  :: x == 1 && b > r[1].done ->
    assert(b <= r[1].holds);
    for (n : r[1].done + 1 .. b) {
      assert(n <= s[0].confirmed);
      assert(!committed[n] && copy[n] == content[n] + 1);
#ifdef POWER
      /* It was offered for this life. */
      assert(met[era_of[n]] == life + 1);
      assert(owed == 0 || era_of[n] < owed);
#endif
      committed[n] = 1
    }
    n = 0;
    r[1].done = b
  :: else -> skip
  fi
}

inline read_answer(x) {
  if
  :: d > s[x].settled && d <= s[x].confirmed -> s[x].settled = d; s[x].asked = 0
  :: else -> skip
  fi;
  if
  :: a == s[x].generation ->
    if
    :: !s[x].shown -> s[x].shown = 1; s[x].asked = 0
    :: else -> skip
    fi;
    if
    :: c > s[x].answered && c <= s[x].sent -> s[x].answered = c; s[x].asked = 0
    :: else -> skip
    fi
  :: else -> skip
  fi;
  if
  :: b == s[x].generation + 1 ->
    if
    :: x == 0 -> reverse_first(s[0].answered)
    :: else -> skip
    fi;
    new_generation(x)
  :: else -> skip
  fi
}

inline hear_nothing(x) {
  if
  :: !s[x].shown -> s[x].restarts = 1
  :: s[x].shown && s[x].asked && s[x].sent != s[x].answered ->
    if
    :: x == 0 -> reverse_first(s[0].answered)
    :: else -> skip
    fi;
    new_generation(x)
  :: else -> skip
  fi;
  s[x].asked = 1;
  s[x].due = 1
}

inline drain(x) {
  do
  :: nempty(forth[x]) -> forth[x]?kind, _, _, _
  :: nempty(back[x]) -> back[x]?_, _, _, _
  :: empty(forth[x]) && empty(back[x]) -> break
  od;
  kind = 0
}

inline cut(x) {
  drain(x);
  up[x] = 0;
  s[x].leaving = 0; s[x].waits = 0; s[x].spoils = 0;
  if
  :: x == 0 ->
    credit = 0;
    reverse_first(s[0].confirmed);
    spoil();
    granted = r[0].done;
    if
    :: GUARD(cut_takes_back, true) -> retract(LIMIT)
    :: else -> skip
    fi
  :: else -> skip
  fi;
  s[x].sent = s[x].confirmed; s[x].answered = s[x].confirmed;
  s[x].generation = 0; s[x].restarts = 0; s[x].shown = 1; s[x].asked = 0; s[x].due = 0;
  r[x].holds = r[x].done; r[x].accepts = 0; r[x].wanted = 0; r[x].arriving = 0; r[x].due = 0
}

/* The first cell's slots after those that the middle one owns are lost or dropped, and others take their numbers. */
inline begin_era() {
  s[0].sent = LIMIT; s[0].answered = LIMIT; s[0].confirmed = LIMIT; s[0].settled = LIMIT;
  held = 0;
  told = 0;
  era++;
  assert(era < ERAS);
  for (n : LIMIT + 1 .. SLOTS) {
    content[n]++;
    era_of[n] = era
  }
  n = 0
}

/* The cell in the middle drops what it has confirmed onward and what the last one has not committed. The last cell gets none of
 * it. Either the first cell will be told, or it has lost its power or been told since it sent that, and nothing else is here. */
inline give_up() {
  if
  :: LIMIT > s[1].confirmed -> REACHED(owned_is_given_up)
  :: else -> skip
  fi;
  assert(tells || offered == LIMIT);
  s[1].sent = LIMIT; s[1].answered = LIMIT; s[1].confirmed = LIMIT; s[1].settled = LIMIT;
  offered = LIMIT;
  granted = LIMIT
}

/* In the middle, link 0 or 1 has lost slots, or has met a side that is anew. The other link begins anew as well. */
inline pass_on(x) {
  if
  :: GUARD(relay_passes_a_loss_on, true) ->
    if
    :: up[1 - (x)] -> cut(1 - (x)); REACHED(loss_passed_on)
    :: else -> skip
    fi;
    if
    :: x == 0 -> anew_sender[1] = GUARD(relay_is_anew_to_the_last_cell, 1)
    :: else -> unknown[0] = 1; anew_receiver[0] = GUARD(relay_is_anew_to_the_first_cell, 1)
    fi
  :: else -> skip
  fi
}

/* The journal of the receiver settles what is in doubt. The one of the middle cell leaves open what is not settled onward. */
inline join_sender(x) {
  strange = anew_receiver[x] && !anew_sender[x];
  doubt = s[x].settled != s[x].confirmed;
  loses = strange || (!knows && doubt);
  tells = (strange && GUARD(told_without_doubt, true)) || (loses && doubt);
  if
  :: x == 0 && loses ->
    if
    :: tells ->
      if
      :: !doubt -> REACHED(told_without_a_doubt)
      :: else -> skip
      fi;
      begin_era()
    :: else -> skip
    fi
  :: x == 0 && !loses ->
    a = GUARD(what_is_pending_stays_in_doubt, s[1].settled);
    b = r[0].done;
    if
    :: b != a -> REACHED(pending)
    :: else -> skip
    fi;
    reverse_first(b);
    if
    :: !doubt -> a = b
    :: else -> skip
    fi;
    if
    :: a > s[0].settled && doubt ->
      for (n : s[0].settled + 1 .. a) {
        assert(committed[n])
      }
      n = 0
    :: else -> skip
    fi;
    s[0].settled = a; s[0].confirmed = b; s[0].sent = b; s[0].answered = b
  :: x == 1 && !loses ->
    if
    :: doubt -> a = r[1].done
    :: else -> a = s[1].confirmed
    fi;
    if
    :: a < LIMIT -> REACHED(owned_in_the_middle)
    :: else -> skip
    fi;
    s[1].settled = a; s[1].confirmed = a; s[1].sent = a; s[1].answered = a
  :: else -> s[1].settled = s[1].confirmed; s[1].sent = s[1].confirmed; s[1].answered = s[1].confirmed
  fi;
  if
  :: x == 1 && GUARD(what_is_owned_ends_with_a_life, anew_receiver[1] || loses) -> give_up()
  :: else -> skip
  fi;
  if
  :: x == 1 && tells -> pass_on(1)
  :: else -> skip
  fi
}

/* A receiver keeps its journal if the sender is in doubt, or begins it anew. */
inline join_receiver(x) {
  knows = !unknown[x];
  if
  :: s[x].settled == s[x].confirmed ->
    unknown[x] = 0;
    if
    :: x == 1 -> r[1].done = s[1].confirmed; r[1].holds = r[1].done
    :: else -> skip
    fi
  :: else -> skip
  fi;
  strange = anew_sender[x] && !anew_receiver[x];
  if
  :: x == 0 && strange -> pass_on(0)
  :: x == 1 && strange ->
    if
    :: owed != 0 -> REACHED(last_cell_told)
    :: else -> skip
    fi;
    owed = 0;
    met_first = 0
  :: else -> skip
  fi
}

inline rise(x) {
  unknown[x] = 0;
  if
  :: x == 1 -> r[1].done = s[1].confirmed; r[1].holds = r[1].done
  :: else -> skip
  fi;
  up[x] = 1;
  anew_sender[x] = 0;
  anew_receiver[x] = 0;
  r[x].due = 1
}

inline join(x) {
  join_receiver(x);
  join_sender(x);
  rise(x)
}

/* A cell loses its power, and with it all that it knew: the first, the middle and the last one. */
inline lose_power_first() {
  if
  :: up[0] -> cut(0)
  :: else -> skip
  fi;
  begin_era();
  if
  :: owed == 0 && met_first -> owed = era
  :: else -> skip
  fi;
  anew_sender[0] = 1
}

inline lose_power_middle() {
  if
  :: up[0] -> cut(0)
  :: else -> skip
  fi;
  if
  :: up[1] -> cut(1)
  :: else -> skip
  fi;
  s[1].sent = LIMIT; s[1].answered = LIMIT; s[1].confirmed = LIMIT; s[1].settled = LIMIT;
  anew_receiver[0] = 1;
  anew_sender[1] = 1;
  unknown[0] = 1
}

inline lose_power_last() {
  if
  :: up[1] -> cut(1)
  :: else -> skip
  fi;
  anew_receiver[1] = 1;
  unknown[1] = 1;
  owed = 0;
  met_first = 0;
  life++
}

active proctype chain() {
  d_step {
    up[0] = 1; up[1] = 1;
    s[0].shown = 1; s[1].shown = 1;
    met[0] = 1;
    met_first = 1;
    credit = 1
  };
end:
  do
  :: atomic {
      if
      /* The first cell sends. */
      :: up[0] && MAY_SEND_FIRST && len(forth[0]) < FRAMES ->
        s[0].sent++;
        forth[0]!head(s[0].generation, s[0].sent, content[s[0].sent]);
        s[0].leaving = 1
      :: s[0].leaving -> forth[0]!tail(0, 0, 0); s[0].leaving = 0
      :: up[0] && s[0].restarts && !s[0].leaving && len(forth[0]) < FRAMES ->
        s[0].restarts = 0;
        forth[0]!restart(s[0].generation, s[0].answered, 0)
      :: up[0] && len(forth[0]) < CONFIRMS && (s[0].due || s[0].confirmed != MAY_CONFIRM(0)) ->
        s[0].due = 0;
        s[0].confirmed = MAY_CONFIRM(0);
        forth[0]!confirm(0, s[0].confirmed, 0)
      :: held -> held = 0; told = 0
      :: held ->
        held = 0;
        for (n : told + 1 .. SLOTS) {
          content[n]++
        }
        n = 0;
        told = 0;
        REACHED(dropped)
      /* The middle one does, too. */
      :: up[1] && MAY_SEND_ONWARD && len(forth[1]) < FRAMES ->
        s[1].sent++;
        s[1].number = s[1].sent;
        forth[1]!head(s[1].generation, s[1].sent, ring[s[1].sent]);
        s[1].leaving = 1;
        s[1].waits = open && s[1].sent == offered;
        if
        :: s[1].waits -> REACHED(cut_through)
        :: else -> skip
        fi
      :: s[1].leaving && GUARD(tail_waits_for_its_verdict, !s[1].waits) ->
        if
        :: s[1].spoils -> forth[1]!spoiled(0, 0, 0)
        :: else -> forth[1]!tail(0, 0, 0)
        fi;
        s[1].leaving = 0; s[1].spoils = 0; s[1].waits = 0
      :: s[1].waits && empty(forth[0]) && !s[0].leaving -> /* the tail does not come */
        s[1].waits = 0;
        s[1].spoils = 1;
        starved = 1;
        REACHED(starved)
      :: up[1] && s[1].restarts && !s[1].leaving && len(forth[1]) < FRAMES ->
        s[1].restarts = 0;
        forth[1]!restart(s[1].generation, s[1].answered, 0)
      :: up[1] && len(forth[1]) < CONFIRMS && (s[1].due || s[1].confirmed != MAY_CONFIRM(1)) ->
        s[1].due = 0;
        s[1].confirmed = MAY_CONFIRM(1);
        if
        :: s[1].confirmed > LIMIT -> LIMIT = s[1].confirmed; r[0].due = 1
        :: else -> skip
        fi;
        forth[1]!confirm(0, s[1].confirmed, 0)
      /* Returns */
      :: up[0] && r[0].due && len(back[0]) < RETURNS ->
        r[0].due = 0;
        a = (s[1].answered > LIMIT -> s[1].answered : LIMIT);
        back[0]!r[0].accepts, r[0].wanted, GUARD(answers_what_is_answered_onward, a),
          GUARD(done_is_what_is_settled_onward, s[1].settled)
      :: up[1] && r[1].due && len(back[1]) < RETURNS -> r[1].due = 0; back[1]!r[1].accepts, r[1].wanted, r[1].holds, r[1].done
      /* Units arrive. */
      :: forth[0]?kind, a, b, c ->
        if
        :: skip
        :: UNIT_FAULT -> faults++; kind = 0
        :: UNIT_FAULT && kind != confirm -> faults++; kind = spoiled
        fi;
        if
        :: kind == head -> read_head(0)
        :: kind == tail -> read_tail(0)
        :: kind == restart -> read_restart(0)
        :: kind == confirm -> read_confirm(0)
        :: kind == spoiled -> damage(0)
        :: else -> skip
        fi
      :: forth[1]?kind, a, b, c ->
        if
        :: skip
        :: UNIT_FAULT -> faults++; kind = 0
        :: UNIT_FAULT && kind != confirm -> faults++; kind = spoiled
        fi;
        if
        :: kind == head -> read_head(1)
        :: kind == tail -> read_tail(1)
        :: kind == restart -> read_restart(1)
        :: kind == confirm -> read_confirm(1)
        :: kind == spoiled -> damage(1)
        :: else -> skip
        fi
      :: back[0]?a, b, c, d ->
        if
        :: a == s[0].generation && c > s[0].answered && c <= s[0].sent ->
          for (n : s[0].answered + 1 .. c) {
            assert(copy[n] == content[n] + 1) /* the last cell holds what the first one may confirm */
          }
          n = 0
        :: else -> skip
        fi;
        if
        :: d > s[0].settled && d <= s[0].confirmed ->
          for (n : s[0].settled + 1 .. d) {
            assert(committed[n])
          }
          n = 0
        :: else -> skip
        fi;
        if
        :: read_answer(0)
        :: UNIT_FAULT -> faults++
        fi
      :: back[1]?a, b, c, d ->
        if
        :: read_answer(1); r[0].due = 1
        :: UNIT_FAULT -> faults++
        fi
      /* Time passes. */
      :: QUIET && up[0] && up[1] && RESTS(0) && RESTS(1) && !held && !MAY_SEND_FIRST && !MAY_SEND_ONWARD &&
         (WAITS(0) || WAITS(1)) ->
        if
        :: WAITS(1) -> hear_nothing(1)
        :: else -> hear_nothing(0)
        fi
      :: !up[0] -> join(0)
      :: !up[1] -> join(1); r[0].due = 1
      /* Faults */
      :: FAULT && up[0] -> faults++; cut(0)
      :: FAULT && up[1] -> faults++; cut(1)
      :: POWER_FAULT -> faults++; lose_power_first()
      :: POWER_FAULT -> faults++; lose_power_middle()
      :: POWER_FAULT -> faults++; lose_power_last()
      :: POWER_FAULT && !up[0] -> faults++; join_receiver(0)                              /* and no more, since it is */
      :: POWER_FAULT && !up[0] -> faults++; knows = !unknown[0]; join_sender(0)           /*   down again */
      :: POWER_FAULT && !up[1] -> faults++; join_receiver(1); r[1].holds = r[1].done
      :: POWER_FAULT && !up[1] -> faults++; knows = !unknown[1]; join_sender(1)
      :: UNIT_FAULT && up[0] && s[0].shown && s[0].sent != s[0].answered -> /* the firmware withdraws */
        faults++;
        reverse_first(s[0].answered);
        new_generation(0)
      fi;
#ifdef POWER
      if
      :: up[0] && up[1] ->
        credit = 1;
        met_first = 1;
        if
        :: met[era] == 0 -> met[era] = life + 1
        :: else -> skip
        fi
      :: else -> skip
      fi;
#endif
      kind = 0; a = 0; b = 0; c = 0; d = 0; strange = 0; doubt = 0; loses = 0; tells = 0; knows = 0
    }
  od
}

/* Progress: when nothing more happens, every slot is settled. */
active proctype watch() {
  timeout;
  assert(up[0] && up[1] && s[0].settled == SLOTS && r[1].done == SLOTS && s[1].settled == SLOTS)
}
