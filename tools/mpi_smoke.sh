#!/usr/bin/env bash
# Open MPI over uet: a checked ping-pong and allreduce on one host and on two.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/mpi_smoke.sh [--build DIR] [--ranks LIST] [--timeout S]

Installs Open MPI when root, compiles tools/mpi_check.c and runs it with Open MPI's libfabric
transport (mtl ofi) over uet: LIST ranks on one host, then 2 ranks on two hosts made of network
namespaces. Debian switches that transport off in its parameter file; the command line overrides it.
A run counts only when the provider's log shows that uet carried it.

  --build DIR   build folder of uet (default build/release; built when absent)
  --ranks LIST  ranks on one host (default 2,4)
  --timeout S   seconds for one run (default 120)
  -h, --help    this text

Exit status: 0 when every run was correct.
HELP
}

build=$root/build/release ranks=2,4 limit=120
while [ $# -gt 0 ]; do
  case $1 in
    --build|--ranks|--timeout)
      [ $# -gt 1 ] || die "$1 needs a value"
      case $1 in
        --build) build=$2 ;;
        --ranks) ranks=$2 ;;
        --timeout) limit=$2 ;;
      esac
      shift ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

need_packages "${build_packages[@]}" "${run_packages[@]}" openmpi-bin libopenmpi-dev
if [ ! -e "$build/prov/uet/libuet-fi.so" ]; then
  say "Building the provider (build/release)"
  (cd "$root" && cmake --preset release -DBUILD_TESTING=OFF >/dev/null &&
    cmake --build --preset release --target uet-fi)
  build=$root/build/release
fi
build=$(realpath "$build")

out=$(mktemp -d "${TMPDIR:-/tmp}/uet-mpi.XXXXXX")
trap remove_hosts EXIT
mpicc -O2 -Wall -Wextra -o "$out/mpi_check" "$root/tools/mpi_check.c"

mpi=(mpirun --oversubscribe --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include uet
  -x "FI_PROVIDER_PATH=$build/prov/uet" -x FI_PROVIDER=uet -x FI_LOG_LEVEL=info -x FI_LOG_PROV=uet)
[ "$(id -u)" -eq 0 ] && mpi+=(--allow-run-as-root)

failed=0
# check NAME ADDRESSES COMMAND...: runs it, and demands the program's line, and in the log a domain
# of uet on each of those addresses.
check() {
  local name=$1 addresses=$2 started=$SECONDS verdict=pass a
  shift 2
  timeout -k 5 "$limit" "$@" >"$out/$name.txt" 2>"$out/$name.log" </dev/null || verdict=FAIL
  grep -q '^mpi_check: .* correct$' "$out/$name.txt" || verdict=FAIL
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
for n in ${ranks//,/ }; do
  check "one-host-$n-ranks" '[0-9.]*' "${one_host[@]}" "${mpi[@]}" -n "$n" "$out/mpi_check"
done
if [ $have_hosts -eq 1 ]; then
  # Instead of ssh: enters the namespace whose address mpirun names, from the one it runs in.
  cat >"$out/agent" <<AGENT
#!/bin/sh
shift
exec ip netns exec "$host_b" sh -c "\$*"
AGENT
  chmod +x "$out/agent"
  check two-hosts-2-ranks "$addr_a $addr_b" \
    ip netns exec "$host_a" "${mpi[@]}" --mca plm_rsh_agent "$out/agent" \
    --mca oob_tcp_if_include veth-uet -H "$addr_a:1,$addr_b:1" -n 2 "$out/mpi_check"
else
  say "No network namespaces here: nothing was run on two hosts"
fi
[ $failed -eq 0 ] && rm -rf "$out"
exit $failed
