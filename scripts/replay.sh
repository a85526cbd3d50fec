#!/usr/bin/env bash
# Compares this tree with an older commit: records runs of the simulator and the conformance cases
# with the older code, and replays them on this one.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/replay.sh COMMIT [--seeds N] [--first N] [--chunk N] [--no-cases] [--backward]
                         [--seconds N] [--clean]

  --seeds N   how many seeds (default: 300)
  --first N   the first of them (default: 1)
  --chunk N   seeds recorded and replayed at a time, 5 MB each (default: 50)
  --no-cases  leaves the conformance cases out
  --backward  records with this tree and replays on the older one, whose simulator may be slow
  --seconds N leaves out runs that take longer to record (default: no limit)
  --clean     removes the older commit's tree and build at the end
  -h, --help  this text

The older tree and its build are in build/replay/COMMIT, and are used again. A commit that has no
recorder gets the first one, which compiles only if the interface of the stack is as at that time.
This tree is built in build/dev. Differences and the sum go to standard output, progress to
standard error.
Recordings with a difference are kept in build/replay/different.
Exit status: 0 all runs are identical; 1 one is different, or could not be recorded; 2 wrong usage.
HELP
}

seeds=300 first=1 chunk=50 cases=1 backward=0 seconds=0 clean=0 commit=''
while [ $# -gt 0 ]; do
  case $1 in
    --seeds) needs_number "$@"; seeds=$2; shift ;;
    --first) needs_number "$@"; first=$2; shift ;;
    --chunk) needs_number "$@"; chunk=$2; shift ;;
    --no-cases) cases=0 ;;
    --backward) backward=1 ;;
    --seconds) needs_number "$@"; seconds=$2; shift ;;
    --clean) clean=1 ;;
    -h|--help) usage; exit 0 ;;
    -*) unknown "$1" ;;
    *) [ -z "$commit" ] || unknown "$1"; commit=$1 ;;
  esac
  shift
done
[ -n "$commit" ] || misuse 'which commit?'
full=$(git -C "$root" rev-parse --verify --quiet "$commit^{commit}" 2>/dev/null) ||
  misuse "there is no commit $commit"

# What a commit without a recorder gets: the recorder as it was at first, and the sources that call
# it, which fit the stack of that time.
recorder=cf968af
carried=(sim tools/replay tools/sim conformance/in_process.cpp conformance/in_process.h
  conformance/uet_conform.cpp)
old=$root/build/replay/${full:0:12}
different=$root/build/replay/different

carry_recorder() {
  git -C "$old" checkout --quiet "$full" -- .
  git -C "$old" checkout --quiet "$recorder" -- "${carried[@]}"
  cat >>"$old/tools/CMakeLists.txt" <<'CMAKE'
add_executable(uet_replay replay/record_text.cpp replay/uet_replay.cpp)
target_link_libraries(uet_replay PRIVATE uet_sim_recording uet_packet_text uet_command_line
  nlohmann_json::nlohmann_json)
CMAKE
  sed -i 's/ fep io prov/ fep io sim prov/' "$old/CMakeLists.txt"
  sed -i 's/(uet_simulation PUBLIC /&uet::sim_recording /' "$old/tools/CMakeLists.txt"
  sed -i 's/(uet_conformance PUBLIC /&uet::sim_recording /' "$old/conformance/CMakeLists.txt"
}

prepare_old() {
  mkdir -p "$root/build/replay"
  git -C "$root" worktree prune
  [ -d "$old" ] || git -C "$root" worktree add --quiet --detach "$old" "$full"
  [ -n "$(git -C "$old" ls-tree "$full" sim/recording/)" ] || carry_recorder
  cmake -S "$old" -B "$old/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF
  cmake --build "$old/build" --target uet_sim uet_conform uet_replay
}

prepare_new() {
  (cd "$root" && cmake --preset dev &&
    cmake --build --preset dev --target uet_sim uet_conform uet_replay)
}

# record_seeds FROM COUNT: writes the recordings of these runs to $work.
record_seeds() {
  local seed rc
  if [ "$seconds" -eq 0 ]; then
    "$recording/tools/uet_sim" --seed "$1" --count "$2" --record "$work" >"$work/sim" ||
      { cat "$work/sim"; status=1; }
    return
  fi
  for ((seed = $1; seed < $1 + $2; seed++)); do
    rc=0
    timeout "$seconds" "$recording/tools/uet_sim" --seed "$seed" --record "$work" >"$work/sim" ||
      rc=$?
    [ "$rc" -eq 0 ] && continue
    rm -f "$work/seed-$seed.uetrec"
    if [ "$rc" -eq 124 ]; then
      left_out+=("$seed")
    else
      cat "$work/sim"
      status=1
    fi
  done
}

status=0
left_out=()
runs=0 same=0 deadlines=0 packets=0
# replay_all FOLDER: replays what is in it, adds to the sums, and keeps what is not identical.
replay_all() {
  local result=0 line file
  line=$("$playing/tools/uet_replay" --quiet "$1") || result=$?
  [ "$result" -eq 0 ] || status=1
  sed '$d' <<<"$line"
  line=$(tail -n 1 <<<"$line")
  [[ $line =~ ^([0-9]+)\ recordings:\ ([0-9]+)\ identical,\ ([0-9]+)\ .*\ ([0-9]+)\ packets ]] ||
    die "uet_replay ended with status $result"
  runs=$((runs + BASH_REMATCH[1])) same=$((same + BASH_REMATCH[2]))
  deadlines=$((deadlines + BASH_REMATCH[3])) packets=$((packets + BASH_REMATCH[4]))
  [ "$result" -eq 0 ] && return
  mkdir -p "$different"
  for file in "$1"/*.uetrec; do
    "$playing/tools/uet_replay" --quiet "$file" >/dev/null 2>&1 || cp "$file" "$different/"
  done
}

mkdir -p "$root/build"
say "Building $commit and this tree" >&2
{ prepare_old && prepare_new; } >"$root/build/replay.log" 2>&1 ||
  { tail -n 20 "$root/build/replay.log" >&2; die "the build failed: build/replay.log"; }
recording=$old/build playing=$root/build/dev cases_of=$old
if [ "$backward" -eq 1 ]; then recording=$root/build/dev playing=$old/build cases_of=$root; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$cases" -eq 1 ]; then
  say 'Conformance cases' >&2
  "$recording/conformance/uet_conform" run "$cases_of/conformance/cases" --record "$work" |
    tail -n 1 >&2 || status=1
  replay_all "$work"
fi
last=$((first + seeds - 1))
for ((from = first; from <= last; from += chunk)); do
  rm -f "$work"/*.uetrec
  count=$((from + chunk - 1 > last ? last - from + 1 : chunk))
  record_seeds "$from" "$count"
  replay_all "$work"
  printf 'seeds %s to %s of %s: %s of %s runs are identical\n' \
    "$from" $((from + count - 1)) "$last" "$same" "$runs" >&2
done

printf '%s runs of %s: %s identical, %s with other deadlines only, %s different or broken; ' \
  "$runs" "$commit" "$same" "$deadlines" $((runs - same - deadlines))
printf '%s packets were equal\n' "$packets"
[ "${#left_out[@]}" -eq 0 ] ||
  printf 'left out, longer than %s s: %s\n' "$seconds" "${left_out[*]}"
if [ "$clean" -eq 1 ]; then git -C "$root" worktree remove --force "$old"; fi
exit "$status"
