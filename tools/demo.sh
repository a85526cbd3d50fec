#!/usr/bin/env bash
# Builds uet and shows its main job: fi_info and fi_pingpong over Ultra Ethernet Transport between
# two hosts made of network namespaces, or over loopback where those are not allowed.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/demo.sh [--loopback] [--loss P]

Installs Debian packages when root, builds the provider (build/release), then runs
  fi_info -p uet            what the provider offers on this machine
  fi_pingpong -p uet -e rdm a checked ping-pong between two hosts, captured to pcapng
Two network namespaces joined by a veth pair are made and removed again; without the privilege for
that, everything runs over loopback.

  --loopback  do not make namespaces
  --loss P    drop each packet with probability P (0 to 0.3), to see recovery at work
  -h, --help  this text

Exit status: 0 when the ping-pong passed, 1 otherwise, 2 on bad usage.
HELP
}

loopback=0 loss=
while [ $# -gt 0 ]; do
  case $1 in
    --loopback) loopback=1 ;;
    --loss)
      [[ ${2:-} =~ ^(0|0?\.[0-9]+)$ ]] || misuse "--loss needs a probability, 0.01 for example"
      loss=$2
      shift ;;
    -h|--help) usage; exit 0 ;;
    *) unknown "$1" ;;
  esac
  shift
done

need_packages "${build_packages[@]}" "${run_packages[@]}"

say "Building the provider (build/release)"
cd "$root"
cmake --preset release -DBUILD_TESTING=OFF >/dev/null
cmake --build --preset release --target uet-fi
export FI_PROVIDER_PATH=$root/build/release/prov/uet

out=$(mktemp -d "${TMPDIR:-/tmp}/uet-demo.XXXXXX")
server_pid=
finish() {
  [ -n "$server_pid" ] && kill "$server_pid" 2>/dev/null
  remove_hosts
}
trap finish EXIT

if [ $loopback -eq 0 ] && make_hosts; then
  say "Two hosts: $host_a ($addr_a) and $host_b ($addr_b), veth, MTU $hosts_mtu"
  run_a=(ip netns exec "$host_a") run_b=(ip netns exec "$host_b") server=$addr_a
else
  say "No network namespaces here: both ends run over loopback"
  run_a=() run_b=() server=127.0.0.1
fi

say "fi_info -p uet"
"${run_a[@]}" fi_info -p uet

[ -n "$loss" ] && export FI_UET_FAULT=loss=$loss
say "fi_pingpong -p uet -e rdm${loss:+   (dropping $loss of all packets)}"
env FI_UET_PCAP="$out/server.pcapng" "${run_a[@]}" fi_pingpong -p uet -e rdm -c -S all \
  >"$out/server.txt" 2>&1 &
server_pid=$!
sleep 1
status=0
env FI_UET_PCAP="$out/client.pcapng" "${run_b[@]}" timeout 300 \
  fi_pingpong -p uet -e rdm -c -S all "$server" | tee "$out/client.txt" || status=1
wait "$server_pid" || status=1
server_pid=

if [ $status -ne 0 ]; then
  say "FAILED; the output of both ends is in $out"
  tail -n 20 "$out/server.txt"
  exit 1
fi
say "Done. Captures (Wireshark, tshark): $out/client.pcapng $out/server.pcapng"
tail -n 1 "$out/client.txt"
