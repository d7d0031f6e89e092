/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One swap port: the host's driver, the block with its journal, the firmware, and FAULTS faults
 * between them, each at any point. Sequences, epochs and attempts count modulo 8. The host swaps the
 * words 1 to SWAPS, each until it knows what became of it.
 *
 * swap_table.pml is made of rtl/port/swap_transitions.yaml; tests/rtl compares block and reference with the
 * same table. swap.yaml names the runs, the marks that they must reach, and the mutations.
 */
#ifndef SWAPS
#define SWAPS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef TRIES
#define TRIES 2 /* attempts at a word before the host gives it up */
#endif
#if TRIES + SWAPS > 5
#error "more attempts at one sequence than the block can tell apart: 4 of 8 here, 32 of 64 in the block"
#endif

/* The kinds of faults that a run has */
#define LOSS 1      /* a packet does not arrive, or an answer does not */
#define DAMAGE 2    /* an offer fails its CRC */
#define COPY 4      /* a packet arrives a second time, later; with LOSS, only then */
#define RESET 8     /* of the function; the link may be down for it, and then loses what is on its way */
#define KILL 16     /* of the owner of the port */
#define RESTART 32  /* of the firmware */
#define POWER 64    /* the card loses its power, and so its journal */
#define FREEZE 128  /* the driver closes the port while its host is in doubt, for a reset */
#define LIMIT 256   /* a tentative swap has held words for too long */
#ifndef KINDS
#define KINDS 511
#endif
#define MAY(kind) (faults < FAULTS && (KINDS & (kind)))

#include "swap_table.pml"

#define NEXT(sequence) ((sequence) == 7 -> 1 : (sequence) + 1)
#define ROUND(n) ((n) & 7)

mtype = {
  OFFER, READ, CONFIRM, REVERSE, CLOSE, OPEN, STATE,       /* of the host */
  ANSWER, NOT_READY, REVERSED, HISTORY_LOST, JOURNAL, ONES /* to the host; ONES: its read failed */
};

/* kind, epoch, sequence, attempt, word, MORE, sound */
chan down = [5] of { mtype, byte, byte, byte, byte, bool, bool };
/* kind, epoch, sequence, word, first attempt that is not old */
chan up = [2] of { mtype, byte, byte, byte, byte };

byte faults = 0;

/* ---- What is true, at which nobody in the model looks ---- */

#define UNKNOWN 0
#define TAKEN 1     /* committed */
#define NONE 2      /* it never takes place, or is reversed */
#define NO_HISTORY 3 /* the host has learned that the journal is lost */

byte host_says[SWAPS + 1];   /* of its word: UNKNOWN until it is settled */
byte host_got[SWAPS + 1];    /* the firmware's word for it */
byte block_says[SWAPS + 1];
byte block_gave[SWAPS + 1];  /* 0: not exchanged */
bool forgotten[SWAPS + 1];   /* the owner was killed: nobody knows any more */
bool said_more[SWAPS + 1];   /* by the host, of its word */
bool lost[SWAPS + 1];        /* the journal was, while the word was tentative */
byte last_committed = 0;     /* by the block */
byte seen = 0;               /* attempts at this sequence that the block has found good, a bit each, */
byte denied = 0;             /*   of which these were, and a read was answered without the swap */

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
byte offer_s = 0;            /*   for this sequence */
byte retained = 0;           /* the firmware's word of the last answer, 0: none */
byte tentative = 0;          /* the host's word, 0: no slot */
bool settled = false;        /*   confirmed, and waits */
bool more = false;
bool reversed = false;       /* the last swap was */
byte committed = 0;          /* 0: no slot */

#define is_open (journal >= JOURNAL_STATE_IDLE && journal <= JOURNAL_STATE_REVERSED)

inline make_room() {
  if
  :: tentative && GUARD(moves_when_settled, settled) && GUARD(moves_into_room, !committed) ->
    assert(!committed);
    committed = tentative; tentative = 0; settled = false
  :: tentative && settled && committed -> REACHED(waits_for_room)
  :: else
  fi
}

inline discard_host_offer() { good = false; spent = false; inbox = 0; inbox_more = false }

inline forget_attempts() { attempted = false; attempt = 0; seen = 0; denied = 0 }

