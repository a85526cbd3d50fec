#!/usr/bin/env bash
# Builds everything and runs every test: the core with AddressSanitizer and
# UndefinedBehaviorSanitizer, the threads of the provider with ThreadSanitizer, the rest optimised.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/test.sh [--quick] [-j N]

Installs Debian packages when root, then builds and tests four presets:
  asan   the sans-IO core and packet I/O, simulation seeds and the fuzz corpora
  tsan   the provider's locks, wake-ups and helper thread
  fuzz   one minute of the stack fuzzer from its corpus; needs clang with libFuzzer
  dev    optimised: provider, dissector, command-line programs, packet I/O, more simulation seeds,
         style and citations
Then scripts/mutants.sh plants faults in a layer or two and tries sixteen, other ones after each
commit, and scripts/newest_libfabric.sh builds and tries the provider with the libfabric of
Debian 13. Where CI=true, these two begin only in the first 20 minutes, so that a slow machine ends
within 25.
Test hosts are network namespaces that the tests make and remove. A test that needs something that
this machine lacks is skipped, for example the test of the ladder page without Chromium, which is
installed where CI=true.

  --quick     dev only, with the tests of the core
  -j N        parallel jobs (default: all processors)
  -h, --help  this text

Exit status: 0 when every test passed, 2 wrong usage, another one otherwise.
HELP
}

quick=0 jobs=$(nproc)
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    -j) needs_number "$@"; jobs=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done

# Some 300 MB for one test, which is skipped without it.
[ "${CI:-}" = true ] && test_packages+=(chromium)
need_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
cd "$root"
started=$SECONDS

# preset PRESET TARGET CTEST-ARGUMENTS... (a later -j counts)
preset() {
  local name=$1 target=$2
  shift 2
  say "[$((SECONDS - started)) s] $name: build"
  # An existing build folder keeps its settings: a developer may be using it.
  local whole=()
  [ -d "build/$name" ] || whole=(-DUET_WHOLE=ON)
  cmake --preset "$name" "${whole[@]}" >/dev/null
  cmake --build --preset "$name" -j "$jobs" --target "$target"
  say "[$((SECONDS - started)) s] $name: test"
  # One more than processors: some tests mostly wait.
  ctest --preset "$name" -j "$((jobs + 1))" --no-tests=error "$@"
}

# What comes last is left out there: a slow machine shall end, too.
is_late() { [ "${CI:-}" = true ] && [ $((SECONDS - started)) -gt 1200 ]; }

has_libfuzzer() {
  local source='extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }'
  printf '%s\n' "$source" | clang++ -x c++ -fsanitize=fuzzer -o /dev/null - 2>/dev/null
}

if [ $quick -eq 1 ]; then
  preset dev all
else
  core='base|wire|tss|keys|cms|pds|ses|fep|fuzz'
  preset asan tests_core -L "^($core|io|sim)\$"
  preset tsan tests_threads -L '^threads$' -j $((2 * jobs))  # these wait even more
  if has_libfuzzer; then
    preset fuzz tests_fuzz_live -L '^fuzz_live$'
  else
    say "fuzz: SKIPPED: no clang++ with libFuzzer (Debian: clang, libclang-rt-*-dev)"
  fi
  preset dev tests_rest -LE "^($core)\$"
  if is_late; then
    say "planted faults: SKIPPED: 20 minutes are over"
  else
    say "[$((SECONDS - started)) s] planted faults: a sample"
    # The layers in turn: to build their tests with the faults takes longer than to try a few.
    commits=$(git rev-list --count HEAD 2>/dev/null || echo 1)
    layers=(base,wire tss,cms pds)
    scripts/mutants.sh --only "${layers[commits % 3]}" --own --sample 16 --keep build/mutants \
      -j "$jobs" --seed "$commits"
  fi
  if is_late; then
    say "newest libfabric: SKIPPED: 20 minutes are over"
  else
    say "[$((SECONDS - started)) s] newest libfabric: build and test"
    scripts/newest_libfabric.sh -j "$jobs" || { result=$? && [ $result -eq 77 ]; } || exit "$result"
  fi
fi
say "All tests passed in $((SECONDS - started)) s"
