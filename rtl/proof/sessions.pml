/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of two joined ports (rtl/port/oae_session.sv), and what the host of one of them is told of its slots, for SPIN.
 *
 * Port 0 sends slots, and port 1 uses them up and says so. joined.pml has the rules within a session, for both directions. Here, the
 * cell of either port, or one between them, loses its power, and the firmware takes a port back, at any point, FAULTS times.
 * Those of the slots that REMOTES names by its bits are requests of the verb REMOTE, which port 1 applies and answers. The host
 * of port 0 begins a new epoch EPOCHS times. remote.pml has the rules of REMOTE within a session.
 *
 * Each way keeps the order and repeats nothing. What a loss of power takes from it:
 *
 *   - the cell that it leads to: all
 *   - the cell that it comes from: what has come least far
 *   - a cell between them: what has not come further than that cell
 *
 * The links then report that to the cells that have kept their power (rtl/link). What such a cell sends before the report gets no
 * further. */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef REMOTES
#define REMOTES 0
#endif
#ifndef EPOCHS
#define EPOCHS 0
#endif
#ifndef SESSIONS
#define SESSIONS 256 /* then a port counts from 0 again */
#endif
#define ON_WAY 5  /* messages on a way, at most */
#define PLACES 2

#define GREETING 1
#define SLOT 2
#define ACCOUNT 3
#define REQUEST 4
#define RESULT 5

#define BEGINS 1
#define LEAVES 2

typedef Message { byte kind; byte own; byte to; byte more; byte era };
typedef Way { byte count; Message at[ON_WAY] };

Way way[2];                       /* to port 0, and to port 1 */

byte session[2], peer[2];
bit joined[2], linked[2], greets[2];
byte told[2];                     /* the link will report a loss of power, which has begun this era */

/* Port 0 and its host */
byte committed, room, newest, older, lost_slots;
bit asked, away, forsaken, lost_remote;
byte remote, result;              /* names of the REMOTE that is away, and of the one whose result is here */
byte mine_asked;                  /* the REMOTE whose result the host awaits in this epoch */
byte next = 1;
bit lost[SLOTS + 1];              /* reported */
bit gone[SLOTS + 1];              /* its own cell has lost its power */
bit answered[SLOTS + 1];          /* its result has come */
byte delivered;

/* Port 1 and its host */
byte waiting[PLACES], waits, uses;
bit tentative, carried;
byte brought, last;
byte reply, applied;              /* the REMOTE whose result waits, and the last one that was applied */
bit got[SLOTS + 1];

byte faults = FAULTS, epochs = EPOCHS;
#ifdef GREETINGS
byte greetings;                   /* since the last loss of power, report of a link or act of a firmware */
#endif
byte era = 1;                     /* one more than the losses of power so far */

hidden byte p, q, i, n, kind, own, to, more;
hidden byte ends, named;

inline put(port, what, owns, tos, mores) {
#ifdef GREETINGS
  if
  :: what == GREETING -> greetings++; assert(greetings <= GREETINGS)
  :: else -> skip
  fi;
#endif
  assert(way[port].count < ON_WAY);
  way[port].at[way[port].count].kind = what;
  way[port].at[way[port].count].own = owns;
  way[port].at[way[port].count].to = tos;
  way[port].at[way[port].count].more = mores;
  way[port].at[way[port].count].era = era;
  way[port].count++
}

inline remove(port, first, number) {
  i = first;
  do
  :: i + (number) < way[port].count ->
    way[port].at[i].kind = way[port].at[i + (number)].kind;
    way[port].at[i].own = way[port].at[i + (number)].own;
    way[port].at[i].to = way[port].at[i + (number)].to;
    way[port].at[i].more = way[port].at[i + (number)].more;
    way[port].at[i].era = way[port].at[i + (number)].era;
    i++
  :: else -> break
  od;
  do
  :: i < way[port].count ->
    way[port].at[i].kind = 0;
    way[port].at[i].own = 0;
    way[port].at[i].to = 0;
    way[port].at[i].more = 0;
    way[port].at[i].era = 0;
    i++
  :: else -> break
  od;
  way[port].count = way[port].count - (number)
}

#define IS_REMOTE(slot) ((REMOTES >> (slot)) & 1)
#define REPORTED (lost_slots == 0 && !lost_remote)
#define MUTUAL (linked[0] && linked[1] && peer[0] == session[1] && peer[1] == session[0])

