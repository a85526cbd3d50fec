#!/usr/bin/env bash
# Compares fi_pingpong over uet with the same over libfabric's own providers and with raw UDP
# GSO/GRO, interleaved in one run, between two hosts made of network namespaces.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/bench_peers.sh [--rounds N] [--sizes LIST] [--peers LIST] [--io BACKEND]
                      [--json FILE] [--build DIR]

Every round runs each peer once per size, in an order that rotates; the machine may change speed, so
only figures of one round are compared, and the median of the rounds' ratios is reported. Both ends
are pinned, one processor each, over a veth pair with MTU 9000.

  --rounds N    rounds (default 7)
  --sizes LIST  message sizes in octets (default 8,4096,65536,1048576)
  --peers LIST  of uet, tcp (net in libfabric 1.17), rxd (udp;ofi_rxd), raw (default: all)
  --io BACKEND  of uet: udp (default) or packet, which passes by the IP stack
  --json FILE   also write every figure and ratio there
  --build DIR   build folder (default build/release; built when absent)
  --loopback    over 127.0.0.1, where namespaces are not allowed
  -h, --help    this text

Ratios: latency uet/peer (below 1: uet is faster), bandwidth uet/peer (above 1: uet is faster).
Exit status: 0 when every run finished, 1 otherwise.
HELP
}

args=() build=$root/build/release loopback=0
while [ $# -gt 0 ]; do
  case $1 in
    --rounds|--sizes|--peers|--io|--json)
      [ $# -gt 1 ] || die "$1 needs a value"
      args+=("$1" "$2")
      shift ;;
    --build) [ $# -gt 1 ] || die "--build needs a folder"; build=$(realpath "$2"); shift ;;
    --loopback) loopback=1 ;;
    -h|--help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

need_packages "${build_packages[@]}" "${run_packages[@]}"
if [ ! -e "$build/prov/uet/libuet-fi.so" ] || [ ! -x "$build/tools/raw_pingpong" ]; then
  (cd "$root" && cmake --preset release >/dev/null && cmake --build --preset release)
fi

trap remove_hosts EXIT
if [ $loopback -eq 0 ] && make_hosts; then
  hosts=(--host-a "ip netns exec $host_a" --host-b "ip netns exec $host_b" --server "$addr_a")
else
  say "No network namespaces: measuring over loopback"
  hosts=(--host-a "" --host-b "" --server 127.0.0.1)
fi
python3 "$root/tools/bench_peers.py" --build "$build" "${hosts[@]}" ${args[@]+"${args[@]}"}
