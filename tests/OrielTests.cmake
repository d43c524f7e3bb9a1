# How tests are declared.

# oriel_add_unit_test(NAME SOURCES… LINK targets…): no MPI, no device. One binary, one ctest entry.
function(oriel_add_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  set(target unit_${name}_test)
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main)
  add_test(NAME unit.${name} COMMAND ${target})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

# oriel_add_multirank_test(NAME FABRICS shm verbs fake2 cluster RANKS 1 2 4 [VERBS_RANKS 2 4] [SOURCES … | TARGET t] [TIMEOUT s]
#                          [ARGS …] [ENVIRONMENT N=V …])
# builds NAME_test.cpp (or SOURCES, or nothing if TARGET names a program that exists) and adds it to each fabric and number of ranks:
#   shm      RANKS under mpirun here
#   verbs    VERBS_RANKS in one virtual machine, ORIEL_FABRIC=verbs: every byte through the device
#   fake2    4 in one virtual machine, ORIEL_FAKE_NODES=2: shared memory and the device mixed
#   cluster  2 on each of two virtual machines
# Here each is a ctest entry of its own. In a virtual machine, where jobs start slowly, all but the TARGETs are one program, see
# oriel_add_multirank_together().
function(oriel_add_multirank_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;TARGET" "RANKS;VERBS_RANKS;FABRICS;SOURCES;ARGS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_VERBS_RANKS)
    set(arg_VERBS_RANKS 2 4)
  endif()
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${name}_test.cpp)
  endif()
  set(part "")
  if(NOT arg_TARGET)
    set(arg_TARGET ${name}_test)
    set(part multirank_${name})
    add_library(${part} OBJECT ${arg_SOURCES})
    target_link_libraries(${part} PUBLIC oriel_multirank_main)
    add_executable(${arg_TARGET})
    target_link_libraries(${arg_TARGET} PRIVATE ${part})
  endif()
  foreach(fabric IN LISTS arg_FABRICS)
    set(ranks_shm ${arg_RANKS})
    set(ranks_verbs ${arg_VERBS_RANKS})
    set(ranks_fake2 4)
    set(ranks_cluster 4)
    foreach(ranks IN LISTS ranks_${fabric})
      if(part AND NOT fabric STREQUAL shm)
        set_property(GLOBAL APPEND PROPERTY ORIEL_MULTIRANK_PARTS_${fabric}.${ranks} ${part})
      else()
        oriel_add_multirank_entry(${name}.${fabric}.${ranks} ${fabric} ${ranks} ${arg_TIMEOUT}
                                  "${arg_ENVIRONMENT}" $<TARGET_FILE:${arg_TARGET}> ${arg_ARGS})
      endif()
    endforeach()
  endforeach()
endfunction()

# The tests of a fabric and number of ranks, as one program and one entry.
function(oriel_add_multirank_together fabric ranks)
  if(NOT ORIEL_LAB_TESTS)
    return()
  endif()
  get_property(parts GLOBAL PROPERTY ORIEL_MULTIRANK_PARTS_${fabric}.${ranks})
  set(program multirank_on_${fabric}_${ranks})
  add_executable(${program})
  target_link_libraries(${program} PRIVATE ${parts})
  oriel_add_multirank_entry(multirank.${fabric}.${ranks} ${fabric} ${ranks} 600 ORIEL_TEST_LIMIT=280 $<TARGET_FILE:${program}>)
endfunction()

function(oriel_add_multirank_entry entry fabric ranks timeout environment)
  set(environment_shm "")
  set(environment_verbs ORIEL_FABRIC=verbs)
  set(environment_fake2 ORIEL_FAKE_NODES=2)
  set(environment_cluster "")
  set(settings ORIEL_TEST_FABRIC=${fabric} ${environment_${fabric}} ${environment})
  if(fabric STREQUAL shm)
    add_test(NAME ${entry} COMMAND ${PROJECT_SOURCE_DIR}/tests/support/run-ranks ${ranks} ${settings} -- ${ARGN})
    set_tests_properties(${entry} PROPERTIES LABELS multirank TIMEOUT ${timeout} PROCESSORS 2)
  elseif(ORIEL_LAB_TESTS)
    set(suite vm)
    if(fabric STREQUAL cluster)
      set(suite cluster)
    endif()
    math(EXPR lab_timeout "${timeout} * 3")  # emulated processors
    oriel_add_lab_test(NAME ${entry} SUITE ${suite} TIMEOUT ${lab_timeout}
                       COMMAND env ${settings} lab-mpirun -n ${ranks} ${ARGN})
  endif()
endfunction()
