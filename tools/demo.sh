#!/usr/bin/env bash
# Builds uet and shows what it does: figures beside libfabric's tcp, and what travels, decoded.
# Between two hosts made of network namespaces, or over loopback where those are not allowed.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<'HELP'
Usage: tools/demo.sh [--loopback] [--loss P]

Installs Debian packages when root and builds the provider (build/release), then
  1. asks libfabric what the provider offers on this machine (fi_info -p uet),
  2. measures ping-pongs of fi_pingpong over uet and over libfabric's tcp, in turns, and shows
     latency and bandwidth beside each other,
  3. records a short exchange, checked octet by octet, and shows its packets.
Two network namespaces joined by a veth pair are made and removed again; without the privilege for
that, everything runs over loopback. It takes a minute or so, most of it building.

  --loopback  do not make namespaces
  --loss P    drop each packet of uet with probability P (0 to 0.3), to see recovery at work; tcp
              is not shown then
  -h, --help  this text

Exit status: 0 when the exchange passed, 1 otherwise, 2 wrong usage.
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

out=$(mktemp -d "${TMPDIR:-/tmp}/uet-demo.XXXXXX")
server_pid=
finish() {
  [ -n "$server_pid" ] && kill "$server_pid" 2>/dev/null
  remove_hosts
}
trap finish EXIT

say "Building the provider (build/release)"
cd "$root"
begun=$SECONDS
{ cmake --preset release -DBUILD_TESTING=OFF -DUET_WHOLE=ON &&
  cmake --build --preset release --target uet-fi uet_pcap; } >"$out/build.txt" 2>&1 ||
  { tail -n 30 "$out/build.txt"; die "the build failed; all it said is in $out/build.txt"; }
echo "in $((SECONDS - begun)) s"
export FI_PROVIDER_PATH=$root/build/release/prov/uet

if [ $loopback -eq 0 ] && make_hosts; then
  say "Two hosts: $host_a ($addr_a) and $host_b ($addr_b), veth, MTU $hosts_mtu"
  run_a=(ip netns exec "$host_a") run_b=(ip netns exec "$host_b") server=$addr_a
else
  [ $loopback -eq 1 ] || echo "no network namespaces here"
  say "Both ends run over loopback"
  run_a=() run_b=() server=127.0.0.1
  export FI_UET_IFACE=lo
fi
# An end has a processor of its own where there are two.
if [ "$(nproc)" -gt 1 ]; then
  cpus=$(taskset -pc $$ | sed 's/.*: //; s/[,-]/ /g')
  run_a+=(taskset -c "${cpus%% *}") run_b+=(taskset -c "${cpus##* }")
fi

say "fi_info -p uet"
"${run_a[@]}" fi_info -p uet | head -n 6 || true

# The server of fi_pingpong listens on its control port, 47592.
is_listening() {
  "${run_a[@]}" cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep ':B9E8 .* 0A ' >/dev/null
}

# pingpong NAME ENV=VALUE... -- ARGUMENTS: one run of both ends; what the client says is in
# $out/NAME.client.txt.
pingpong() {
  local name=$1 env=()
  shift
  while [ "$1" != -- ]; do env+=("$1"); shift; done
  shift
  env ${env[@]+"${env[@]/END/server}"} "${run_a[@]}" fi_pingpong "$@" \
    >"$out/$name.server.txt" 2>&1 &
  server_pid=$!
  for _ in $(seq 200); do
    is_listening && break
    kill -0 "$server_pid" 2>/dev/null || break
    sleep 0.02
  done
  local status=0
  env ${env[@]+"${env[@]/END/client}"} "${run_b[@]}" timeout 120 fi_pingpong "$@" "$server" \
    >"$out/$name.client.txt" 2>&1 || status=1
  [ $status -eq 0 ] || kill "$server_pid" 2>/dev/null || true
  wait "$server_pid" || status=1
  server_pid=
  return $status
}

fail() {
  tail -n 20 "$out/$1.client.txt" "$out/$1.server.txt"
  die "fi_pingpong failed; the output of both ends is in $out"
}