/* All that follows from `event`, if it is one. */
inline happens() {
  journal_step(journal, event, done);
  if
  :: done & JOURNAL_COMMIT ->
    assert(tentative && !settled);
    assert(block_says[tentative] == UNKNOWN && block_gave[tentative]);
    /* Nobody but a host that has its answer confirms; otherwise its memory is gone. A close and the
     * limit do not ask: a host in doubt learns of the commit. */
    assert(host_says[tentative] == TAKEN || forgotten[tentative] || event == JOURNAL_EVENT_CLOSE ||
           event == JOURNAL_EVENT_EXPIRE);
    assert(kind != OFFER || said_more[tentative]);
    assert(tentative > last_committed);
    block_says[tentative] = TAKEN; last_committed = tentative;
    settled = true;
    if
    :: event == JOURNAL_EVENT_CLOSE && host_says[last_committed] == TAKEN -> REACHED(close_rolls_forward)
    :: event == JOURNAL_EVENT_CLOSE && forgotten[last_committed] -> REACHED(close_settles_what_is_forgotten)
    :: event == JOURNAL_EVENT_CLOSE && host_says[last_committed] == UNKNOWN && !forgotten[last_committed] ->
      REACHED(close_commits_what_is_in_doubt)
    :: event == JOURNAL_EVENT_EXPIRE && host_says[last_committed] == UNKNOWN -> REACHED(limit_commits_what_is_in_doubt)
    :: event == JOURNAL_EVENT_REVERSE_NEXT -> REACHED(reversal_of_the_next_commits_the_last)
    :: else
    fi
  :: else
  fi;
  if
  :: done & JOURNAL_DISCARD ->
    REACHED(discards);
    assert(host_says[tentative] != TAKEN && block_says[tentative] == UNKNOWN);
    block_says[tentative] = NONE; tentative = 0; reversed = true
  :: else
  fi;
  if
  :: done & JOURNAL_COUNT ->
    reversed = event != JOURNAL_EVENT_EXCHANGE;
    last = NEXT(last); offered = false; offer = 0; offer_s = 0;
    discard_host_offer();
    forget_attempts()
  :: else
  fi;
  if
  :: done & JOURNAL_BEGIN_EPOCH -> epoch = ROUND(epoch + 1); last = 0; retained = 0; reversed = false; forget_attempts()
  :: else
  fi;
  make_room();
  assert(is_open || (!good && !offered))
}

/* What a packet means to the journal, and what a read finds: `said`. */
inline received() {
  event = JOURNAL_EVENT_NONE;
  if
  :: kind == OFFER && GUARD(offer_of_an_open_port, is_open) && GUARD(offer_of_this_epoch, e == epoch) &&
     GUARD(offer_of_the_next_swap, s == NEXT(last)) && GUARD(offer_is_sound, sound) &&
     GUARD(offer_is_not_old, !attempted || ROUND(a - attempt + 8) < 4) ->
    good = true; spent = false; inbox = w; inbox_more = m; attempt = a; attempted = true;
    seen = seen | (1 << a);
    if
    :: GUARD(more_was_said, more) && journal == JOURNAL_STATE_TENTATIVE ->
      event = JOURNAL_EVENT_CONFIRM; REACHED(next_offer_confirms)
    :: else
    fi
  :: kind == READ && GUARD(exchange_of_a_good_offer, good) && GUARD(exchange_before_a_denial, !spent) &&
     GUARD(exchange_with_the_firmware, offered) && GUARD(exchange_into_room, !tentative) ->
    /* No invention, no repetition */
    assert(inbox && offer && block_says[inbox] == UNKNOWN && !block_gave[inbox] && host_says[inbox] == UNKNOWN);
    /* An offer that was good at a read which did not exchange it never takes place. */
    assert(!(denied & (1 << attempt)));
    assert(offer_s == NEXT(last));
    tentative = inbox; settled = false; more = inbox_more;
    retained = offer; block_gave[tentative] = offer; offer = 0; offer_s = 0;
    event = JOURNAL_EVENT_EXCHANGE
  :: kind == CONFIRM && GUARD(confirmation_of_this_epoch, e == epoch) &&
     GUARD(confirmation_of_the_last_swap, s == last) -> event = JOURNAL_EVENT_CONFIRM
  :: kind == REVERSE && GUARD(reversal_of_this_epoch, e == epoch) &&
     GUARD(reversal_of_the_last_swap, s == last) -> event = JOURNAL_EVENT_REVERSE_LAST
  :: kind == REVERSE && GUARD(reversal_of_the_next_in_this_epoch, e == epoch) && s != last &&
     GUARD(reversal_of_the_next_swap, s == NEXT(last)) && is_open -> event = JOURNAL_EVENT_REVERSE_NEXT
  :: kind == CLOSE && is_open ->
    discard_host_offer(); offered = false; offer = 0; offer_s = 0; event = JOURNAL_EVENT_CLOSE
  :: kind == OPEN && !is_open ->
    event = JOURNAL_EVENT_OPEN;
    if
    :: journal == JOURNAL_STATE_HISTORY_LOST -> epoch = e
    :: else
    fi
  :: else
  fi;
  happens();
  assert(!(kind == CONFIRM && e == epoch && s == last && journal == JOURNAL_STATE_TENTATIVE));
  if
  :: kind == STATE -> said = JOURNAL; r_s = last; r_w = journal
  :: kind == READ && event == JOURNAL_EVENT_EXCHANGE -> said = ANSWER; r_s = last; r_w = retained
  :: kind == READ && event != JOURNAL_EVENT_EXCHANGE ->
    denied = denied | seen;
    if
    :: journal == JOURNAL_STATE_HISTORY_LOST -> said = HISTORY_LOST
    :: good ->
      if
      :: !spent -> attempt = ROUND(attempt + 1); spent = true
      :: else
      fi;
      said = NOT_READY; r_s = NEXT(last)
    :: !good && reversed -> said = REVERSED; r_s = last
    :: !good && !reversed && last && retained -> said = ANSWER; r_s = last; r_w = retained
    :: else -> said = NOT_READY
    fi;
    r_a = attempt
  :: else
  fi
}

