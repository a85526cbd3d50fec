#!/usr/bin/env bash
# Runs LAMMPS, HPCC and NetPIPE, as Debian ships them, over uet and over libfabric's tcp in turn on
# this host, with more ranks than processors too, and prints how many times as long uet takes.
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"
. "$(dirname "$0")/../tools/lib_mpi.sh"

usage() {
  cat <<'HELP'
Usage: bench/programs.sh [--programs LIST] [--ranks LIST] [--rounds N] [--edge N] [--steps N]
                         [--order N] [--timeout S] [--json FILE] [--build DIR]

Installs Open MPI, LAMMPS, HPCC and NetPIPE when root. Every round runs each program with each
number of ranks once over each transport, in an order that changes; the machine may change speed,
so only figures of one round are compared, and the median of the rounds' ratios is reported.

  --programs LIST  some of these (default lammps,hpcc,netpipe)
                     lammps  Lennard-Jones melt; figure: its loop time
                     hpcc    the whole HPC Challenge with a small input; figures: the whole run,
                             and what its summary says of the network
                     netpipe messages back and forth between two ranks; figures: time one way
  --ranks LIST     numbers of ranks (default 2,4,8)
  --rounds N       rounds (default 3)
  --edge N         lammps: cells along an edge, 4 atoms each in a cube (default 20: 32,000 atoms)
  --steps N        lammps: steps (default 300)
  --order N        hpcc: order of the matrices (default 600)
  --timeout S      seconds that one run may take (default 600)
  --json FILE      also write every figure there
  --build DIR      build folder of uet (default build/release; built when absent)
  -h, --help       this text

Ratios are uet/tcp: for times below 1, and for rates above 1, uet is the faster one.
Exit status: 0 when every run finished, 1 otherwise, 2 wrong usage.
HELP
}

build=$root/build/release args=()
while [ $# -gt 0 ]; do
  case $1 in
    --rounds|--edge|--steps|--order|--timeout) needs_number "$@"; args+=("$1" "$2"); shift ;;
    --programs|--ranks|--json) needs_value "$@"; args+=("$1" "$2"); shift ;;
    --build) needs_value "$@"; build=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done

need_packages "${build_packages[@]}" "${run_packages[@]}" "${mpi_packages[@]}" lammps hpcc \
  netpipe-openmpi
mpi_build "$build"
python3 "$root/bench/programs.py" "${args[@]}" --provider-path "$build/prov/uet" \
  --mpirun "$(printf '%q ' "${mpi_run[@]}")"
