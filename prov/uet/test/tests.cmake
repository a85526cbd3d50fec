# The tests of the provider. Included by the folder above, so paths begin there.

# What runs threads beside each other, or closes what a thread still serves, runs under
# ThreadSanitizer, too, by this label.
set(UET_THREAD_TESTS asked_test cntr_test counters_test cq_test endpoint_test engines_test eq_test
  failure_event_test failure_test fork_test herd_test key_agent_test message_test peer_close_test
  process_test restart_test retained_test rma_event_test rma_test shm_test wait_test)

# uet_add_provider_test(NAME [library...]): a test of the loaded provider; it sees libfabric's
# public interface only.
function(uet_add_provider_test name)
  set(labels prov)
  if(name IN_LIST UET_THREAD_TESTS)
    list(APPEND labels threads)
  endif()
  uet_add_test(${name} SOURCES test/${name}.cpp LIBS ${ARGN} PkgConfig::libfabric
    LABELS ${labels} TIMEOUT 180)
  if(TARGET ${name})
    target_link_libraries(${name} PRIVATE uet_options)
    # Later headers call old functions deprecated, which are served and tested all the same.
    target_compile_options(${name} PRIVATE -Wno-deprecated-declarations)
    add_dependencies(${name} uet-fi)
    set_tests_properties(${name} PROPERTIES
      ENVIRONMENT "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet")
  endif()
endfunction()

if(TARGET uet_key_files AND BUILD_TESTING)
  # Keys for tests that run with transport security.
  set(keys ${CMAKE_CURRENT_BINARY_DIR}/keys)
  add_test(NAME secured_keys COMMAND sh -c "rm -rf ${keys} && mkdir ${keys} && \
$<TARGET_FILE:uet_keys> counters ${keys}/counters && \
$<TARGET_FILE:uet_keys> generate ${keys}/keys.toml --sdi 7")
  set_tests_properties(secured_keys PROPERTIES LABELS prov FIXTURES_SETUP secured_keys)
  set(secured_environment "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet"
    "FI_UET_TSS=file;FI_UET_TSS_KEYS=${keys}/keys.toml;FI_UET_TSS_COUNTERS=${keys}/counters")
endif()

# Parts of the provider, tested in their rooms without loading it: uet_add_room_tests(ROOM TEST...).
function(uet_add_room_tests room)
  foreach(name ${ARGN})
    uet_add_test(prov_${name}_test SOURCES ${room}/test/${name}_test.cpp DEPS prov LABELS prov)
  endforeach()
endfunction()
uet_add_room_tests(address address)
uet_add_room_tests(completion sleepers)
uet_add_test(prov_completion_error_test SOURCES completion/test/completion_error_test.cpp
  completion/completion_error.cpp DEPS ses LIBS PkgConfig::libfabric LABELS prov)
uet_add_room_tests(domain payload_mtu)
uet_add_room_tests(endpoint unreachable_log)
uet_add_room_tests(observe control_socket dump)
if(BUILD_TESTING)
  target_sources(prov_dump_test PRIVATE observe/test/contexts_text_test.cpp)
endif()
uet_split_skippable(prov_control_socket_foreign prov_control_socket_test
  ControlSocketTest.ForeignUsersAreTurnedAway)
uet_add_room_tests(progress flush_policy flush_table poll_habit post_habit reply_habit yield_habit)
uet_add_test(prov_progress_test SOURCES progress/test/helper_thread_test.cpp
  progress/test/progress_test.cpp DEPS prov LABELS prov threads)
uet_add_provider_test(getinfo_test)
uet_add_provider_test(getinfo_datagram_test)
uet_add_provider_test(getinfo_hints_test)
uet_split_skippable(getinfo_ipv6 getinfo_test GetinfoTest.Ipv6FormOffersIpv6DomainsOnly)
uet_add_provider_test(getinfo_peers_test)
if(TARGET getinfo_peers_test)
  set_tests_properties(getinfo_peers_test PROPERTIES ENVIRONMENT
    "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet,tcp,ofi_rxm")
endif()
uet_add_provider_test(av_test)
uet_add_provider_test(av_scale_test)
uet_add_provider_test(endpoint_scale_test)
if(TARGET endpoint_scale_test)
  set_property(TEST endpoint_scale_test APPEND PROPERTY ENVIRONMENT "FI_LOG_LEVEL=warn")