# The stock provider of reliable datagrams over TCP is called net in libfabric 1.17.
tcp=tcp
fi_info --version | grep '^libfabric: 1\.' >/dev/null && tcp=net
providers=(uet "$tcp")
faults=()
if [ -n "$loss" ]; then
  providers=(uet)
  faults=("FI_UET_FAULT=loss=$loss")
fi

# measure PROVIDER SIZE ITERATIONS: "microseconds megabytes-per-second", the better of two runs.
declare -A usec rate
measure() {
  local provider=$1 size=$2 name=$1-$2 figures
  pingpong "$name" ${faults[@]+"${faults[@]}"} -- -p "$provider" -e rdm -I "$3" -S "$size" ||
    fail "$name"
  figures=$(tail -n 1 "$out/$name.client.txt" | awk '{ print $(NF-1), $(NF-2) }')
  if [ -z "${usec[$name]:-}" ] || awk "BEGIN { exit !(${figures% *} < ${usec[$name]}) }"; then
    usec[$name]=${figures% *} rate[$name]=${figures#* }
  fi
}

say "fi_pingpong, one message at a time${loss:+, with $loss of all packets dropped}"
sizes=(64 4096 65536 1048576 4194304)
declare -A iterations=([64]=5000 [4096]=3000 [65536]=1000 [1048576]=200 [4194304]=50)
[ -n "$loss" ] && for size in "${sizes[@]}"; do iterations[$size]=$((iterations[$size] / 10)); done
for size in "${sizes[@]}"; do
  for _ in 1 2; do
    for provider in "${providers[@]}"; do
      measure "$provider" "$size" "${iterations[$size]}"
    done
  done
done
row() { printf '  %-24s %12s%s %12s%s\n' "$@"; }
[ ${#providers[@]} -eq 2 ] && row '' uet '     ' "tcp" '     ' || row '' uet '     ' '' ''
for size in "${sizes[@]}"; do
  other=
  case $size in
    64) what="latency, 64 octets" unit=" us  " ;;
    4096) what="bandwidth, 4 KiB" unit=" MB/s" ;;
    65536) what="           64 KiB" unit=" MB/s" ;;
    1048576) what="           1 MiB" unit=" MB/s" ;;
    4194304) what="           4 MiB" unit=" MB/s" ;;
  esac
  if [ "$size" = 64 ]; then
    figure=${usec[uet-$size]} other=${usec[$tcp-$size]:-}
  else
    figure=$(printf '%.0f' "${rate[uet-$size]}")
    [ -z "${rate[$tcp-$size]:-}" ] || other=$(printf '%.0f' "${rate[$tcp-$size]}")
  fi
  row "$what" "$figure" "$unit" "$other" "${other:+$unit}"
done
[ ${#providers[@]} -eq 2 ] &&
  echo "  (tcp is libfabric's provider \"$tcp\" over TCP with" \
    "$(</proc/sys/net/ipv4/tcp_congestion_control); the better of two runs)"

say "A short exchange, checked and recorded at both ends"
pingpong exchange "FI_UET_PCAP=$out/END.pcapng" ${faults[@]+"${faults[@]}"} -- \
  -p uet -e rdm -c -I 3 -S 10000 || fail exchange
lines=14
if command -v tshark >/dev/null && tshark -G plugins 2>/dev/null | grep '^uet\.so' >/dev/null; then
  echo "tshark with the dissector of this repository:"
  tshark -r "$out/client.pcapng" 2>/dev/null | cut -c 1-100 | head -n $lines || true
else
  echo "uet_pcap print (Wireshark shows more: docs/howto/wireshark.md):"
  "$root/build/release/tools/uet_pcap" print "$out/client.pcapng" >"$out/client.txt"
  sed -E 's/ (dscp|ecn|clear|start|spdcid|dpdcid)=[0-9]+//g;
          s/ private_mark//; s/ udp [0-9]+ > [0-9]+//' \
    "$out/client.txt" | head -n $lines | cut -c 1-100 || true
fi
say "Done: the exchange passed. Captures: $out/client.pcapng $out/server.pcapng"
