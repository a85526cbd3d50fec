# Which releases of Wireshark the plugin is known to be good with.
#
# uet_check_wireshark(VERSION): warns when VERSION is newer or older than all of them, because the
# interface of plugins changes with each release.
# Alone, `cmake -D Wireshark_VERSION=5.0.0 -P known_wireshark.cmake` does nothing but this.

cmake_minimum_required(VERSION 3.25)

set(uet_wireshark_known_good 4.0 4.4 4.6)  # built, and its tests pass

function(uet_check_wireshark version)
  list(GET uet_wireshark_known_good 0 oldest)
  list(GET uet_wireshark_known_good -1 newest)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${version}")
  list(JOIN uet_wireshark_known_good ", " names)
  if(release VERSION_GREATER newest)
    message(WARNING "The dissector is known to be good with Wireshark ${names}, not "
      "with ${version}: run its tests (ctest -L dissector), and see docs/howto/wireshark.md.")
  elseif(release VERSION_LESS oldest)
    message(WARNING "The dissector is known to be good with Wireshark ${names}; "
      "${version} is older.")
  elseif(NOT release IN_LIST uet_wireshark_known_good)
    message(STATUS "The dissector has not been tried with Wireshark ${version} (known: ${names})")
  endif()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  uet_check_wireshark("${Wireshark_VERSION}")
endif()