endif()
uet_add_provider_test(mr_test)
if(TARGET mr_test)
  set_tests_properties(mr_test PROPERTIES
    ENVIRONMENT_MODIFICATION "GTEST_FILTER=set:-MrEndpointTest.*")
  add_test(NAME mr_endpoint_test COMMAND mr_test --gtest_filter=MrEndpointTest.*)
  set_tests_properties(mr_endpoint_test PROPERTIES LABELS prov TIMEOUT 60
    FAIL_REGULAR_EXPRESSION "SKIPPED" ENVIRONMENT
    "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_MR_DOMAIN=0")
endif()
uet_add_provider_test(eq_test)
uet_add_provider_test(cntr_test)
uet_add_provider_test(params_test)
if(BUILD_TESTING)
  add_library(prov_test_node STATIC test/node.cpp)
  target_link_libraries(prov_test_node PUBLIC uet_options PkgConfig::libfabric GTest::gtest)
  add_library(prov_test_peer STATIC test/peer_owner.cpp)
  target_link_libraries(prov_test_peer PUBLIC prov_test_node)
endif()
uet_add_provider_test(peer_domains_test prov_test_peer)
uet_add_provider_test(peer_misuse_test prov_test_peer)
uet_add_provider_test(peer_test prov_test_peer)
uet_add_provider_test(peer_turn_test prov_test_peer)
uet_add_provider_test(peer_close_test prov_test_peer)
if(libfabric_VERSION VERSION_GREATER_EQUAL 2)  # lnx came with it
  uet_add_provider_test(lnx_test)
  if(TARGET lnx_test)
    set(lnx "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_LNX_PROV_LINKS=shm+uet;\
FI_UET_IFACE=127.0.0.1")
    set_tests_properties(lnx_test PROPERTIES ENVIRONMENT "${lnx};FI_LNX_DISABLE_SHM=1")
    # In 2.1 what goes over shm does not arrive.
    if(libfabric_VERSION VERSION_GREATER_EQUAL 2.6)
      add_test(NAME lnx_shm_test COMMAND lnx_test)
      set_tests_properties(lnx_shm_test PROPERTIES LABELS prov TIMEOUT 180 ENVIRONMENT "${lnx}")
    endif()
  endif()
endif()
if(TARGET peer_test)
  set_tests_properties(peer_test PROPERTIES ENVIRONMENT_MODIFICATION "GTEST_FILTER=set:-PeerLost*")
  add_test(NAME peer_lost_test COMMAND peer_test --gtest_filter=PeerLost*)
  set_tests_properties(peer_lost_test PROPERTIES LABELS prov TIMEOUT 180
    FAIL_REGULAR_EXPRESSION "0 tests" ENVIRONMENT
    "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_PEER_TIMEOUT=1000000")
endif()
foreach(name allocation_test asked_test message_test variant_test cq_test rma_test mr_keys_test
  atomic_test endpoint_test rma_event_test wait_test process_test fork_test failure_test
  peers_in_turn_test restart_test patience_test datagram_test rudi_mode_test retained_test
  many_domains_test herd_test slow_receiver_test limited_memory_test congestion_test shm_test
  native_ip_test engines_test wrong_address_test)
  uet_add_provider_test(${name} prov_test_node)
endforeach()
if(TARGET peers_in_turn_test)
  # Three times as many as there are places; all 1,200 take half a minute.
  set_property(TEST peers_in_turn_test APPEND PROPERTY ENVIRONMENT "UET_CLIENTS=200")
endif()
if(TARGET many_domains_test)
  # More than fit when a process needed sixteen free ports of 4,096; a thousand take 5 GB.
  set_property(TEST many_domains_test APPEND PROPERTY ENVIRONMENT "UET_DOMAINS=300")
endif()
if(TARGET native_ip_test)
  set_tests_properties(native_ip_test PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED"
    RESOURCE_LOCK native_ip_test)
  set_property(TEST native_ip_test APPEND PROPERTY
    ENVIRONMENT "FI_UET_IO=ip;FI_UET_IP_PROTOCOL=199;FI_UET_SHM=off")
  add_test(NAME native_ip_packets_test COMMAND native_ip_test)
  get_test_property(native_ip_test ENVIRONMENT native_environment)
  list(TRANSFORM native_environment REPLACE "FI_UET_IO=ip$" "FI_UET_IO=ip-packet")
  set_tests_properties(native_ip_packets_test PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED"
    LABELS prov TIMEOUT 120 RESOURCE_LOCK native_ip_test ENVIRONMENT "${native_environment}")
