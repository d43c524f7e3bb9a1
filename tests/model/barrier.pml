/* src/sync/barrier.hpp: RANKS ranks, BARRIERS barriers; rank 0 may leave by an error before any of them (all ranks are alike).
 *
 * Shown: nobody comes out of a barrier that not all have entered; nobody waits for ever, whoever leaves, and those who learn of it
 * leave, too; a barrier that the one who left had completed is completed by all.
 *
 * Words are signals: those of one word arrive in order, at any time.
 *
 * ends: -DRANKS=3 -DBARRIERS=2
 * search: -DRANKS=3 -DBARRIERS=4
 * search: -DRANKS=4 -DBARRIERS=2 -DNOBODY_LEAVES
 * search: -DRANKS=4 -DBARRIERS=1
 * search: -DRANKS=4 -DBARRIERS=2 -DNOBODY_LEAVES -DTWO_MACHINES
 * search: -DRANKS=4 -DBARRIERS=1 -DTWO_MACHINES
 */

#ifdef BROKEN_LAST_ROUND_LEFT_OUT
#define ROUNDS 1
#else
#define ROUNDS 2
#endif
#define WORD(rank, round) (rank * 2 + round)
#ifdef TWO_MACHINES /* of two ranks each: first the other one of the machine, then the other machine's of the same place */
#define AHEAD(distance) (me ^ distance)
#define BEHIND(distance) (me ^ distance)
#else
#define AHEAD(distance) ((me + distance) % RANKS)
#define BEHIND(distance) ((me + RANKS - distance) % RANKS)
#endif
#define STAYS 0 /* else: the number of barriers that are good, plus one */

byte round[RANKS * 2], told_round[RANKS * 2];
byte left[RANKS * 4], told_left[RANKS * 4]; /* gave_up, by who has left; all partners are told */
/* For the assertions alone */
byte entered[RANKS];
byte good = BARRIERS; /* barriers that the one who left first has completed */
bool over[RANKS]; /* its run has ended */

#ifdef BROKEN_PARTNER_MUST_BE_IN_THE_SAME_BARRIER
#define HAS_COME (round[WORD(me, k)] == epoch)
#else
#define HAS_COME (round[WORD(me, k)] >= epoch)
#endif
#ifdef BROKEN_DEPARTURES_END_EARLIER_BARRIERS
#define ENDS(word) (word != STAYS)
#else
#define ENDS(word) (word != STAYS && word - 1 < epoch)
#endif
#define LEFT(to, from) (to * 4 + from)
#define IS_LEFT (ENDS(left[LEFT(me, 0)]) || ENDS(left[LEFT(me, 1)]) || ENDS(left[LEFT(me, 2)]) || ENDS(left[LEFT(me, 3)]))

inline tell_of_leaving(to) {
  if
  :: over[to]
#ifdef BROKEN_LEAVING_IS_NOT_TOLD
  :: else
#else
  :: else -> told_left[LEFT(to, me)] = epoch
#endif
  fi
}

inline give_up() {
  d_step {
    tell_of_leaving(AHEAD(1));
    tell_of_leaving(BEHIND(1));
    tell_of_leaving(AHEAD(2));
    tell_of_leaving(BEHIND(2));
    gone = true
  }
}

inline tell_of_round(to) {
  d_step {
    if
    :: over[to]
    :: else -> told_round[WORD(to, k)] = epoch
    fi
  }
}

/* So that what comes later makes no difference between states. */
inline forget_words() {
  d_step {
    over[me] = true;
    k = 0;
    do
    :: k == 4 -> break
    :: else -> left[LEFT(me, k)] = 0; told_left[LEFT(me, k)] = 0; k++
    od;
    round[WORD(me, 0)] = 0; round[WORD(me, 1)] = 0; told_round[WORD(me, 0)] = 0; told_round[WORD(me, 1)] = 0;
    k = 0
  }
}

inline check_all_entered() {
  d_step {
    k = 0;
    do
    :: k == RANKS -> break
    :: else -> assert(entered[k] >= epoch); k++
    od;
    k = 0
  }
}

proctype rank(byte me) {
  byte epoch, k;
  bool gone;
  do
  :: gone || epoch == BARRIERS -> break
  :: else ->
     epoch++; /* epoch - 1 are completed, as give_up() tells */
     if
     :: true
#ifndef NOBODY_LEAVES
     :: d_step { me == 0 -> good = epoch - 1 }
        give_up();
        break
#endif
     fi;
     if
     :: IS_LEFT -> assert(epoch > good); give_up(); break
     :: else
     fi;
     entered[me] = epoch;
     k = 0;
     do
     :: k == ROUNDS -> break
     :: else ->
        tell_of_round(AHEAD((1 << k)));
        if
        :: HAS_COME
        :: IS_LEFT -> assert(epoch > good); give_up(); break
        fi;
        k++
     od;
     if
     :: gone
     :: else -> check_all_entered()
     fi
  od;
  forget_words()
}

/* Signals to one rank arrive. */
#define LEFT_COMES(to, from) \
  d_step { left[LEFT(to, from)] != told_left[LEFT(to, from)] -> left[LEFT(to, from)] = told_left[LEFT(to, from)] }

proctype ways(byte to) {
end:
  do
  :: d_step { round[WORD(to, 0)] < told_round[WORD(to, 0)] -> round[WORD(to, 0)]++ }
  :: d_step { round[WORD(to, 1)] < told_round[WORD(to, 1)] -> round[WORD(to, 1)]++ }
  :: LEFT_COMES(to, 0)
  :: LEFT_COMES(to, 1)
  :: LEFT_COMES(to, 2)
  :: LEFT_COMES(to, 3)
  od
}

init {
  byte number;
  atomic {
    do
    :: number == RANKS -> break
    :: else -> run ways(number); run rank(number); number++
    od
  }
}
