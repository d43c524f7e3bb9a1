/* src/window/lock_epochs.hpp: RANKS ranks take EPOCHS locks each, of all parts, of one of two parts, or of both one after the other, in
 * ascending order, shared or exclusive. The locks themselves are what queued_lock.pml shows them to be: first come, first served.
 *
 * Shown: an exclusive holder of a part is the only one, and nobody holds all parts meanwhile; nobody waits for ever; in the end all locks
 * are as they were.
 *
 * ends: -DRANKS=3 -DEPOCHS=1
 * search: -DRANKS=3 -DEPOCHS=2
 * search: -DRANKS=4 -DEPOCHS=1
 */

#define WINDOW 2 /* the lock at rank 0, behind those of the parts 0 and 1 */
#define SHARED 1
#define CROWD 2
#define EXCLUSIVE 3 /* counts as both */

byte a[3], b[3];                          /* holders of a lock, by kind */
byte queue[3 * RANKS], waiting[3];        /* rank + 1, in their order; how many */
byte sharing[2], alone[2], having_all = 0; /* who is between lock() and unlock(): for the assertions alone */

#define ADMITS(l, mode) ((mode == SHARED || a[l] == 0) && (mode == CROWD || b[l] == 0))

inline take(l, mode) {
  a[l] = a[l] + (mode != CROWD);
  b[l] = b[l] + (mode != SHARED)
}

inline lock(l, mode) {
  atomic {
    if
    :: waiting[l] == 0 && ADMITS(l, mode)
    :: else ->
      queue[l * RANKS + waiting[l]] = me + 1;
      waiting[l]++;
      (queue[l * RANKS] == me + 1 && ADMITS(l, mode));
      i = 1;
      do
      :: i < waiting[l] -> queue[l * RANKS + i - 1] = queue[l * RANKS + i]; i++
      :: else -> break
      od;
      waiting[l]--;
      queue[l * RANKS + waiting[l]] = 0;
      i = 0
    fi;
    take(l, mode)
  }
}

inline lock_past_queue(l, mode) {
  atomic { ADMITS(l, mode) -> take(l, mode) }
}

inline unlock(l, mode) {
  d_step {
    a[l] = a[l] - (mode != CROWD);
    b[l] = b[l] - (mode != SHARED)
  }
}

inline join_crowd() {
#ifdef BROKEN_NO_CROWD
  skip
#else
  if
#ifdef BROKEN_HOLDERS_QUEUE_AS_WELL
  :: lock(WINDOW, CROWD)
#else
  :: holds == 0 -> lock(WINDOW, CROWD)
  :: else -> lock_past_queue(WINDOW, CROWD)
#endif
  fi
#endif
}

inline leave_crowd() {
#ifdef BROKEN_NO_CROWD
  skip
#else
  unlock(WINDOW, CROWD)
#endif
}

inline lock_part(part, exclusive) {
  if
  :: exclusive ->
#ifdef BROKEN_THE_PART_COMES_FIRST
    lock(part, EXCLUSIVE);
    join_crowd()
#else
    join_crowd();
    lock(part, EXCLUSIVE)
#endif
    ;
    alone[part]++
  :: else ->
    lock(part, SHARED);
    sharing[part]++
  fi;
  holds++;
  assert(alone[part] <= 1 && (alone[part] == 0 || (sharing[part] == 0 && having_all == 0)))
}

inline unlock_part(part, exclusive) {
  holds--;
  if
  :: exclusive ->
    alone[part]--;
    unlock(part, EXCLUSIVE);
    leave_crowd()
  :: else ->
    sharing[part]--;
    unlock(part, SHARED)
  fi
}

inline choose(what) {
  if
  :: what = true
  :: what = false
  fi
}

proctype rank(byte me) {
  byte holds = 0, epoch = 0, i = 0;
  bool first, second;
  do
  :: epoch < EPOCHS ->
    epoch++;
    if
    :: lock(WINDOW, SHARED);
      having_all++;
      assert(alone[0] == 0 && alone[1] == 0);
      having_all--;
      unlock(WINDOW, SHARED)
    :: choose(first);
      lock_part(0, first);
      if
      :: skip
      :: choose(second);
        lock_part(1, second);
        unlock_part(1, second)
      fi;
      unlock_part(0, first)
    :: choose(second);
      lock_part(1, second);
      unlock_part(1, second)
    fi
  :: else -> break
  od
}

init {
  byte n = 0;
  atomic {
    do
    :: n < RANKS -> run rank(n); n++
    :: else -> break
    od
  };
  (_nr_pr == 1);
  assert(a[0] + a[1] + a[2] + b[0] + b[1] + b[2] + waiting[0] + waiting[1] + waiting[2] == 0)
}