endif()
# Peers of these tests are on one host. All of it works without shared memory, too.
foreach(name allocation_test atomic_test cntr_test cq_test failure_test message_test process_test
  restart_test retained_test rma_test wait_test)
  if(TARGET ${name})
    add_test(NAME ${name}_sockets COMMAND ${name})
    set_tests_properties(${name}_sockets PROPERTIES LABELS prov TIMEOUT 180 ENVIRONMENT
      "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_SHM=off")
    # Some have peers with a fixed address and port.
    set_tests_properties(${name} ${name}_sockets PROPERTIES RESOURCE_LOCK ${name})
  endif()
endforeach()
# The same over io_uring, skipped where there is none.
foreach(name message_test rma_test)
  if(TARGET ${name})
    add_test(NAME ${name}_uring COMMAND ${name})
    set_tests_properties(${name}_uring PROPERTIES LABELS prov TIMEOUT 180
      SKIP_REGULAR_EXPRESSION "cannot open an io_uring;this build has no io_uring" ENVIRONMENT
      "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_SHM=off;\
FI_UET_IO=uring;FI_LOG_LEVEL=warn")
    set_tests_properties(${name}_uring PROPERTIES RESOURCE_LOCK ${name})
  endif()
endforeach()
# Messages by either mode, whatever the program asks for.
foreach(mode rud rod)
  if(TARGET message_test)
    add_test(NAME message_${mode}_test COMMAND message_test)
    set_tests_properties(message_${mode}_test PROPERTIES LABELS prov TIMEOUT 180 ENVIRONMENT
      "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_MODE=${mode}")
  endif()
endforeach()
# Each kind of congestion control; without a word the default.
foreach(word nscc rccc both aimd fixed tfc)
  if(TARGET congestion_test)
    add_test(NAME congestion_${word}_test COMMAND congestion_test)
    set_tests_properties(congestion_${word}_test PROPERTIES LABELS prov TIMEOUT 180 ENVIRONMENT
      "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_CC=${word}")
  endif()
endforeach()
if(TARGET slow_receiver_test)  # that asks its senders for less
  add_test(NAME memory_pressure_test COMMAND slow_receiver_test --gtest_filter=*Flood*)
  set_tests_properties(memory_pressure_test PROPERTIES LABELS prov TIMEOUT 180
    FAIL_REGULAR_EXPRESSION "0 tests" ENVIRONMENT
    "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_MEMORY_PRESSURE=25")
endif()
# How processes end with the provider in use; more rounds on demand: exit_rounds 1000.
if(BUILD_TESTING)
  set(rounds 24)  # two of each way
  if(UET_SANITIZE)
    set(rounds 12)  # one of each way
  endif()
  foreach(name exit_rounds exit_rounds_dlopen)
    add_executable(${name} test/exit_rounds.cpp)
    target_link_libraries(${name} PRIVATE uet_options Threads::Threads ${CMAKE_DL_LIBS})
    uet_compile_as_test(${name})
    target_compile_options(${name} PRIVATE -Wno-deprecated-declarations)
    add_dependencies(${name} uet-fi)
    uet_tests_of(prov ${name})
    uet_tests_of(threads ${name})
    add_test(NAME ${name} COMMAND ${name} ${rounds})
    set_tests_properties(${name} PROPERTIES LABELS "prov;threads" TIMEOUT 300 COST 70 ENVIRONMENT
      "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet")
  endforeach()
  if(TARGET uet_key_files)  # the cipher library is in use, too
    add_test(NAME exit_rounds_secured COMMAND exit_rounds 12)
    set_tests_properties(exit_rounds_secured PROPERTIES LABELS prov TIMEOUT 300
      FIXTURES_REQUIRED secured_keys ENVIRONMENT "${secured_environment}")
  endif()
  target_link_libraries(exit_rounds PRIVATE PkgConfig::libfabric)
  target_link_options(exit_rounds PRIVATE -Wl,--no-as-needed)
  # Its headers only.
  target_include_directories(exit_rounds_dlopen SYSTEM PRIVATE ${libfabric_INCLUDE_DIRS})
endif()
uet_add_test(prov_layout_test SOURCES test/layout_test.cpp DEPS prov LABELS prov)
uet_add_provider_test(versions_test prov_test_node)
uet_add_provider_test(misuse_test prov_test_node)
if(TARGET misuse_test)
  target_sources(misuse_test PRIVATE test/misuse_post_test.cpp)
endif()
uet_add_provider_test(tag_format_test prov_test_node)
uet_add_provider_test(shared_context_test prov_test_node)
if(TARGET shared_context_test)
  # Nothing moves but when a test looks.
  set_tests_properties(shared_context_test PROPERTIES ENVIRONMENT
    "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_HELPER=0")
endif()
# What only later releases have.
if(libfabric_VERSION VERSION_GREATER_EQUAL 1.20)
  uet_add_provider_test(auth_key_test prov_test_node)
