/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One swap port: the host's driver, the block with its journal, the firmware, and what may go wrong
 * between them, FAULTS times at any point: a packet is lost, damaged or arrives a second time later,
 * the function is reset, the owner is killed, the firmware restarts. Sequences, epochs and attempts
 * count modulo 4. The host swaps the words 1 to SWAPS, each until it knows what became of it.
 *
 * swap_table.pml is made of rtl/swap_transitions.yaml; tests/rtl holds block and reference to the
 * same table.
 */
#ifndef SWAPS
#define SWAPS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef TRIES
#define TRIES 2 /* attempts at a swap before the host gives it up */
#endif

#include "swap_table.pml"

#define NEXT(sequence) ((sequence) == 3 -> 1 : (sequence) + 1)
#define ROUND(n) ((n) & 3)

mtype = {
  OFFER, READ, CONFIRM, REVERSE, CLOSE, OPEN, STATE, /* of the host */
  ANSWER, NOT_READY, REVERSED, JOURNAL, LOST         /* to the host; LOST: it sees all ones */
};

/* kind, epoch, sequence, attempt, word, MORE, sound */
chan down = [5] of { mtype, byte, byte, byte, byte, bool, bool };
/* kind, epoch, sequence, word */
chan up = [1] of { mtype, byte, byte, byte };

byte faults = 0;

/* ---- What is true, which nobody in the model looks at ---- */

#define UNKNOWN 0
#define TAKEN 1     /* committed */
#define NONE 2      /* it never takes place, or is reversed */

byte host_says[SWAPS + 1];   /* of its word: UNKNOWN until it is settled */
byte host_got[SWAPS + 1];    /* the firmware's word for it */
byte block_says[SWAPS + 1];
byte block_gave[SWAPS + 1];  /* 0: not exchanged */
bool forgotten[SWAPS + 1];   /* the owner was killed: nobody knows any more */
byte last_committed = 0;     /* by the block */

/* ---- The block ---- */

byte journal = JOURNAL_STATE_HISTORY_LOST;
byte epoch = 0;
byte last = 0;               /* sequence */

bool good = false;           /* the host's offer is, */
byte inbox;                  /*   of this word, */
bool inbox_more;             /*   and says MORE */
byte attempt = 0;            /* first that is not old, */
bool attempted = false;      /*   if there was one */
bool spent = false;          /* it was answered NOT_READY */

bool offered = false;        /* the firmware's stands, */
byte offer = 0;              /*   with this word */
byte retained = 0;           /* the firmware's word of the last answer, 0: none */
byte tentative = 0;          /* the host's word, 0: no slot */
bool settled = false;        /*   confirmed, and waits */
bool more = false;
byte committed = 0;          /* 0: no slot */

#define is_open (journal >= JOURNAL_STATE_IDLE && journal <= JOURNAL_STATE_REVERSED)
#define reversed_last (journal == JOURNAL_STATE_REVERSED || journal == JOURNAL_STATE_REVERSED_CLOSED)

inline make_room() {
  if
  :: tentative && settled && !committed ->
    committed = tentative; tentative = 0; settled = false
  :: else
  fi
}

/* All that follows from `event`, if it is one. */
inline happens() {
  journal_step(journal, event, done);
  if
  :: done & JOURNAL_COMMIT ->
    assert(tentative && !settled);
    assert(block_says[tentative] == UNKNOWN && block_gave[tentative]);
    /* Nobody but a host that has its answer confirms; else its memory is gone. */
    assert(host_says[tentative] == TAKEN || forgotten[tentative]);
    assert(tentative > last_committed);
    block_says[tentative] = TAKEN; last_committed = tentative;
    settled = true
  :: else
  fi;
  if
  :: done & JOURNAL_TAKE_BACK ->
    assert(host_says[tentative] != TAKEN && block_says[tentative] == UNKNOWN);
    block_says[tentative] = NONE; tentative = 0
  :: else
  fi;
  if
  :: done & JOURNAL_COUNT -> last = NEXT(last); attempted = false; good = false; spent = false; offered = false
  :: else
  fi;
  if
  :: done & JOURNAL_BEGIN_EPOCH -> epoch = ROUND(epoch + 1); last = 0; attempted = false; retained = 0
  :: else
  fi;
  make_room()
}

inline discard_host_offer() { good = false; spent = false }

