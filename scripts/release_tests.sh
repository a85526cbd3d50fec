#!/usr/bin/env bash
# Runs the tests of folders compiled as a release is: -O3 and optimised over all files. Other tests
# are compiled with less, and a compiler's error, or what the language does not define, may show
# with -O3 only.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"

core=(base wire cms tss keys pds ses fep)

usage() {
  cat <<HELP
Usage: scripts/release_tests.sh [-j N] [FOLDER...]

  FOLDER       whose tests are built and run (default: ${core[*]})
  -j N         compilations at a time (default: all processors)
  -h, --help   this text

The build is in build/release-tests. Each folder takes one to four minutes of processor time.
Exit status: 0; 1 when a test fails; 2 wrong usage.
HELP
}

folders=() jobs=$(nproc)
while [ $# -gt 0 ]; do
  case $1 in
    -j) needs_number "$@"; jobs=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    -*) unknown "$1" ;;
    *) folders+=("${1%/}") ;;
  esac
  shift
done
[ ${#folders[@]} -gt 0 ] || folders=("${core[@]}")
for folder in "${folders[@]}"; do
  [ -f "$root/$folder/CMakeLists.txt" ] || misuse "there is no folder $folder with tests"
done

cd "$root"
build=build/release-tests
cmake --preset release -B "$build" -DUET_WHOLE=ON >/dev/null
cmake --build "$build" -j "$jobs" --target "${folders[@]/#/tests_}"
labels=$(IFS='|'; echo "${folders[*]}")
# A loop that never ends is what is looked for, too.
ctest --test-dir "$build" -L "^($labels)\$" -j "$jobs" --timeout 300 --no-tests=error \
  --output-on-failure || exit 1
