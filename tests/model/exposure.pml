/* src/sync/exposure.hpp: two origins, two targets, EPOCHS epochs, in each of which any origins access any targets.
 *
 * Shown: an access happens only while its target has posted for that very epoch; when wait() returns, or test() says so, all accesses
 * of the epoch have happened and none goes on; nobody waits for ever. A target that has few origins is ahead of the others, and
 * posts early.
 *
 * The counters are signals: they arrive in order, at any time. Origin and target of a pair count on their own; the model has each
 * counter twice, as told and as arrived.
 *
 * ends: -DEPOCHS=2
 * search: -DEPOCHS=3 -DORIGIN_1_ALWAYS
 */

#define PAIRS 4
#define PAIR(origin, target) ((origin) * 2 + (target))

bool member[EPOCHS * PAIRS]; /* who accesses whom: in the groups of both sides */
byte posted[PAIRS], told_posted[PAIRS];
byte completed[PAIRS], told_completed[PAIRS];

/* For the assertions alone */
bool open[PAIRS];     /* between post() and the end of wait() */
byte accesses[PAIRS]; /* that have happened */

#ifdef BROKEN_ANY_POST_COUNTS
#define HAS_POSTED(pair) (posted[pair] > 0)
#else
#define HAS_POSTED(pair) (posted[pair] > told_completed[pair])
#endif
#ifdef BROKEN_ANY_COMPLETE_COUNTS
#define HAS_COMPLETED(pair) (completed[pair] > 0)
#else
#define HAS_COMPLETED(pair) (completed[pair] >= told_posted[pair])
#endif

/* To wait for one after the other is to wait for both: counters only grow. What is told at once arrives one by one. */
#define IS_MEMBER(pair) (member[epoch * PAIRS + pair])

inline access(pair) {
  if
  :: IS_MEMBER(pair) -> assert(open[pair]); accesses[pair]++
  :: else
  fi
}

inline complete(pair) {
  if
  :: IS_MEMBER(pair) -> assert(open[pair]); told_completed[pair]++
  :: else
  fi
}

inline post(pair) {
  if
  :: IS_MEMBER(pair) -> open[pair] = true; told_posted[pair]++
  :: else
  fi
}

inline close(pair) {
  if
  :: IS_MEMBER(pair) -> assert(accesses[pair] == told_posted[pair]); open[pair] = false
  :: else
  fi
}

proctype origin_rank(byte me) {
  byte epoch;
  do
  :: epoch == EPOCHS -> break
  :: else ->
     (!IS_MEMBER(PAIR(me, 0)) || HAS_POSTED(PAIR(me, 0))) && (!IS_MEMBER(PAIR(me, 1)) || HAS_POSTED(PAIR(me, 1))); /* start() */
     d_step { access(PAIR(me, 0)); access(PAIR(me, 1)) }
     d_step { complete(PAIR(me, 0)); complete(PAIR(me, 1)); epoch++ }
  od
}

proctype target_rank(byte me) {
  byte epoch;
  do
  :: epoch == EPOCHS -> break
  :: else ->
     d_step { post(PAIR(0, me)); post(PAIR(1, me)) }
     d_step { /* wait(); test() ends the same way */
       (!IS_MEMBER(PAIR(0, me)) || HAS_COMPLETED(PAIR(0, me))) && (!IS_MEMBER(PAIR(1, me)) || HAS_COMPLETED(PAIR(1, me))) ->
       close(PAIR(0, me)); close(PAIR(1, me)); epoch++
     }
  od
}

/* Signals of one pair arrive. */
proctype ways(byte pair) {
end:
  do
  :: d_step { posted[pair] < told_posted[pair] -> posted[pair]++ }
  :: d_step { completed[pair] < told_completed[pair] -> completed[pair]++ }
  od
}

init {
  byte number;
  do
  :: number == EPOCHS * PAIRS -> break
  :: else ->
     if
     :: member[number] = true
#ifdef ORIGIN_1_ALWAYS
     :: number % PAIRS < PAIR(1, 0) -> skip
#else
     :: skip
#endif
     fi;
     number++
  od;
  atomic {
    number = 0;
    do
    :: number == PAIRS -> break
    :: else -> run ways(number); number++
    od;
    run origin_rank(0);
    run origin_rank(1);
    run target_rank(0);
    run target_rank(1)
  }
}
