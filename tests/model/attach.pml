/* Memory attached to a window and detached from it: the target keeps a table of regions and a version, which is odd while it changes
 * the table; an origin caches the table, looks at the version before every operation, and reads the table again when that has changed.
 *
 * Here: a table of two entries of two words each. The target attaches and detaches what it likes while the origin works; it detaches a
 * region only when the origin has been told, and has nothing under way.
 *
 * Shown: what an origin caches is the table of one version; an operation goes only to regions that are attached; after a detach and a
 * synchronisation none goes to the old region, even if its entry has been used again.
 *
 * The words of the table are read one by one, in any order; of the version, each read is over before the next read begins.
 *
 * search: -DCHANGES=4 -DOPERATIONS=3
 */

#define WORDS 4            /* words 0 and 1 are entry 0, words 2 and 3 entry 1 */
#define NOTHING 0          /* else: the number of the region */
#define VERSION_BEFORE_ANY 255

byte version;
byte table[WORDS];

/* The synchronisation: between two operations the origin lets the target detach once, and waits until it has. */
bool may_detach, origin_is_done, target_is_done;

/* For the assertions alone: each even version's table, and which regions are attached */
byte past[WORDS * (CHANGES + 1)];
bool attached[CHANGES + 2];

inline begin_change() {
#ifndef BROKEN_VERSION_STAYS_EVEN
  version++
#else
  skip
#endif
}

inline end_change() {
  d_step {
#ifndef BROKEN_VERSION_STAYS_EVEN
    version++;
#else
    version = version + 2;
#endif
    word = 0;
    do
    :: word == WORDS -> break
    :: else -> past[(version / 2) * WORDS + word] = table[word]; word++
    od;
    word = 0
  }
}

inline change_entry(region) {
  begin_change();
  table[2 * entry] = region;
  table[2 * entry + 1] = region;
  end_change()
}

proctype target() {
  byte changes, entry, word, old;
  do
  :: changes == CHANGES -> break
  :: else ->
     changes++;
     if
     :: entry = 0
     :: entry = 1
     fi;
     old = table[2 * entry];
     if
     :: old == NOTHING ->
        /* Memory may be used as soon as the table says so. */
        attached[changes] = true;
        change_entry(changes)
     :: old != NOTHING ->
        may_detach || origin_is_done;
        change_entry(NOTHING);
        attached[old] = false;
        may_detach = false
     fi;
     d_step { entry = 0; old = 0 }
  od;
  target_is_done = true
}

inline read_table() {
  do
  :: before = version;
     if
     :: before % 2 == 1 -> skip /* again */
     :: else ->
        not_read = 15;
        do
        :: not_read & 1 -> cache[0] = table[0]; not_read = not_read - 1
        :: not_read & 2 -> cache[1] = table[1]; not_read = not_read - 2
        :: not_read & 4 -> cache[2] = table[2]; not_read = not_read - 4
        :: not_read & 8 -> cache[3] = table[3]; not_read = not_read - 8
        :: not_read == 0 -> break
        od;
#ifdef BROKEN_VERSION_IS_READ_ONCE
        cached = before;
        break
#else
        if
        :: version == before -> cached = before; break
        :: version != before
        fi
#endif
     fi
  od;
  assert(cached % 2 == 0);
  d_step { /* a mixture of two versions is none of them */
    entry = 0;
    do
    :: entry == WORDS -> break
    :: else -> assert(cache[entry] == past[(cached / 2) * WORDS + entry]); entry++
    od;
    entry = 0
  }
}

inline look_up() {
#ifdef BROKEN_VERSION_IS_NOT_READ_AGAIN
  if
  :: cached == VERSION_BEFORE_ANY -> read_table()
  :: else
  fi
#else
  if
  :: version != cached -> read_table()
  :: version == cached
  fi
#endif
}

proctype origin() {
  byte operations, cached = VERSION_BEFORE_ANY, before, not_read, entry;
  byte cache[WORDS];
  do
  :: operations == OPERATIONS -> break
  :: else ->
     operations++;
     look_up();
     if
     :: entry = 0
     :: entry = 1
     fi;
     if
     :: cache[2 * entry] == NOTHING /* an error for the program */
     :: else ->
        assert(cache[2 * entry] == cache[2 * entry + 1]);
        assert(attached[cache[2 * entry]]);
     fi;
     entry = 0;
     if
     :: skip
     :: may_detach = true;
        !may_detach || target_is_done
     fi
  od;
  origin_is_done = true
}

init {
  atomic {
    run target();
    run origin()
  }
}