inline disturb() {
#ifdef GREETINGS
  greetings = 0
#else
  skip
#endif
}

/* The host of port 0 is told that this slot is lost. */
inline lose(slot) {
  assert(slot > delivered && !lost[slot]);
  assert(faults < FAULTS); /* nothing is lost without one */
  lost[slot] = 1
}

inline begin_anew() {
  if
  :: p == 0 ->
    if
    :: linked[0] && away ->
      assert(REPORTED && !lost[remote] && !answered[remote]);
      lost_remote = 1;
      lost[remote] = 1;
      asked = GUARD(a_lost_request_frees_its_place, 0);
      forsaken = GUARD(a_lost_request_is_not_forsaken, 0);
      mine_asked = 0;
      REACHED(reported_lost_remote)
    :: else -> skip
    fi;
    away = GUARD(a_lost_request_is_not_away, 0);
    remote = 0;
    if
    :: linked[0] && room < PLACES ->
      assert(lost_slots == 0); /* or names would be overwritten */
      lost_slots = PLACES - room;
      lose(newest);
      if
      :: room == 0 -> lose(older)
      :: else -> skip
      fi;
      REACHED(reported_lost)
    :: else -> skip
    fi;
    room = PLACES
  :: p == 1 ->
    if
    :: waits > 0 -> REACHED(discarded)
    :: else -> skip
    fi;
    waiting[0] = 0;
    waiting[1] = 0;
    waits = 0;
    uses = 0;
    reply = GUARD(a_result_ends_with_its_session, 0);
    carried = 0
  fi
}

inline begin_anew_unasked() {
  begin_anew();
  session[p] = (session[p] + 1) % GUARD(sessions_are_many, SESSIONS);
  linked[p] = 0;
  greets[p] = 1
}

inline hear() {
  named = GUARD(only_an_answer_links, to == session[p]);
  ends = (linked[p] && GUARD(another_session_ends_it, own != peer[p]) && (named || (more & BEGINS)));
  if
  :: ends && (more & LEAVES) -> begin_anew_unasked(); REACHED(left)
  :: ends && !(more & LEAVES) && named -> begin_anew(); REACHED(ended_by_an_answer)
  :: ends && !(more & LEAVES) && !named -> begin_anew(); linked[p] = 0
  :: else -> skip
  fi;
  if
  :: !(more & LEAVES) && (named || (more & BEGINS)) ->
    linked[p] = linked[p] || named;
    peer[p] = own;
    if
    :: GUARD(only_who_begins_is_answered, more == BEGINS) -> greets[p] = GUARD(a_port_that_begins_is_answered, 1)
    :: else -> skip
    fi
  :: else -> REACHED(outdated_greeting)
  fi
}

/* The slot that is named, and all before it, are said to be delivered. */
inline deliver(slot) {
  delivered = slot;
  assert(got[slot] && !lost[slot]);
  n = 1;
  do
  :: n < slot -> assert(got[n] || lost[n] || gone[n]); n++
  :: else -> break
  od
}

inline arrive() {
  kind = way[p].at[0].kind;
  own = way[p].at[0].own;
  to = way[p].at[0].to;
  more = way[p].at[0].more;
  remove(p, 0, 1);
  if
  :: joined[p] && kind == GREETING -> hear()
  :: joined[p] && kind > GREETING && GUARD(nothing_counts_without_a_session, linked[p]) ->
    assert(to == session[p]);
    if
    :: kind == SLOT ->
      assert(waits < PLACES); /* there is a place */
      waiting[waits] = own;
      waits++
    :: kind == REQUEST ->
      assert(reply == 0); /* there is a place */
      assert(own > applied && !got[own]); /* in their order, and once */
      if
      :: lost[own] -> REACHED(applied_and_lost)
      :: else -> skip
      fi;
      applied = own;
      got[own] = 1;
      reply = own
    :: kind == RESULT ->
      assert(away && result == 0 && own == remote); /* there is a place, and it is the result of this request */
      answered[own] = 1;
      away = 0;
      remote = 0;
      if
      :: GUARD(a_forsaken_result_is_dropped, forsaken) -> asked = 0; REACHED(forsaken_result)
      :: else -> result = own
      fi;
      forsaken = 0
    :: else ->
      assert(more <= PLACES - room);
      if
      :: more == PLACES - room -> deliver(newest)
      :: else -> deliver(older); REACHED(older_delivered)
      fi;
      room = room + more
    fi
  :: joined[p] && kind > GREETING && !linked[p] ->
    assert(to != session[p]); /* so the port need not compare the two */
    REACHED(dropped)
  :: else -> skip
  fi
}

