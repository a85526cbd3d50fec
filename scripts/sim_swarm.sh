#!/usr/bin/env bash
# Runs many seeds of the simulator in parallel: each seed is a network, its faults and a workload of
# its own, under oracles. Prints what failed with the line that replays it.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/sim_swarm.sh [--seeds N] [--first N] [-j N] [--sim FILE] [--secured] [--json]

  --seeds N   how many seeds (default: 10000)
  --first N   the first of them (default: 1)
  -j N        runs at a time (default: all processors)
  --sim FILE  the simulator (default: the newest uet_sim in build/)
  --secured   seal all packets, with keys that are replaced
  --json      print the summary as JSON
  -h, --help  this text

Progress and failures go to standard error as they come, the summary to standard output.
Exit status: 0 when every oracle held in every run; 1 when one broke or a run crashed; 2 wrong
usage.
HELP
}

seeds=10000 first=1 jobs=$(nproc) sim='' json=0 with=''
while [ $# -gt 0 ]; do
  case $1 in
    --seeds) needs_number "$@"; seeds=$2; shift ;;
    --first) needs_number "$@"; first=$2; shift ;;
    -j) needs_number "$@"; jobs=$2; shift ;;
    --sim) needs_value "$@"; sim=$2; shift ;;
    --secured) with=--secured ;;
    --json) json=1 ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done
if [ -z "$sim" ]; then
  # shellcheck disable=SC2012
  sim=$(ls -t "$root"/build/*/tools/uet_sim 2>/dev/null | head -1) || true
  [ -n "$sim" ] || die "no uet_sim in build/: cmake --build --preset dev --target uet_sim"
fi
[ -x "$sim" ] || die "cannot run $sim"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chunk=50
last=$((first + seeds - 1))

# run_chunk SEED: runs the seeds from there to the end of their chunk, or of all.
run_chunk() {
  local from=$1 count status=0
  count=$((from + chunk - 1 > last ? last - from + 1 : chunk))
  "$sim" --seed "$from" --count "$count" --json ${with:+"$with"} \
    >"$work/$from" 2>&1 || status=$?
  grep -A1 '^FAILED' "$work/$from" >&2 || true
  if [ "$status" -gt 1 ]; then
    printf 'CRASHED (status %s) at a seed from %s on\n' "$status" "$from" >&2
    printf '  replay: uet_sim --seed %s --count %s --verbose\n' "$from" "$count" >&2
    touch "$work/crashed"
  fi
  sed -i -n '/^{/,$p' "$work/$from"
  mv "$work/$from" "$work/$from.json"
  local done_count
  done_count=$(find "$work" -name '*.json' | wc -l)
  [ $((done_count % 10)) -ne 0 ] || printf '%s of %s chunks done\n' "$done_count" "$chunks" >&2
}
chunks=$(((seeds + chunk - 1) / chunk))
export -f run_chunk
export sim work chunk chunks last with

seq "$first" "$chunk" "$last" | xargs -P "$jobs" -I{} bash -c 'run_chunk {}'

python3 - "$work" "$first" "$seeds" "$json" <<'PY'
import collections, json, pathlib, sys

work, first, seeds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
as_json = sys.argv[4] == "1"
totals, counters, ran = collections.Counter(), collections.Counter(), 0
for path in work.glob("*.json"):
    text = path.read_text()
    if not text.strip():
        continue
    out = json.loads(text)
    ran += out["seeds"]
    totals.update(failures=out["failures"], packets=out["packets"])
    counters.update(out["counters"])
crashed = (work / "crashed").exists()
if as_json:
    print(json.dumps({"first_seed": first, "seeds": seeds, "seeds_run": ran,
                      "failures": totals["failures"], "crashed": crashed,
                      "packets": totals["packets"], "counters": dict(sorted(counters.items()))},
                     indent=2))
else:
    print(f"{seeds} seeds from {first}: {totals['failures']} failed, {totals['packets']} packets"
          + (", and a run crashed" if crashed else ""))
sys.exit(1 if totals["failures"] or crashed or ran != seeds else 0)
PY
