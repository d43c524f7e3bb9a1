# The suite as tests, and tests of the suite itself: what is planted must be found, told and made short.
oriel_add_multirank_test(conformance TARGET oriel-conformance RANKS 1 2 3 4 8 FABRICS shm verbs fake2 cluster
                         ARGS --quick --limit 100 TIMEOUT 180)

set(suite $<TARGET_FILE:oriel-conformance>)
function(oriel_add_planted_failure name)
  cmake_parse_arguments(arg "" "" "SAYS;ARGS" ${ARGN})
  add_test(NAME conformance.finds.${name}
    COMMAND ${PROJECT_SOURCE_DIR}/tests/support/expect-failure ${arg_SAYS} --
            ${PROJECT_SOURCE_DIR}/tests/support/run-ranks 2 -- ${suite} ${arg_ARGS})
  set_tests_properties(conformance.finds.${name} PROPERTIES LABELS multirank TIMEOUT 180 PROCESSORS 2)
endfunction()

oriel_add_planted_failure(wrong_byte_in_case
  SAYS "FAILED put/int32/replace" "expected" "found" "again: mpirun -n 2 oriel-conformance" "FAIL:"
  ARGS --plant wrong-byte --full --budget 10
       --only "^put/int32/replace/.*/allocated/.*/self/")
oriel_add_planted_failure(duplicate_in_case
  SAYS "FAILED accumulate/int64/sum" "expected" "found" "FAIL:"
  ARGS --plant duplicate --full --budget 10
       --only "^accumulate/int64/sum/.*/allocated/.*/self/")
oriel_add_planted_failure(wrong_byte_in_program
  SAYS "FAILED program/seed=" "--seed" "the shortest that fails: program of seed" "1 phases, 1 operations" "FAIL:"
  ARGS --plant wrong-byte --seed 3 --seeds 3 --only "^program/" --shrink)
oriel_add_planted_failure(duplicate_in_program
  SAYS "FAILED program/seed=" "the shortest that fails: program of seed" "accumulate<sum>" "FAIL:"
  ARGS --plant duplicate --seed 1 --seeds 40 --only "^program/" --shrink)