inline keep(port, number) {
  if
  :: (number) < way[port].count -> remove(port, number, way[port].count - (number))
  :: else -> skip
  fi
}

/* What has come least far on a way vanishes. */
inline cut(port) {
  n = 0;
  do
  :: n < way[port].count -> n++
  :: break
  od;
  keep(port, n)
}

inline report(port) {
  if
  :: told[port] == 0 -> told[port] = era
  :: else -> skip
  fi
}

/* What has been sent since the loss of power that the link of port p has to report, or has just reported */
inline drop_what_waits() {
  n = 0;
  do
  :: n < way[q].count && (told[p] == 0 || way[q].at[n].era < told[p]) -> n++
  :: else -> break
  od;
  keep(q, GUARD(what_waits_for_a_report_is_dropped, n))
}

/* The link of port p reports a loss of power. What has been sent since gets no further. */
inline be_told() {
  disturb();
  q = 1 - p;
  drop_what_waits();
  told[p] = 0;
  if
  :: joined[p] && GUARD(a_loss_of_the_link_ends_it, true) -> begin_anew_unasked(); REACHED(told_by_the_link)
  :: else -> session[p] = GUARD(only_joined_ports_count, (session[p] + 1) % SESSIONS)
  fi
}

/* The cell of port p loses its power. */
inline lose_power() {
  disturb();
  era++;
  q = 1 - p;
  keep(p, 0);
  drop_what_waits(); /* in the cells between them */
  cut(q);
  report(q);
  session[p] = 0;
  peer[p] = 0;
  joined[p] = 0;
  linked[p] = 0;
  greets[p] = 0;
  told[p] = 0;
  if
  :: p == 0 ->
    n = 1;
    do
    :: n < next -> gone[n] = 1; n++
    :: else -> break
    od;
    committed = 0;
    room = PLACES;
    newest = 0;
    older = 0;
    lost_slots = 0;
    asked = 0;
    away = 0;
    remote = 0;
    forsaken = 0;
    lost_remote = 0;
    result = 0;
    mine_asked = 0;
    REACHED(power_of_the_sender)
  :: else ->
    waiting[0] = 0;
    waiting[1] = 0;
    waits = 0;
    uses = 0;
    reply = 0;
    tentative = 0;
    carried = 0;
    brought = 0;
    REACHED(power_of_the_receiver)
  fi
}

/* A cell between them loses its power. */
inline lose_between() {
  disturb();
  era++;
  cut(0);
  cut(1);
  report(0);
  report(1);
  REACHED(power_between)
}

/* While both ports know each other and nothing is on its way, what port 0 has passed on waits at port 1. */
inline settled() {
  if
  :: MUTUAL && !greets[0] && !greets[1] && told[0] == 0 && told[1] == 0 && way[0].count == 0 && way[1].count == 0 ->
    assert(PLACES - room == waits + uses && away == (reply != 0) && remote == reply);
    assert(waits == 0 || waiting[waits - 1] == newest);
    assert(waits < 2 || waiting[0] == older)
  :: else -> skip
  fi;
  /* The place for a result is not kept for a request that is nowhere. */
  assert(asked == (away || result != 0 || (committed != 0 && IS_REMOTE(committed))));
  assert(asked || !forsaken)
}

