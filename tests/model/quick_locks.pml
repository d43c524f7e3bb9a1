/* src/window/quick_locks.hpp: the word of a rank, changed by its first thread, at first by plain stores, and by THREADS - 1 others, one of
 * which may be in charge of all locks (LockEpochs, in its turn). What the word stands for, the lock itself, is what lock_epochs.pml shows.
 *
 * The asymmetric fences are what they promise: of changing and several each side writes one and then sees the other's.
 *
 * Shown: of several threads that change the word one gets its way, so that at most one is between its lock and its unlock; nobody waits
 * for ever; in the end the word is free.
 *
 * ends: -DTHREADS=2 -DROUNDS=2
 * search: -DTHREADS=3 -DROUNDS=2
 */

#define FREE 0
#define TURN 255 /* else: held, by thread number plus one */

byte word = FREE;
bool changing, several, settled;
byte holding; /* for the assertions alone */

/* first: thread 0 has come first; the others find its name there. */
inline meet_thread() {
  if
  :: me == 0 || settled
  :: else ->
#ifndef BROKEN_SEVERAL_IS_NOT_SAID
    several = true;
#endif
#ifndef BROKEN_CHANGES_UNDER_WAY_ARE_NOT_WAITED_FOR
    !changing;
#endif
    settled = true
  fi
}

/* ok: whether the word became `wanted`; `found` is what it was taken for. */
inline change(wanted) {
  ok = false;
  if
  :: !several ->
    changing = true;
    if
#ifdef BROKEN_SEVERAL_IS_LOOKED_AT_ONCE
    :: true ->
#else
    :: !several ->
#endif
      word = wanted;
      ok = true
#ifndef BROKEN_SEVERAL_IS_LOOKED_AT_ONCE
    :: else
#endif
    fi;
    changing = false
  :: else
  fi;
  if
  :: !ok -> atomic { if :: word == found -> word = wanted; ok = true :: else fi }
  :: else
  fi
}

/* By who is in charge; what is held stays so, until it is given back. */
inline take_over() {
  atomic {
    if
    :: word == TURN -> found = TURN
    :: else -> found = word; word = TURN
    fi
  };
  if
  :: found == FREE -> word = FREE
  :: else
  fi
}

proctype thread(byte me) {
  byte found, rounds;
  bool ok;
  do
  :: rounds == ROUNDS -> break
  :: else ->
    rounds++;
    meet_thread();
    found = word;
    if
    :: found == FREE ->
      if
      :: change(me + 1);
        if
        :: ok ->
          holding++;
          assert(holding == 1);
          holding--;
          found = me + 1;
          change(FREE);
          if
          :: ok
          :: else -> assert(word == TURN); word = FREE /* it was taken over: given back by who is in charge */
          fi
        :: else
        fi
      :: me != 0 -> take_over()
      fi
    :: found != FREE && me != 0 -> take_over()
    :: else
    fi
  od
}

init {
  byte number;
  atomic {
    do
    :: number == THREADS -> break
    :: else -> run thread(number); number++
    od
  };
  (_nr_pr == 1);
  assert(word == FREE)
}