/* What a packet is to the journal, and what a read finds: `said`. */
inline received() {
  event = JOURNAL_EVENT_NONE;
  if
  :: kind == OFFER && is_open && e == epoch && s == NEXT(last) && sound &&
     !(attempted && ROUND(a - attempt + 4) >= 2) ->
    if
    :: good && !spent && w == inbox && a == attempt  /* a copy */
    :: else ->
      good = true; spent = false; inbox = w; inbox_more = m; attempt = a; attempted = true;
      if
      :: more && journal == JOURNAL_STATE_TENTATIVE -> event = JOURNAL_EVENT_CONFIRM
      :: else
      fi
    fi
  :: kind == READ && good && !spent && offered && !tentative ->
    /* No invention, no repetition */
    assert(block_says[inbox] == UNKNOWN && !block_gave[inbox] && host_says[inbox] == UNKNOWN);
    tentative = inbox; settled = false; more = inbox_more;
    retained = offer; block_gave[tentative] = offer;
    event = JOURNAL_EVENT_EXCHANGE
  :: kind == CONFIRM && e == epoch && s == last -> event = JOURNAL_EVENT_CONFIRM
  :: kind == REVERSE && e == epoch && s == last -> event = JOURNAL_EVENT_REVERSE_LAST
  :: kind == REVERSE && e == epoch && s != last && s == NEXT(last) && is_open ->
    discard_host_offer(); event = JOURNAL_EVENT_REVERSE_NEXT
  :: kind == CLOSE && is_open ->
    discard_host_offer(); offered = false; event = JOURNAL_EVENT_CLOSE
  :: kind == OPEN && !is_open ->
    discard_host_offer(); offered = false; event = JOURNAL_EVENT_OPEN
  :: else
  fi;
  happens();
  if
  :: kind == STATE -> said = JOURNAL; r_s = last; r_w = is_open
  :: kind == READ ->
    if
    :: event == JOURNAL_EVENT_EXCHANGE -> said = ANSWER; r_s = last; r_w = retained
    :: else ->
      if
      :: good ->
        if
        :: !spent -> attempt = ROUND(attempt + 1); spent = true
        :: else
        fi;
        said = NOT_READY; r_s = NEXT(last)
      :: !good && reversed_last -> said = REVERSED; r_s = last
      :: !good && !reversed_last && last && retained -> said = ANSWER; r_s = last; r_w = retained
      :: else -> said = NOT_READY
      fi
    fi
  :: else
  fi
}

/*
 * A packet that arrives a second time, later, but not after more attempts than the block can tell
 * apart: 2 of 4 here, 32 of 64 in the block.
 */
mtype copy_kind = 0;
byte copy_e, copy_s, copy_a, copy_w;
bool copy_m;

#define IS_READ (kind == READ || kind == STATE)

active proctype block() {
  mtype kind, said;
  byte e, s, a, w, done, event, r_s, r_w;
  bool m, sound, unheard;
end:
  do
  :: atomic {
      if
      :: down?kind(e, s, a, w, m, sound) ->
        if
        :: skip
        /* Lost: of a read, before it arrives, or its answer */
        :: faults < FAULTS -> faults++; unheard = true;
          if
          :: !IS_READ -> kind = 0
          :: IS_READ -> kind = 0; said = LOST
          :: IS_READ
          fi
        /* Damaged: of what a slot carries, its CRC tells */
        :: faults < FAULTS && kind == OFFER -> faults++; sound = false
        /* To be received once more; opens and closes are the driver's own, and it looks after them */
        :: faults < FAULTS && (kind == OFFER || kind == CONFIRM || kind == REVERSE) && copy_kind == 0 ->
          faults++;
          copy_kind = kind; copy_e = e; copy_s = s; copy_a = a; copy_w = w; copy_m = m
        fi
      :: copy_kind != 0 ->
        kind = copy_kind; e = copy_e; s = copy_s; a = copy_a; w = copy_w; m = copy_m; sound = true;
        copy_kind = 0; copy_e = 0; copy_s = 0; copy_a = 0; copy_w = 0; copy_m = 0
      fi;
      received();
      if
      :: said && unheard -> up!LOST(0, 0, 0)
      :: said && !unheard -> up!said(epoch, r_s, r_w)
      :: else
      fi;
      kind = 0; said = 0; e = 0; s = 0; a = 0; w = 0; m = 0; sound = 0; unheard = 0;
      done = 0; event = 0; r_s = 0; r_w = 0
    }
  /* A reset of the function: what is on its way is lost, and what the host has offered. */
  :: atomic { faults < FAULTS -> faults++;
      discard_host_offer();
      do
      :: nempty(down) -> down?kind(e, s, a, w, m, sound);
        if
        :: IS_READ -> up!LOST(0, 0, 0)
        :: else
        fi
      :: empty(down) -> break
      od;
      kind = 0; e = 0; s = 0; a = 0; w = 0; m = 0; sound = 0
    }
  od
}

/* ---- The firmware ---- */

byte fresh = 1;              /* its next word; a restart loses no more than what it has in work */

active proctype firmware() {
  byte e, s;
  bool writes = false;
end:
  do
  :: atomic { !writes && is_open && !offered -> e = epoch; s = NEXT(last); writes = true }
  :: atomic { writes ->
      /* Refused if it is of another epoch or sequence by now */
      if
      :: is_open && !offered && e == epoch && s == NEXT(last) -> offered = true; offer = fresh;
        fresh = (fresh == 7 -> 1 : fresh + 1)
      :: else
      fi;
      writes = false; e = 0; s = 0
    }
  :: atomic { writes && faults < FAULTS -> faults++; writes = false; e = 0; s = 0 }
  od
}

active proctype taker() {
end:
  do
  :: atomic { committed ->
      assert(block_says[committed] == TAKEN);
      committed = 0; make_room()
    }
  od
}

