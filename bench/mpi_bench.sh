#!/usr/bin/env bash
# A table of MPI's latency, bandwidth and allreduce over uet beside TCP, interleaved in one run,
# between two hosts made of network namespaces.
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"
. "$(dirname "$0")/../tools/lib_mpi.sh"

usage() {
  cat <<'HELP'
Usage: bench/mpi_bench.sh [--rounds N] [--ranks N] [--peers LIST] [--times X] [--json FILE]
                          [--build DIR] [--loopback]

Installs Open MPI when root, compiles bench/mpi_bench.c and runs it over each transport once a
round; the machine may change speed, so only figures of one round are compared, and the median of
the rounds' ratios is reported.

  --rounds N    rounds (default 5)
  --ranks N     ranks, half on each host (default 2; more than there are processors share them)
  --peers LIST  of uet and what it is compared with (default uet,tcp,ob1)
                  uet  mtl ofi over uet
                  tcp  mtl ofi over libfabric's RDM tcp provider (net in libfabric 1.17)
                  ob1  Open MPI's own TCP transport, without libfabric
  --times X     factor for the usual number of repetitions (default 1)
  --json FILE   also write every figure there
  --build DIR   build folder of uet (default build/release; built when absent)
  --loopback    all ranks on this host, where namespaces are not allowed
  -h, --help    this text

Ratios: latency and allreduce uet/peer (below 1: uet is faster), bandwidth uet/peer (above 1).
Exit status: 0 when every run finished, 1 otherwise, 2 wrong usage.
HELP
}

build=$root/build/release ranks=2 loopback=0 args=()
while [ $# -gt 0 ]; do
  case $1 in
    --rounds|--peers|--times|--json|--ranks|--build)
      needs_value "$@"
      case $1 in
        --ranks) ranks=$2 ;;
        --build) build=$2 ;;
        --rounds) needs_number "$@"; args+=("$1" "$2") ;;
        *) args+=("$1" "$2") ;;
      esac
      shift ;;
    --loopback) loopback=1 ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done
if ! [[ $ranks =~ ^[1-9][0-9]*$ ]] || [ $((ranks % 2)) -ne 0 ]; then
  misuse "--ranks needs an even number"
fi

need_packages "${build_packages[@]}" "${run_packages[@]}" "${mpi_packages[@]}"
mpi_build "$build"
out=$(mktemp -d "${TMPDIR:-/tmp}/uet-mpi.XXXXXX")
trap 'remove_hosts; rm -rf "$out"' EXIT
mpicc -O2 -Wall -Wextra -o "$out/mpi_bench" "$root/bench/mpi_bench.c"

if [ $loopback -eq 0 ] && make_hosts; then
  mpi_hosts "$out/agent" "$ranks"
else
  say "No network namespaces: all ranks on this host"
  mpi_on_hosts=() mpi_split=(-n "$ranks")
fi
python3 "$root/bench/mpi_bench.py" "${args[@]}" \
  --provider-path "$build/prov/uet" \
  --mpirun "$(printf '%q ' "${mpi_on_hosts[@]}" "${mpi_run[@]}")" \
  --split "$(printf '%q ' "${mpi_split[@]}")" --program "$out/mpi_bench"
