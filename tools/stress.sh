#!/usr/bin/env bash
# Random operations between processes that are stopped, killed and begun anew; every octet checked.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/stress.sh [--build DIR] [--seed N] [--duration S] [--processes N] [--peers N]
                       [--provider NAME] [--loss P] [--json FILE] [-- OPTION...]

Builds the provider and the stress program (build/release), and runs it over loopback: each process
sends to its peers by all kinds of calls, reads and writes their memory, and is slow at times;
processes are stopped (SIGSTOP), killed, end and restart. It checks each octet; that no message
arrives twice or out of a promised order; that no message between live processes is lost; and that
operations fail only toward processes that have ended.
The seed, printed first, decides the operations. The result also depends on timing.

  --build DIR      use this build folder (default build/release; built when it lacks the program)
  --seed N         seed of all choices (default: from the clock)
  --duration S     seconds (default 600); ending takes longer when processes were killed at last
  --processes N    processes (default 6)
  --peers N        processes that each of them sends to (default 3)
  --provider NAME  another provider of libfabric, to compare (default uet)
  --loss P         drop each packet with probability P (0 to 0.3), with uet
  --json FILE      write the result as JSON; the lines of progress go to standard error
  -- OPTION...     options of the program itself; "-- --help" lists them
  -h, --help       this text

Exit status: 0 nothing wrong, 1 a defect was found, 2 wrong usage, 130 interrupted.
HELP
}

build=$root/build/release args=() json=
while [ $# -gt 0 ]; do
  case $1 in
    --build) needs_folder "$@"; build=$(realpath "$2"); shift ;;
    --seed|--duration|--processes|--peers) needs_number "$@"; args+=("$1" "$2"); shift ;;
    --provider) needs_value "$@"; args+=("$1" "$2"); shift ;;
    --json) needs_value "$@"; json=$2; shift ;;
    --loss)
      [[ ${2:-} =~ ^(0|0?\.[0-9]+)$ ]] || misuse "--loss needs a probability, 0.01 for example"
      export FI_UET_FAULT=loss=$2
      shift ;;
    --) shift; args+=("$@"); break ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done

program=$build/tools/uet_stress
if [ "$build" = "$root/build/release" ] || [ ! -x "$program" ]; then
  need_packages "${build_packages[@]}"
  say "Building the provider and the stress program ($build)"
  cmake -S "$root" --preset release -B "$build" -DBUILD_TESTING=OFF >/dev/null
  cmake --build "$build" --target uet-fi uet_stress
fi
if [ -n "$json" ]; then
  args+=(--json)
  exec >"$json"  # what people read goes to standard error then
fi
FI_PROVIDER_PATH=$build/prov/uet exec "$program" ${args[@]+"${args[@]}"}
