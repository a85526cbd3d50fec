#!/usr/bin/env bash
# Open MPI over uet: checked point-to-point, collective and one-sided operations, on one host and on
# two.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_mpi.sh"

usage() {
  cat <<'HELP'
Usage: tools/mpi_smoke.sh [--build DIR] [--ranks LIST] [--timeout S] [--mpich DIR] [--secured]

Installs Open MPI when root, compiles tools/mpi_check.c and tools/mpi_one_sided.c and runs them over
uet: LIST ranks on one host, then as many on two hosts made of network namespaces, half on each.
Three ways:
  p2p       point-to-point and collectives by tagged messages (mtl ofi)
  messages  one-sided operations by the same messages (osc pt2pt)
  rdma      one-sided operations by RMA and atomics of libfabric (osc rdma over btl ofi)
Debian switches these transports off in its parameter file; the command line overrides it. A run
counts only when the provider's log shows that uet carried it.

  --build DIR   build folder of uet (default build/release; built when absent)
  --ranks LIST  numbers of ranks (default 2,4,8)
  --timeout S   seconds for one run (default 120)
  --mpich DIR   then the same programs with the MPICH of that bin folder, which must have been built
                with ch4:ofi (Debian's is ch4:ucx, which does not use libfabric), on one host
  --secured     with transport security: FI_UET_TSS=file and keys made for this run
  -h, --help    this text

Exit status: 0 when every run was correct, 1 otherwise, 2 wrong usage.
HELP
}

build=$root/build/release ranks=2,4,8 limit=120 mpich='' secured=0
while [ $# -gt 0 ]; do
  case $1 in
    --build|--ranks|--timeout|--mpich)
      needs_value "$@"
      case $1 in
        --build) build=$2 ;;
        --ranks) ranks=$2 ;;
        --timeout) needs_number "$@"; limit=$2 ;;
        --mpich) mpich=$(realpath "$2") ;;
      esac
      shift ;;
    --secured) secured=1 ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done

need_packages "${build_packages[@]}" "${run_packages[@]}" "${mpi_packages[@]}"
mpi_build "$build"

out=$(mktemp -d "${TMPDIR:-/tmp}/uet-mpi.XXXXXX")
trap remove_hosts EXIT
for program in mpi_check mpi_one_sided; do
  mpicc -O2 -Wall -Wextra -o "$out/$program" "$root/tools/$program.c"
done

mpi=("${mpi_uet[@]}" -x FI_LOG_LEVEL=info -x FI_LOG_PROV=uet)
if [ $secured -eq 1 ]; then
  secure "$build" "$out"
  mpi+=(-x FI_UET_TSS -x FI_UET_TSS_KEYS -x FI_UET_TSS_COUNTERS)
fi
messages=(--mca osc pt2pt)
rdma=(--mca osc rdma --mca btl 'ofi,self' --mca btl_ofi_provider_include uet)

failed=0
# check NAME ADDRESSES COMMAND...: runs it, and demands the program's line, and in the log a domain
# of uet on each of those addresses.
check() {
  local name=$1 addresses=$2 started=$SECONDS verdict=pass a
  shift 2
  timeout -k 5 "$limit" "$@" >"$out/$name.txt" 2>"$out/$name.log" </dev/null || verdict=FAIL
  grep -q '^mpi_[a-z_]*: .* correct$' "$out/$name.txt" || verdict=FAIL
  for a in $addresses; do
    grep -q ":uet:domain:.*: $a, UDP port" "$out/$name.log" || verdict=FAIL
  done
  printf '%-6s%4d s  %s\n' "$verdict" $((SECONDS - started)) "$name"
  if [ $verdict = FAIL ]; then
    failed=1
    grep -v '<info>' "$out/$name.log" | tail -n 15 || true
  fi
}

say "Open MPI $(mpirun --version | awk 'NR == 1 { print $NF }') over uet; output in $out"
one_host=()
have_hosts=0
if make_hosts; then
  have_hosts=1
  one_host=(ip netns exec "$host_a")
fi
# Some versions of osc rdma (4.1.4) crash in a compare-and-swap, over any transport: then uet is not
# asked for one in that way.
cas=()
if ! timeout -k 5 "$limit" "${mpi_run[@]}" --mca osc rdma --mca btl vader,self -n 2 \
  "$out/mpi_one_sided" >/dev/null 2>&1 </dev/null; then
  say "Open MPI's osc rdma cannot compare and swap over its own shared memory: left out of rdma"
  cas=(no-cas)
fi
# suite NAME ADDRESSES COMMAND...: all three ways of one set of ranks.
suite() {
  local name=$1 addresses=$2
  shift 2
  check "$name-p2p" "$addresses" "$@" "$out/mpi_check"
  check "$name-messages" "$addresses" "$@" "${messages[@]}" "$out/mpi_one_sided"
  check "$name-rdma" "$addresses" "$@" "${rdma[@]}" "$out/mpi_one_sided" "${cas[@]}"
}
for n in ${ranks//,/ }; do
  suite "one-host-$n-ranks" '[0-9.]*' "${one_host[@]}" "${mpi[@]}" -n "$n"
done
if [ $have_hosts -eq 1 ]; then
  for n in ${ranks//,/ }; do
    [ $((n % 2)) -eq 0 ] || continue
    mpi_hosts "$out/agent" "$n"
    suite "two-hosts-$n-ranks" "$addr_a $addr_b" \
      "${mpi_on_hosts[@]}" "${mpi[@]}" "${mpi_split[@]}"
  done
else
  say "No network namespaces here: nothing was run on two hosts"
fi

if [ -n "$mpich" ]; then
  device=$("$mpich/mpichversion" | awk '/Device:/ { print $NF }')
  case $device in
    *ofi*) ;;
    *) die "the MPICH in $mpich has the device $device, which does not use libfabric" ;;
  esac
  say "$("$mpich/mpichversion" | awk '/Version:/ { print "MPICH", $NF }'), $device, over uet"
  for program in mpi_check mpi_one_sided; do
    "$mpich/mpicc" -O2 -o "$out/mpich_$program" "$root/tools/$program.c"
  done
  export MPIR_CVAR_NOLOCAL=1  # uet between ranks of one host, too, instead of shared memory
  for n in ${ranks//,/ }; do
    over=("${one_host[@]}" "$mpich/mpiexec" -n "$n" -env FI_PROVIDER uet
      -env FI_PROVIDER_PATH "$build/prov/uet" -env FI_LOG_LEVEL info -env FI_LOG_PROV uet)
    check "mpich-$n-ranks-p2p" '[0-9.]*' "${over[@]}" "$out/mpich_mpi_check"
    check "mpich-$n-ranks-one-sided" '[0-9.]*' "${over[@]}" "$out/mpich_mpi_one_sided"
  done
fi
[ $failed -eq 0 ] && rm -rf "$out"
exit $failed
