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

# The programs by MPI's calls, the drop-in in front of MPI.
set(under_drop_in ${PROJECT_SOURCE_DIR}/tests/mpi/run_under_drop_in $<TARGET_FILE:mpi-conformance>)
foreach(ranks 1 2 3 4 7)
  add_test(NAME mpi_conformance.shm.${ranks} COMMAND ${under_drop_in} ${ranks} shm --seeds 300 --limit 60)
  set_tests_properties(mpi_conformance.shm.${ranks} PROPERTIES LABELS multirank TIMEOUT 320 PROCESSORS 2
                       ENVIRONMENT ORIEL_TEST_LIMIT=300)
endforeach()
if(ORIEL_LAB_TESTS)
  # Shared windows across fake nodes are MPI's own, which has faults of its own.
  foreach(entry fake2.4 verbs.2)
    string(REGEX MATCH "[0-9]+$" ranks ${entry})
    string(REGEX MATCH "^[^.]+" fabric ${entry})
    oriel_add_lab_test(NAME mpi_conformance.${entry} SUITE vm TIMEOUT 600
                       COMMAND env ORIEL_TEST_LIMIT=580 ${under_drop_in} ${ranks} ${fabric} --seeds 20 --limit 200 --without-shared)
  endforeach()
endif()

# What is planted must be found there, too.
foreach(plant wrong-byte duplicate)
  add_test(NAME mpi_conformance.finds.${plant}
    COMMAND ${PROJECT_SOURCE_DIR}/tests/support/expect-failure
            "FAILED program/seed=" "expected" "found" "again: mpirun -n 2 -x LD_PRELOAD=" "1 phases, 1 operations" "at the target"
            "FAIL:" -- ${under_drop_in} 2 shm --plant ${plant} --seed 1 --seeds 30 --only "^program/" --shrink)
  set_tests_properties(mpi_conformance.finds.${plant} PROPERTIES LABELS multirank TIMEOUT 120 PROCESSORS 2)
endforeach()
