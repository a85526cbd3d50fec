# uet_add_library and uet_add_test: one call per layer, with the include edges written down.
# scripts/check_tidy.py reads the DEPS of the calls and holds the #include lines against them.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_program(UET_CCACHE ccache)
if(UET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT UET_PROFILE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${UET_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${UET_CCACHE})
endif()
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
endif()

add_library(uet_options INTERFACE)
target_compile_options(uet_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${UET_WERROR}>:-Werror>)
target_include_directories(uet_options INTERFACE ${PROJECT_SOURCE_DIR})
if(UET_SANITIZE)
  set(UET_WHOLE ON)  # sanitizer builds are rarely changed file by file
endif()
if(UET_WHOLE)
  # Lines, but no types: a sixth of the time of each file.
  string(REGEX REPLACE "-g( |$)" "-g1\\1" CMAKE_CXX_FLAGS_RELWITHDEBINFO
    "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
endif()
if(UET_SANITIZE)
  string(REPLACE "," ";" sanitizers "${UET_SANITIZE}")
  if("undefined" IN_LIST sanitizers)
    # In the code under test; in the tests too it takes twice the time to compile. The vptr check
    # needs RTTI, which the sans-IO layers are built without.
    list(REMOVE_ITEM sanitizers undefined)
    set(is_test "$<BOOL:$<TARGET_PROPERTY:UET_IS_TEST>>")
    target_compile_options(uet_options INTERFACE
      "$<$<NOT:${is_test}>:-fsanitize=undefined;-fno-sanitize=vptr>")
  endif()
  foreach(sanitizer ${sanitizers})
    target_compile_options(uet_options INTERFACE -fsanitize=${sanitizer})
  endforeach()
  target_compile_options(uet_options INTERFACE -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(uet_options INTERFACE -fsanitize=${UET_SANITIZE})
endif()
if(UET_COVERAGE)
  target_compile_options(uet_options INTERFACE --coverage)
  target_link_options(uet_options INTERFACE --coverage)
endif()

# Two builds in two folders share one set of counts: bench/profiled_build.sh.
if(UET_PROFILE)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "UET_PROFILE needs g++ 12 or later")
  endif()
  set(UET_PROFILE_record -fprofile-generate=${UET_PROFILE_DIR} -fprofile-update=atomic)
  set(UET_PROFILE_use -fprofile-use=${UET_PROFILE_DIR} -Wno-missing-profile)
  if(NOT DEFINED UET_PROFILE_${UET_PROFILE})
    message(FATAL_ERROR "UET_PROFILE is \"${UET_PROFILE}\"; it can be record, use or empty")
  endif()
  set(profile_flags ${UET_PROFILE_${UET_PROFILE}} -fprofile-prefix-path=${PROJECT_BINARY_DIR})
  target_compile_options(uet_options INTERFACE ${profile_flags})
  target_link_options(uet_options INTERFACE ${profile_flags})
endif()

# Tests are more than half of what is compiled, and people wait for it. What they strain lies in the
# libraries; their own code, and that of command lines, is compiled quickly.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  set(UET_QUICK_FLAGS -O0 -g1)
else()
  set(UET_QUICK_FLAGS)
endif()

# The layers whose code must run the same in the provider, the simulator and the fuzzers.
set(UET_SANS_IO_LAYERS base wire cms pds_record pds ses_record ses_common ses_outgoing ses_incoming
  ses tss tss_seal fep)

# uet_add_library(NAME SOURCES file... DEPS layer...): target uet_NAME, alias uet::NAME.
# A layer without sources is header-only.
function(uet_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  set(deps ${arg_DEPS})
  list(TRANSFORM deps PREPEND uet::)
  if(arg_SOURCES)
    add_library(uet_${name} STATIC ${arg_SOURCES})
    target_link_libraries(uet_${name} PUBLIC uet_options ${deps})
    if(name IN_LIST UET_SANS_IO_LAYERS)
      target_compile_options(uet_${name} PRIVATE -fno-exceptions -fno-rtti)
    endif()
  else()
    add_library(uet_${name} INTERFACE)
    target_link_libraries(uet_${name} INTERFACE uet_options ${deps})
  endif()
  add_library(uet::${name} ALIAS uet_${name})
endfunction()

# uet_compile_quickly(TARGET): how fast TARGET runs does not matter. For command lines and what
# reads and writes JSON: their libraries' headers take longer than all the rest, so once a target.
# With -DCMAKE_UNITY_BUILD=OFF each file is compiled by itself, for what reads the compile commands.
function(uet_compile_quickly name)
  target_compile_options(${name} PRIVATE ${UET_QUICK_FLAGS})
  if(NOT DEFINED CMAKE_UNITY_BUILD OR CMAKE_UNITY_BUILD)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
  get_target_property(type ${name} TYPE)
  if(TARGET uet_precompiled_command_line AND type STREQUAL EXECUTABLE)
    target_precompile_headers(${name} REUSE_FROM uet_precompiled_command_line)
  endif()
endfunction()

# uet_compile_file_quickly(FILE...): the same for the command line of a program whose other files
# matter.
function(uet_compile_file_quickly)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${UET_QUICK_FLAGS}"
    SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# uet_compile_as_test(TARGET): TARGET is a test, or part of one.
function(uet_compile_as_test name)
  set_target_properties(${name} PROPERTIES UET_IS_TEST ON)
  target_compile_options(${name} PRIVATE ${UET_QUICK_FLAGS})
  # Checks of memory as calls, not inline: the same checks in two thirds of the compiler's time.
  if("address" IN_LIST sanitizers AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE
      "SHELL:--param asan-instrumentation-with-call-threshold=0")
  endif()
endfunction()

# Half the time of a small test goes into reading GoogleTest's headers, and as much of a command
# line's into those of its libraries.
if(UET_WHOLE)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled_command_line.cpp "int main() {}\n")
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  add_executable(uet_precompiled_command_line ${CMAKE_BINARY_DIR}/precompiled_command_line.cpp)
  target_link_libraries(uet_precompiled_command_line PRIVATE uet_options CLI11::CLI11
    nlohmann_json::nlohmann_json)
  target_precompile_headers(uet_precompiled_command_line PRIVATE <CLI/CLI.hpp> <nlohmann/json.hpp>)
  target_compile_options(uet_precompiled_command_line PRIVATE ${UET_QUICK_FLAGS})
  set_target_properties(uet_precompiled_command_line PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
if(BUILD_TESTING AND UET_WHOLE)
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled_test.cpp "")
  # An executable, as those that use it: position-independent code of another kind does not fit.
  add_executable(uet_precompiled_test ${CMAKE_BINARY_DIR}/precompiled_test.cpp)
  target_link_libraries(uet_precompiled_test PRIVATE uet_options GTest::gtest GTest::gtest_main)
  target_precompile_headers(uet_precompiled_test PRIVATE <gtest/gtest.h> <algorithm> <array>
    <functional> <memory> <span> <string> <vector>)
  uet_compile_as_test(uet_precompiled_test)
endif()

# uet_add_test(NAME SOURCES file... DEPS layer... [LABELS label...] [TIMEOUT seconds]):
# one GoogleTest binary, one ctest entry.
function(uet_add_test name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPS;LABELS;LIBS" ${ARGN})
  set(deps ${arg_DEPS})
  list(TRANSFORM deps PREPEND uet::)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${deps} ${arg_LIBS} GTest::gtest GTest::gtest_main)
  uet_compile_as_test(${name})
  if(TARGET uet_precompiled_test)
    target_precompile_headers(${name} REUSE_FROM uet_precompiled_test)
  endif()
  target_compile_definitions(${name} PRIVATE UET_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  foreach(label ${arg_LABELS})
    uet_tests_of(${label} ${name})
  endforeach()
endfunction()

# uet_split_skippable(ENTRY TEST FILTER): what FILTER matches of TEST becomes a ctest entry of its
# own, so that ctest shows it as skipped on a machine that cannot run it. A skip hides a failure in
# the same entry: FILTER matches only what is skipped for one reason.
function(uet_split_skippable entry test filter)
  if(NOT TARGET ${test})
    return()
  endif()
  add_test(NAME ${entry} COMMAND ${test} --gtest_filter=${filter})
  get_test_property(${test} LABELS labels)
  get_test_property(${test} ENVIRONMENT environment)
  set_tests_properties(${entry} PROPERTIES LABELS "${labels}" TIMEOUT 60
    SKIP_REGULAR_EXPRESSION "SKIPPED" FAIL_REGULAR_EXPRESSION "[^0-9]0 tests from")
  if(environment)
    set_tests_properties(${entry} PROPERTIES ENVIRONMENT "${environment}")
  endif()
  set_property(TEST ${test} APPEND PROPERTY
    ENVIRONMENT_MODIFICATION "GTEST_FILTER=set:-${filter}")
endfunction()

# uet_tests_of(LABEL target...): building tests_LABEL builds what ctest -L LABEL runs.
function(uet_tests_of label)
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
  add_dependencies(tests_${label} ${ARGN})
endfunction()
