# Tests that run in the lab (see README.md): on real RDMA verbs, in virtual machines started by ctest.
#
#   oriel_lab_suite(NAME <suite> NODES <1|2> [OPTIONS <option of "oriel-lab suite">...])
#     Declares a suite: tests that share one start of the VMs.  The ctest entry lab.<suite> runs it.
#
#   oriel_add_lab_test(NAME <name> SUITE <suite> TIMEOUT <seconds> [LABELS <label>...]
#                      COMMAND <program> <argument>...)
#     Adds a test to a suite and the ctest entry <name>, which shows its output and takes its status
#     (77: skipped).  COMMAND runs on node1 in the build folder; it may use generator expressions such
#     as $<TARGET_FILE:program> and the guest's commands, lab-mpirun among them.
#
#   oriel_lab_finalize()
#     Writes the lists of the suites; called by itself at the end of the top-level CMakeLists.txt.
#
# enable_testing() belongs into the top-level CMakeLists.txt.

include_guard(GLOBAL)
set_property(GLOBAL PROPERTY ORIEL_LAB_FOLDER "${CMAKE_CURRENT_LIST_DIR}")

# Seconds: what the start of the VMs may take, and what a test may take beyond its limit.  A little more
# than the lab's own limits, so that the lab tells what went wrong before ctest kills it.
set_property(GLOBAL PROPERTY ORIEL_LAB_BOOT_SECONDS 400)
set_property(GLOBAL PROPERTY ORIEL_LAB_TEST_EXTRA_SECONDS 60)

# What is set up is told by properties: a suite is declared in one folder, its tests in others.
function(_oriel_lab_get variable property)
  get_property(value GLOBAL PROPERTY ORIEL_LAB_${property})
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

function(_oriel_lab_check_arguments function prefix)
  if(${prefix}_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: unknown arguments: ${${prefix}_UNPARSED_ARGUMENTS}")
  endif()
  foreach(name IN LISTS ARGN)
    if("${${prefix}_${name}}" STREQUAL "")
      message(FATAL_ERROR "${function}: ${name} is missing")
    endif()
  endforeach()
  if(NOT arg_NAME MATCHES "^[A-Za-z0-9_][A-Za-z0-9_.+-]*$")
    message(FATAL_ERROR "${function}: a NAME has letters, digits and _ . + - only: ${arg_NAME}")
  endif()
endfunction()

# The shell must see the words as CMake does: each goes between single quotes.
function(_oriel_lab_quote variable list)
  set(line "")
  foreach(word IN LISTS ${list})
    if(word MATCHES "\n")
      message(FATAL_ERROR "oriel_add_lab_test: a word of COMMAND has a line break: ${word}")
    endif()
    string(REPLACE "'" "'\\''" word "${word}")
    string(APPEND line " '${word}'")
  endforeach()
  set(${variable} "${line}" PARENT_SCOPE)
endfunction()

function(oriel_lab_suite)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;NODES" "OPTIONS")
  _oriel_lab_check_arguments(oriel_lab_suite arg NAME NODES)
  _oriel_lab_get(suites SUITES)
  if(arg_NAME IN_LIST suites)
    message(FATAL_ERROR "oriel_lab_suite: ${arg_NAME} is there already")
  endif()
  if(NOT suites)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL oriel_lab_finalize)
  endif()
  _oriel_lab_get(seconds BOOT_SECONDS)
  set_property(GLOBAL APPEND PROPERTY ORIEL_LAB_SUITES ${arg_NAME})
  set_property(GLOBAL PROPERTY ORIEL_LAB_${arg_NAME}_OPTIONS --nodes ${arg_NODES} ${arg_OPTIONS})
  set_property(GLOBAL PROPERTY ORIEL_LAB_${arg_NAME}_SECONDS ${seconds})
endfunction()

function(oriel_add_lab_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SUITE;TIMEOUT" "LABELS;COMMAND")
  _oriel_lab_check_arguments(oriel_add_lab_test arg NAME SUITE TIMEOUT COMMAND)
  _oriel_lab_get(suites SUITES)
  if(NOT arg_SUITE IN_LIST suites)
    message(FATAL_ERROR "oriel_add_lab_test: no suite ${arg_SUITE}; declare it with oriel_lab_suite()")
  endif()
  _oriel_lab_quote(command arg_COMMAND)
  set_property(GLOBAL APPEND_STRING PROPERTY ORIEL_LAB_${arg_SUITE}_LINES
    "${arg_NAME} ${arg_TIMEOUT}${command}\n")
  _oriel_lab_get(seconds ${arg_SUITE}_SECONDS)
  _oriel_lab_get(extra TEST_EXTRA_SECONDS)
  math(EXPR seconds "${seconds} + ${arg_TIMEOUT} + ${extra}")
  set_property(GLOBAL PROPERTY ORIEL_LAB_${arg_SUITE}_SECONDS ${seconds})

  _oriel_lab_get(folder FOLDER)
  add_test(NAME ${arg_NAME}
    COMMAND "${folder}/show-result" "${CMAKE_BINARY_DIR}/lab/${arg_SUITE}" ${arg_NAME})
  set_tests_properties(${arg_NAME} PROPERTIES
    FIXTURES_REQUIRED lab.${arg_SUITE}
    LABELS "lab;${arg_LABELS}"
    SKIP_RETURN_CODE 77)
endfunction()

function(oriel_lab_finalize)
  _oriel_lab_get(suites SUITES)
  _oriel_lab_get(folder FOLDER)
  foreach(suite IN LISTS suites)
    _oriel_lab_get(lines ${suite}_LINES)
    if(lines STREQUAL "")
      continue()
    endif()
    _oriel_lab_get(options ${suite}_OPTIONS)
    _oriel_lab_get(seconds ${suite}_SECONDS)
    set(list "${CMAKE_BINARY_DIR}/lab/${suite}.suite")
    file(GENERATE OUTPUT "${list}" CONTENT "${lines}")
    add_test(NAME lab.${suite}
      COMMAND "${folder}/oriel-lab" suite ${options} --rw "${CMAKE_BINARY_DIR}"
              --results "${CMAKE_BINARY_DIR}/lab/${suite}" "${list}"
      WORKING_DIRECTORY "${CMAKE_BINARY_DIR}")
    set_tests_properties(lab.${suite} PROPERTIES
      FIXTURES_SETUP lab.${suite}
      LABELS lab
      RUN_SERIAL TRUE
      COST 1000  # first: what is built meanwhile has time
      TIMEOUT ${seconds})
  endforeach()
  set_property(GLOBAL PROPERTY ORIEL_LAB_SUITES "")
endfunction()
