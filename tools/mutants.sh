#!/usr/bin/env bash
# Tests the tests: plants the faults of tools/mutants.txt in a copy of the tree, one at a time, and
# says which test notices each. Not part of test.sh: it takes long.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/mutants.sh [--only N[,N...]] [--keep DIR] [--list] [-j N]

Each fault is built into a copy of this tree, uncommitted changes included; the checkout is not
touched. Then the tests run, the cheapest first, until one fails: pds (for faults in pds/), ses, and
300 simulations. A test that crashes, or runs longer than a test may, has noticed the fault as well.

  --only N    these faults only, by their numbers in the list
  --keep DIR  work there and leave it, so that the next run need not compile everything
  --list      print the faults and stop
  -j N        parallel jobs (default: all processors)
  -h, --help  this text

Exit status: 0 when every fault was caught; 1 when one survived, or does not fit the code any more,
or the tests fail without any fault; 2 on bad usage.
HELP
}

seconds_max=180  # of one test; all of them take a few seconds
only='' work='' list=0 jobs=$(nproc)
while [ $# -gt 0 ]; do
  case $1 in
    --only) needs_value "$@"; only=$2; shift ;;
    --keep) needs_value "$@"; work=$2; shift ;;
    --list) list=1 ;;
    -j) needs_number "$@"; jobs=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done
cd "$root"

# --- the list ---

files=() rules=() texts=() searches=() replacements=()
while IFS= read -r line; do
  case $line in
    ''|'#'*) ;;
    '- '*) searches+=("${line#- }") ;;
    '+'*) line=${line#+}; replacements+=("${line# }") ;;
    *) read -r file rule text <<<"$line"; files+=("$file") rules+=("$rule") texts+=("$text") ;;
  esac
done <tools/mutants.txt
count=${#files[@]}
[ "$count" -eq ${#searches[@]} ] && [ "$count" -eq ${#replacements[@]} ] ||
  die "mutants.txt: a fault lacks a line"

# plant N FILE: prints FILE with fault N in it; fails when the text is not there exactly once.
plant() {
  local content search=${searches[$1]} without
  content=$(<"$2") || return 1
  without=${content//"$search"/}
  [ $((${#content} - ${#without})) -eq ${#search} ] || return 1
  printf '%s\n' "${content/"$search"/"${replacements[$1]}"}"
}

stale=0
for ((n = 0; n < count; ++n)); do
  if [ $list -eq 1 ]; then
    printf '%2d  %-26s %-8s  %s\n' $((n + 1)) "${files[n]}" "${rules[n]}" "${texts[n]}"
  fi
  if ! plant $n "${files[n]}" >/dev/null; then
    printf 'fault %d does not fit %s: %s\n' $((n + 1)) "${files[n]}" "${searches[n]}" >&2
    stale=1
  fi
done
[ $stale -eq 0 ] || die "mutants.txt must follow the code"
[ $list -eq 0 ] || exit 0

chosen=()
if [ -n "$only" ]; then
  for n in ${only//,/ }; do
    [[ $n =~ ^[0-9]+$ ]] && [ "$n" -ge 1 ] && [ "$n" -le "$count" ] || die "there is no fault $n"
    chosen+=($((n - 1)))
  done
else
  for ((n = 0; n < count; ++n)); do chosen+=("$n"); done
fi

# --- the copy ---

need_packages "${build_packages[@]}"
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work/tree"
work=$(cd "$work" && pwd)
tree=$work/tree build=$work/build log=$work/log
find "$tree" -mindepth 1 -delete
git ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done |
  tar -c --null -T - | tar -x -C "$tree"
touch "${files[@]/#/$tree/}"  # an earlier run may have left objects with a fault

say "build without faults"
cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 >"$log" ||
  { cat "$log" >&2; die "cannot configure"; }
tests_of() { ctest --test-dir "$build" -N -L "^$1\$" | sed -n 's/^ *Test *#[0-9]*: //p'; }
mapfile -t pds_tests < <(tests_of pds)
mapfile -t ses_tests < <(tests_of ses)
[ ${#pds_tests[@]} -gt 0 ] && [ ${#ses_tests[@]} -gt 0 ] || die "no tests found"

# make TARGET...: false when it does not compile.
make() { cmake --build "$build" -j "$jobs" --target "$@" >"$log" 2>&1; }

# run NAME COMMAND...: true when it passes; what noticed the fault is left in $culprit otherwise.
run() {
  local name=$1 rc=0 at
  shift
  (cd "$tree" && ulimit -v 16000000 && export GTEST_FAIL_FAST=1 &&
    timeout "$seconds_max" "$@" || exit $?) >"$log" 2>&1 || rc=$?
  [ $rc -ne 0 ] || return 0
  at=$(sed -n 's/^\[  FAILED  \] \([^ ,]*\).*/\1/p' "$log" | head -1)
  # One that crashed or hangs is the last that began.
  [ -n "$at" ] || at=$(sed -n 's/^\[ RUN      \] //p' "$log" | tail -1)
  culprit=$name${at:+: $at}
  [ $rc -ne 124 ] || culprit+=" (hangs)"
  [ $rc -le 128 ] || culprit+=" (crashes)"
  return 1
}

# passes FOLDER: builds and runs everything that a change of that folder may break.
passes() {
  local stage test
  for stage in pds ses sim; do
    local -a tests=()
    case $stage in
      pds) [ "$1" = ses ] || tests=("${pds_tests[@]}") ;;
      ses) tests=("${ses_tests[@]}") ;;
      sim) tests=(uet_sim) ;;
    esac
    [ ${#tests[@]} -gt 0 ] || continue
    make "${tests[@]}" || { culprit='the compiler'; return 1; }
    for test in "${tests[@]}"; do
      case $stage in
        sim) run uet_sim "$build/tools/uet_sim" --seed 1 --count 300 || return 1 ;;
        *) run "$test" "$build/$stage/$test" || return 1 ;;
      esac
    done
  done
}

culprit=''
passes pds || { tail -30 "$log" >&2; die "fails without any fault: $culprit"; }

# --- the faults ---

say "${#chosen[@]} faults"
caught=0 survived=()
for n in "${chosen[@]}"; do
  file=$tree/${files[n]}
  cp "$file" "$work/original"
  plant "$n" "$work/original" >"$file"
  printf '%2d  %-8s  %s: ' $((n + 1)) "${rules[n]}" "${texts[n]}"
  if passes "${files[n]%%/*}"; then
    echo SURVIVED
    survived+=($((n + 1)))
  elif [ "$culprit" = 'the compiler' ]; then
    tail -20 "$log" >&2
    die "fault $((n + 1)) does not compile"
  else
    echo "caught by $culprit"
    caught=$((caught + 1))
  fi
  cp "$work/original" "$file"  # a new time, so that it is compiled again
done

say "${#chosen[@]} planted, $caught caught, ${#survived[@]} survived" \
  "${survived[*]:+(${survived[*]})}"
[ ${#survived[@]} -eq 0 ]