/* A packet that arrives a second time, later. Nobody waits for the answer to such a read any more. */
mtype copy_kind = 0;
byte copy_e, copy_s, copy_a, copy_w;
bool copy_m;

inline drop_copy() {
  copy_kind = 0; copy_e = 0; copy_s = 0; copy_a = 0; copy_w = 0; copy_m = 0
}

#define IS_READ (kind == READ || kind == STATE)
/* The driver looks after its opens and closes. */
#define MAY_LINGER (kind == OFFER || kind == CONFIRM || kind == REVERSE || kind == READ)

inline forget_packet() {
  kind = 0; said = 0; e = 0; s = 0; a = 0; w = 0; m = 0; sound = 0; unheard = 0; late = 0;
  done = 0; event = 0; r_s = 0; r_w = 0; r_a = 0
}

inline link_down() {
  do
  :: nempty(down) -> down?kind(e, s, a, w, m, sound);
    if
    :: IS_READ -> up!ONES(0, 0, 0, 0)
    :: else
    fi
  :: empty(down) -> break
  od
}

active proctype block() {
  mtype kind, said;
  byte e, s, a, w, done, event, r_s, r_w, r_a;
  bool m, sound, unheard, late;
end:
  do
  :: atomic {
      if
      :: down?kind(e, s, a, w, m, sound) ->
        if
        :: skip
        :: MAY(LOSS) -> faults++;
          if
          :: !IS_READ -> kind = 0
          :: IS_READ -> kind = 0; said = ONES
          :: IS_READ -> unheard = true
          fi
        :: MAY(DAMAGE) && kind == OFFER -> faults++; sound = false; w = 0
        :: MAY(COPY) && MAY_LINGER && copy_kind == 0 -> faults++;
          copy_kind = kind; copy_e = e; copy_s = s; copy_a = a; copy_w = w; copy_m = m;
          if
          :: skip
          :: MAY(LOSS) -> faults++;
            if
            :: IS_READ -> said = ONES
            :: else
            fi;
            kind = 0
          fi
        fi
      :: copy_kind != 0 ->
        kind = copy_kind; e = copy_e; s = copy_s; a = copy_a; w = copy_w; m = copy_m; sound = true;
        late = true;
        drop_copy()
      fi;
      received();
      if
      :: late && kind == OFFER && good && inbox == w && attempt == a -> REACHED(late_offer_is_good)
      :: late && kind == OFFER && e == epoch && s == NEXT(last) && !(good && inbox == w && attempt == a) ->
        REACHED(late_offer_is_old)
      :: late && event == JOURNAL_EVENT_EXCHANGE -> REACHED(late_read_exchanges)
      :: late && event == JOURNAL_EVENT_CONFIRM -> REACHED(late_confirmation)
      :: late && event == JOURNAL_EVENT_REVERSE_LAST -> REACHED(late_reversal)
      :: else
      fi;
      if
      :: said && unheard -> up!ONES(0, 0, 0, 0)
      :: said && !unheard && !late -> up!said(epoch, r_s, r_w, r_a)
      :: else
      fi;
      forget_packet()
    }
  /* What the host has offered is discarded; of an offer that was good, every copy is old from now on. */
  :: atomic { MAY(RESET) -> faults++;
      if
      :: good && !spent -> attempt = ROUND(attempt + 1); REACHED(reset_discards_a_good_offer)
      :: else
      fi;
      discard_host_offer();
      if
      :: link_down()
      :: skip
      fi;
      forget_packet()
    }
  :: atomic { MAY(LIMIT) && journal == JOURNAL_STATE_TENTATIVE -> faults++;
      event = JOURNAL_EVENT_EXPIRE;
      happens();
      forget_packet()
    }
  :: atomic { MAY(POWER) -> faults++;
      if
      :: tentative && !settled -> lost[tentative] = true; REACHED(power_lost_with_a_tentative_swap)
      :: else
      fi;
      journal = JOURNAL_STATE_HISTORY_LOST; epoch = 0; last = 0; reversed = false;
      discard_host_offer(); forget_attempts();
      offered = false; offer = 0; offer_s = 0; retained = 0; tentative = 0; settled = false; more = false; committed = 0;
      link_down(); drop_copy();
      forget_packet()
    }
  od
}

