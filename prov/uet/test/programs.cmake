# Programs over the provider, and those that make captures. Included by the folder above, so paths
# begin there.

# libfabric's own programs over the provider, as a user runs them. Exit 77: not allowed here.
if(BUILD_TESTING)
  foreach(case info loopback loopback6 tagged hosts hosts6 hosts_small_mtu auto packet packet_local
    xdp loss1 loss10 four_pairs unprivileged datagram datagram_hosts mtu_mismatch mtu_route
    mtu_local system_buffers capture secured valgrind)
    add_test(NAME system_${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test/system/pingpong.sh
      ${case} $<TARGET_FILE_DIR:uet-fi>)
    set_tests_properties(system_${case} PROPERTIES LABELS system SKIP_RETURN_CODE 77 TIMEOUT 240)
  endforeach()
endif()

# Programs that make captures for dissector/test: uet_capture_program(NAME).
function(uet_capture_program name)
  add_executable(${name} test/${name}.cpp)
  target_link_libraries(${name} PRIVATE prov_test_node uet_options PkgConfig::libfabric
    GTest::gtest_main)
  uet_compile_as_test(${name})
  target_compile_options(${name} PRIVATE -Wno-deprecated-declarations)
  add_dependencies(${name} uet-fi)
  uet_tests_of(prov ${name})
endfunction()

# Captures with the counters of who made them, for dissector/test: unordered, and ordered with a
# target that drops what comes early.
if(BUILD_TESTING)
  uet_capture_program(lossy_capture_test)
  foreach(mode rud rod)
    set(capture ${CMAKE_CURRENT_BINARY_DIR}/lossy_${mode})
    add_test(NAME lossy_capture_${mode} COMMAND lossy_capture_test)
    set_tests_properties(lossy_capture_${mode} PROPERTIES LABELS "prov;dissector" TIMEOUT 120
      FIXTURES_SETUP lossy_capture ENVIRONMENT "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;\
FI_PROVIDER=uet;FI_UET_MODE=${mode};FI_UET_ROD_REORDER=0;FI_UET_FAULT=loss=0.03,dup=0.01;\
FI_UET_PAYLOAD_MTU=4096;FI_UET_PCAP=${capture}.pcapng;UET_COUNTERS=${capture}.json")
  endforeach()
endif()

# The same of fi_pingpong.
if(BUILD_TESTING)
  add_library(counters_at_close MODULE test/counters_at_close.cpp)
  target_link_libraries(counters_at_close PRIVATE uet_options PkgConfig::libfabric ${CMAKE_DL_LIBS})
  uet_compile_as_test(counters_at_close)
  uet_tests_of(prov counters_at_close)
  foreach(mode rud rod)
    add_test(NAME system_lossy_${mode} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test/system/pingpong.sh
      lossy_${mode} $<TARGET_FILE_DIR:uet-fi>)
    set_tests_properties(system_lossy_${mode} PROPERTIES LABELS "system;dissector"
      SKIP_RETURN_CODE 77 TIMEOUT 240 FIXTURES_SETUP lossy_pingpong_${mode}
      ENVIRONMENT "UET_PRELOAD=$<TARGET_FILE:counters_at_close>;\
UET_CAPTURE=${CMAKE_CURRENT_BINARY_DIR}/pingpong_${mode}")
  endforeach()
endif()

# Captures of operations with what the application did: uet_operations_capture(NAME FILTER
# PARAMETER=VALUE...).
function(uet_operations_capture name filter)
  set(capture ${CMAKE_CURRENT_BINARY_DIR}/operations_${name})
  add_test(NAME operations_capture_${name} COMMAND operations_capture_test --gtest_filter=${filter})
  set_tests_properties(operations_capture_${name} PROPERTIES LABELS "prov;dissector" TIMEOUT 120
    FAIL_REGULAR_EXPRESSION "0 tests" FIXTURES_SETUP operations_capture_${name}
    ENVIRONMENT "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;\
FI_UET_PAYLOAD_MTU=4096;FI_UET_PCAP=${capture}.pcapng;UET_OPERATIONS=${capture}.json;${ARGN}")
endfunction()
if(BUILD_TESTING)
  uet_capture_program(operations_capture_test)
  uet_operations_capture(rma *Rma)
  uet_operations_capture(atomics *Atomics)
  uet_operations_capture(rendezvous *Chains FI_UET_RNDV_SIZE=20000)
  uet_operations_capture(deferrable *Chains FI_UET_PROFILE=ai_full)
  if(TARGET uet_key_files)  # with a key log, which opens the capture
    uet_operations_capture(secured *Rma FI_UET_TSS=file FI_UET_TSS_KEYS=${keys}/keys.toml
      FI_UET_TSS_COUNTERS=${keys}/counters FI_UET_TSS_KEYLOG=${keys}/keylog FI_UET_START_METHOD=0)
    set_tests_properties(operations_capture_secured PROPERTIES FIXTURES_REQUIRED secured_keys)
  endif()
endif()