active proctype ports() {
  room = PLACES;
end:
  do
  :: atomic {
      if
      /* The firmware of each cell */
      :: !joined[0] -> disturb(); p = 0; begin_anew_unasked(); joined[0] = 1
      :: !joined[1] -> disturb(); p = 1; begin_anew_unasked(); joined[1] = 1
      :: joined[0] && faults > 0 -> disturb(); faults--; p = 0; begin_anew_unasked(); joined[0] = 0
      :: joined[1] && faults > 0 -> disturb(); faults--; p = 1; begin_anew_unasked(); joined[1] = 0
      /* The links */
      :: told[0] != 0 -> p = 0; be_told()
      :: told[1] != 0 -> p = 1; be_told()
      /* What the bridges take */
      :: greets[0] && way[1].count < ON_WAY ->
        greets[0] = 0;
        put(1, GREETING, session[0], peer[0], (linked[0] -> 0 : BEGINS) + (joined[0] -> 0 : LEAVES))
      :: greets[1] && way[0].count < ON_WAY ->
        greets[1] = 0;
        put(0, GREETING, session[1], peer[1], (linked[1] -> 0 : BEGINS) + (joined[1] -> 0 : LEAVES))
      :: GUARD(greetings_go_first, !greets[0]) && joined[0] && GUARD(slots_go_within_a_session, linked[0]) && committed != 0 &&
         !IS_REMOTE(committed) && GUARD(only_with_room, room > 0) && GUARD(only_if_the_host_knows, REPORTED) &&
         way[1].count < ON_WAY ->
        older = newest;
        newest = committed;
        committed = 0;
        room--;
        put(1, SLOT, newest, peer[0], 0)
      :: !greets[0] && joined[0] && linked[0] && committed != 0 && IS_REMOTE(committed) &&
         GUARD(requests_wait_until_the_host_knows, REPORTED) && way[1].count < ON_WAY ->
        remote = committed;
        committed = 0;
        away = 1;
        put(1, REQUEST, remote, peer[0], 0)
      :: !greets[1] && joined[1] && linked[1] && reply != 0 && way[0].count < ON_WAY ->
        put(0, RESULT, reply, peer[1], 0);
        reply = 0
      :: !greets[1] && joined[1] && linked[1] && uses > 0 && way[0].count < ON_WAY ->
        put(0, ACCOUNT, 0, peer[1], uses);
        uses = 0
      /* What they bring */
      :: way[0].count > 0 && (told[1] == 0 || way[0].at[0].era < told[1]) -> p = 0; arrive()
      :: way[1].count > 0 && (told[0] == 0 || way[1].at[0].era < told[0]) -> p = 1; arrive()
      /* The hosts */
      :: committed == 0 && next <= SLOTS && !IS_REMOTE(next) -> committed = next; next++
      :: committed == 0 && next <= SLOTS && IS_REMOTE(next) && !asked ->
        committed = next;
        asked = 1;
        mine_asked = next;
        next++
      :: !REPORTED -> lost_slots = 0; lost_remote = 0
      :: result != 0 ->
        assert(asked && result == mine_asked);
        result = 0;
        asked = 0;
        mine_asked = 0;
        REACHED(collected)
      :: epochs > 0 -> /* it begins a new one */
        epochs--;
        asked = asked && result == 0;
        forsaken = GUARD(an_epoch_forsakes_its_request, asked);
        result = 0;
        mine_asked = 0;
        lost_slots = 0;
        lost_remote = 0
      :: waits > 0 && !tentative ->
        assert(!MUTUAL || !lost[waiting[0]]);
        tentative = 1;
        carried = 1;
        brought = waiting[0]
      :: tentative ->
        assert(brought > last && !got[brought]); /* in their order, and once */
        if
        :: lost[brought] -> REACHED(got_and_lost)
        :: else -> skip
        fi;
        got[brought] = 1;
        last = brought;
        tentative = 0;
        brought = 0;
        if
        :: GUARD(only_its_own_session_counts, carried) ->
          waiting[0] = waiting[1];
          waiting[1] = 0;
          waits--;
          uses++;
          carried = 0
        :: else -> skip
        fi
      /* The power */
      :: faults > 0 -> faults--; p = 0; lose_power()
      :: faults > 0 -> faults--; p = 1; lose_power()
      :: faults > 0 -> faults--; lose_between()
      fi;
      settled();
      p = 0; q = 0; i = 0; n = 0; kind = 0; own = 0; to = 0; more = 0; ends = 0; named = 0
    }
  od;
}

/* When nothing more happens, the ports know each other, and the host of port 0 knows of each slot what has become of it. */
active proctype watch() {
  atomic {
    timeout;
    assert(MUTUAL && !asked && REPORTED && reply == 0);
    assert(committed == 0 && next > SLOTS && room == PLACES && way[0].count == 0 && way[1].count == 0);
    n = 1;
    do
    :: n <= SLOTS -> assert(gone[n] || lost[n] || (got[n] && (IS_REMOTE(n) -> answered[n] : n <= delivered))); n++
    :: else -> break
    od;
    n = 0
  }
}
