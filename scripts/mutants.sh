#!/usr/bin/env bash
# Tests the tests: plants the faults of scripts/mutants/*.txt in a copy of the tree and says which
# test notices each. All of them take long; tools/test.sh tries a sample.
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: scripts/mutants.sh [--only WORD[,WORD...]] [--sample N [--seed S]] [--own] [--simulate]
                        [--keep DIR] [--json FILE] [--list] [-j N]

All faults are built at once into a copy of this tree, uncommitted changes included; the checkout
is not touched. Each fault has a switch, which the environment of a test sets. For each fault the
tests that cite its rule run first, then the others of its folder, until one fails. A test that
crashes, or takes 8 times as long as without the fault (at least 20 s), has noticed it as well.

At the end there is a line per folder: how many faults a test that cites their rule noticed, how
many only another test did, how many none did.

  --only WORD   these faults only: names as --list shows them, folders, files or rules
  --sample N    N of them, drawn at random
  --seed S      what the drawing depends on; 1 if not given
  --own         no tests of other folders than that of the fault, so that less is built
  --simulate    300 simulations for a fault that no test noticed
  --keep DIR    work there and leave it, so that the next run need not compile everything
  --json FILE   write what became of each fault
  --list        print the faults and stop
  -j N          parallel jobs (default: all processors)
  -h, --help    this text

A fault whose entry begins with "? " is a known gap: no test that cites its rule notices it yet.

Exit status: 0 when a test that cites its rule noticed each fault but the known gaps; 1 when not,
when a known gap is closed, when a fault does not fit the code any more, or when the tests fail
without any fault; 2 wrong usage.
HELP
}

args=()
while [ $# -gt 0 ]; do
  case $1 in
    --only|--keep|--json) needs_value "$@"; args+=("$1" "$2"); shift ;;
    --sample|--seed|-j) needs_number "$@"; args+=("$1" "$2"); shift ;;
    --list|--own|--simulate) args+=("$1") ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done
need_packages "${build_packages[@]}" python3
exec python3 "$root/scripts/mutants/run.py" "${args[@]}"