endif()
if(libfabric_VERSION VERSION_GREATER_EQUAL 2.0)
  uet_add_provider_test(directed_test prov_test_node)
endif()
uet_add_provider_test(job_test prov_test_node)
if(TARGET job_test)
  set_tests_properties(job_test PROPERTIES ENVIRONMENT
    "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_JOB_ID=5")
endif()
if(TARGET uet_key_files AND BUILD_TESTING)
  uet_add_provider_test(secured_test prov_test_node uet_key_files)
  uet_add_provider_test(secured_attack_test prov_test_node uet_key_files)
  uet_add_provider_test(key_agent_test prov_test_node uet_key_files)
  if(TARGET key_agent_test)
    target_compile_definitions(key_agent_test PRIVATE UET_KEYS="$<TARGET_FILE:uet_keys>")
    add_dependencies(key_agent_test uet_keys)
  endif()
  foreach(name message_test rma_test)
    if(TARGET ${name})
      add_test(NAME ${name}_secured COMMAND ${name})
      set_tests_properties(${name}_secured PROPERTIES LABELS prov TIMEOUT 180 RESOURCE_LOCK ${name}
        FIXTURES_REQUIRED secured_keys ENVIRONMENT "${secured_environment}")
    endif()
  endforeach()
  add_test(NAME native_ip_secured COMMAND native_ip_test)
  set_tests_properties(native_ip_secured PROPERTIES LABELS prov TIMEOUT 180
    RESOURCE_LOCK native_ip_test SKIP_REGULAR_EXPRESSION "SKIPPED" FIXTURES_REQUIRED secured_keys
    ENVIRONMENT "${secured_environment};FI_UET_IO=ip;FI_UET_IP_PROTOCOL=199;FI_UET_SHM=off")