/* ---- The firmware ---- */

byte fresh = 1;              /* its next word; a restart loses no more than what is in work */

active proctype firmware() {
  byte e, s;
  bool writes = false;
end:
  do
  :: atomic { !writes && is_open && !offered -> e = epoch; s = NEXT(last); writes = true }
  :: atomic { writes ->
      if
      :: GUARD(firmware_offer_of_an_open_port, is_open) && GUARD(firmware_offer_of_this_epoch, e == epoch) &&
         GUARD(firmware_offer_of_the_next_swap, s == NEXT(last)) && !offered ->
        assert(is_open && e == epoch && s == NEXT(last));
        offered = true; offer = fresh; offer_s = s; fresh = (fresh == 7 -> 1 : fresh + 1)
      :: else -> REACHED(firmware_offer_too_late)
      fi;
      writes = false; e = 0; s = 0
    }
  :: atomic { writes && MAY(RESTART) -> faults++; writes = false; e = 0; s = 0; REACHED(firmware_restarts) }
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

/*
 * Reads the state of the port into `before`, closes and opens it, until its epoch is a new one. A block
 * without history goes on from the epoch that the host remembers, so that no packet of that one fits.
 */
inline begin_epoch() {
  do
  :: down!STATE(0, 0, 0, 0, 0, 0); up?kind(before, r_s, r_w, r_a);
    if
    :: kind == ONES -> skip
    :: else ->
      atomic { down!CLOSE(0, 0, 0, 0, 0, 0); down!OPEN(e, 0, 0, 0, 0, 0); down!STATE(0, 0, 0, 0, 0, 0) };
      up?kind(r_e, r_s, r_w, r_a);
      if
      :: kind == ONES || GUARD(epoch_is_new, r_e == before) -> skip
      :: else -> break
      fi
    fi
  od
}

active proctype host() {
  byte e = 0, s = 0, a = 0, w = 1, before;
  byte r_e, r_s, r_w, r_a;
  mtype kind;
  bool m, reversing, ended, frozen;
  byte confirmation = 0, confirmation_e = 0;

begin:
  /* An epoch of its own: what is left is ended, and nobody else's swaps are in it. */
  begin_epoch();
  atomic { e = r_e; s = 0; a = 0; confirmation = 0; confirmation_e = 0; before = 0; frozen = false; r_e = 0; r_s = 0; r_w = 0; r_a = 0; kind = 0 }

swap:
  atomic {
    if
    :: w > SWAPS -> goto finish
    :: else
    fi;
    if
    :: w < SWAPS -> m = true
    :: m = false
    fi;
    said_more[w] = m;
    down!OFFER(e, NEXT(s), a, w, m, true);
    down!READ(0, 0, 0, 0, 0, 0)
  };
  goto answer;

ask:
  atomic {
    if
    :: MAY(FREEZE) && !frozen -> faults++; frozen = true; down!CLOSE(0, 0, 0, 0, 0, 0)
    :: true
    fi;
    if
    :: reversing -> down!REVERSE(e, NEXT(s), 0, 0, 0, 0); down!STATE(0, 0, 0, 0, 0, 0)
    :: else -> down!READ(0, 0, 0, 0, 0, 0); goto answer
    fi
  };
  /* The reversal may have come too late: an answer that is asked for after this one is final. */
  up?kind(r_e, r_s, r_w, r_a);
  atomic {
    ended = kind == JOURNAL &&
      (r_w == JOURNAL_STATE_CLOSED || (GUARD(journal_of_a_commit, r_w == JOURNAL_STATE_COMMITTED) && r_s == NEXT(s)));
    kind = 0; r_e = 0; r_s = 0; r_w = 0; r_a = 0;
    down!READ(0, 0, 0, 0, 0, 0)
  };
answer:
  up?kind(r_e, r_s, r_w, r_a);
  atomic {
    if
    /* The owner may be killed while it waits. */
    :: MAY(KILL) && w <= SWAPS -> faults++;
      if
      :: kind == ANSWER && r_s == NEXT(s) -> REACHED(killed_with_its_answer)
      :: else
      fi;
      forgotten[w] = true;
      w++; kind = 0; r_e = 0; r_s = 0; r_w = 0; r_a = 0; m = false; reversing = false; ended = false;
      goto begin
    :: true
    fi;
    assert(kind == ONES || kind == HISTORY_LOST || r_e == e);
    if
    :: kind == HISTORY_LOST ->
      REACHED(host_hears_that_history_is_lost);
      host_says[w] = NO_HISTORY; w++; m = false; reversing = false; ended = false;
      kind = 0; r_e = 0; r_s = 0; r_w = 0; r_a = 0;
      goto begin
    :: kind == ONES ->
      if
      :: skip
      :: reversing = true
      fi;
      kind = 0; r_e = 0; r_s = 0; r_w = 0; r_a = 0;
      goto ask
    :: kind == ANSWER && GUARD(answer_of_the_next_swap, r_s == NEXT(s)) &&
       (GUARD(answer_without_a_reversal, !reversing) || ended) ->
      if
      :: faults < FAULTS -> REACHED(answer_with_a_fault_left)
      :: else
      fi;
      if
      :: reversing -> REACHED(reversal_comes_too_late)
      :: else
      fi;
      /* Agreement: the block has exchanged this pair, and never takes it back. */
      assert(block_gave[w] == r_w && block_says[w] != NONE && host_says[w] == UNKNOWN);
      host_says[w] = TAKEN; host_got[w] = r_w;
      s = NEXT(s); a = 0; confirmation = s; confirmation_e = e; w++
    :: kind == REVERSED && GUARD(reversal_of_its_own_swap, r_s == NEXT(s)) ->
      assert(reversing && block_says[w] != TAKEN);
      assert(!lost[w] && (!block_gave[w] || block_says[w] == NONE));
      host_says[w] = NONE;
      s = NEXT(s); a = 0; w++; m = false
    :: kind == NOT_READY && r_s == NEXT(s) && GUARD(denial_of_its_own_attempt, r_a == a + 1) &&
       GUARD(denial_without_a_reversal, !reversing) ->
      assert(!block_gave[w] && !lost[w]);
      a = a + 1; m = false;
      if
      :: a < TRIES /* the same word again */
      :: host_says[w] = NONE; w++
      fi
    /* No offer takes place on a closed port. */
    :: kind != ONES && kind != HISTORY_LOST && GUARD(denial_of_what_has_ended, ended) && r_s != NEXT(s) -> REACHED(closed_without_an_exchange);
      assert(!block_gave[w] && !lost[w]);
      host_says[w] = NONE; w++; m = false
    /* The block has not seen the offer, which may still arrive: only a reversal makes sure. */
    :: else -> REACHED(offer_not_seen);
      reversing = true; kind = 0; r_e = 0; r_s = 0; r_w = 0; r_a = 0;
      goto ask
    fi;
    kind = 0; r_e = 0; r_s = 0; r_w = 0; r_a = 0; reversing = false; ended = false;
    if
    :: frozen -> m = false; goto begin
    :: else
    fi;
    if
    :: m -> m = false
    :: !m && confirmation -> down!CONFIRM(confirmation_e, confirmation, 0, 0, 0, 0)
    :: else
    fi
  };
  goto swap;

finish:
  /* The last confirmation may be lost; an epoch ends by another one. */
  if
  :: confirmation -> down!CONFIRM(confirmation_e, confirmation, 0, 0, 0, 0)
  :: else
  fi;
  begin_epoch();
  atomic {
    /* All is ended, and both sides say the same. */
    w = 1;
    do
    :: w <= SWAPS ->
      assert(forgotten[w] || host_says[w] != UNKNOWN);
      assert(host_says[w] != TAKEN || block_gave[w] == host_got[w]);
      assert(host_says[w] != TAKEN || block_says[w] == TAKEN || lost[w]);
      assert(host_says[w] != NONE || (block_says[w] != TAKEN && !lost[w] && (!block_gave[w] || block_says[w] == NONE)));
      assert(!block_gave[w] || block_says[w] != UNKNOWN || lost[w]);
      w++
    :: else -> break
    od;
    over = true
  }
progress_end: skip
}
