/* SPDX-License-Identifier: Apache-2.0 */
/* The verb REMOTE of one port (rtl/bridge), for SPIN: its request, the port in the other cell that applies it, and its result,
 * with the rules of oae_joined.sv and oae_row.sv.
 *
 * The host sends slots and requests, collects results, confirms or reverses, and closes and opens its port, whenever it likes.
 * The ways between the ports keep the order and lose nothing, which is what window.pml proves of a link. A slot that waits for
 * room keeps its place for as long as it likes. Each committed request has a number. The other port has to apply each number
 * once, in order, and the host has to get the result of its own epoch's last request, or none. */
#define NUMBERS 4
#define NONE 4     /* no number */
#define ON_WAY 1   /* requests, or results, between two ports, at most */

mtype = { nothing, slot, request, collect }

/* The port */
bit tentative; bit settled; mtype kind = nothing; byte number = NONE; /* the host's last slot */
mtype held = nothing; byte held_number = NONE;                        /* the committed slot */
bit asked; bit away; bit result; bit forsaken; byte result_number = NONE;
/* The other port */
bit reply; byte reply_number = NONE;
/* What the host and the other cell have done */
byte next; byte applied; byte mine = NONE;

chan way = [ON_WAY] of { byte };
chan back = [ON_WAY] of { byte };
hidden byte content;

#define IN_PORT (held == request || (tentative && settled && kind == request))

inline offer(what) {
  tentative = 1;
  settled = 0;
  kind = what
}

/* The tentative swap is committed. */
inline commit() {
  settled = 1;
  if
  :: kind == request ->
    number = next;
    mine = next;
    next = (next + 1) % NUMBERS;
    asked = 1
  :: kind == collect ->
    asked = 0;
    result = 0;
    result_number = NONE;
    mine = NONE
  :: else -> skip
  fi
}

/* What follows every change of the port, before anything else happens in it */
inline store() {
  if
  :: tentative && settled && kind == collect -> tentative = 0
  :: tentative && GUARD(only_what_is_confirmed_moves, settled) && kind != collect && held == nothing ->
    held = kind;
    held_number = number;
    number = NONE;
    tentative = 0
  :: else -> skip
  fi;
  if
  :: !tentative -> kind = nothing; settled = 0
  :: else -> skip
  fi
}

init {
  do
  :: atomic {
      if
      /* The host */
      :: !tentative -> offer(slot)
      :: !tentative && GUARD(one_request_at_a_time, !asked) -> offer(request)
      :: !tentative && GUARD(only_a_result_that_is_here, result) ->
        assert(mine != NONE && result_number == mine);
        offer(collect);
        REACHED(collected)
      :: tentative && !settled -> commit()
      :: tentative && !settled -> /* it reverses */
        tentative = 0;
        if
        :: kind == collect -> REACHED(result_reversed)
        :: else -> skip
        fi
      :: !tentative || settled -> /* it closes the port, and opens it in a new epoch */
        forsaken = GUARD(an_epoch_forsakes_its_request, asked && !result);
        asked = GUARD(a_forsaken_request_keeps_its_place, asked && !result);
        result = 0;
        result_number = NONE;
        mine = NONE
      /* The bridge */
      :: held == slot -> held = nothing
      :: held == request ->
        assert(nfull(way));
        way!held_number;
        away = 1;
        held = nothing;
        held_number = NONE
      :: way?content ->
        assert(content == applied);
        applied = (applied + 1) % NUMBERS;
        assert(!reply); /* there is a place */
        reply = 1;
        reply_number = content
      :: reply ->
        assert(nfull(back));
        back!reply_number;
        reply = 0;
        reply_number = NONE
      :: back?content ->
        assert(away && !result); /* there is a place */
        away = 0;
        if
        :: GUARD(a_forsaken_result_is_dropped, forsaken) -> asked = 0; REACHED(dropped)
        :: else -> result = 1; result_number = content
        fi;
        forsaken = GUARD(a_result_ends_what_is_forsaken, 0)
      fi;
      store();
      content = 0;
      if
      :: tentative && settled && kind == request -> REACHED(waits_behind_a_slot)
      :: else -> skip
      fi;
      /* The port is not kept for a request that is nowhere. */
      assert(asked == (IN_PORT || away || result));
      assert(!forsaken || asked)
    }
  od
}
