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
commit, scripts/newest_libfabric.sh builds and tries the provider with the libfabric of Debian 13,
scripts/release_tests.sh runs the tests of a layer or more as a release is compiled, others after
each commit, and clang-tidy looks at what the last ten commits changed. Where CI=true, these four
begin only in the first 20 minutes, so that a slow machine ends within 25.
Test hosts are network namespaces that the tests make and remove. A test that needs something that
this machine lacks is skipped, for example the test of the ladder page without Chromium. Chromium
and clang-tidy are installed where CI=true.

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

need_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
cd "$root"
started=$SECONDS

# Chromium takes 300 MB and a minute, for a few tests of `dev`, which are skipped without it, and
# clang-tidy 200 MB: they are installed while the first preset is built.
extras_pid='' extras_log='' beside_pid=''
finish() {
  # It may have ended by itself; the status of this script stays.
  [ -z "$beside_pid" ] || kill -- "-$beside_pid" 2>/dev/null || true
  wait  # for an installation
  rm -f "$extras_log"
}
trap finish EXIT
if [ "${CI:-}" = true ] && [ $quick -eq 0 ]; then
  extras_log=$(mktemp)
  need_packages chromium clang clang-tidy >"$extras_log" 2>&1 &
  extras_pid=$!
fi
await_extras() {
  [ -z "$extras_pid" ] || wait "$extras_pid" || { cat "$extras_log"; exit 1; }
}

configure() {
  # An existing build folder keeps its settings: a developer may be using it.
  local whole=()
  [ -d "build/$1" ] || whole=(-DUET_WHOLE=ON)
  cmake --preset "$1" "${whole[@]}" >/dev/null
}

# build PRESET TARGET
build() {
  say "[$((SECONDS - started)) s] $1: build"
  configure "$1"
  cmake --build --preset "$1" -j "$jobs" --target "$2"
}

# run_tests PRESET CTEST-ARGUMENTS... (a later -j counts)
run_tests() {
  local name=$1
  shift
  say "[$((SECONDS - started)) s] $name: test"
  # One more than processors: some tests mostly wait.
  ctest --preset "$name" -j "$((jobs + 1))" --no-tests=error "$@"
}

# build_beside PRESET TARGET: begins a build that takes only what others leave of the processors.
# The next build() of PRESET comes after await_build and shows what failed.
build_beside() {
  configure "$1"
  set -m  # a process group of its own, to end it by
  nice -n 19 cmake --build --preset "$1" -j "$jobs" --target "$2" >/dev/null 2>&1 &
  beside_pid=$!
  set +m
}
await_build() {
  wait "$beside_pid" || true  # what failed fails again in build(), where it is shown
  beside_pid=
}

tidy_changes() {
  if ! command -v clang-tidy >/dev/null || ! command -v clang++ >/dev/null; then
    say "clang-tidy: SKIPPED: not installed (Debian: clang clang-tidy)"
  elif ! dpkg-query -W clang clang-tidy >/dev/null 2>&1; then
    say "clang-tidy: SKIPPED: not Debian's (Debian: clang clang-tidy)"
  elif ! git rev-parse --verify -q HEAD >/dev/null; then
    say "clang-tidy: SKIPPED: no history says what changed"
  else
    say "[$((SECONDS - started)) s] clang-tidy: what the last ten commits changed"
    scripts/clang_tidy.sh --commits 10 --within 80 -j "$jobs"
  fi
}

# What comes last is left out there: a slow machine shall end, too.
is_late() { [ "${CI:-}" = true ] && [ $((SECONDS - started)) -gt 1200 ]; }

has_libfuzzer() {
  local source='extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }'
  printf '%s\n' "$source" | clang++ -x c++ -fsanitize=fuzzer -o /dev/null - 2>/dev/null
}

if [ $quick -eq 1 ]; then
  build dev all
  run_tests dev
else
  core='base|wire|tss|keys|cms|pds|ses|fep|fuzz'
  build asan tests_core
  run_tests asan -L "^($core|io|sim)\$"
  build tsan tests_threads
  build_beside dev tests_rest
  run_tests tsan -L '^threads$' -j $((2 * jobs))  # these mostly wait
  if has_libfuzzer; then
    build fuzz tests_fuzz_live
    run_tests fuzz -L '^fuzz_live$'
  else
    say "fuzz: SKIPPED: no clang++ with libFuzzer (Debian: clang, libclang-rt-*-dev)"
  fi
  await_build
  build dev tests_rest
  await_extras
  run_tests dev -LE "^($core)\$"
  commits=$(git rev-list --count HEAD 2>/dev/null || echo 1)
  if is_late; then
    say "planted faults: SKIPPED: 20 minutes are over"
  else
    say "[$((SECONDS - started)) s] planted faults: a sample"
    # The layers in turn: to build their tests with the faults takes longer than to try a few.
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
  if is_late; then
    say "tests as a release is compiled: SKIPPED: 20 minutes are over"
  else
    folders=("base wire cms tss keys" pds ses fep)  # in turn, by commits
    read -ra folders <<<"${folders[commits % 4]}"
    say "[$((SECONDS - started)) s] tests as a release is compiled: ${folders[*]}"
    scripts/release_tests.sh -j "$jobs" "${folders[@]}"
  fi
  if is_late; then
    say "clang-tidy: SKIPPED: 20 minutes are over"
  else
    tidy_changes
  fi
fi
say "All tests passed in $((SECONDS - started)) s"