endif()
uet_add_provider_test(failure_event_test prov_test_node)
# Needs a network namespace of its own, and ip(8).
uet_split_skippable(failure_event_interface failure_event_test InterfaceFailureTest.*)
uet_add_provider_test(route_shrinks_test prov_test_node)
if(TARGET route_shrinks_test)  # needs network namespaces, and ip(8)
  set_tests_properties(route_shrinks_test PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED" TIMEOUT 600)
endif()
uet_add_provider_test(counters_test prov_test_node)
if(TARGET counters_test)
  target_sources(counters_test PRIVATE test/fi_ext_uet_c.c)
  set_target_properties(counters_test PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)  # C too
  set_tests_properties(counters_test PROPERTIES ENVIRONMENT_MODIFICATION
    "GTEST_FILTER=set:-*TheDocument*")
  if(TARGET uet_key_files)  # the document has the counters of transport security and io_uring
    add_test(NAME counters_doc_test COMMAND counters_test --gtest_filter=*TheDocument*)
    set_tests_properties(counters_doc_test PROPERTIES LABELS prov TIMEOUT 60
      FIXTURES_REQUIRED secured_keys FAIL_REGULAR_EXPRESSION "0 tests"
      SKIP_REGULAR_EXPRESSION "cannot open an io_uring;this build has no io_uring"
      ENVIRONMENT "${secured_environment};FI_UET_FAULT=loss=0;FI_UET_IO=uring;FI_LOG_LEVEL=warn")
  endif()
endif()
uet_add_provider_test(quiet_test prov_test_node)
if(TARGET quiet_test)
  # The time-outs leave a busy machine time to look.
  set(quiet_environment "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet"
    FI_UET_RTO_INIT_TIME=4000000 FI_UET_RTO_MIN_TIME=4000000 FI_UET_RTO_MAX_TIME=8000000)
  set_tests_properties(quiet_test PROPERTIES ENVIRONMENT
    "${quiet_environment};FI_UET_QUIET_TIME=100000;GTEST_FILTER=-*WithoutQuietPackets*"
    RESOURCE_LOCK quiet_peer)
  add_test(NAME quiet_off_test COMMAND quiet_test --gtest_filter=*WithoutQuietPackets*)
  set_tests_properties(quiet_off_test PROPERTIES LABELS prov TIMEOUT 60
    FAIL_REGULAR_EXPRESSION "0 tests" RESOURCE_LOCK quiet_peer
    ENVIRONMENT "${quiet_environment};FI_UET_QUIET_PACKETS=0")
endif()
if(TARGET rudi_mode_test)
  # The parameters are read once, so a mode has a process of its own.
  set_tests_properties(rudi_mode_test PROPERTIES ENVIRONMENT
    "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;FI_UET_MODE=rudi;\
FI_UET_IDEMPOTENT=1;FI_UET_PCAP=${CMAKE_CURRENT_BINARY_DIR}/rudi_mode.pcapng")
endif()
# Tests that need settings, each in a process of its own with a capture:
# uet_captured_test(PROGRAM NAME FILTER PARAMETER=VALUE...). Without a filter PROGRAM runs none.
function(uet_captured_test program name filter)
  if(TARGET ${program}_test)
    add_test(NAME ${program}_${name}_test COMMAND ${program}_test --gtest_filter=${filter})
    set(environment "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet;${ARGN}"
      "FI_UET_PCAP=${CMAKE_CURRENT_BINARY_DIR}/${program}_${name}.pcapng")
    set_tests_properties(${program}_${name}_test PROPERTIES LABELS prov TIMEOUT 60
      FAIL_REGULAR_EXPRESSION "0 tests" ENVIRONMENT "${environment}")
    set_tests_properties(${program}_test PROPERTIES
      ENVIRONMENT_MODIFICATION "GTEST_FILTER=set:-*")
  endif()
endfunction()
# The DSCP of data.
uet_add_provider_test(dscp_test prov_test_node)
uet_captured_test(dscp dropping *WithoutTrimming* FI_UET_TRIMMING=0)
uet_captured_test(dscp trimming *WithTrimming* FI_UET_TRIMMING=1)
uet_captured_test(dscp chosen *ChosenDscp* FI_UET_TRIMMING=1 FI_UET_DSCP_DATA=10)
uet_captured_test(dscp of_trimmed *ClassOfTrimmed* FI_UET_DSCP_TRIMMED=34)
# Messages in other forms than the default.
uet_add_provider_test(forms_test prov_test_node)
uet_captured_test(forms medium *Medium* FI_UET_HDR_MEDIUM=1)
uet_captured_test(forms rendezvous *Rendezvous* FI_UET_RNDV_SIZE=20000)
uet_captured_test(forms small *Small* FI_UET_HDR_SMALL=1)
uet_captured_test(forms payload *Payload* FI_UET_PAYLOAD_MTU=1024)
if(TARGET patience_test)
  # Ten seconds of silence each, side by side.
  set_tests_properties(patience_test PROPERTIES LABELS "prov;slow"
    ENVIRONMENT_MODIFICATION "GTEST_FILTER=set:*Stopped*")
  add_test(NAME patience_silent_test COMMAND patience_test --gtest_filter=*Silent*)
  set_tests_properties(patience_silent_test PROPERTIES LABELS "prov;slow" TIMEOUT 60
    FAIL_REGULAR_EXPRESSION "0 tests" ENVIRONMENT
    "FI_PROVIDER_PATH=$<TARGET_FILE_DIR:uet-fi>;FI_PROVIDER=uet")
endif()
if(BUILD_TESTING)
  add_test(NAME prov_exports COMMAND sh -c
    "test \"$(${CMAKE_NM} -D --defined-only $<TARGET_FILE:uet-fi> | cut -d' ' -f3)\" = fi_prov_ini")
  set_tests_properties(prov_exports PROPERTIES LABELS prov)
endif()

# How libfabric finds and links it. Sanitizers do not load into programs without them.
if(BUILD_TESTING AND NOT UET_SANITIZE)
  add_test(NAME prov_loading COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test/system/loading.sh
    $<TARGET_FILE_DIR:uet-fi> ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set_tests_properties(prov_loading PROPERTIES LABELS prov SKIP_RETURN_CODE 77 TIMEOUT 120)
  pkg_get_variable(libfabric_prefix libfabric prefix)
  if(CMAKE_INSTALL_PREFIX STREQUAL libfabric_prefix)
    add_test(NAME prov_install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test/system/install.sh
      ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR} $<TARGET_FILE:uet-fi>)
    set_tests_properties(prov_install PROPERTIES LABELS prov SKIP_RETURN_CODE 77 TIMEOUT 60)
  endif()
endif()

# docs/configuration.md says what the provider says.
if(BUILD_TESTING)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  add_test(NAME configuration_doc COMMAND Python3::Interpreter
    ${PROJECT_SOURCE_DIR}/scripts/configuration_doc.py $<TARGET_FILE_DIR:uet-fi>
    ${PROJECT_SOURCE_DIR})
  add_test(NAME man_page COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/man_page.py
    ${PROJECT_SOURCE_DIR})
  set_tests_properties(configuration_doc man_page PROPERTIES LABELS tidy SKIP_RETURN_CODE 77
    TIMEOUT 60)
endif()
