/* SPDX-License-Identifier: Apache-2.0 */
/* Two joined ports (rtl/bridge), for SPIN: the slots that wait for each host, the room of the other port, and
 * the account of what was used up, with the rules of oae_joined.sv.
 *
 * Each host swaps or sends without end, confirms or reverses, and closes and opens its port, whenever it
 * likes. The ways between the ports keep the order and lose nothing, which is what window.pml proves of a
 * link. Nothing depends on what a slot holds. Each host marks any two of its slots, one after the other, and the
 * other host has to get each mark once, in their order, and after its commitment: so it gets every slot like that. */
#define PLACES 2   /* for slots of the other port */
#define ON_WAY 4   /* slots and accounts between two ports, at most */
#define EMPTY 0
#define PLAIN 1
#define MARKED 2   /* the first mark; the second one is 3 */

mtype = { slot, account }

typedef Port {
  bit primed;
  bit offered; byte offer;
  bit tentative; bit settled; bit carried; byte mine; /* the host's slot */
  bit committed; byte held;
  byte room; byte uses;
  /* The host */
  byte marked;            /* its marks that are committed */
  byte brought;           /* by the swap that is tentative */
  bit begun; byte got     /* it has had the empty slot; the other host's marks that it has had */
};

Port port[2];
chan waiting0 = [PLACES] of { byte };
chan waiting1 = [PLACES] of { byte };
chan way0 = [ON_WAY] of { mtype, byte, byte };
chan way1 = [ON_WAY] of { mtype, byte, byte };

#define me port[self]
#define OTHER (1 - self)

hidden byte content, used;

/* What follows every change of a port, before anything else happens in it */
inline store() {
  if
  :: me.tentative && GUARD(only_what_is_confirmed_moves, me.settled) && !me.committed ->
    me.committed = 1;
    me.held = me.mine;
    me.mine = EMPTY;
    me.tentative = 0;
    me.settled = 0
  :: else -> skip
  fi;
  if
  :: !me.offered && GUARD(nothing_offered_past_a_tentative_swap, !(me.tentative && !me.settled)) &&
     (me.primed || nempty(waiting)) ->
    me.offered = 1;
    if
    :: me.primed -> me.offer = EMPTY
    :: else -> waiting?<content>; me.offer = content
    fi
  :: else -> skip
  fi
}

/* The tentative swap is committed, at the port and by its host. */
inline commit() {
  me.settled = 1;
  me.marked = me.marked + (me.mine >= MARKED -> 1 : 0);
  if
  :: GUARD(a_send_uses_up_nothing, me.carried) ->
    if
    :: me.primed -> me.primed = 0; me.uses = me.uses + GUARD(the_empty_slot_gives_no_room, 0)
    :: !me.primed -> assert(nempty(waiting)); waiting?_; me.uses++
    fi
  :: else -> skip
  fi;
  if
  :: me.carried ->
    assert(me.begun == (me.brought != EMPTY)); /* the empty slot comes first, and once */
    me.begun = 1;
    if
    :: me.brought >= MARKED ->
      assert(me.brought == MARKED + me.got && me.got < port[OTHER].marked);
      me.got++;
      REACHED(received)
    :: else -> skip
    fi
  :: else -> skip
  fi;
  me.brought = EMPTY;
  me.carried = 0
}

inline exchange(swaps) {
  me.tentative = 1;
  me.settled = 0;
  me.carried = swaps;
  if
  :: me.mine = PLAIN
  :: me.marked < 2 -> me.mine = MARKED + me.marked
  fi;
  me.brought = (swaps -> me.offer : EMPTY);
  me.offered = 0;
  me.offer = EMPTY
}

proctype joined(byte self; chan waiting; chan away; chan here) {
end:
  do
  :: atomic {
      if
      /* The host */
      :: !me.tentative && me.offered -> exchange(1)
      :: !me.tentative -> exchange(0)
      :: me.tentative && !me.settled -> commit()
      :: me.tentative && !me.settled -> /* it reverses */
        me.tentative = 0;
        me.mine = EMPTY;
        me.brought = EMPTY;
        REACHED(reversed)
      :: me.offered -> /* it closes the port, and opens it in a new epoch */
        me.offered = 0;
        me.offer = EMPTY
      /* The bridge */
      :: me.committed && GUARD(only_with_room, me.room > 0) ->
        assert(nfull(away));
        away!slot, me.held, me.uses;
        me.committed = 0;
        me.held = EMPTY;
        me.room--;
        me.uses = GUARD(a_slot_tells_once, 0)
      :: me.committed && me.room == 0 && GUARD(an_account_does_not_wait, me.uses > 0) ->
        assert(nfull(away));
        away!account, EMPTY, me.uses;
        me.uses = GUARD(an_account_tells_once, 0);
        REACHED(account_alone)
      :: here?slot, content, used ->
        assert(nfull(waiting)); /* there is a place */
        waiting!content;
        me.room = me.room + used;
        assert(me.room <= PLACES)
      :: here?account, content, used ->
        me.room = me.room + used;
        assert(me.room <= PLACES)
      fi;
      store();
      if
      :: me.committed && me.room == 0 && me.uses == 0 -> REACHED(room_missing)
      :: else -> skip
      fi;
      content = 0;
      used = 0
    }
  od
}

/* At no time has everything come to its end, since a host always wants to go on. */
proctype watch() {
  timeout;
  assert(false)
}

init {
  atomic {
    port[0].primed = 1; port[0].room = PLACES; port[0].offered = 1;
    port[1].primed = 1; port[1].room = PLACES; port[1].offered = 1;
    run joined(0, waiting0, way0, way1);
    run joined(1, waiting1, way1, way0);
    run watch()
  }
}
