# What keeps a job from starting must be said by it, in words that help, on every rank, and without a hang.

set(expect_failure ${PROJECT_SOURCE_DIR}/tests/support/expect-failure)
set(run_ranks ${PROJECT_SOURCE_DIR}/tests/support/run-ranks)
set(hello $<TARGET_FILE:killed_rank_program>)

add_test(NAME no_device.shm
         COMMAND bash -c "[[ ! -d /sys/class/infiniband || -z $(ls /sys/class/infiniband) ]] || exit 77; exec \"$0\" \"$@\""
                 ${expect_failure} "no RDMA device" "modprobe rdma_rxe" "rdma link add rxe0 type rxe netdev" --
                 ${run_ranks} 2 ORIEL_FABRIC=verbs -- ${hello})
add_test(NAME unknown_option.shm
         COMMAND ${expect_failure} "ORIEL_FABRIC=\"infiniband\"" "auto|shm|verbs" --
                 ${run_ranks} 3 ORIEL_FABRIC=infiniband -- ${hello})
add_test(NAME misspelt_option.shm
         COMMAND ${expect_failure} "no option is called ORIEL_FABRICS" -- ${run_ranks} 2 ORIEL_FABRICS=shm -- ${hello})
# One rank with an option of its own: mpirun's colon form gives each its environment.
add_test(NAME options_differ.shm
         COMMAND ${expect_failure} "ORIEL_VISIBILITY is auto on rank 0" "and read on rank 1" --
                 ${run_ranks} 1 -- ${hello} : -n 1 -x ORIEL_VISIBILITY=read ${hello})
set_tests_properties(no_device.shm unknown_option.shm misspelt_option.shm options_differ.shm
                     PROPERTIES LABELS multirank TIMEOUT 120 SKIP_RETURN_CODE 77 PROCESSORS 2)

if(ORIEL_LAB_TESTS)
  oriel_add_lab_test(NAME locked_memory.verbs.2 SUITE vm TIMEOUT 180
                     COMMAND ${expect_failure} "locked-memory limit too low" "65536 bytes" "ulimit -l" --
                             env ORIEL_FABRIC=verbs lab-memlock 64 lab-mpirun -n 2 ${hello})
  # The same limit is no concern of a job that needs no device.
  oriel_add_lab_test(NAME locked_memory.unused.2 SUITE vm TIMEOUT 180
                     COMMAND lab-memlock 64 lab-mpirun -n 2 $<TARGET_FILE:runtime_test>)
endif()

# A container may forbid copying between processes: windows over memory of the program's own then work by their owners' agents.
add_executable(without_cross_memory ${PROJECT_SOURCE_DIR}/tests/support/without-cross-memory.cpp)
foreach(suite put_get atomics window progress)
  oriel_add_multirank_entry(${suite}.without_cross_memory.shm.4 shm 4 120 "" $<TARGET_FILE:without_cross_memory>
                            $<TARGET_FILE:${suite}_test>)
endforeach()