/* ---- The host ---- */

bool over = false;

active proctype host() {
  byte e = 0, s = 0, a = 0, w = 1, before;
  byte r_e, r_s, r_w;
  mtype kind;
  bool m, first, reversing;
  byte confirmation = 0, confirmation_e = 0;

begin:
  /* An epoch of one's own: what is left is settled, and nobody else's swaps are in it. */
  down!STATE(0, 0, 0, 0, 0, 0); up?kind(before, r_s, r_w);
  if
  :: kind == LOST -> goto begin
  :: else
  fi;
  down!CLOSE(0, 0, 0, 0, 0, 0);
  down!OPEN(0, 0, 0, 0, 0, 0);
  down!STATE(0, 0, 0, 0, 0, 0); up?kind(r_e, r_s, r_w);
  if
  :: kind == LOST || r_e == before || !r_w -> goto begin
  :: else
  fi;
  atomic { e = r_e; s = 0; a = 0; confirmation = 0; confirmation_e = 0; before = 0 }

swap:
  if
  :: w > SWAPS -> goto finish
  :: else
  fi;
  reversing = false;
  if
  :: w < SWAPS -> if :: m = true :: m = false fi
  :: else -> m = false
  fi;
  down!OFFER(e, NEXT(s), a, w, m, true);
  first = true;

ask:
  /* The owner may be killed while it waits. */
  if
  :: reversing -> down!REVERSE(e, NEXT(s), 0, 0, 0, 0)
  :: else
  fi;
  down!READ(0, 0, 0, 0, 0, 0); up?kind(r_e, r_s, r_w);
  if
  :: atomic { faults < FAULTS && w <= SWAPS -> faults++;
      forgotten[w] = true;
      w++; kind = 0; r_e = 0; r_s = 0; r_w = 0; m = false; reversing = false; first = false };
    goto begin
  :: else
  fi;
  atomic {
    if
    :: kind == LOST || r_e != e -> goto doubt
    :: kind == ANSWER && r_s == NEXT(s) && !reversing ->
      /* Agreement: the block has exchanged this pair, and never takes it back. */
      assert(block_gave[w] == r_w && block_says[w] != NONE && host_says[w] == UNKNOWN);
      host_says[w] = TAKEN; host_got[w] = r_w;
      s = NEXT(s); a = 0; confirmation = s; confirmation_e = e; w++
    :: kind == REVERSED && r_s == NEXT(s) ->
      assert(reversing && block_says[w] != TAKEN);
      assert(!block_gave[w] || block_says[w] == NONE);
      host_says[w] = NONE;
      s = NEXT(s); a = 0; w++; m = false
    :: else ->
      if
      :: reversing -> goto doubt
      :: (kind == NOT_READY && (r_s == NEXT(s) || r_s == 0)) ||
         (r_s == s && (kind == ANSWER || kind == REVERSED)) ->
        assert(!block_gave[w]);
        a = ROUND(a + 1); m = false;
        if
        :: copy_kind == OFFER && ROUND(a - copy_a + 4) == 2 ->
          copy_kind = 0; copy_e = 0; copy_s = 0; copy_a = 0; copy_w = 0; copy_m = 0
        :: else
        fi;
        if
        :: skip /* the same word again */
        :: a >= TRIES -> host_says[w] = NONE; w++
        fi
      :: else -> goto doubt
      fi
    fi;
    kind = 0; r_e = 0; r_s = 0; r_w = 0; first = false; reversing = false
  };
  if
  :: m -> m = false
  :: !m && confirmation -> down!CONFIRM(confirmation_e, confirmation, 0, 0, 0, 0)
  :: else
  fi;
  goto swap;

doubt:
  first = false;
  if
  :: skip
  :: reversing = true
  fi;
  goto ask;

finish:
  /* The last confirmation may be lost; an epoch ends by another one. */
  if
  :: confirmation -> down!CONFIRM(confirmation_e, confirmation, 0, 0, 0, 0)
  :: else
  fi;
last_epoch:
  down!STATE(0, 0, 0, 0, 0, 0); up?kind(before, r_s, r_w);
  if
  :: kind == LOST -> goto last_epoch
  :: else
  fi;
  down!CLOSE(0, 0, 0, 0, 0, 0);
  down!OPEN(0, 0, 0, 0, 0, 0);
  down!STATE(0, 0, 0, 0, 0, 0); up?kind(r_e, r_s, r_w);
  if
  :: kind == LOST || r_e == before || !r_w -> goto last_epoch
  :: else
  fi;
  atomic {
    /* All is settled, and both sides say the same. */
    w = 1;
    do
    :: w <= SWAPS ->
      assert(forgotten[w] || host_says[w] != UNKNOWN);
      assert(host_says[w] != TAKEN || (block_says[w] == TAKEN && block_gave[w] == host_got[w]));
      assert(host_says[w] != NONE || !block_gave[w] || block_says[w] == NONE);
      assert(!block_gave[w] || block_says[w] != UNKNOWN);
      w++
    :: else -> break
    od;
    over = true
  }
progress_end: skip
}
