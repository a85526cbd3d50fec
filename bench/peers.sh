#!/usr/bin/env bash
# Compares fi_pingpong and programs of fabtests over uet with the same over libfabric's providers
# and with raw UDP GSO/GRO, interleaved in one run, between two hosts made of network namespaces.
set -euo pipefail
. "$(dirname "$0")/../tools/lib.sh"

usage() {
  cat <<'HELP'
Usage: bench/peers.sh [--rounds N] [--tests LIST] [--sizes LIST] [--peers LIST]
                      [--io BACKEND] [--fabtests DIR] [--json FILE] [--build DIR] [--mtu N]
                      [--loopback] [--no-shm] [--busy] [--tcp-cc NAME]

Every round runs each peer once per test and size, in an order that rotates; the machine may change
speed, so only figures of one round are compared, and the median of the rounds' ratios is reported.
Both ends are pinned, one processor each, over a veth pair.

  --rounds N    rounds (default 7)
  --tests LIST  of the following, or all (default pingpong)
                  pingpong       fi_pingpong; 8, 4096, 65536, 1048576 octets
                  rolling        tagged messages, 64 at once, a new one for each that is done; 64,
                                 4096, 65536
                  processor      processor time of both ends for 10^9 octets at 1,000 MB/s, asleep
                                 between completions; 65536, 1048576
                  many_peers     messages of 64 octets to 1, 8 or 64 receivers in turn, all in one
                                 process
                and from fabtests:
                  tagged_bw      fi_rdm_tagged_bw; 64, 4096, 65536, 1048576
                  rma_write      fi_rma_bw -o write; 4096, 1048576
                  rma_read       fi_rma_bw -o read; 4096, 1048576
                  rdm_pingpong   fi_rdm_pingpong; 64
                  cntr_pingpong  fi_rdm_cntr_pingpong, which sleeps for its counter; 64
  --fabtests DIR  folder of the fabtests programs (default: where fi_rdm_pingpong is in PATH)
  --sizes LIST  message sizes in octets, of all tests (default: those named above); of many_peers,
                how many receivers
  --peers LIST  of (default: uet,tcp,rxd,raw)
                  uet         what is measured
                  tcp         libfabric's RDM tcp provider (net in libfabric 1.17)
                  rxm, rxd    tcp;ofi_rxm and udp;ofi_rxd
                  raw         UDP GSO/GRO without a protocol: pingpong, and tagged_bw as a stream
                  copy        no transport, one copy of each message: pingpong, tagged_bw, rma_*
                  ucx         UCX over TCP (ucx_perftest, 64 messages at once)
                  aimd, fixed uet with FI_UET_CC=aimd or fixed instead of nscc
                and with --loopback
                  shm         libfabric's shared memory
                  ucx_shm     UCX over shared memory with cross-memory attach
                  sockets     uet with FI_UET_SHM=off
  --io BACKEND  of uet: FI_UET_IO, that is auto (default; packet in namespaces), udp, uring,
                packet or xdp
  --json FILE   also write every figure and ratio there
  --build DIR   build folder (default build/release; built when absent)
  --mtu N       MTU of the veth pair (default 9000)
  --loopback    over 127.0.0.1, where namespaces are not allowed
  --no-shm      uet with FI_UET_SHM=off, whichever peer
  --tcp-cc NAME congestion control of the kernel's TCP between the two hosts, such as cubic, which
                Linux has by default; the machine's own if not given. It decides much: bbr paces,
                which halves the bandwidth of tcp here
  --busy        with another program on each processor, which computes all the time
  -h, --help    this text

Ratios uet/peer: of times (us, s/GB) below 1, of bandwidths (MB/s) above 1 where uet is better. A
goal is what was wanted beside tcp. Packets lost at random, and senders behind a slow port, are the
matter of bench/network.py loss and bench/network.py incast.
Exit status: 0 when every run finished, 1 otherwise, 2 wrong usage.
HELP
}

args=() build=$root/build/release loopback=0 tcp_cc=
while [ $# -gt 0 ]; do
  case $1 in
    --rounds) needs_number "$@"; args+=("$1" "$2"); shift ;;
    --tests|--sizes|--peers|--io|--json|--fabtests)
      needs_value "$@"
      args+=("$1" "$2")
      shift ;;
    --build) needs_folder "$@"; build=$(realpath "$2"); shift ;;
    --mtu) needs_number "$@"; hosts_mtu=$2; shift ;;
    --tcp-cc) needs_value "$@"; tcp_cc=$2; shift ;;
    --loopback) loopback=1 ;;
    --busy|--no-shm) args+=("$1") ;;
    -h|--help) usage; exit 0 ;;
    *)
      if [[ $1 =~ ^--(loss|delay-us)(=|$) ]]; then
        misuse "unknown option $1; for bandwidth under loss see bench/network.py loss"
      fi
      unknown "$1" ;;
  esac
  shift
done

need_packages "${build_packages[@]}" "${run_packages[@]}"
if [ ! -e "$build/prov/uet/libuet-fi.so" ] || [ ! -x "$build/bench/copy_limit" ]; then
  (cd "$root" && cmake --preset release >/dev/null && cmake --build --preset release)
fi

trap remove_hosts EXIT
if [ $loopback -eq 0 ] && make_hosts; then
  if [ -n "$tcp_cc" ]; then
    for host in "$host_a" "$host_b"; do
      ip netns exec "$host" sysctl -qw net.ipv4.tcp_congestion_control="$tcp_cc" || {
        echo "--tcp-cc: the sysctl net.ipv4.tcp_allowed_congestion_control lacks $tcp_cc" >&2
        exit 1
      }
    done
  fi
  hosts=(--host-a "ip netns exec $host_a" --host-b "ip netns exec $host_b" --server "$addr_a"
    --many "${addr_a%.*}.100")
  case " ${args[*]-} " in
    *many_peers*|*" all "*)
      for i in {100..163}; do
        ip -n "$host_a" addr add "${addr_a%.*}.$i/24" dev veth-uet
      done ;;
  esac
else
  say "No network namespaces: measuring over loopback"
  hosts=(--host-a "" --host-b "" --server 127.0.0.1 --many 127.9.9.1)
fi
say "congestion control of tcp: ${tcp_cc:-$(</proc/sys/net/ipv4/tcp_congestion_control)}"
python3 "$root/bench/peers.py" --build "$build" "${hosts[@]}" ${args[@]+"${args[@]}"}
