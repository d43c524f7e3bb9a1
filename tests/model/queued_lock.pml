/* src/sync/queued_lock.hpp: one lock; each of RANKS ranks takes it OTHERS_TIMES times, rank 1 TIMES times, in modes that are not
 * foreseen.
 *
 * Shown: holders exclude each other as their modes say; the queue is served in its order; there is never more than one head; nobody
 * waits for ever, and all runs end; in the end the lock is as it was.
 *
 * A remote atomic is one step. A message (add) is on its way for any time, and may be overtaken by any other. Of a counter that is
 * only compared with an earlier value of its own, the model keeps whether it has grown since; of the hints that are on their way to
 * one rank at a time, two.
 *
 * ends: -DRANKS=2 -DTIMES=2 -DOTHERS_TIMES=2
 * ends: -DRANKS=3 -DTIMES=1 -DOTHERS_TIMES=1
 * search: -DRANKS=3 -DTIMES=2 -DOTHERS_TIMES=1
 * search: -DRANKS=4 -DTIMES=1 -DOTHERS_TIMES=1 -DTWO_MODES
 */

#define MOST_HINTS 2
#define NONE 0 /* ranks are 1, 2, … as in the words */

#define SHARED 1
#define CROWD 2
#define EXCLUSIVE 3

/* LockWords */
byte a, b, head, tail;
/* QueueNode of each rank, and what is on its way there */
byte next[RANKS + 1];
bool go[RANKS + 1];
bool look[RANKS + 1];
byte sent_next[RANKS + 1];
bool sent_go[RANKS + 1];
byte sent_look[RANKS + 1];

/* For the assertions alone */
byte holders[4]; /* by mode */
byte entered, served;

#define UNIT_A (mode != CROWD)
#define UNIT_B (mode != SHARED)
#ifdef BROKEN_NEWCOMERS_IGNORE_HOLDERS
#define CAN_ENTER true
#else
#define CAN_ENTER ADMITS(a, b)
#endif
#define ADMITS(in_a, in_b) ((mode == SHARED || in_a == 0) && (mode == CROWD || in_b == 0))

/* The rank holds from here on. */
inline enter() {
  held = true;
  assert(holders[EXCLUSIVE] == 0);
  assert(mode == SHARED || holders[SHARED] == 0);
  assert(mode == CROWD || holders[CROWD] == 0);
  holders[mode]++
}

/* Takes the unit back; hints the head if there may be room for it now. */
inline unlock(is_undo) {
  a = a - UNIT_A;
  b = b - UNIT_B;
  if
#ifdef BROKEN_UNDO_HINTS_NOBODY
  :: is_undo -> skip
#endif
  :: head != NONE && ((mode != CROWD && a == 0) || (mode != SHARED && b == 0)) ->
     if
     :: sent_look[head] < MOST_HINTS -> sent_look[head]++
     :: else -> skip
     fi
  :: else -> skip
  fi
}

inline take_if_free() {
  if
  :: d_step { mode == EXCLUSIVE ->
       if
       :: a == 0 && b == 0 && head == NONE -> a = 1; b = 1; enter()
       :: else -> skip
       fi
     }
  :: d_step { mode != EXCLUSIVE ->
       if
       :: head == NONE && CAN_ENTER -> enter()
       :: else -> skip
       fi;
       a = a + UNIT_A;
       b = b + UNIT_B
     }
     if
     :: held
     :: else -> d_step { unlock(true) }
     fi
  fi
}

/* The loop of compare-and-swaps on the tail is one swap. */
inline become_head() {
  d_step { next[me] = NONE; go[me] = false; last = tail; tail = me; entered = (entered + 1) % (RANKS + 1); ticket = entered }
  if
  :: d_step { last == NONE -> assert(head == NONE); head = me; seen_a = a; seen_b = b }
  :: d_step { last != NONE -> sent_next[last] = me; last = NONE }
     d_step { go[me] -> seen_a = 0; seen_b = 0 }
  fi;
  d_step {
    if
    :: ADMITS(seen_a, seen_b) -> skip
    :: else -> seen_a = 0; seen_b = 0
    fi
  }
}

/* Tries while there seems to be room. */
inline try_as_head() {
  do
  :: successor = next[me];
     d_step {
       assert(head == me);
       if
       :: a == seen_a && b == seen_b ->
          a = a + UNIT_A;
          b = b + UNIT_B;
          head = successor;
          served = (served + 1) % (RANKS + 1);
          assert(ticket == served);
          enter()
       :: else -> seen_a = a; seen_b = b
       fi
     }
     if
     :: !held && ADMITS(seen_a, seen_b)
     :: else -> break
     fi
  od
}

inline take_as_head() {
  do
  :: held -> break
  :: else ->
#ifdef BROKEN_LOOK_FORGOTTEN_AFTER_THE_ATTEMPT
     try_as_head();
     look[me] = false;
#else
     look[me] = false;
     try_as_head();
#endif
     if
     :: held
     :: d_step { !held && look[me] -> seen_a = 0; seen_b = 0 }
     fi
  od
}

inline name_successor() {
  if
  :: d_step { tail == me -> tail = NONE }
#ifdef BROKEN_LATE_SUCCESSOR_IS_LEFT
  :: tail != me
#else
  :: tail != me ->
     next[me] != NONE;
     d_step { successor = next[me]; assert(head == NONE); head = successor }
#endif
  fi
}

inline lock() {
  take_if_free();
  if
  :: held
  :: else ->
     become_head();
     take_as_head();
     if
     :: successor == NONE -> name_successor()
     :: else
     fi;
     if
     :: successor != NONE -> sent_go[successor] = true
     :: else
     fi
  fi
}

proctype rank(byte me) {
  byte mode, times, seen_a, seen_b, last, successor, ticket;
  bool held;
  do
  :: times == (me == 1 -> TIMES : OTHERS_TIMES) -> break
  :: else ->
     times++;
     if
     :: mode = SHARED
#ifndef TWO_MODES
     :: mode = CROWD
#endif
     :: mode = EXCLUSIVE
     fi;
     lock();
     d_step {
       holders[mode]--;
       unlock(false);
       mode = 0; seen_a = 0; seen_b = 0; successor = NONE; ticket = 0; held = false;
       next[me] = NONE; go[me] = false; look[me] = false
     }
  od
}

/* Delivers what is on its way to one rank, in any order. */
proctype way_to(byte rank_there) {
end:
  do
  :: d_step { sent_next[rank_there] != NONE -> next[rank_there] = sent_next[rank_there]; sent_next[rank_there] = NONE }
  :: d_step { sent_go[rank_there] -> go[rank_there] = true; sent_go[rank_there] = false }
  :: d_step { sent_look[rank_there] > 0 -> look[rank_there] = true; sent_look[rank_there]-- }
  od
}

init {
  byte number;
  atomic {
    number = 1;
    do
    :: number > RANKS -> break
    :: else -> run way_to(number); number++
    od;
    number = 1;
    do
    :: number > RANKS -> break
    :: else -> run rank(number); number++
    od
  }
  (_nr_pr == 1 + RANKS); /* all ranks have come to their end */
  assert(a == 0 && b == 0 && head == NONE && tail == NONE)
}
